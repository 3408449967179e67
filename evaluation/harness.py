"""`threadlore evaluate`: ask labelled questions in every configuration and write down how it went."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import UsageError
from core.pipeline.research import Research
from core.pipeline.stage import Stage
from core.pipeline.stages.retrieve import Reduce, Select
from core.ports import Encoder, LanguageModel
from core.recipes import DEFAULT
from evaluation.answers.judges import Judge, Verdicts
from evaluation.answers.overlap import overlap
from evaluation.calibration import calibrate
from evaluation.configurations import CONFIGURATIONS, OF_PAIRS, Configuration
from evaluation.gold import UNKNOWN_RELEASE, GoldLine, Half, read_gold
from evaluation.metrics import Outcome, likeness, reliability, summary, trade_off
from evaluation.pipeline import ask, stages_of, warm
from evaluation.plots import MISSING, draw
from evaluation.report import Tell, made, markdown, silent, write

VERDICTS = "verdicts.jsonl"
"""File of the report's folder that keeps what the judge said."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to measure.

    `names` are configurations, all of them where there are none. `judged` names those whose answers
    the model judges too, which takes about nine calls a question. Without `answers` only retrieval is
    measured. `enough` is the least confidence for an answer, None for the product's own; `recipe` is what
    serves, whose stages are measured.
    """

    half: Half = "all"
    names: tuple[str, ...] = ()
    answers: bool = True
    judged: tuple[str, ...] = ()
    enough: float | None = None
    recipe: str = DEFAULT
    plots: bool = True


async def evaluate(
    research: Research,
    gold: Path,
    report: Path,
    options: Options | None = None,
    tell: Tell = silent,
    judging: LanguageModel | None = None,
) -> dict[str, Any]:
    """Measure every configuration on the gold questions; write and return the report.

    Writes `evaluation.json`, `evaluation.md`, `questions.jsonl` and the plots to the folder `report`;
    `judging` is the model that judges, where it is not the one that writes. `tell` hears a line on each step.
    Raises UsageError for a bad gold file or an unknown configuration. What the model does not write is
    quoted, as it is when serving.
    """
    options = options or Options()
    parts = research.parts
    ways = _ways(research, options)
    lines = await asyncio.to_thread(read_gold, gold, options.half)
    _check(research, lines, gold)
    await asyncio.to_thread(made, report)
    judge = await _judge(judging or parts.model, options, report)
    await warm(research)
    rows: list[dict[str, Any]] = []
    asked: dict[str, list[Outcome]] = {}
    for configuration, stages in ways.items():
        # One after the other: times are measured.
        outcomes = [(await ask(stages, line, configuration.standalone))[1] for line in lines]
        asked[configuration.name] = outcomes
        row = await _row(configuration.name, outcomes, research, options, judge)
        rows.append(row)
        tell(_line(row))
    result = {
        "gold": gold.name,
        "half": options.half,
        "questions": len(lines),
        **_conditions(research, options, judge),
        "configurations": rows,
        "confidence": _confidence(asked),
    }
    drawn = await asyncio.to_thread(draw, result, report) if options.plots else ()
    if options.plots and not drawn:
        tell(MISSING)
    told = [_question(name, outcome) for name, outcomes in asked.items() for outcome in outcomes]
    await asyncio.to_thread(_write, report, result, told, drawn)
    return result


def _conditions(research: Research, options: Options, judge: Judge | None) -> dict[str, Any]:
    """Return what was measured, with which models."""
    parts = research.parts
    enough = parts.searcher.ranking.judgement.enough if options.enough is None else options.enough
    return {
        "product": parts.product.name,
        "releases": sorted(research.corpora),
        "encoder": next((c.encoder for c in research.corpora.values()), ""),
        "model": parts.model.name if parts.model else "",
        "judge": judge.name if judge else "",
        "recipe": options.recipe,
        "threshold": enough,
    }


async def _row(
    name: str, outcomes: Sequence[Outcome], research: Research, options: Options, judge: Judge | None
) -> dict[str, Any]:
    """Return the figures of a configuration."""
    row = summary(name, outcomes)
    if options.answers:
        row["likeness"] = await _likeness(outcomes, await research.parts.encoders.current())
    if judge and name in options.judged:
        row["judged"] = await judge.means(outcomes)
    return row


def _ways(research: Research, options: Options) -> dict[Configuration, tuple[Stage, ...]]:
    """Return the stages of each configuration; those of a step that the recipe does not have are left out."""
    serving = stages_of(research, options.recipe)
    steps = {"+reduce": Reduce, "+select": Select}
    missing = {name for name, step in steps.items() if not any(isinstance(s, step) for s in serving)}
    every = (*CONFIGURATIONS, *OF_PAIRS)
    known = {configuration.name: configuration for configuration in every}
    for name in (*options.names, *options.judged):
        if name not in known:
            raise UsageError(f"There is no configuration '{name}'; there is: {', '.join(known)}.")
    offered = every if research.has_pairs() else CONFIGURATIONS
    chosen = [known[name] for name in dict.fromkeys(options.names)]
    chosen = chosen or [one for one in offered if one.name not in missing]
    return {how: stages_of(research, options.recipe, how, options.enough, options.answers) for how in chosen}


async def check(research: Research, gold: Path) -> None:
    """Raise UsageError where a gold file asks about releases that are not there or not indexed."""
    _check(research, await asyncio.to_thread(read_gold, gold), gold)


def _check(research: Research, lines: Sequence[GoldLine], gold: Path) -> None:
    wanted = {name for line in lines for name in (line.places or [line.release]) if name}
    known = {release.name for release in research.parts.product.releases}
    if foreign := sorted(wanted - known):
        raise UsageError(
            f"{gold.name} asks about {', '.join(foreign)}, which {research.parts.product.name} does not "
            f"have in corpora.toml; name the right one with --config."
        )
    if missing := sorted(wanted - research.corpora.keys()):
        raise UsageError(f"{', '.join(missing)} is not indexed yet; run `threadlore index` first.")


async def _judge(model: LanguageModel | None, options: Options, report: Path) -> Judge | None:
    if not options.judged:
        return None
    if model is None:
        raise UsageError("Judging needs a model; set OLLAMA_HOST, or leave the judge out.")
    return Judge(model, await asyncio.to_thread(Verdicts, report / VERDICTS))


async def _likeness(outcomes: Sequence[Outcome], encoder: Encoder) -> dict[str, float]:
    """Compare answers with gold ones: by words, by what they name, and (`sim`) by their vectors."""
    said = [(o.answer, o.line.answer) for o in outcomes if o.answer and o.line.answer]
    if not said:
        return {}
    answers, gold = [answer for answer, _ in said], [true for _, true in said]
    told = await asyncio.to_thread(likeness, answers, gold) | overlap(answers, gold)
    cosines = [
        one @ other
        for one, other in zip(await encoder.encode(answers), await encoder.encode(gold), strict=True)
    ]
    return told | {"sim": round(float(sum(cosines) / len(cosines)), 4)}


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
        "route": outcome.route,
        "right": outcome.right,
        "answer": outcome.answer,
        "truth": outcome.line.answer,
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
    write(report, "evaluation", result, markdown(result, drawn))
    (report / "questions.jsonl").write_text("".join(f"{line}\n" for line in told), "utf-8")
