"""Two reports of `threadlore evaluate` question by question: what one has and the other lacks."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import UsageError
from core.prompts import DONT_KNOW
from core.system.json_parts import lines_of
from core.text.words import one_line
from evaluation.answers.judges import Judge
from evaluation.metrics import sign_test
from evaluation.report import Tell, silent
from evaluation.tables import cell, grid

ALL = "all"
SHOWN = 40
"""Questions that the page lists on which the reports differ."""
Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Report:
    """A report of one configuration: its name, its lines by the question's id, and which model wrote it."""

    name: str
    lines: Mapping[str, Line]
    model: str


def read(folder: Path, configuration: str = ALL) -> Report:
    """Read a report; blocking. Raises UsageError where there is none, or none of the configuration."""
    try:
        raw = lines_of((folder / "questions.jsonl").read_text("utf-8"))
        facts = json.loads((folder / "evaluation.json").read_text("utf-8"))
        lines = [json.loads(line) for line in raw]
        own = {line["id"]: line for line in lines if line["configuration"] == configuration}
    except (FileNotFoundError, NotADirectoryError) as error:
        missing = f"{folder} has no {Path(error.filename).name}"
        raise UsageError(f"{missing}; `threadlore evaluate GOLD --report {folder}` writes it.") from error
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{folder} has a report that cannot be read ({error}); write it again.") from error
    if not own:
        names = ", ".join(dict.fromkeys(line["configuration"] for line in lines))
        raise UsageError(f"{folder} has no configuration '{configuration}'; it has: {names}.")
    return Report(folder.name, own, str(facts.get("model") or ""))


async def compare(
    first: Report, second: Report, judge: Judge | None = None, tell: Tell = silent
) -> dict[str, Any]:
    """Compare the questions that both reports have; with a judge, which answer is better, in both orders.

    Raises UsageError where they have none in common.
    """
    both = [key for key in first.lines if key in second.lines]
    if not both:
        raise UsageError(f"{first.name} and {second.name} have no question in common.")
    rows = []
    for key in both:
        one, other = first.lines[key], second.lines[key]
        row = {
            "id": key,
            "type": one["type"],
            "question": one["question"],
            "good": [good(one), good(other)],
            "rank": [one["rank"], other["rank"]],
            "abstained": [one["abstained"], other["abstained"]],
            "ms": [one["ms"], other["ms"]],
            "same": one["answer"] == other["answer"],
        }
        if judge is not None:
            texts = [line["answer"] or DONT_KNOW for line in (one, other)]
            row["better"] = await judge.preferred(one["question"], one.get("truth", ""), *texts)
            tell(f"{key}: {row['better'] or 'no verdict'}")
        rows.append(row)
    result = {
        "names": [first.name, second.name],
        "models": [first.model, second.model],
        "questions": len(both),
        "only": [len(first.lines) - len(both), len(second.lines) - len(both)],
        **figures(rows),
        "by_type": {
            kind: figures([row for row in rows if row["type"] == kind])
            for kind in sorted({row["type"] for row in rows})
        },
        "rows": rows,
    }
    if judge is not None:
        result["judge"] = judge.name
        result["own"] = [bool(name) and name == judge.name for name in result["models"]]
        result["judged"] = judged(rows)
    return result


def good(line: Line) -> bool:
    """Return True for a right answer, or for silence where there is none; for a hit where that is unknown."""
    if line["type"] in ("out_of_scope", "unknown_release"):
        return bool(line["abstained"] or line["refused"])
    if line["abstained"] or line["refused"] or line["right"] is not None:
        return bool(line["right"])
    return bool(line["rank"] == 1)


def figures(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how often both, one, the other or none is good, and how likely that is by chance."""
    counts = [(bool(a), bool(b)) for a, b in (row["good"] for row in rows)]
    gained, lost = counts.count((False, True)), counts.count((True, False))
    return {
        "n": len(rows),
        "good": [
            round(sum(a for a, _ in counts) / len(rows), 4),
            round(sum(b for _, b in counts) / len(rows), 4),
        ],
        "both": counts.count((True, True)),
        "first_only": lost,
        "second_only": gained,
        "neither": counts.count((False, False)),
        "chance": round(sign_test(gained, lost), 4),
        "same": sum(bool(row["same"]) for row in rows),
        "found_higher": _higher(rows),
        "abstained": [sum(bool(row["abstained"][at]) for row in rows) for at in (0, 1)],
    }


def judged(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the share that each side wins; what changes with the order of the two is a tie."""
    told = [row["better"] for row in rows if row.get("better")]
    wins = [told.count("first"), told.count("second")]
    total = len(told) or 1
    return {
        "n": len(told),
        "first": wins[0],
        "second": wins[1],
        "tie": told.count("tie"),
        "by_position": told.count("position"),
        "win_rate": [round((wins[at] + (len(told) - sum(wins)) / 2) / total, 4) for at in (0, 1)],
    }


def markdown(result: Mapping[str, Any], plots: Sequence[str] = ()) -> str:
    """Write a comparison: the figures, by type, what a judge said, and the questions that differ."""
    first, second = result["names"]
    alone = [f"{first} alone", f"{second} alone"]
    columns = ["", "questions", first, second, "both", *alone, "neither", "by chance"]
    keys = ("both", "first_only", "second_only", "neither", "chance")
    rows = [
        [name, *map(cell, (row["n"], *map(float, row["good"]), *(row[key] for key in keys)))]
        for name, row in (("all", result), *result["by_type"].items())
    ]
    lines = [f"# {first} and {second}, question by question", "", grid(columns, rows)]
    lines += ["", "*By chance*: how likely a difference as large is if both are as good (exact sign test)."]
    if told := result.get("judged"):
        lines += ["", f"Judged by {result['judge']}, each pair in both orders, {told['n']} questions: "]
        lines[-1] += (
            f"{first} wins {told['first']}, {second} {told['second']}, {told['tie']} ties,"
            f" {told['by_position']} went by position; win rate {told['win_rate'][0]:.3f}"
            f" to {told['win_rate'][1]:.3f}."
        )
        lines += [f"**{result['judge']} judges its own answers in {name}.**" for name in _own(result)]
    if unlike := [row for row in result["rows"] if row["good"][0] != row["good"][1]]:
        lines += ["", "| question | type | good in | rank |", "|---|---|---|---:|"]
        for row in unlike[:SHOWN]:
            told_in = first if row["good"][0] else second
            asked = one_line(row["question"])[:100].replace("|", "\\|")
            lines.append(f"| {asked} | {row['type']} | {told_in} | {row['rank'][0]} → {row['rank'][1]} |")
    lines += [part for name in plots for part in ("", f"![{name.removesuffix('.png')}]({name})")]
    return "\n".join(lines) + "\n"


def _own(result: Mapping[str, Any]) -> list[str]:
    return [name for name, is_own in zip(result["names"], result["own"], strict=True) if is_own]


def _higher(rows: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return on how many questions each side has the page that answers nearer to the top."""
    ranks = [[rank or math.inf for rank in row["rank"]] for row in rows]
    return [sum(a < b for a, b in ranks), sum(b < a for a, b in ranks)]
