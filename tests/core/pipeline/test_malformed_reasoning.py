"""`RECIPE=hybrid_crag` over Ollama's wire: what people see of replies that are not as asked (section 4.7)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from core.domain import Answer, Document, Product, Question, Release, Section
from core.models.ollama.client import Ollama
from core.pipeline.context import QueryContext
from core.pipeline.resources import ModelBudget
from core.pipeline.stage import run
from core.prompts import DONT_KNOW
from core.recipes import recipe_of
from tests.core.evaluation.small import house
from tests.core.pipeline.test_hybrid_crag import ASKED, TABLE
from tests.ollama_answers import Recorded
from tests.ollama_server import OllamaServer

GOOD = {
    "reasoning": "Eight tries of 3 s each [1].",
    "false_premise": False,
    "answerable": True,
    "answer": "24 s [1].",
}
PAPER = """\
===START===
## Reasoning:
- Does it have a false premise?
No, the fast queue has a pause of its own in the table of limits.
- What is the final answer?
Eight tries with a pause of three seconds each make 24 seconds.
------
## Answer:
24 s
## False Premise:
no
===END==="""


@dataclass
class Played:
    """Says the reply under test where the answer is reasoned; else what a model would say."""

    reasoned: str
    summed: str = '{"answer": "24 s [1]."}'
    plain: str = "The fast queue pauses for 3 s [1]."
    asked: list[str] = field(default_factory=list)

    def structured(self, recorded: Recorded, schema: Mapping[str, Any]) -> Any:
        fields = schema["properties"]
        kind = next(
            (name for name in ("expressions", "reasoning") if name in fields and "answerable" not in fields),
            "reason" if "answerable" in fields else "sum up",
        )
        self.asked.append(kind)
        known = {"reasoning": "", "false_premise": False, "answer": "Half a minute."}
        said = {"expressions": {"expressions": ["8 * 3"]}, "reasoning": known}
        return said.get(kind) or (self.reasoned if kind == "reason" else self.summed)

    def answer(self, recorded: Recorded) -> str:
        if "static or dynamic" in recorded.system:
            return "static"
        if "You write the arithmetic" in recorded.system:
            self.asked.append("one more sample")
            return 'Here: {"expressions": ["8 * 3"]}'
        self.asked.append("write")
        return self.plain


async def asked(played: Played) -> Answer:
    page = Document("limits.md", "Limits", "https://k/limits", (Section(("Limits",), "", TABLE),))
    product = Product("Queue", ("queue",), (Release("1.0", latest=True),))
    made, _ = await house(product, {"1.0": [page]})
    async with OllamaServer(structured=played.structured, answer=played.answer) as server:
        model = Ollama(server.url, server.model, retries=0)
        parts = replace(made.parts, model=model, budget=ModelBudget(model))
        context = QueryContext(Question(ASKED), is_draft=True, withheld=frozenset({"memory"}))
        try:
            return await run(recipe_of("hybrid_crag")(parts), context)
        finally:
            await model.close()


GATHERED = ["expressions", "one more sample", "reasoning", "reason"]


@pytest.mark.parametrize(
    ("reply", "text", "calls"),
    [
        pytest.param(json.dumps(GOOD), "24 s [1].", [], id="as asked"),
        pytest.param(f"Sure:\n```json\n{json.dumps(GOOD)}\n```\nBye!", "24 s [1].", [], id="in a fence"),
        pytest.param(PAPER, "24 s [1].", ["sum up"], id="the paper's own template instead of JSON"),
        pytest.param(PAPER[:200], "24 s [1].", ["sum up"], id="that template, cut before its answer"),
        pytest.param(json.dumps(GOOD)[:-12], "24 s [1].", ["sum up"], id="JSON cut in its last string"),
        pytest.param(json.dumps(GOOD | {"answer": None}), "24 s [1].", ["sum up"], id="no answer in it"),
        pytest.param(
            json.dumps(GOOD | {"answer": "Maybe 24 s. I don't know."}), "", [], id="not known after all"
        ),
        pytest.param(json.dumps(GOOD | {"answerable": False, "answer": "N/A"}), "", [], id="not answerable"),
        pytest.param("{}", "The fast queue pauses for 3 s [1].", ["write"], id="an empty object"),
        pytest.param("###", "The fast queue pauses for 3 s [1].", ["write"], id="nothing to sum up"),
    ],
)
async def test_a_reply_that_does_not_parse_is_summed_up_or_written_plainly(
    reply: str, text: str, calls: list[str]
) -> None:
    played = Played(reply)
    answer = await asked(played)
    assert played.asked == [*GATHERED, *calls]
    if text:
        assert (answer.route, answer.text) == ("documents", text)
    else:
        assert answer.route == "abstain" and answer.text.startswith(DONT_KNOW)


@pytest.mark.parametrize(
    ("summed", "text"),
    [
        ('{"answer": "The agent came to none. I don\'t know."}', ""),
        ("no JSON either", "The fast queue pauses for 3 s [1]."),
        ('{"answer": 24}', "The fast queue pauses for 3 s [1]."),
    ],
)
async def test_a_summary_may_fail_too(summed: str, text: str) -> None:
    played = Played(PAPER, summed)
    answer = await asked(played)
    assert played.asked[:5] == [*GATHERED, "sum up"]
    assert answer.text == text if text else answer.text.startswith(DONT_KNOW)


async def test_where_plain_words_are_no_answer_either_the_page_is_quoted() -> None:
    answer = await asked(Played("###", plain="..."))
    assert answer.route == "quote" and "8" in answer.text and "..." not in answer.text
