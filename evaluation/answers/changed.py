"""What a change of the documentation breaks: upvoted answers and gold questions whose passage is gone.

The pages that are indexed are before the change, those of a folder after it. An answer breaks where its page
said something of it before and no longer says it; what nobody could find in its pages before cannot break.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from core.catalogue import SourceSpec
from core.domain import ContextChunk
from core.errors import SourceError
from core.feedback.stale_answers import Pages, cited_anew
from core.ingestion.parsing import cut, following, opened, patience, reaches_out
from core.ingestion.sources._files import FileReader
from core.memory.facts import says, statements
from core.ports import Encoder, Remembered, Workers
from core.text.plurals import counted
from core.text.words import one_line, shortened
from evaluation.answers.expected import Expected, Said
from evaluation.gold import GoldLine, holds_any, is_hit
from evaluation.tables import grid

CUT = 120
"""Characters of a question, or of what is lost, in the table."""
Verdict = Literal["breaks", "moved", "look"]
_NAMES = re.compile(r"<[@#!]|(?<![\w.])@[A-Za-z]|https?://|(?<![\w.+-])[\w.+-]++@[\w-]++\.\w")
"""A ping, a link or an address: nothing to show in a public pull request."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer that a change concerns: it `breaks`, its passage `moved`, or somebody has to `look`."""

    kind: Literal["remembered", "gold"]
    id: str
    question: str
    page: str
    verdict: Verdict
    why: str


@dataclass(frozen=True, slots=True)
class Folder:
    """The pages of a release as they are in a folder.

    `texts` has the passages by path, `reaching` the paths of those that include other files, `unread` why a
    page cannot be read.
    """

    texts: Mapping[str, Sequence[ContextChunk]]
    reaching: frozenset[str]
    unread: Mapping[str, str]


class _Read:
    """A folder as a source, for as long as it is read."""

    def __init__(self, name: str, reader: FileReader) -> None:
        self.name = name
        self.skipped: Sequence[tuple[str, str]] = ()
        self._reader = reader

    def documents(self) -> Iterator:  # type: ignore[type-arg]
        """Yield its documents."""
        return self._reader.documents()


async def read_folder(
    spec: SourceSpec, root: Path, folder: Path, release: str, encoder: Encoder, workers: Workers
) -> Folder:
    """Read and cut the pages of a folder as a source of files would; raises SourceError."""
    skipped: list[tuple[str, str]] = []
    source = _Read(str(folder), FileReader(spec, root, folder, spec.url, skipped, workers))
    texts: dict[str, Sequence[ContextChunk]] = {}
    reaching: set[str] = set()
    unread: dict[str, str] = {}
    async with opened(source, workers) as documents:
        while (raw := await asyncio.to_thread(following, source, documents)) is not None:
            given = (raw, release, source.name, encoder.count_tokens, encoder.max_tokens)
            cutting = partial(workers.run, cut, *given, patience=patience(raw))
            try:
                made = await asyncio.to_thread(cutting)
            except SourceError as error:
                unread[raw.path] = str(error)
                continue
            assert made is not None  # there is no hash of before
            texts[raw.path] = made.contexts
            reaching |= {raw.path} if reaches_out(raw) else set()
    return Folder(texts, frozenset(reaching), unread | dict(skipped))


def changed_pages(
    before: Mapping[str, frozenset[str]], after: Folder, named: Iterable[str] | None
) -> frozenset[str]:
    """Return the paths whose passages differ, of the `named` ones and those that include other files.

    `before` has the hashes of the passages by path. A name may be that of a folder; None means everything.
    """
    prefixes = None if named is None else tuple(name.strip("/") for name in named)
    found = set()
    for path in before.keys() | after.texts.keys():
        if before.get(path) == frozenset(chunk.hash for chunk in after.texts.get(path, ())):
            continue
        if prefixes is None or path in after.reaching or any(_is_in(path, name) for name in prefixes):
            found.add(path)
    return frozenset(found)


def _is_in(path: str, name: str) -> bool:
    return name in ("", ".", path) or path.startswith(f"{name}/")


def broken_answer(
    pair: Remembered, release: str, live: Pages, after: Folder, changed: frozenset[str]
) -> Finding | None:
    """Tell what becomes of a remembered answer, None where nothing does; `live` has the pages it cites."""
    cited = [c for c in pair.citations if c.hash and (c.release or pair.release) == release]
    concerned = [c for c in cited if c.path in changed]
    hashes = {chunk.hash for chunks in live.values() for chunk in chunks}
    if not concerned or not all(c.hash in hashes for c in concerned):
        return None  # it waits for its pages anyway
    pages: dict[tuple[str, str], Sequence[ContextChunk]] = dict(live)
    for path in {c.path for c in concerned}:
        pages[release, path] = after.texts.get(path, ())
    anew, gone = cited_anew(pair, pages)
    if anew == pair.citations:
        return None
    stated = statements(pair.answer)
    was = [chunk.page for chunks in live.values() for chunk in chunks]
    now = [chunk.page for chunks in pages.values() for chunk in chunks]
    known = [s for s in stated if any(says(page, s) for page in was)]
    lost = [s for s in known if not any(says(page, s) for page in now)]
    path = gone.path if gone else next((c.path for c in concerned if c not in anew), concerned[0].path)
    verdict, why = _judged(lost, known, path, after, changed)
    if not verdict:
        return None
    return Finding("remembered", pair.id, pair.question, path, verdict, why)


