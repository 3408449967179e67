"""The report of a run in words: a Markdown table of every configuration, then what stands out."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from core.errors import UsageError
from evaluation.tables import cell, grid

_COLUMNS = (
    ("hit@1", "hit@1"),
    ("hit@3", "hit@3"),
    ("hit@8", "hit@8"),
    ("mrr", "MRR"),
    ("wrong_release_top3", "wrong release"),
    ("handed_hit", "handed over"),
    ("handed_characters", "characters"),
    ("must_contain", "answer right"),
    ("abstain_recall", "abstained"),
    ("answerable_lost", "lost"),
    ("ms_p50", "ms"),
    ("model_calls", "calls"),
)


def made(folder: Path) -> Path:
    """Make a report's folder before anything is asked; blocking. Raises UsageError where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"{folder} cannot hold a report ({reason}); name a folder with --report.") from None
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{folder} may not be written to; name another folder with --report.")
    return folder


def write(folder: Path, name: str, data: Any, text: str) -> None:
    """Write what a report holds as JSON, and the report in words as Markdown; blocking."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", "utf-8")
    (folder / f"{name}.md").write_text(text, "utf-8")


def markdown(report: Mapping[str, Any], plots: Sequence[str] = ()) -> str:
    """Write a report as Markdown."""
    rows: Sequence[Mapping[str, Any]] = report["configurations"]
    head = (
        f"# {report['product']}: {report['gold']}, half `{report['half']}`, {report['questions']} questions"
    )
    parts = [head, _facts(report), _table(rows, _COLUMNS)]
    for key, title in (("by_release", "By release"), ("by_type", "By type")):
        if rows and (chosen := next((row for row in rows if row["name"] == "all"), rows[-1])):
            parts += [f"## {title} (`{chosen['name']}`)", _groups(chosen[key])]
    if confidence := report.get("confidence"):
        parts += ["## Confidence", _confidence(confidence)]
    if judged := [row for row in rows if row.get("judged")]:
        names = list(judged[0]["judged"])
        flat = [{"name": row["name"], **row["judged"]} for row in judged]
        who = report.get("judge") or "the model"
        own = ", which wrote them itself" if who == report.get("model") else ""
        parts += [
            f"## Judged by {who}{own}",
            _table(flat, [(name, name.replace("_", " ")) for name in names]),
        ]
    parts += [f"![{name.removesuffix('.png')}]({name})" for name in plots]
    return "\n\n".join(parts) + "\n"


def _facts(report: Mapping[str, Any]) -> str:
    model = report.get("model") or "none, answers quote"
    return (
        f"Encoder: {report['encoder']} · model: {model} · threshold of confidence: {report['threshold']}.\n\n"
        "`handed over` is the share of questions for which the evidence is in what the answer was written "
        "from, `characters` the median length of that; the ablations switch on one step each."
    )


def _table(rows: Sequence[Mapping[str, Any]], columns: Sequence[tuple[str, str]]) -> str:
    shown = [(key, title) for key, title in columns if any(row.get(key) is not None for row in rows)]
    figures = [[row["name"], *(cell(row.get(key)) for key, _ in shown)] for row in rows]
    return grid(["configuration", *(title for _, title in shown)], figures)


def _groups(groups: Mapping[str, Mapping[str, Any]]) -> str:
    columns = ("n", "hit@1", "hit@3", "hit@8", "mrr", "must_contain", "abstained", "refused")
    flat = [{"name": name or "(none)", **figures} for name, figures in groups.items()]
    return _table(flat, [(column, column) for column in columns]).replace("configuration", "group", 1)


def _confidence(confidence: Mapping[str, Any]) -> str:
    reliability, columns = confidence["reliability"], ("confidence", "answerable", "n")
    lines = [
        f"Brier score {cell(reliability['brier'])}, expected calibration error {cell(reliability['ece'])}.",
        "",
        grid(columns, [[cell(row[key]) for key in columns] for row in reliability["bins"]], ["---:"] * 3),
    ]
    if fitted := confidence.get("fitted"):
        weights = ", ".join(f"{name} {value:+}" for name, value in fitted["coefficients"].items())
        lines += [
            "",
            f"Fitted anew on these questions: bias {fitted['bias']:+}, {weights}; threshold "
            f"{fitted['threshold']} loses {cell(fitted['answerable_lost'])} of the answerable and abstains "
            f"from {cell(fitted['abstained'])} of the others.",
        ]
    return "\n".join(lines)


Tell = Callable[[str], None]


def silent(line: str) -> None:
    """Hear nothing."""
