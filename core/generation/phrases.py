"""The bot's own fixed sentences, and the explanation of an answer in plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.domain import Evidence, Product, Resolution
from core.opinions import Correction
from core.prompts import DONT_KNOW

NEAREST = 3
"""Pages offered where there is no answer."""


def unknown_release(product: Product, resolution: Resolution) -> str:
    """Say that a release does not exist, and which do."""
    names = [r.name + (" (latest)" if r == product.latest else "") for r in reversed(product.releases)]
    asked = " or ".join(resolution.unknown)
    return (
        f"I know no {product.name} {asked}. The releases I can answer for are: {', '.join(names)}. "
        f"Ask again with one of them."
    )


def not_ready(product: Product, release: str, ready: Sequence[str]) -> str:
    """Say that a release is still being indexed, and which ones answer already."""
    others = f" Ready now: {', '.join(ready)}." if ready else ""
    reading = f"I am still reading the documentation of {product.name} {release}."
    return f"{reading} Please ask again in a moment.{others}"


def dont_know(product: Product, evidence: Sequence[Evidence]) -> str:
    """Say the one phrase for having no answer, and link the nearest pages."""
    links: dict[str, None] = {}
    for item in evidence:
        title = (item.chunk.heading or item.chunk.title).replace("[", "(").replace("]", ")")
        links[f"- [{title}]({item.chunk.url}) ({product.name} {item.chunk.release})"] = None
    pages = list(links)[:NEAREST]
    return DONT_KNOW + (f"\n\nThe nearest pages are:\n{chr(10).join(pages)}" if pages else "")


_ORIGINS = {
    "given": "it was chosen by the one who asked",
    "question": "the question names it",
    "thread": "it was named earlier in the thread",
    "channel": "it is this channel's release",
    "latest": "nothing named one, and it is the latest",
}
_ROUTES = {
    "reuse": "A remembered answer to the same question was reused; no model was called.",
    "reference": "The model wrote it from the pages below, with remembered good answers as examples.",
    "avoid": "The model wrote it from the pages below, told not to repeat answers that were voted down.",
    "documents": "The model wrote it from the pages below.",
    "quote": "It quotes the best sentences of the pages below; no model wrote it.",
    "abstain": "It gives no answer.",
}

_PERSON = (
    "A person's answer to the same question was reused, which a helper vouched for; no model was called."
)
_WRONG = {
    "release": "it is for the wrong release",
    "wrong": "it is wrong",
    "outdated": "it is outdated",
    "other": "it is not what was asked",
}


def corrected(corrections: Sequence[Correction]) -> list[str]:
    """Tell what people found wrong with an answer; what they wrote instead only where it is remembered."""
    counts = Counter(correction.what for correction in corrections)
    lines = [
        f"{count} {'person' if count == 1 else 'people'} said: {_WRONG.get(what, what)}."
        for what, count in counts.most_common()
    ]
    lines += [f"{c.name} wrote a better answer: {c.better}" for c in corrections if c.pair_id]
    return lines


def why(row: Mapping[str, Any]) -> list[str]:
    """Explain a kept answer (a row of `answers`) in plain sentences."""
    trace = row["trace"]
    lines = [_PERSON if trace.get("origin") == "person" else _ROUTES[row["route"]]]
    if row["release"]:
        lines.append(f"Release {row['release']}: {_ORIGINS[trace['release_origin']]}.")
    if trace.get("rewritten"):
        lines.append(f"The follow-up was understood as: {trace['queries']['base']}")
    for kind, said in (("high", "good"), ("low", "bad")):
        lines += [
            f"Memory knows a {said} answer to “{near['question']}” (similarity {near['similarity']:.2f}, "
            f"score {near['score']:.2f})."
            for near in trace.get(kind, ())
        ]
    if trace.get("decided"):
        lines.append(trace["decided"])
    if trace.get("guard"):
        lines.append(f"The nearest good one was not reused as it is: {trace['guard']}")
    if support := trace.get("support"):
        said = ", ".join(f"{name} {value:.2f}" for name, value in support.items() if name != "prior")
        lines.append(f"Before any vote its score was {support['prior']:.2f}, by its pages ({said}).")
    if trace.get("model_error"):
        lines.append(f"The model did not write it: {trace['model_error']}")
    if "confidence" in trace:
        lines.append(
            f"The pages looked {trace['confidence']:.0%} likely to answer the question "
            f"(at least {trace['threshold']:.0%} is needed)."
        )
    lines += [
        f"Page {place}: {page['title']} ({page['release']}), score {page['score']:.2f}"
        for place, page in enumerate(trace.get("evidence", ()), start=1)
    ]
    return lines