def _judged(
    lost: Sequence[str], known: Sequence[str], path: str, after: Folder, changed: frozenset[str]
) -> tuple[Verdict | None, str]:
    is_there = path in after.texts
    if not known:
        what = "The passage it cites changed" if is_there else _gone(path, after)
        return ("look" if is_there else "breaks"), f"{what}; it answered in other words."
    if not lost:
        return None, ""
    for other in sorted(changed & after.texts.keys()):
        if all(any(says(chunk.page, s) for chunk in after.texts[other]) for s in lost):
            return "moved", f"{other} says it now."
    quoted = f"no longer says “{shown(lost[0])}”"
    if not is_there:
        return "breaks", f"{_gone(path, after)}; no other changed page says “{shown(lost[0])}”."
    return "breaks", f"The page {quoted}" + (f", and {len(lost) - 1} more." if len(lost) > 1 else ".")


def _gone(path: str, after: Folder) -> str:
    reason = after.unread.get(path)
    return f"The page cannot be read ({reason})" if reason else "The page is gone"


def broken_gold(
    line: GoldLine | Expected,
    release: str,
    before: Mapping[str, str],
    after: Folder,
    changed: frozenset[str],
) -> Finding | None:
    """Tell what becomes of a labelled question; `before` has the texts of the changed pages by path."""
    pages = pages_of(line, release)
    if not changed.intersection(pages):
        return None

    def holds(path: str, text: str) -> bool:
        if isinstance(line, GoldLine):
            return is_hit(line.places[release], path, text)
        said = Said.of(text)
        return all(said.holds(wanted) for wanted in line.must)

    now = {path: text_of(chunks) for path, chunks in after.texts.items()}
    had = [path for path in pages if holds(path, before.get(path, ""))]
    if not had or any(holds(path, now.get(path, "")) for path in pages):
        return None
    path = next((path for path in had if path in changed), had[0])
    wanted = line.places[release].evidence if isinstance(line, GoldLine) else line.must
    lost = [one for one in wanted if not _has(line, now.get(path, ""), one)] or wanted
    what = f"The page no longer has “{shown(lost[0].split('||')[0])}”" if path in now else _gone(path, after)
    return Finding("gold", line.id, line.question, path, "breaks", f"{what}.")


def pages_of(line: GoldLine | Expected, release: str) -> tuple[str, ...]:
    """Return the pages of a release that a labelled question is answered from."""
    if isinstance(line, GoldLine):
        place = line.places.get(release)
        return place.files if place else ()
    return tuple(one.page for one in line.sections) if line.answerable and line.release == release else ()


def _has(line: GoldLine | Expected, text: str, wanted: str) -> bool:
    return holds_any(text, [wanted]) if isinstance(line, GoldLine) else Said.of(text).holds(wanted)


def text_of(chunks: Iterable[ContextChunk]) -> str:
    """Return the text of a page with its headings."""
    return "\n\n".join(f"# {chunk.heading}\n\n{chunk.page}" for chunk in chunks)


def shown(words: str) -> str:
    """Return words as a public table may show them: short, on one line, without pings, links and Markdown."""
    line = shortened(one_line(words), CUT)
    if _NAMES.search(words):
        return "(words with a name or a link)"
    return re.sub(r"([\\`*_{}\[\]<>|#~])", r"\\\1", line)


def table(findings: Sequence[Finding], release: str, looked_at: int, pages: int) -> str:
    """Return the Markdown that a pull request shows."""
    breaks = [one for one in findings if one.verdict == "breaks"]
    head = "No answer would break" if not breaks else f"{counted(len(breaks), 'answer')} would break"
    of = f"{counted(looked_at, 'answer')} of {release} looked at; {pages} of its pages changed."
    lines = [f"## {head}", "", of]
    for verdict, title in (
        ("breaks", ""),
        ("moved", "Said on another page now"),
        ("look", "To be read by somebody: their passage changed"),
    ):
        rows = [one for one in findings if one.verdict == verdict]
        if not rows:
            continue
        lines += ["", *([f"### {title}", ""] if title else [])]
        kinds = ["upvoted" if one.kind == "remembered" else "gold" for one in rows]
        told = [
            (f"{kind} `{one.id}`", shown(one.question), f"`{one.page}`", one.why)
            for kind, one in zip(kinds, rows, strict=True)
        ]
        lines.append(grid(("answer", "question", "page", "what happened"), told, ["---"] * 4))
    return "\n".join(lines)
