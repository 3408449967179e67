"""`threadlore evaluate`: ask labelled questions in every configuration and write down how it went."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import UsageError
from core.retrieval.confidence import DEFAULT_JUDGEMENT
from evaluation.answers.judges import Judge, Verdicts
from evaluation.calibration import calibrate
from evaluation.configurations import CONFIGURATIONS, OF_PAIRS, Configuration
from evaluation.gold import UNKNOWN_RELEASE, GoldLine, Half, read_gold
from evaluation.lexical import likeness
from evaluation.metrics import Outcome, reliability, summary, trade_off
from evaluation.pipeline import Parts, Pipeline
from evaluation.plots import MISSING, draw
from evaluation.report import markdown
from evaluation.telling import Tell, silent

VERDICTS = "verdicts.jsonl"
"""File of the report's folder that keeps what the judge said."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure.

    `names` are configurations, all of them where there are none. `judged` names those whose answers
    the model judges too, which takes about nine calls a question. Without `answers` only retrieval is
    measured. `enough` is the least confidence for an answer, None for the product's own.
    """

    half: Half = "all"
    names: tuple[str, ...] = ()
    answers: bool = True
    judged: tuple[str, ...] = ()
    enough: float | None = None
    plots: bool = True


async def evaluate(
    parts: Parts,
    gold: Path,
    report: Path,
    options: Options | None = None,
    tell: Tell = silent,
) -> dict[str, Any]:
    """Measure every configuration on the gold questions; write and return the report.

    Writes `evaluation.json`, `evaluation.md`, `questions.jsonl` and the plots to the folder `report`;
    `tell` hears a line on each step. Raises UsageError for a bad gold file or an unknown configuration,
    and the ModelErrors of a model that is not there; a single broken answer is quoted instead.
    """
    options = options or Options()
    chosen = _chosen(options, parts.research.has_pairs())
    lines = await asyncio.to_thread(read_gold, gold, options.half)
    _check(parts, lines, gold)
    await asyncio.to_thread(report.mkdir, parents=True, exist_ok=True)
    judge = await _judge(parts, options, report)
    rows: list[dict[str, Any]] = []
    told: list[str] = []
    asked: dict[str, list[Outcome]] = {}
    for configuration in chosen:
        outcomes = await _run(parts, configuration, lines, options)
        asked[configuration.name] = outcomes
        row = summary(configuration.name, outcomes)
        if options.answers:
            row["likeness"] = await _likeness(outcomes)
        if judge and configuration.name in options.judged:
            row["judged"] = await judge.means(outcomes)
        rows.append(row)
        told += [_question(configuration.name, outcome) for outcome in outcomes]
        tell(_line(row))
    result = {
        "gold": gold.name,
        "half": options.half,
        "questions": len(lines),
        "product": parts.product.name,
        "releases": sorted(parts.research.corpora),
        "encoder": next((c.encoder for c in parts.research.corpora.values()), ""),
        "model": parts.model.name if parts.model else "",
        "threshold": DEFAULT_JUDGEMENT.enough if options.enough is None else options.enough,
        "configurations": rows,
        "confidence": _confidence(asked),
    }
    drawn: tuple[str, ...] = ()
    if options.plots:
        drawn = await asyncio.to_thread(draw, result, report)
        if not drawn:
            tell(MISSING)
    await asyncio.to_thread(_write, report, result, told, drawn)
    return result


async def _run(
    parts: Parts, configuration: Configuration, lines: Sequence[GoldLine], options: Options
) -> list[Outcome]:
    pipeline = Pipeline(parts, configuration, options.enough, options.answers)
    await pipeline.open()
    # One after the other: times are measured.
    return [await pipeline.ask(line) for line in lines]


def _chosen(options: Options, has_pairs: bool) -> tuple[Configuration, ...]:
    known = {configuration.name: configuration for configuration in (*CONFIGURATIONS, *OF_PAIRS)}
    for name in (*options.names, *options.judged):
        if name not in known:
            raise UsageError(f"There is no configuration '{name}'; there is: {', '.join(known)}.")
    every = (*CONFIGURATIONS, *(OF_PAIRS if has_pairs else ()))
    return tuple(known[name] for name in dict.fromkeys(options.names)) or every


async def check(parts: Parts, gold: Path) -> None:
    """Raise UsageError where a gold file asks about releases that are not there or not indexed."""
    _check(parts, await asyncio.to_thread(read_gold, gold), gold)


def _check(parts: Parts, lines: Sequence[GoldLine], gold: Path) -> None:
    wanted = {name for line in lines for name in (line.places or [line.release]) if name}
    known = {release.name for release in parts.product.releases}
    if foreign := sorted(wanted - known):
        raise UsageError(
            f"{gold.name} asks about {', '.join(foreign)}, which {parts.product.name} does not have in "
            f"corpora.toml; name the right one with --config."
        )
    if missing := sorted(wanted - parts.research.corpora.keys()):
        raise UsageError(f"{', '.join(missing)} is not indexed yet; run `threadlore index` first.")


async def _judge(parts: Parts, options: Options, report: Path) -> Judge | None:
    if not options.judged:
        return None
    if parts.model is None:
        raise UsageError("Judging needs a model; set OLLAMA_HOST, or leave the judge out.")
    return Judge(parts.model, await asyncio.to_thread(Verdicts, report / VERDICTS))


async def _likeness(outcomes: Sequence[Outcome]) -> dict[str, float]:
    said = [(o.answer, o.line.answer) for o in outcomes if o.answer and o.line.answer]
    return await asyncio.to_thread(likeness, [answer for answer, _ in said], [gold for _, gold in said])


def _confidence(asked: dict[str, list[Outcome]]) -> dict[str, Any] | None:
    """Compare the confidence of the product's own retrieval with what the questions are."""
    outcomes = asked.get("all") or []
    counted = [o for o in outcomes if o.line.type != UNKNOWN_RELEASE and not o.refused]
    labelled = [(o.confidence, o.line.answerable) for o in counted]
    if not labelled:
        return None
    found: dict[str, Any] = {"reliability": reliability(labelled), "trade_off": trade_off(labelled)}
    signs = [(o.signs, o.line.answerable) for o in counted if o.signs]
    if signs and len({label for _, label in signs}) == 2:
        found["fitted"] = calibrate(signs).as_dict()
    return found


