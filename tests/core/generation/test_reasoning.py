from collections.abc import Sequence
from typing import Any

import pytest

from core.errors import ModelMalformed, ModelUnavailable
from core.generation.context.fitting import Request
from core.generation.reasoning import parse, reason
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
