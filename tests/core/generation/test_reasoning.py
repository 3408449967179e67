import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ModelMalformed, ModelUnavailable
from core.generation.citations import Cleaned
from core.generation.context.fitting import Request
from core.generation.reasoning import Reasoned, parse, reason, reason_openly
from core.models.ollama.client import Ollama
from core.ports import Prompt
from core.prompts import DONT_KNOW, SUMMARY_SCHEMA
from tests.core.generation.samples import SESSIONS, Told, evidence
from tests.ollama_server import OllamaServer

ASK = Request("How do I use sessions?", "Flask", ("3.1",), (evidence(1, SESSIONS),))
GOOD = {"reasoning": "It says so.", "answer": "Set a key [1].", "false_premise": False, "answerable": True}


async def test_reasoning_and_answer_come_apart() -> None:
    model = Told(structured=GOOD)
    reasoned = await reason(model, ASK)
    assert (reasoned.reasoning, reasoned.written.text) == ("It says so.", "Set a key [1].")
    assert len(reasoned.written.citations) == 1
    assert '"false_premise"' in model.prompts[0].content


async def test_what_cannot_be_answered_is_the_fixed_phrase() -> None:
    reasoned = await reason(Told(structured={**GOOD, "answerable": False}), ASK)
    assert reasoned.written.text == DONT_KNOW


async def test_a_false_premise_is_an_answer() -> None:
    output = {**GOOD, "answerable": False, "false_premise": True, "answer": "There is no such key [1]."}
    reasoned = await reason(Told(structured=output), ASK)
    assert (reasoned.false_premise, reasoned.written.text) == (True, "There is no such key [1].")


@pytest.mark.parametrize("output", [ModelMalformed("No JSON."), {"reasoning": "x"}, {"answer": "  "}])
async def test_output_that_does_not_parse_is_written_plainly_instead(output: object) -> None:
    reasoned = await reason(Told("Set a key [1].", structured=output), ASK)
    assert (reasoned.written.text, reasoned.reasoning) == ("Set a key [1].", "")


async def test_a_server_that_is_down_is_not_asked_twice() -> None:
    with pytest.raises(ModelUnavailable):
        await reason(Told("Text.", structured=ModelUnavailable("Down.")), ASK)


async def test_with_ollama() -> None:
    async with OllamaServer() as server:
        model = Ollama(server.url, server.model)
        reasoned = await reason(model, ASK)
        await model.close()
    assert reasoned.reasoning and reasoned.written.citations
    assert server.calls == 1


@pytest.mark.parametrize(
    ("output", "answer", "answerable"),
    [
        ('Here you go:\n```json\n{"answer": "Yes [1].", "answerable": true}\n```', "Yes [1].", True),
        ('{"reasoning": "a", "answer": "Say \\"hi\\".", "answerable": false, "false_pre', 'Say "hi".', False),
        ('{"answer": "Two\nlines"}', "Two\nlines", True),
        ({"answer": "Yes", "answerable": "false"}, "Yes", False),
    ],
)
def test_broken_output_is_read_as_far_as_it_goes(output: object, answer: str, answerable: bool) -> None:
    fields = parse(output)
    assert fields is not None
    assert (fields["answer"], fields["answerable"]) == (answer, answerable)


@pytest.mark.parametrize("output", ["", "no json", "{}", '{"answer": 3}', "[" * 5000, '{"a":' * 3000])
def test_output_without_an_answer_is_none(output: str) -> None:
    assert parse(output) is None


class Sums(Told):
    """Reasons in a way that does not parse, and sums up what it is given."""

    def __init__(self, output: object, summary: object) -> None:
        super().__init__("Set a key [1].", structured=output)
        self.summary = summary
        self.summed: list[str] = []

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        if schema is not SUMMARY_SCHEMA:
            return await super().structured(prompts, schema, max_tokens=max_tokens)
        self.summed.append(prompts[1].content)
        if isinstance(self.summary, Exception):
            raise self.summary
        return {"answer": self.summary}


SAID = "===START=== ## Reasoning: a key is needed before sessions can be used [1] ## Answer: set one"