def _question(configuration: str, outcome: Outcome) -> str:
    entry = {
        "configuration": configuration,
        "id": outcome.line.id,
        "type": outcome.line.type,
        "question": outcome.line.question,
        "release": outcome.release,
        "rank": outcome.rank,
        "handed_rank": outcome.handed_rank,
        "wrong_release": outcome.wrong_release,
        "confidence": round(outcome.confidence, 4),
        "abstained": outcome.abstained,
        "refused": outcome.refused,
        "right": outcome.right,
        "answer": outcome.answer,
        "base": outcome.queries.get("base", ""),
        "versionless": outcome.queries.get("versionless", ""),
        "signs": {name: round(value, 4) for name, value in outcome.signs.items()},
        "retrieved": [f"{release}: {path}" for release, path in outcome.retrieved],
        "ms": round(outcome.ms, 2),
    }
    return json.dumps(entry, ensure_ascii=False)


def _line(row: dict[str, Any]) -> str:
    shown = {key: row[key] for key in ("hit@1", "hit@3", "hit@8", "mrr", "abstain_recall", "answerable_lost")}
    figures = ", ".join(f"{key} {value:.3f}" for key, value in shown.items() if value is not None)
    return f"{row['name']}: {figures}"


def _write(report: Path, result: dict[str, Any], told: Sequence[str], drawn: Sequence[str]) -> None:
    (report / "evaluation.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", "utf-8")
    (report / "evaluation.md").write_text(markdown(result, drawn), "utf-8")
    (report / "questions.jsonl").write_text("".join(f"{line}\n" for line in told), "utf-8")
