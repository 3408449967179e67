"""What Prometheus scrapes is what docs/running.md lists, and it says what happened."""

from __future__ import annotations

import logging
import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from bot.app.overview import ErrorsSeen, Overview
from core.domain import Question, Vote
from tests.journeys.house import Bot

DOCS = Path(__file__).parents[2] / "docs" / "running.md"
PORT = "Which port does the dashboard listen on?"


def documented() -> dict[str, set[str]]:
    """Return the metrics of the table in docs/running.md with their labels."""
    found = {}
    for row in re.findall(r"^\| (`threadlore_[^|]+) \|", DOCS.read_text(encoding="utf-8"), re.MULTILINE):
        for name, labels in re.findall(r"`(threadlore_\w+)(?:\{([\w,]+)\})?`", row):
            found[name] = set(labels.split(",")) if labels else set()
    return found


async def scraped(bot: Bot) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    text = (await Overview(bot.app, ErrorsSeen()).metrics()).decode()
    samples: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        assert family.documentation and family.type in ("counter", "gauge", "histogram", "info"), family
        for sample in family.samples:
            samples.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return samples


async def test_every_metric_is_documented_and_every_documented_one_is_there(bot: Bot) -> None:
    answer = await bot.app.engine.answer(Question(PORT, "cli"))
    await bot.app.engine.answer(Question("How do I bake sourdough bread?", "cli"))
    assert await bot.app.engine.feedback(Vote(answer.id, "cli", 1))
    samples = await scraped(bot)
    told = documented()
    assert samples.keys() <= told.keys(), "each one has a row in docs/running.md"
    labelled = {name: {key for labels in found for key, _ in labels} for name, found in samples.items()}
    assert {name: told[name] for name in samples} == labelled
    others = told.keys() - samples.keys()
    later = {"threadlore_escalations", "threadlore_model_servers", "threadlore_errors_total"}
    later |= {f"threadlore_answer_seconds_{part}" for part in ("bucket", "count", "sum")}
    assert others <= later, "those without a sample yet"
    assert samples["threadlore_answers_total"] == {(("route", "quote"),): 1, (("route", "abstain"),): 1}
    assert samples["threadlore_votes_total"] == {(("value", "up"),): 1}
    assert samples["threadlore_memory_pairs"][(("release", "2.0"), ("store", "high"))] == 1
    assert samples["threadlore_corpus_chunks"][(("release", "2.0"),)] > 0
    assert samples["threadlore_model_ready"] == {(): 0} and samples["threadlore_breaker_closed"] == {(): 1}
    assert samples["threadlore_problems"] == {(): 0} and samples["threadlore_indexing"] == {(): 0}


async def test_counters_never_shrink_and_times_are_sorted_into_buckets(bot: Bot) -> None:
    seen = ErrorsSeen()
    overview = Overview(bot.app, seen)
    seen.emit(logging.makeLogRecord({"name": "bot", "exc_info": (KeyError, KeyError("x"), None)}))
    for _ in range(2):
        await bot.app.engine.answer(Question(PORT, "cli"))
        text = (await overview.metrics()).decode()
    assert 'threadlore_answers_total{route="quote"} 2.0' in text
    assert 'threadlore_answer_seconds_count{route="quote"} 2.0' in text
    assert 'threadlore_answer_seconds_bucket{le="+Inf",route="quote"} 2.0' in text
    assert 'threadlore_errors_total{class="KeyError"} 1.0' in text and "threadlore_build_info{" in text
    await bot.app.people.forget("cli")
    assert 'threadlore_answers_total{route="quote"} 2.0' in (await overview.metrics()).decode()