@pytest.mark.parametrize("output", [ModelMalformed("No JSON.", SAID), {"reasoning": SAID}])
async def test_output_that_does_not_parse_is_summed_up(output: object) -> None:
    model = Sums(output, "Set one [1].")
    reasoned = await reason(model, ASK)
    assert (reasoned.written.text, reasoned.reasoning) == ("Set one [1].", "")
    assert reasoned.written.citations and SAID in model.summed[0] and ASK.question in model.summed[0]


@pytest.mark.parametrize(
    ("summary", "text"),
    [
        (ModelMalformed("Again."), "Set a key [1]."),
        ("", "Set a key [1]."),
        (None, "Set a key [1]."),
        ("Well, I don't know.", DONT_KNOW),
    ],
)
async def test_where_nothing_can_be_summed_up_it_is_written_plainly(summary: object, text: str) -> None:
    model = Sums(ModelMalformed("No JSON.", SAID), summary)
    assert (await reason(model, ASK)).written.text == text and len(model.summed) == 1


async def test_a_few_words_are_not_summed_up() -> None:
    model = Sums(ModelMalformed("No JSON.", "{}"), "Set one [1].")
    assert (await reason(model, ASK)).written.text == "Set a key [1]." and not model.summed


@pytest.mark.parametrize("answer", ["I don't know, but try a key [1].", "It may be [1]. I do not know."])
async def test_whoever_says_anywhere_not_to_know_says_that_alone(answer: str) -> None:
    reasoned = await reason(Told(structured=GOOD | {"answer": answer}), ASK)
    assert (reasoned.written.text, reasoned.written.citations) == (DONT_KNOW, ())


async def test_notes_are_told_beside_the_evidence() -> None:
    model = Told(structured=GOOD)
    await reason(model, ASK, "\n\nA calculator says 24.")
    assert "A calculator says 24." in model.prompts[0].content


PAGE = "Set `SECRET_KEY` to use sessions. A session lasts 31 days by default."
OPENLY = Request("How do I use sessions?", "Flask", ("3.1",), (evidence(1, PAGE),))
TRUE = "The page says to set `SECRET_KEY` to use sessions [1]."


async def openly(output: object, plain: str = "Plain [1].") -> Reasoned:
    async def plainly() -> Cleaned:
        return Cleaned(plain)

    return await reason_openly(Told(structured=output), OPENLY, plainly)


async def test_reasoning_that_is_shown_holds_nothing_but_what_the_evidence_bears() -> None:
    answer = "Set `SECRET_KEY` to use sessions [1]."
    false = ("Use `flask.magic()` too [1].", "A session lasts 90 days by default [1].")
    reasoned = await openly(GOOD | {"reasoning": f"{TRUE} {' '.join(false)}", "answer": answer})
    assert reasoned.written.text == answer
    assert reasoned.reasoning.startswith(TRUE) and "magic" not in reasoned.reasoning
    assert "90" not in reasoned.reasoning
    assert reasoned.reasoning.rpartition("\n\n")[2].startswith("[1] ["), "with its own sources"


@pytest.mark.parametrize(
    "answer", ["Set `FLASK_SECRET` to use sessions [1].", "Set `SECRET_KEY` to use sessions."]
)
async def test_an_answer_of_the_reasoning_that_fails_a_check_is_written_plainly(answer: str) -> None:
    reasoned = await openly(GOOD | {"reasoning": TRUE, "answer": answer})
    assert reasoned.written.text == "Plain [1]." and reasoned.reasoning.startswith(TRUE)


@pytest.mark.parametrize("output", [ModelMalformed("No JSON."), {"reasoning": "x"}])
async def test_without_readable_reasoning_the_answer_is_written_plainly(output: object) -> None:
    reasoned = await openly(output)
    assert (reasoned.written.text, reasoned.reasoning) == ("Plain [1].", "")


async def test_reasoning_that_cites_nothing_is_not_shown() -> None:
    answer = "Set `SECRET_KEY` to use sessions [1]."
    assert (await openly(GOOD | {"reasoning": "I think so.", "answer": answer})).reasoning == ""
    assert (await openly(GOOD | {"answerable": False})).written.text == DONT_KNOW


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_output_is_reasoned_from_or_written_plainly(reasoning: str, answer: str) -> None:
    reasoned = asyncio.run(openly(GOOD | {"reasoning": reasoning, "answer": answer}))
    assert reasoned.written.text and "7777" not in reasoned.reasoning
