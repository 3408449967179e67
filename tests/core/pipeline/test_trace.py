"""The record of an answer's journey: what is stored is what was always stored, and old records are read."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from core.domain import NearPair, Question, Trace, Vote
from core.generation.phrases import why
from core.pipeline.context import QueryContext
from tests.core.test_engine import TIMER, house
from tests.fakes import FakeModel

UNDERSTOOD = {"release_origin", "resolution", "queries", "rewritten", "language", "untranslated", "steps"}
RECALLED = {"high", "low", "guard", "decided"}
FOUND = {"confidence", "threshold", "signs", "open_parts", "evidence", "level"}
WRITTEN = {"read", "model", "prompts", "temperature", "offers", "first_ms"}
KEPT = {"ms", "timings"}
PAGE = {"title", "path", "url", "release", "score", "matched", "ranks", "lifts"}
OLD: dict[str, Any] = {
    "release_origin": "latest",
    "resolution": {"release": "2.0", "origin": "latest", "named": []},
    "queries": {"base": "How long?", "filtered": "long"},
    "rewritten": True,
    "steps": ["model", "rules: it was too slow"],
    "high": [{"pair": "p1", "question": "How long is it?", "similarity": 0.7, "score": 0.9}],
    "low": None,
    "evidence": [{"title": "timer: ", "release": "2.0", "score": 1.5, "place": 3}],
    "confidence": 0.75,
    "threshold": 0.5,
    "gone": "nobody knows this any more",
}


async def test_what_is_stored_of_each_journey_has_the_keys_it_always_had() -> None:
    bot = await house(FakeModel(lambda prompts: "It is 45 minutes [1]."), only=())
    written = await bot.ask(TIMER)
    assert written.trace.keys() == UNDERSTOOD | RECALLED | FOUND | WRITTEN | KEPT
    assert all(page.keys() == PAGE for page in written.trace["evidence"])
    await bot.engine.feedback(Vote(written.id, "cli:bob", 1))
    reused = await bot.ask(TIMER)
    assert reused.trace.keys() == UNDERSTOOD | RECALLED | KEPT | {"origin"}
    unknown = await bot.ask("How is the timer set in Kettle 9.0?")
    assert unknown.trace.keys() == UNDERSTOOD | KEPT
    quoted = await (await house()).ask(TIMER)
    assert quoted.trace.keys() == UNDERSTOOD | RECALLED | FOUND | KEPT | {"offers", "model_error"}


async def test_a_stored_record_is_read_and_written_again_without_a_loss() -> None:
    bot = await house(FakeModel(lambda prompts: "It is 45 minutes [1]."), only=())
    first = await bot.ask(TIMER)
    await bot.engine.feedback(Vote(first.id, "cli:bob", 1))
    for answer in (first, await bot.ask(TIMER), await bot.engine.quoted(Question(TIMER, "cli:ada"))):
        stored = json.loads(json.dumps(answer.trace))
        assert stored == answer.trace, "plain values alone"
        assert Trace.of(stored).as_dict() == stored


def test_records_of_older_homes_are_read() -> None:
    trace = Trace.of(OLD)
    assert trace.queries.base == "How long?" and trace.queries.parts == ()
    assert trace.steps == {"1": "model", "2": "rules: it was too slow"}
    assert trace.recalled and trace.recalled.high == [NearPair("p1", "How long is it?", 0.7, 0.9)]
    assert trace.recalled.low == [] and trace.evidence[0].title == "timer: "
    assert trace.ms is None and trace.written is None


def test_a_record_that_was_shortened_is_explained_as_far_as_it_goes() -> None:
    row = {"route": "quote", "release": "2.0", "trace": {"queries": {"topic": "timer"}, "offers": []}}
    assert Trace.of(row["trace"]).offers == [] and Trace.of({}) == Trace()  # type: ignore[arg-type]
    assert len(why(row)) == 1
    lines = why({"route": "quote", "release": "2.0", "trace": OLD})
    assert any("How long is it?" in line for line in lines) and any("75%" in line for line in lines)
    assert "People liked the answer to a question that is 70% similar: “How long is it?”." in lines
    page = {"title": "timer: Set [it]", "url": "https://k.example/timer", "release": "2.0", "score": 1.5}
    told = why({"route": "quote", "release": "2.0", "trace": OLD | {"evidence": [page, *OLD["evidence"]]}})
    assert told[-2:] == ["Page 1: [timer: Set (it)](https://k.example/timer) (2.0)", "Page 2: timer (2.0)"]


@pytest.mark.parametrize(
    ("level", "said"),
    [
        ("sure", "The quote looked 80% likely to hold the answer (60% is needed)."),
        ("none", "The best quote looked 80% likely to hold the answer (60% is needed)"),
    ],
)
def test_why_says_of_what_each_figure_is(level: str, said: str) -> None:
    found = {"confidence": 0.8, "threshold": 0.6, "level": level, "signs": {"sentence": 0.7}, "evidence": []}
    row = {"route": "documents", "release": "2.0", "trace": found}
    pages = "The pages looked 80% likely to answer the question (60% is needed)."
    assert why(row)[-1] == pages
    quoted = {"route": "quote", "release": "2.0", "trace": found | {"signs": {"found": 0.94, "held": 0.5}}}
    of_pages, of_quote = why(quoted)[-2:]
    assert of_pages == "The pages looked 94% likely to answer the question." and of_quote.startswith(said)


def test_what_a_step_took_twice_adds_up() -> None:
    context = QueryContext(Question("Where is the timer?"))
    for seconds in (2.0, 3.0):  # as written for the answer, and once more for what it lacks
        context.at = time.perf_counter() - seconds
        context.lap("write")
    assert 5000 <= context.timings["write"] < 6000
