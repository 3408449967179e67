"""`threadlore check`: which upvoted answers and gold questions a change of the documentation breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from bot.home.control_socket import Send
from bot.operations.application import Application
from bot.privacy.visibility import HIDDEN, heard
from core.catalogue import SourceSpec
from core.domain import ContextChunk
from core.errors import UsageError
from core.feedback.stale_answers import Pages, cited_anew
from core.ingestion.sites import page_of
from core.ports import Remembered
from evaluation.answers.changed import (
    Finding,
    Folder,
    broken_answer,
    broken_gold,
    changed_pages,
    pages_of,
    read_folder,
    table,
    text_of,
)
from evaluation.answers.expected import either
from evaluation.gold import read_lines

OF_FILES = ("folder", "sdist", "git")
"""Kinds of source whose pages are files of a checkout."""
BROUGHT = "brought"
"""In place of a passage's hash where a pair came from a file, which has links alone."""


async def check(app: Application, request: dict[str, Any], send: Send) -> None:
    """Compare the pages of `docs` with the indexed ones and print a table; code 1 where an answer breaks."""
    release = str(request["release"])
    if release not in await app.corpora.live():
        names = [one.name for one in app.corpus_manager.product.releases]
        if release not in names:
            raise UsageError(f"There is no release {release} in corpora.toml; there is: {', '.join(names)}.")
        raise UsageError(f"{release} is not indexed; run `threadlore index --release {release}` first.")
    checkout = _checkout(request)
    spec, source = await _source(app, release, checkout)
    root, folder = places(spec, checkout)
    encoder = await app.corpus_manager.encoders.current()
    after = await read_folder(spec, root, folder, release, encoder, app.workers)
    live = await _live(app, release, source)
    named = request.get("changed")
    if live and not named and not live.keys() & after.texts.keys():
        raise UsageError(
            f"No page of {release} lies in {checkout}; name the folder that has them: --docs DIR."
        )
    paths = None if not named else [path for name in named for path in inside(name, root, folder)]
    hashes = {path: frozenset(chunk.hash for chunk in chunks) for path, chunks in live.items()}
    changed = changed_pages(hashes, after, paths)
    paths_of = {page_of(chunk.url): path for path, chunks in live.items() for chunk in chunks}
    found, looked_at = await _answers(app, release, after, changed, paths_of)
    if request.get("gold"):
        before = {path: text_of(chunks) for path, chunks in live.items()}
        for line in await asyncio.to_thread(read_lines, Path(request["gold"]), either):
            if pages_of(line, release):
                looked_at += 1
                found += filter(None, [broken_gold(line, release, before, after, changed)])
    await send({"line": table(found, release, looked_at, len(changed))})
    await send({"code": int(any(one.verdict == "breaks" for one in found))})


def _checkout(request: Mapping[str, Any]) -> Path:
    place = Path(request.get("docs") or ".").absolute()
    if not place.is_dir():
        raise UsageError(f"There is no folder {place}; name the one that has the pages: --docs DIR.")
    return place


async def _answers(
    app: Application, release: str, after: Folder, changed: frozenset[str], paths_of: Mapping[str, str]
) -> tuple[list[Finding], int]:
    """Look at what is reused now; return what breaks, and how many answers were looked at."""
    stores = await app.memory.placed()
    kept = {pair_id for pair_id, (store, is_kept) in stores.items() if store == "high" and is_kept}
    found, looked_at = [], 0
    for pair in await app.memory.everything():
        if pair.id not in kept or not any((c.release or pair.release) == release for c in pair.citations):
            continue
        looked_at += 1
        pair = _cited(pair, paths_of)
        pages = await app.stale_review.pages(pair)
        if not all(c.path for c in pair.citations):
            continue
        one = broken_answer(_found(pair, pages), release, pages, after, changed)
        if one is None:
            continue
        # the table is for a pull request, which everybody reads
        question = heard({"hears": "public"}, pair.scope, one.question)
        why = one.why if question != HIDDEN else "The page no longer says what it says."
        found.append(Finding(one.kind, one.id, question, one.page, one.verdict, why))
    return found, looked_at


def _cited(pair: Remembered, paths_of: Mapping[str, str]) -> Remembered:
    """Return a pair whose citations name their pages: one that was brought has their links alone."""
    told = (
        c if c.hash else replace(c, path=paths_of.get(page_of(c.url), c.path), hash=BROUGHT)
        for c in pair.citations
    )
    return replace(pair, citations=tuple(told))


def _found(pair: Remembered, pages: Pages) -> Remembered:
    """Point what was brought at the passages that say it now."""
    if not any(c.hash == BROUGHT for c in pair.citations):
        return pair
    return replace(pair, citations=cited_anew(pair, pages)[0])


async def _source(app: Application, release: str, checkout: Path) -> tuple[SourceSpec, str]:
    """Return the source whose pages lie in the checkout, and its name: the one with most of them."""
    specs = app.catalogue.sources_of(release)
    names = [name for of, name in app.schedules if of == release]
    candidates = [(spec, name) for spec, name in zip(specs, names, strict=True) if spec.kind in OF_FILES]
    if not candidates:
        raise UsageError(
            f"{release} has no source of files ({', '.join(OF_FILES)}), so no folder can stand for its pages."
        )
    manifest = await app.corpora.manifest(release)

    def there(candidate: tuple[SourceSpec, str]) -> int:
        folder = places(candidate[0], checkout)[1]
        return sum(1 for d in manifest if d.source == candidate[1] and (folder / d.path).is_file())

    return max(candidates, key=there)


def places(spec: SourceSpec, checkout: Path) -> tuple[Path, Path]:
    """Return the top of a checkout, which included files lie in, and the folder of the source's pages.

    The checkout may be named by its top or by that folder. A folder source reads nothing beyond its folder.
    """
    below = str(getattr(spec.options, "path", "")).strip("/") if spec.kind != "folder" else ""
    if not below:
        return checkout, checkout
    if (checkout / below).is_dir():
        return checkout, checkout / below
    parts = PurePosixPath(below).parts
    if checkout.parts[-len(parts) :] == parts:
        return checkout.parents[len(parts) - 1], checkout
    return checkout, checkout


def inside(name: str, root: Path, folder: Path) -> list[str]:
    """Return a changed path as the source names its pages; `git diff` writes it from the checkout's top."""
    tops = [folder, folder.parent, root, *(top for top in folder.parents if (top / ".git").exists())]
    found = [top / name for top in tops]
    below = [one for one in found if one == folder or folder in one.parents]
    return list(dict.fromkeys(one.relative_to(folder).as_posix() for one in below))


async def _live(app: Application, release: str, source: str) -> dict[str, Sequence[ContextChunk]]:
    """Return the indexed passages of a source by path."""
    documents = [d.id for d in await app.corpora.manifest(release) if d.source == source]
    rows = await app.corpora.rows(release, documents)
    contexts = await app.corpora.contexts(list(dict.fromkeys(row.context_id for row in rows)))
    pages: dict[str, list[ContextChunk]] = {}
    for chunk in contexts.values():
        pages.setdefault(chunk.path, []).append(chunk)
    return {path: tuple(chunks) for path, chunks in pages.items()}
