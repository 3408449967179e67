import pytest

from core.errors import ModelMalformed, ModelUnavailable
from core.generation.context.fitting import Request
from core.generation.reasoning import parse, reason
from core.models.ollama.client import Ollama
from core.prompts import DONT_KNOW
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
