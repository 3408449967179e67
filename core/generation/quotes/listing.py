"""Answers quoted from release notes: "what changed in 3.1?", and what became of a name that is gone."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from core.domain import Citation, Evidence, numbered
from core.generation.citations import citation
from core.generation.phrases import either
from core.generation.quotes.blocks import split
from core.generation.quotes.entries import entries_of, fitting, telling
from core.generation.quotes.writing import heading_over, more
from core.languages import N_, _
from core.retrieval.release_notes.dated import Came
from core.retrieval.release_notes.gone import IN_CODE, Told, summed_up
from core.retrieval.release_notes.names import named
from core.retrieval.release_notes.notes import as_written, later
from core.retrieval.release_notes.notes import numbers as release_numbers
from core.text.markup import inert, link
from core.text.words import one_line, sentences
from core.vocabulary import in_english

MAX_PAGES = 4
"""Pages of notes in one answer; ours."""
CHARACTERS = 1_600
"""Length at which no further entry is listed; ours: about what one Discord message shows."""
_FURTHER = N_("More notes: {pages}")
_ITEM = re.compile(r"(?:[-*+]|\d{1,3}[.)])\s")
MAX_PARTIAL = 2
"""Entries that are shown where notes only tell of parts of a name."""
_FATES = {
    "deprecated": N_("deprecated in {version}"),
    "renamed": N_("renamed in {version}"),
    "replaced": N_("replaced in {version}"),
    "removed": N_("removed in {version}"),
}
MOST_SUCCESSORS = 2
"""Names that are told to take the place of one; ours."""
_SUCCESSOR = re.compile(
    r"(?:\buse|\balias (?:for|of)|\brenamed (?:to|as)|\breplaced (?:by|with)|\bin favou?r of"
    r"|\bimport them (?:directly )?from"
    r"|\bmoved to(?: \w{1,20}){0,5}|\boverridden (?:using|with|by))(?: the| a)?(?: new)?"
    r" `(?P<after>[^`\s]{1,80}?)(?:\([^`]{0,80}\))?`"
    r"|`(?P<before>[^`\s]{1,80})` (?:now )?replaces `(?P<old>[^`]{1,80})`"
    r"|`(?P<its>[^`\s]{1,80})`(?:,? (?:and|or|&) `(?P<other>[^`\s]{1,80})`)?"
    r" (?:now )?replaces? (?:it|this|them|these)\b",
    re.IGNORECASE,
)
_ADVISES = re.compile(
    r"(?:if you|instead\b|(?:please )?(?:use|switch|migrate|replace|move|change|call|pass|set)\b"
    r"|you(?:'ll)? (?:can|should|must|may|need|have)\b|for the same\b"
    r"|to (?:fix|keep|get|restore|migrate|update|achieve|continue|do)\b)",
    re.IGNORECASE,
)
"""How a paragraph begins that says what to do now that something is gone."""
_LONGEST_ADVICE = 400
"""Characters up to which it is quoted; ours."""
_LISTED = re.compile(r"(?:`[^`]{1,80}`(?:,? (?:and|or) |, )?){1,8}")


def listed(
    evidence: Sequence[Evidence], kind: str, product: str, release: str, matched: bool = False
) -> tuple[str, tuple[Citation, ...]]:
    """List the entries of release notes in their order, as Markdown, with citations numbered from 1.

    Where any entry tells of the asked kind of change, only those that do are listed. Pages that have
    nothing to quote are left out; without any the text is empty. `release` names what is asked about;
    notes that all are of one release's pages are told to be from there. With `matched` only the lines
    are listed that retrieval found to tell it.
    """
    # a changelog may stand in two documents
    first = {(i.chunk.release, i.chunk.heading, i.chunk.page): i for i in reversed(evidence)}
    evidence = [i for i in evidence if i is first[i.chunk.release, i.chunk.heading, i.chunk.page]]
    if matched:
        pages = [(item, list(item.matched)) for item in evidence if item.matched]
    else:
        pages = [(item, entries_of(item.chunk.page)) for item in evidence]
    if any(telling(kind, item, entries) for item, entries in pages):
        pages = [(item, telling(kind, item, entries)) for item, entries in pages]
    of = {item.chunk.release for item in evidence}
    release = of.pop() if len(of) == 1 else release
    shown: dict[int, _Notes] = {}
    citations: list[Citation] = []
    further: list[str] = []
    left = CHARACTERS
    for item, entries in pages:
        kept: list[str] = []
        for entry in entries:
            if not (fitted := fitting(entry, left)):
                break
            kept.append(fitted)
            left -= len(fitted)
        if not entries:
            continue
        cited = numbered([citation(item, 0)], citations)[0]
        heading = heading_over(item.chunk, product, release) or item.chunk.path
        is_cut, is_new = len(kept) < len(entries), cited.number not in shown
        # "Released 2024-12-19" alone tells nothing of what changed
        says_nothing = is_cut and citations and not any(map(_ITEM.match, kept))
        if is_new and (not kept or says_nothing or cited.number > MAX_PAGES):
            further.append(link(heading, item.chunk.url))
            continue
        notes = shown.setdefault(cited.number, _Notes(heading))
        notes.entries += kept
        notes.is_cut |= is_cut
        citations += [cited] if kept else []
    told = "\n\n".join(notes.written(number) for number, notes in shown.items())
    parts = [more(told, [n for n, notes in shown.items() if notes.is_cut])] if told else []
    if parts and further:
        parts.append(_(_FURTHER).format(pages=" · ".join(list(dict.fromkeys(further))[:MAX_PAGES])))
    return "\n\n".join(parts), tuple(citations)


@dataclass(slots=True)
class _Notes:
    """What is listed of one source."""

    heading: str
    entries: list[str] = field(default_factory=list)
    is_cut: bool = False

    def written(self, number: int) -> str:
        body = "\n".join(f"> {line}".rstrip() for entry in self.entries for line in entry.split("\n"))
        return inert(f"**{self.heading}**\n{body} [{number}]")


def fate(
    told: Sequence[Told],
    product: str,
    release: str,
    has_it: Collection[str] = (),
    lacks_it: Collection[str] = (),
    briefly: bool = False,
) -> tuple[str, tuple[Citation, ...]]:
    """Say what became of names, in a sentence each, with the notes that tell it, newest first.

    The names that take their place are told. `has_it` are those that the asked release still has, `lacks_it`
    those that a question takes it to have. `briefly` leaves the notes' own words out.
    """
    shown: dict[tuple[str, str], Told] = {}
    for name in dict.fromkeys(one.name for one in told):
        of_it = [one for one in told if one.name == name]
        for one in summed_up(of_it) or of_it[:MAX_PARTIAL]:
            shown[one.page.id, one.line] = one
    entries = sorted(shown.values(), key=told.index)
    pages = {one.page.id: one.page for one in entries}
    citations = numbered(citation(Evidence(1, page, 1.0), 0) for page in pages.values())
    numbers = {key: one.number for key, one in zip(pages, citations, strict=True)}
    parts = [
        _fate_of(name, entries, numbers, product, release, name in has_it, name in lacks_it)
        for name in dict.fromkeys(one.name for one in told)
    ]
    if briefly:
        return " ".join(inert(part) for part in parts if part), citations
    for key, page in pages.items():
        mine = [one.line for one in entries if one.page.id == key]
        lines = "\n".join(f"> - {line}" for line in mine)
        if advice := _advice(page.page, mine[-1]):
            lines += f"\n\n> {advice}"
        parts.append(f"**{heading_over(page, product, release)}**\n{lines} [{numbers[key]}]")
    return "\n\n".join(inert(part) for part in parts if part), citations


def _advice(page: str, line: str) -> str:
    """Return the paragraph of a page right behind a line that says what to do now; empty without one."""
    blocks = split(page)
    places = (n for n, block in enumerate(blocks[:-1]) if one_line(block.text) == line)
    at = next(places, len(blocks))
    behind = [one_line(one.text) for one in blocks[at + 1 : at + 2] if one.kind == "paragraph"]
    return next((one for one in behind if len(one) <= _LONGEST_ADVICE and _ADVISES.match(one)), "")


def _fate_of(
    name: str,
    notes: Sequence[Told],
    numbers: Mapping[str, int],
    product: str,
    release: str,
    has_it: bool,
    lacks_it: bool,
) -> str:
    """Return "`X` was deprecated in 2.2 and removed in 2.3."; empty where notes tell of parts of it only."""
    mine = [one for one in notes if one.name == name]
    events = [
        f"{_(_FATES[one.fate]).format(version=_version_of(one))} [{numbers[one.page.id]}]"
        for one in _without_same_version(summed_up(mine))
    ]
    if not events:
        return ""
    # a heading that names several words is no code
    told_of = _("{name}: {events}.") if " " in name else _("`{name}` was {events}.")
    joined = reduce(lambda one, more: _("{one} and {another}").format(one=one, another=more), events)
    told = [told_of.format(name=name, events=joined)]
    if has_it:
        told.append(_("{release} still has it.").format(release=f"{product} {release}"))
    elif lacks_it and any(one.fate == "removed" for one in mine):
        told.append(_("{release} does not have it.").format(release=f"{product} {release}"))
    if instead := successors(mine):
        source = next(one for one in mine if successors([one]))
        names = either([f"`{one}`" for one in instead])
        use = _("Use {names} instead.").format(names=names)
        told.append(f"{use[:-1]} [{numbers[source.page.id]}]{use[-1]}")
    return " ".join(told)


def _without_same_version(told: Sequence[Told]) -> list[Told]:
    """Tell one fate of a version: its removal, else that it was deprecated, so that it still works."""
    fates = {(one.fate, _without_zeros(one.version)) for one in told}

    def counts(one: Told) -> bool:
        version = _without_zeros(one.version)
        milder = one.fate in ("renamed", "replaced") and ("deprecated", version) in fates
        is_over = one.fate == "deprecated" and ("removed", version) in fates
        return bool(one.fate) and not milder and not is_over

    return [one for one in told if counts(one)]


def _without_zeros(version: tuple[int, ...]) -> tuple[int, ...]:
    return version if not version or version[-1] else _without_zeros(version[:-1])


def successors(told: Sequence[Told]) -> tuple[str, ...]:
    """Return the names that take the place of a name, by the sentences that tell its fate and those after."""
    found: dict[str, None] = {}
    for one in told:
        known = named(one.name)
        parts = sentences(in_english(one.line))
        at = next((n for n, part in enumerate(parts) if known.search(part)), None)
        if at is None:  # "importing `X` from `kettle`"
            known = named(one.name.rpartition(".")[2])
            at = next((n for n, part in enumerate(parts) if known.search(part)), None)
        if at is None or not one.fate:
            continue
        before = [part for part in parts[:at] if re.search(r"\b(?:is|are|was|were) moved to\b", part)]
        after = [part for part in parts[at + 1 : at + 2] if not re.search(r"`[^`]{1,80}` (?:is|are) ", part)]
        for match in (one for part in (*before, parts[at], *after) for one in _SUCCESSOR.finditer(part)):
            name = match["after"] or (match["before"] if known.fullmatch(match["old"] or "") else "")
            name = _at_its_place(known, match) or name
            for one in filter(None, (name, match["its"], match["other"])):
                if not (known.fullmatch(one) or known.fullmatch(f"`{one}`")):
                    found[one] = None
    # "use `call(now=True)`" and "`call(now=True)` replaces it" tell of one
    kept = (one for one in found if not any(other.startswith(f"{one}(") for other in found))
    return tuple(kept)[:MOST_SUCCESSORS]


def _at_its_place(known: re.Pattern[str], match: re.Match[str]) -> str:
    """Return the name that takes a name's place where several are told in one order: "A and B to C and D"."""
    listed = _LISTED.match(match.string, match.start("after") - 1) if match["after"] else None
    if listed is None:
        return ""
    new = IN_CODE.findall(listed[0])
    for run in _LISTED.finditer(match.string, 0, listed.start()):
        old = IN_CODE.findall(run[0])
        at = next((n for n, one in enumerate(old) if known.search(one)), None)
        if at is not None and len(old) == len(new) > 1:
            return str(new[at]).partition("(")[0].lstrip("~.")
    return ""


