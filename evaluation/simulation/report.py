"""The figures of a simulation: a row for each round, a summary for each run, and a report in words."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.simulation.world import Outcome, Round
from evaluation.tables import cell, grid

ROUTES = ("reuse", "reference", "avoid", "documents")
_ROUND = (
    "round",
    "asked",
    *ROUTES,
    "reuse_precision",
    "stored",
    "growth",
    "model_calls",
    "ms_mean",
)
_RUN = (
    "reuse_first",
    "reuse_last",
    "reuse_precision",
    "right",
    "calls_change",
    "stored",
    "growth_last",
    "across_releases",
)
_SPREAD = (
    "reuse_first",
    "reuse_last",
    "known_reused_rightly_last",
    "reuse_precision",
    "others_reused",
    "right",
    "calls_first",
    "calls_last",
    "calls_change",
    "growth_last",
    "pairs_growth_last",
    "stored",
    "across_releases",
)


def rows(played: Sequence[Round], seconds: float) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows of the rounds, and what else is known of each.

    Shares are of the round's questions. `growth` is that of the stored pairs over what was stored before
    the round, None where nothing was; `ms_mean` the measured recall plus `seconds` a model call.
    """
    made, details = [], []
    for number, one in enumerate(played, start=1):
        asked = one.outcomes
        calls = _share(asked, lambda o: o.route != "reuse")
        made.append(
            {
                "round": number,
                "asked": len(asked),
                **{route: round(_share(asked, lambda o, r=route: o.route == r), 4) for route in ROUTES},
                "reuse_precision": _precision(asked),
                "stored": one.stored,
                "growth": _growth(one.before, one.stored),
                "model_calls": round(calls, 4),
                "ms_mean": round(sum(o.ms for o in asked) / max(1, len(asked)), 2),
            }
        )
        known = [o for o in asked if o.known]
        details.append(
            {
                "round": number,
                "known": len(known),
                "known_reused_rightly": round(_share(known, lambda o: o.route == "reuse" and o.right), 4),
                "right": round(_share(asked, lambda o: o.right), 4),
                "across_releases": sum(o.across for o in asked),
                "pairs": one.pairs,
                "recall_ms": round(sum(o.ms for o in asked) / max(1, len(asked)) - calls * seconds * 1000, 3),
            }
        )
    return made, details


def summary(played: Sequence[Round]) -> dict[str, Any]:
    """Return the figures of a whole run."""
    every = [outcome for one in played for outcome in one.outcomes]
    first, last = played[0], played[-1]
    calls = [_share(one.outcomes, lambda o: o.route != "reuse") for one in (first, last)]
    known = [outcome for outcome in last.outcomes if outcome.known]
    return {
        "reuse": round(_share(every, lambda o: o.route == "reuse"), 4),
        "reuse_first": round(1 - calls[0], 4),
        "reuse_last": round(1 - calls[1], 4),
        "known_reused_rightly_last": round(_share(known, lambda o: o.route == "reuse" and o.right), 4),
        "reuse_precision": _precision(every),
        "others_reused": _of_others(every),
        "right": round(_share(every, lambda o: o.right), 4),
        "model_calls": round(_share(every, lambda o: o.route != "reuse"), 4),
        "calls_first": round(calls[0], 4),
        "calls_last": round(calls[1], 4),
        "calls_change": round(calls[1] / calls[0] - 1, 4) if calls[0] else None,
        "ms_mean": round(sum(o.ms for o in every) / max(1, len(every)), 2),
        "stored": last.stored,
        "pairs": last.pairs,
        "growth_last": _growth(last.before, last.stored),
        "pairs_growth_last": _growth(last.pairs_before, last.pairs),
        "across_releases": sum(outcome.across for outcome in every),
    }


