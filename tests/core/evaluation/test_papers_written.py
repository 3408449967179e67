"""The papers' rows that a model writes: replayed from what was played by hand, and run on small data."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.domain import ContextChunk, Evidence
from core.errors import ModelMalformed, ModelUnavailable, UsageError
from core.generation.answer import Request, write
from core.generation.context.fitting import renumbered
from core.generation.reasoning import reason
from core.ports import Prompt
from core.prompts import DONT_KNOW
from core.query.language import detected
from evaluation.papers import comrag_written, crag, crag_written, graph_written
from evaluation.papers.crag_written import ROWS, WithoutPremise
from evaluation.papers.kept_model import FILE, KeptModel
from evaluation.papers.tables import BELOW, MODEL, Section, Table, with_written
from evaluation.simulation.data import read_topics
from evaluation.simulation.stores import Texts
from tests.core.evaluation.questions import written
from tests.fakes import FakeEncoder, FakeModel, Reply

ROOT = Path(__file__).parents[3]
PLAYED = ROOT / "tests/core/generation/played/crag.jsonl"
LINES: list[dict[str, Any]] = [json.loads(line) for line in PLAYED.read_text("utf-8").splitlines()]
"""What was played on CRAG's ten questions for the rows without the attribute predictor.

The pages are cut to what decides; a row that asks the same prompts as the one before it is left out.
"""


class Replies(FakeModel):
    """Says the replies of a line one after another, the last one again."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        left = list(replies)
        super().__init__(lambda prompts: left.pop(0) if len(left) > 1 else left[0])


def asked(line: dict[str, Any]) -> Request:
    pieces = line["evidence"]
    evidence = tuple(
        Evidence(
            one["number"],
            ContextChunk(
                f"p{one['number']}",
                f"p{one['number']}",
                one["title"],
                one["heading"],
                f"https://pages/p{one['number']}",
                one["page"],
                release="1.0",
            ),
            1.0,
        )
        for one in pieces
    )
    return Request(
        line["question"],
        "CRAG",
        ("1.0",),
        evidence,
        language="English",
        code="en",
        documented="en",
        speaks=detected,
    )


async def seen(line: dict[str, Any]) -> str:
    request = asked(line)
    if line["kind"] == "write":
        # they were written when evidence kept its numbers; a model sees them without gaps since
        numbers = {item.chunk.id[1:]: str(item.number) for item in renumbered(request).evidence}
        told = [
            re.sub(r"(?<=\[)\d+(?=\])", lambda m: numbers.get(m[0], m[0]), one) for one in line["replies"]
        ]
        text = (await write(Replies(told), request)).text
    else:
        text = (await reason(Replies(line["replies"]), request, line["notes"])).written.text
    return "" if text == DONT_KNOW else text


async def test_what_was_played_on_crag_comes_to_the_figures_of_the_page() -> None:
    page = (ROOT / "docs/papers.md").read_text("utf-8").partition("without the attribute predictor (")[2]
    rows = [[cell.strip() for cell in row.split("|")[1:-1]] for row in page.splitlines()[4:10]]
    figures = {row[0]: tuple(row[5:9]) for row in rows}
    assert len(figures) == len(ROWS) - 1
    for number in {line["row"] for line in LINES}:
        lines = [line for line in LINES if line["row"] == number]
        answers = [await seen(line) for line in lines]
        assert answers == [line["seen"] for line in lines]
        questions = [crag.Asked(line["key"], line["question"], ()) for line in lines]
        assert crag_written.scores(questions, answers) == figures[crag.TABLE_2[number][0]]


