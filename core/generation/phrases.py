"""The bot's own fixed sentences, and the explanation of an answer in plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from core.domain import Evidence, FoundTrace, Product, RecalledTrace, Resolution, Trace
from core.generation.quotes.blocks import split
from core.generation.quotes.glimpse import glimpse_of
from core.generation.quotes.titles import headings_of
from core.languages import N_, _, ngettext, told_name
from core.ports.opinions import Correction
from core.prompts import DONT_KNOW
from core.text.markup import inert, link

NEAREST = 3
"""Pages offered where there is no answer."""
REMEMBERED = 700
"""Characters shown of a remembered answer to a question that is only like the asked one."""
_UNTRANSLATED = N_(
    "Your question is in {language}, the documentation is in {documentation}, and no language model"
    " translated it. Ask in {documentation}."
)
_MAY_HELP = N_("These pages mention words from your question:")


def calculation(working: str, result: str, facts: Sequence[str]) -> str:
    """Tell what was worked out, how, and that no documentation is behind it."""
    told = f"`{working}` = **{result}**" if "`" not in working else f"**{result}**"
    by = f"{'; '.join(facts)}. " if facts else ""
    marked = _("This is a calculation. The documentation was not needed.")
    return f"{told}\n\n*{by}{marked}*"


def converted(figure: str, result: str, source: int) -> str:
    """Tell a figure of a source in another unit."""
    cited = f"{figure} [{source}]" if source else figure
    return _("Calculation: {figure} = {result}").format(figure=cited, result=f"**{result}**")


def unknown_release(product: Product, resolution: Resolution) -> str:
    """Say that a release does not exist, and which do."""
    latest = _("{release} (latest)").format(release=product.latest.name)
    names = [latest if r == product.latest else r.name for r in reversed(product.releases)]
    return _(
        "I have no docs for {product} {release}. The releases I can answer for are: {releases}. "
        "Ask again with one of them."
    ).format(product=product.name, release=either(resolution.unknown), releases=", ".join(names))


def not_ready(product: Product, release: str, ready: Sequence[str]) -> str:
    """Say that a release is not indexed yet, being read or having failed; and which ones answer already."""
    reading = _("I have not read the documentation of {product} {release} yet. Please ask again later.")
    said = reading.format(product=product.name, release=release)
    return " ".join(
        [said, *([_("Ready now: {releases}.").format(releases=", ".join(ready))] if ready else ())]
    )


def dont_know(
    product: Product,
    evidence: Sequence[Evidence],
    like: str = "",
    foreign: str = "",
    weights: Mapping[str, float] | None = None,
) -> str:
    """Say the one phrase for having no answer, in the language of the moment, and link the nearest pages.

    `like` is what is remembered of a question like it. `foreign` names the language of a question that
    nobody translated into that of the documentation: then that is why. With the `weights` of the question's
    terms each page shows its sentence that holds most of them; of pages that say the same the first is named.
    """
    pages: list[str] = []
    seen: set[tuple[str, str]] = set()
    several = len({item.chunk.release for item in evidence}) > 1
    for item in evidence:
        page = link(headings_of(item.chunk), item.chunk.url)
        # the answer says which release it speaks for; where it speaks for several, each page says its own
        release = f" ({product.name} {item.chunk.release})" if several else ""
        sentence = glimpse_of(item.chunk, weights) if weights and not foreign else ""
        told = {(words, release) for words in (page, sentence) if words}
        if told & seen:
            continue
        seen |= told
        pages.append(f"- {page}{release}" + (f": {sentence}" if sentence else ""))
        if len(pages) == NEAREST:
            break
    said = _(DONT_KNOW)
    if foreign:
        names = {"language": told_name(foreign), "documentation": told_name(product.language)}
        said = _(_UNTRANSLATED).format(**names)
    parts = [said, *([like] if like else [])]
    if pages:
        parts.append("\n".join([_(_MAY_HELP) if foreign else _("The nearest pages are:"), *pages]))
    return "\n\n".join(parts)


def remembered(question: str, answer: str) -> str:
    """Offer the answer to a question like this one, which is remembered."""
    said = _("A similar question was answered: “{question}”").format(question=inert(question))
    kept: list[str] = []
    for block in split(answer):
        if kept and sum(map(len, kept)) + len(block.text) > REMEMBERED:
            kept.append("…")
            break
        kept.append(block.text)
    return "\n\n".join([said, *kept])


def in_another_language(language: str) -> str:
    """Say that a remembered answer is in another language than the question."""
    return _("I know a good answer to this only in {language}:").format(language=told_name(language))


def either(names: Sequence[str]) -> str:
    """Join names by "or"."""
    return _(" or ").join(names)


def both(release: str) -> str:
    """Name the release of an answer, or the several that it compares (`2.0+3.1`)."""
    *first, last = release.split("+")
    return _(" and ").join([", ".join(first), last]) if first else last


def not_mentioned(name: str, product: str, release: str, others: Sequence[str]) -> str:
    """Say that a release's pages never say a name, and which others have an entry of it."""
    told = _("The documentation of {product} {release} does not mention `{name}`. That of {others} does:")
    return inert(told.format(product=product, release=release, name=name, others=both("+".join(others))))


def nothing_on(parts: Sequence[str], product: str, release: str, *, translated: bool = False) -> str:
    """Say of which parts the documentation holds nothing; empty where there are none.

    Parts of a `translated` question are not in the asker's words, so they are not repeated.
    """
    if not parts:
        return ""
    named = f"{product} {both(release)}".rstrip()
    if translated:
        said = _("I found nothing in the {product} documentation on a part of the question.")
        return said.format(product=named)
    asked = _(" and on ").join(f"“{inert(part)}”" for part in parts)
    said = _("I found nothing in the {product} documentation on {questions}.")
    return said.format(product=named, questions=asked)


