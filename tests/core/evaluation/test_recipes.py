"""`threadlore evaluate --recipe`: recipes side by side, by the stages that serve."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.domain import Answer, Question
from core.engine import Engine
from core.errors import ConfigurationError, ModelMalformed, ModelUnavailable
from core.feedback.accepted_answers import AcceptedAnswers
from core.memory.scoring import Policy, VoteWeighting
from core.pipeline.research import Research
from core.pipeline.resources import ModelBudget
from core.ports import Prompt
from core.prompts import DONT_KNOW
from core.recipes import lacking, recipe_of, recipes
from evaluation.gold import parse_line, read_gold
from evaluation.pipeline import ask
from evaluation.recipes import COLUMNS, compare, table
from evaluation.report import write as report
from tests.core.evaluation.small import GOLD, parts, write
from tests.fake_upkeep import FakeVoters
from tests.fakes import FakeMemories, FakeModel, FakeOpinions, Reply


def says(prompts: Sequence[Prompt]) -> Reply:
    """Answer as a model that finds everything useful and the default of the newest release everywhere."""
    if "You prepare questions" in prompts[0].content:
        return ModelMalformed("That is no JSON.")
    if "You write the arithmetic" in prompts[0].content:
        return {"expressions": []}
    if "from what you know" in prompts[0].content:
        return {"reasoning": "", "false_premise": False, "answer": DONT_KNOW}
    if '"false_premise"' in prompts[0].content:
        return {
            "reasoning": "r",
            "false_premise": False,
            "answerable": True,
            "answer": "Its default is 45 minutes [1].",
        }
    if "You read relations" in prompts[0].content:
        return {"triplets": []}
    if "You rank" in prompts[0].content:
        return {"reasoning": "", "ranking": [1, 2, 3, 4]}
    if "keep" in prompts[0].content:
        return {"reasoning": "", "keep": list(range(1, 40))}
    return "Its default is 45 minutes [1]."


async def test_every_recipe_is_asked_the_same_questions_in_one_run(tmp_path: Path) -> None:
    told: list[str] = []
    model = FakeModel(says)
    made = await parts(model, pairs=True)
    made = Research(replace(made.parts, budget=ModelBudget(model)))
    rows = await compare(made, write(tmp_path), ["all"], tell=told.append)
    assert [row["name"] for row in rows] == list(recipes()) and len(told) == len(rows)
    for row in rows:
        assert row["n"] == len(GOLD) and row["refusals"] == 1
        assert row["written"] + row["quoted"] + row["abstentions"] + row["refusals"] == len(GOLD)
        assert row["hit@1"] <= row["hit@3"] <= row["hit@8"] and row["hit@8"] > 0.5
    calls = {row["name"]: row["model_calls"] for row in rows}
    assert calls["qamr"] > calls["comrag"] > 0, "reduction and selection are calls of their own"
    shown = table(rows).split("\n")
    assert len(shown) == 2 + len(rows) and shown[0].count("|") == len(COLUMNS) + 1
    report(tmp_path / "report", "recipes", rows, table(rows) + "\n")
    assert json.loads((tmp_path / "report" / "recipes.json").read_text("utf-8")) == rows


async def test_an_unknown_recipe_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    model = FakeModel(says)
    with pytest.raises(ConfigurationError, match="no recipe 'goulash'"):
        await compare(await parts(model), write(tmp_path), ["threadlore", "goulash"])
    assert not model.calls


@pytest.mark.parametrize("name", recipes())
@pytest.mark.parametrize("fails", [False, True])
async def test_what_is_measured_is_what_is_served(name: str, fails: bool, tmp_path: Path) -> None:
    model = FakeModel(lambda prompts: ModelUnavailable("It is down.") if fails else says(prompts))
    made = await parts(model, pairs=True)
    stages = recipe_of(name)(made.parts)
    store, memory = made.parts.store, made.parts.memory
    accepted = AcceptedAnswers(memory, store, FakeOpinions(FakeMemories()), made)
    voters = VoteWeighting(FakeVoters(FakeMemories()), memory.thresholds, Policy(), {})
    engine = Engine(made.parts, stages, accepted, voters)
    for line in read_gold(write(tmp_path)):
        measured, outcome = await ask(stages, line)
        served = await engine.draft(Question(line.question, history=line.history, release=line.ask_release))
        assert (measured.route, measured.text) == (served.route, served.text), line.id
        assert [e.chunk.id for e in measured.evidence] == [e.chunk.id for e in served.evidence]
        assert outcome.refused == (line.id == "missing")


async def test_qa_pregeneration_reads_pairs_in_place_of_pages_and_cites_the_pages() -> None:
    model = FakeModel(says)
    made = await parts(model, pairs=True)
    line = parse_line(GOLD[0])
    answer, outcome = await ask(recipe_of("qa_pregeneration")(made.parts), line)
    read = model.calls[-1].prompts[1].content
    assert answer.route == "documents" and outcome.rank and outcome.calls == 1
    pairs = await made.parts.searcher.nearest_pairs(answer.queries, await _vector(made, answer), "2.0")
    assert 0 < len(pairs) <= 8 and pairs[0].question in read and pairs[0].full_answer in read
    assert pairs[0].summary in read and pairs[0].summary != pairs[0].answer, "what its document is about"
    assert {citation.path for citation in answer.citations} <= {pair.path for pair in pairs}


@pytest.mark.parametrize("name", ["qa_pregeneration", "graph_context"])
async def test_pairs_are_read_for_each_part_of_a_question(name: str) -> None:
    model = FakeModel(says)
    made = await parts(model, pairs=True)
    stages = recipe_of(name)(made.parts)
    asked = "How do I take the limescale filter out behind the spout, and how often do I descale the kettle?"
    line = parse_line(GOLD[0] | {"question": f"{asked} What is the default of the timer?"})
    answer, _ = await ask(stages, line)
    first = [item.chunk.path for item in answer.evidence[:3]]
    assert first == ["filter.md", "descaling.md", "timer.md"]


async def test_qa_pregeneration_says_for_which_part_there_are_no_pairs() -> None:
    made = await parts(FakeModel(says), pairs=True)
    asked = (
        "How do I take the limescale filter out behind the spout, and who won the chess olympiad in Lugano?"
    )
    answer, _ = await ask(
        recipe_of("qa_pregeneration")(made.parts), parse_line(GOLD[0] | {"question": asked})
    )
    assert "I found nothing in the Kettle 2.0 documentation on “Who won the chess olympiad" in answer.text


async def _vector(made: Research, answer: Answer) -> Any:
    encoder = await made.parts.encoders.current()
    return await encoder.encode([answer.queries.topic])


async def test_without_pairs_qa_pregeneration_does_not_know() -> None:
    model = FakeModel(says)
    made = await parts(model)
    line = parse_line(GOLD[0])
    answer, _ = await ask(recipe_of("qa_pregeneration")(made.parts), line)
    assert answer.route == "abstain" and not model.calls
    assert "threadlore pregenerate" in lacking("qa_pregeneration", made.parts.searcher)
    assert not lacking("graph_context", made.parts.searcher), "it reads pages then"
    assert not lacking("qa_pregeneration", (await parts(pairs=True)).parts.searcher)