async def test_a_kept_model_asks_each_prompt_once_and_says_it_again(tmp_path: Path) -> None:
    replies: list[Reply] = ["Yes.", ModelMalformed("No JSON.", "yes, I think"), ModelUnavailable("Gone.")]
    asked_ = FakeModel(lambda prompts: replies.pop(0))
    model = KeptModel(asked_, tmp_path / FILE, "somebody")

    async def said(of: KeptModel, text: str) -> str:
        pieces = of.stream([Prompt("user", text)], temperature=0.7, max_tokens=9)
        return "".join([piece async for piece in pieces])

    assert await asyncio.gather(said(model, "A?"), said(model, "A?")) == ["Yes.", "Yes."]
    schema = {"type": "object", "properties": {"a": {}}}
    for of in (model, None):
        of = of or KeptModel(None, tmp_path / FILE, "nobody")
        with pytest.raises(ModelMalformed) as raised:
            await of.structured([Prompt("user", "B?")], schema, max_tokens=9)
        assert raised.value.said == "yes, I think"
        assert await said(of, "A?") == "Yes."
        of.check()
    with pytest.raises(ModelUnavailable):
        await said(model, "C?")
    assert len(asked_.calls) == 3
    with pytest.raises(UsageError, match="Run it again"):
        model.check()
    with pytest.raises(ModelUnavailable, match="--model-host"):
        await said(KeptModel(None, tmp_path / FILE, "nobody"), "C?")


async def test_the_reasoning_row_does_not_ask_for_the_flag(tmp_path: Path) -> None:
    line = next(line for line in LINES if line["row"] == crag_written.REASONING)
    inner = Replies(line["replies"])
    await reason(WithoutPremise(KeptModel(inner, tmp_path / FILE, "x")), asked(line))
    call = inner.calls[0]
    assert call.schema and "false_premise" not in call.schema["properties"]
    assert (
        "false_premise" not in call.prompts[0].content
        and "corrects its premise" not in call.prompts[0].content
    )


def scripted(prompts: Sequence[Prompt]) -> Reply:
    system, user = (prompt.content for prompt in prompts)
    if "triplets" in system.lower():
        return {"triplets": [{"head": "tool", "relation": "is", "tail": "any"}]}
    return f"Mend it with tool {user.count('tool')} [1]." if "<evidence" in user else "Mend it."


async def test_the_rows_are_all_there_and_say_who_wrote(tmp_path: Path) -> None:
    file = written(tmp_path / "questions.jsonl")
    lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    more = [dict(line, answer="Or ask, with any tool.") for line in lines if "answer" in line]
    file.write_text("\n".join(json.dumps(line) for line in (*lines, *more)), "utf-8")
    topics, texts = read_topics(file), Texts(FakeEncoder())
    model = KeptModel(FakeModel(scripted), tmp_path / FILE, "a script")
    graph = (await graph_written.measure(topics, texts, model, 4, "Told.")).tables[0]
    assert "a script, n = 4" in graph.title and len(graph.rows) == 7
    assert float(graph.rows[-1][-1]) > 0 and graph.rows[0][-1] == "0.00", "triplets where they are added"
    comrag = (await comrag_written.measure(topics, texts, model, 4, "Told.")).tables[0]
    assert "a script, n = 4" in comrag.title
    assert [row[0] for row in comrag.rows][:3] == ["Raw LLM", "LLM+EXP", "ComRAG"]
    for table in (graph, comrag):
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_what_was_written_stands_below_the_rows_that_needed_it() -> None:
    rows = (("Raw LLM", "–", MODEL), ("ComRAG", ".5", ""), ("Fine-tuned", "–", MODEL))
    section = Section("comrag", "ComRAG", "Run.", (Table("T", ("a", "b", "c"), rows),), ("One.",))
    more = Section(
        "comrag-written", "", "Written.", (Table("W", ("a", "b"), (("Raw LLM", ".4"),)),), ("Two.",)
    )
    both = with_written(section, more)
    assert [row[-1] for row in both.tables[0].rows] == [BELOW, "", MODEL]
    assert (both.run, both.differs, len(both.tables)) == ("Run. Written.", ("One.", "Two."), 2)
    assert with_written(section, None) == section