_ORIGINS = {
    "given": N_("Release {release}: the asker chose it."),
    "question": N_("Release {release}: the question names it."),
    "thread": N_("Release {release}: it was named earlier in the thread."),
    "channel": N_("Release {release}: it is this channel's release."),
    "person": N_("Release {release}: it is the asker's default release."),
    "latest": N_("Release {release}: nothing named one, and it is the latest."),
}
_ROUTES = {
    "reuse": N_("A remembered answer to the same question was reused; no model was called."),
    "reference": N_("The model wrote it from the pages below, with remembered good answers as examples."),
    "avoid": N_("The model wrote it from the pages below, told not to repeat answers that were voted down."),
    "documents": N_("The model wrote it from the pages below."),
    "quote": N_("It quotes the best sentences of the pages below; no model wrote it."),
    "calculation": N_("It was worked out by a calculator; no page and no model was needed."),
    "abstain": N_("It gives no answer."),
}

_PERSON = N_(
    "A person's answer to the same question was reused, which a helper vouched for; no model was called."
)
_REUSED = N_("A remembered answer to the same question was reused; no model wrote it.")
_VOUCHED = N_(
    "A person's answer to the same question was reused, which a helper vouched for; no model wrote it."
)
"""The same where the model took steps before: it was called, though not to write."""
_ASKED = {
    "understand": N_("The model was asked what the question means."),
    "guard": N_("The model was asked whether the remembered question is the same."),
}
_WRONG = {
    "release": N_("it is for the wrong release"),
    "wrong": N_("it is wrong"),
    "outdated": N_("it is outdated"),
    "other": N_("it is not what was asked"),
}


_KNOWN = {
    "high": N_("People liked the answer to a question that is {similarity} similar: “{question}”."),
    "low": N_("People voted down the answer to a question that is {similarity} similar: “{question}”."),
}


_PAGES = N_("The pages looked {confidence} likely to answer the question ({threshold} is needed).")
_QUOTE = N_("The quote looked {confidence} likely to hold the answer ({threshold} is needed).")
_TOO_LITTLE = N_(
    "The best quote looked {confidence} likely to hold the answer ({threshold} is needed), "
    "so I do not show it."
)


def corrected(corrections: Sequence[Correction]) -> list[str]:
    """Tell what people found wrong with an answer; what they wrote instead only where it is remembered."""
    counts = Counter(correction.what for correction in corrections)
    lines = [
        ngettext("{count} person said: {what}.", "{count} people said: {what}.", count).format(
            count=count, what=_(_WRONG.get(what, what))
        )
        for what, count in counts.most_common()
    ]
    better = _("{name} wrote a better answer: {text}")
    lines += [better.format(name=inert(c.name), text=inert(c.better)) for c in corrections if c.pair_id]
    return lines


def why(row: Mapping[str, Any]) -> list[str]:
    """Explain a kept answer (a row of `answers`) in plain sentences."""
    trace = Trace.of(row["trace"])
    lines = [_(_route(row["route"], trace))]
    if row["route"] == "reuse":
        lines += [_(asked) for step, asked in _ASKED.items() if step in trace.steps]
    origin = _ORIGINS.get(trace.understood.release_origin) if trace.understood else None
    if row["release"] and origin:
        lines.append(_(origin).format(release=row["release"]))
    if trace.understood and trace.understood.rewritten:
        lines.append(_("It was understood as: {question}").format(question=inert(trace.queries.base)))
    if trace.recalled:
        lines += _recalled(trace.recalled)
    if trace.model_error:
        lines.append(_("The model did not write it: {why}").format(why=_(trace.model_error)))
    return lines + (_found(trace.found) if trace.found else [])


def _route(route: str, trace: Trace) -> str:
    """Return how an answer came about; of one that was reused, whether a model had a part in that."""
    if trace.origin == "person":
        return _VOUCHED if trace.steps else _PERSON
    return _REUSED if route == "reuse" and trace.steps else _ROUTES[route]


def _recalled(recalled: RecalledTrace) -> list[str]:
    """Tell what memory knew."""
    near = {"high": recalled.high, "low": recalled.low}
    lines = [
        _(known).format(question=inert(pair.question), similarity=f"{pair.similarity:.0%}")
        for kind, known in _KNOWN.items()
        for pair in near[kind]
    ]
    lines += [recalled.decided] if recalled.decided else []
    if recalled.guard:
        lines.append(_("The nearest good one was not reused: {why}").format(why=recalled.guard))
    return lines


def _found(found: FoundTrace) -> list[str]:
    """Tell which pages were found, and how likely they answer; of a quote, how likely it does."""
    lines = []
    if found.confidence is not None:
        sure, needed = f"{found.confidence:.0%}", f"{found.threshold:.0%}"
        if "found" in found.signs:  # a sign of quotes alone: the figure is that of what is quoted
            pages = _("The pages looked {confidence} likely to answer the question.")
            quote = _TOO_LITTLE if found.level == "none" else _QUOTE
            lines = [
                pages.format(confidence=f"{found.signs['found']:.0%}"),
                _(quote).format(confidence=sure, threshold=needed),
            ]
        else:
            lines = [_(_PAGES).format(confidence=sure, threshold=needed)]
    page_line = _("Page {place}: {title} ({release})")
    lines += [
        page_line.format(place=place, title=link(page.title.rstrip(": "), page.url), release=page.release)
        for place, page in enumerate(found.evidence, start=1)
    ]
    return lines