def arrival(told: Sequence[Came], product: str, release: str) -> tuple[str, tuple[Citation, ...]]:
    """Say with which version names came, a sentence each, with the notes that tell it."""
    pages = {one.page.id: one.page for one in told}
    citations = numbered(citation(Evidence(1, page, 1.0), 0) for page in pages.values())
    numbers = {key: one.number for key, one in zip(pages, citations, strict=True)}
    until = release_numbers(release)
    parts = [
        " ".join(
            _("`{name}` came with {version}.").format(
                name=one.name, version=f"{_version_of(one)} [{numbers[one.page.id]}]"
            )
            for one in told
        )
    ]
    if until and all(later(one.version, until) for one in told) and len(told) == 1:
        parts[0] += " " + _("{release} does not have it.").format(release=f"{product} {release}")
    for key, page in pages.items():
        lines = "\n".join(f"> - {one.line}" for one in told if one.page.id == key)
        parts.append(f"**{heading_over(page, product, release)}**\n{lines} [{numbers[key]}]")
    return "\n\n".join(inert(part) for part in parts), citations


def dropping(
    told: Told, product: str, release: str, is_since_when: bool = False
) -> tuple[str, tuple[Citation, ...]]:
    """Say which version dropped a version of other software, with the notes that tell it.

    That is a no, unless the version is what is asked for.
    """
    citations = numbered([citation(Evidence(1, told.page, 1.0), 0)])
    version = _version_of(told)
    answer = _("{version} dropped {software}.") if is_since_when else _("No: {version} dropped {software}.")
    said = answer.format(version=version, software=told.name)
    above = f"**{heading_over(told.page, product, release)}**"
    return inert(f"{said[:-1]} [1]{said[-1]}\n\n{above}\n> - {told.line} [1]"), citations


def _version_of(told: Told | Came) -> str:
    """Write a version as the notes that tell it do, over or in what is quoted: `v2024.07.0`."""
    return as_written(told.version, (told.line, told.page.heading, told.page.title))