def spread(runs: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Return mean, standard deviation, least and most of each figure over the runs of several seeds."""
    found: dict[str, dict[str, float]] = {}
    for key in _SPREAD:
        values = [float(run[key]) for run in runs if run[key] is not None]
        if values:
            found[key] = {
                "mean": round(statistics.fmean(values), 4),
                "deviation": round(statistics.pstdev(values), 4),
                "least": round(min(values), 4),
                "most": round(max(values), 4),
            }
    return found


def markdown(report: Mapping[str, Any], details: Mapping[str, Any], plots: Sequence[str] = ()) -> str:
    """Write a report as Markdown."""
    settings = report["settings"]
    people, model, decision = settings["people"], settings["model"], settings["decision"]
    shown = [dict(zip(_ROUND, (row[key] for key in _ROUND), strict=True)) for row in report["rounds"]]
    runs = {"this memory": details["this memory"], **report["baselines"]}
    parts = [
        f"# Simulation: {settings['data']}, {settings['questions']} questions on {settings['topics']} topics",
        f"Encoder {settings['encoder']}, half `{settings['half']}`, seed {settings['seed']}; memory begins "
        f"with {settings['known']:.0%} of the original questions. Every answer has {people['readers']} "
        f"readers, of whom {people['turnout']:.0%} vote; {people['error']:.0%} of honest votes err, "
        f"{people['adversaries']:.0%} of the people vote against the truth. The model is right from "
        f"documents in {model['right']:.0%}, with a right pair for reference in "
        f"{model['right_referred']:.0%}, and takes {model['seconds']:g} s.",
        f"Decision `{decision['kind']}`"
        + (
            f": closeness of {decision['reach']:g} alone, {decision['slope']:.2f} more for each 1.0 that the "
            f"next topic is nearer than {decision['far']:g}"
            if decision["kind"] == "learned"
            else ""
        )
        + "; "
        + ", ".join(
            f"{sign} = {settings['thresholds'][key]:g}"
            for sign, key in (("δ", "delta"), ("τ", "tau"), ("γ", "gamma"))
        )
        + ".",
        "## Rounds",
        _table(shown, _ROUND),
        "## Beside other memories",
        _table([{"memory": name, **run} for name, run in runs.items()], ("memory", *_RUN)),
        *_differences(runs),
        *_over_seeds(details),
    ]
    for name, swept in details["sweeps"].items():
        parts += [f"## Other values of {name}", _table(swept, ("value", *_RUN))]
    parts += [f"![{name.removesuffix('.png')}]({name})" for name in plots]
    return "\n\n".join(parts) + "\n"


def _differences(runs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Say in words what a reader looks for first."""
    ours = runs["this memory"]
    if ours["calls_change"] is None:
        return []
    growth = "none" if ours["growth_last"] is None else f"{ours['growth_last']:.2%}"
    return [
        f"Model calls change by {ours['calls_change']:+.1%} from the first to the last round; memory grew by "
        f"{growth} in the last ({ours['pairs']} pairs, and {ours['stored'] - ours['pairs']} centres of "
        f"rewordings). Of the "
        f"rewordings of known questions {ours['known_reused_rightly_last']:.1%} were answered from memory, "
        f"and rightly, in the last round. Answers reused across releases: {ours['across_releases']}."
    ]


def _over_seeds(details: Mapping[str, Any]) -> list[str]:
    if len(details["seeds"]) < 2:
        return []
    lines = [{"figure": key.replace("_", " "), **found} for key, found in details["spread"].items()]
    first, last = (details["spread"][key]["mean"] for key in ("calls_first", "calls_last"))
    changed = f"{last / first - 1:+.1%}" if first else "nothing"
    return [
        f"## Over {len(details['seeds'])} seeds",
        _table(lines, ("figure", "mean", "deviation", "least", "most")),
        f"From the mean of the first round to that of the last, model calls change by {changed}.",
    ]


def _share(outcomes: Sequence[Outcome], holds: Any) -> float:
    return sum(1 for outcome in outcomes if holds(outcome)) / len(outcomes) if outcomes else 0.0


def _precision(outcomes: Sequence[Outcome]) -> float | None:
    reused = [outcome for outcome in outcomes if outcome.route == "reuse"]
    return round(_share(reused, lambda o: o.right), 4) if reused else None


def _of_others(outcomes: Sequence[Outcome]) -> float | None:
    others = [outcome for outcome in outcomes if outcome.other]
    return round(_share(others, lambda o: o.route == "reuse"), 4) if others else None


def _growth(before: int, after: int) -> float | None:
    return round(after / before - 1, 4) if before else None


def _table(lines: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    rows = [[cell(line.get(column)) for column in columns] for line in lines]
    return grid([column.replace("_", " ") for column in columns], rows)
