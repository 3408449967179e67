"""What sources keep between two readings holds wrong bytes: it is as if nothing had been kept."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import pytest

from core.ingestion.live.copy import VERSION, ChannelCopy
from core.ingestion.sources.website.page_cache import Copy, PageCache
from tests.core.ingestion_sources import test_git, test_github, test_sdist
from tests.core.ingestion_sources.github_server import Hub
from tests.core.ingestion_sources.index_server import Index

hub, index, repository = test_github.hub, test_sdist.index, test_git.repository

GARBAGE = random.Random(9).randbytes(2000)
WRONG: dict[str, bytes] = {
    "garbage": GARBAGE,
    "nothing": b"",
    "a list": b"[1]",
    "null": b"null",
    "text": b'"x"',
    "depth": b"[" * 200_000,
}


@pytest.mark.parametrize("held", WRONG.values(), ids=WRONG)
def test_a_channel_that_cannot_be_read_back_counts_as_not_there(tmp_path: Path, held: bytes) -> None:
    (tmp_path / "c").write_bytes(held)
    assert ChannelCopy(tmp_path / "c").empty


@pytest.mark.parametrize("more", [{"top": [1]}, {"top": 5}, {"threads": [[]]}, {"listed": "never"}])
def test_a_channel_with_rows_that_are_none_counts_as_not_there(
    tmp_path: Path, more: dict[str, object]
) -> None:
    usual = {"version": VERSION, "name": "x", "cursor": "", "turn": "", "listed": 0, "top": [], "threads": []}
    (tmp_path / "c").write_text(json.dumps(usual | more))
    assert ChannelCopy(tmp_path / "c").empty


@pytest.mark.parametrize("held", WRONG.values(), ids=WRONG)
def test_a_page_that_cannot_be_read_back_counts_as_not_there(tmp_path: Path, held: bytes) -> None:
    kept = PageCache(tmp_path)
    kept.put("https://x.org/", Copy("https://x.org/", b"page", "text/html", "utf-8"))
    assert kept.get("https://x.org/") is not None
    [file] = tmp_path.iterdir()
    for content in (held, held + b"\n" + held):
        file.write_bytes(content)
        assert kept.get("https://x.org/") is None


@pytest.mark.parametrize(
    "held",
    [
        *WRONG.values(),
        b'{"whole": "never", "marks": {}, "issues": {}, "comments": {}, "discussions": {}}',
        b'{"whole": "2024-01-01", "marks": {}, "issues": {}, "comments": {}, "discussions": {}}',
        b'{"whole": "", "marks": [], "issues": [], "comments": 1, "discussions": {}}',
    ],
    ids=[*WRONG, "no date", "no zone", "no objects"],
)
def test_issues_that_cannot_be_read_back_are_asked_for_anew(hub: Hub, tmp_path: Path, held: bytes) -> None:
    github = test_github.source(hub, tmp_path)
    expected = test_github.read(github)
    [file] = (tmp_path / "sources" / "github").glob("*.json")
    file.write_bytes(held)
    assert test_github.read(github) == expected != {}


@pytest.mark.parametrize("harm", ["checkout", ".git", ".git/HEAD", ".git/config"])
def test_a_checkout_of_wrong_bytes_is_made_anew(tmp_path: Path, repository: Path, harm: str) -> None:
    docs = test_git.source(tmp_path, repository, path="docs")
    root = Path(next(iter(docs.documents())).root)
    place = root if harm == "checkout" else root / harm
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.write_bytes(GARBAGE)
    assert test_git.read(docs)["index.md"] == "two"


def test_an_archive_that_is_a_file_of_wrong_bytes_is_fetched_anew(tmp_path: Path, index: Index) -> None:
    source = test_sdist.sdist(tmp_path, index)
    expected = [document.content for document in source.documents()]
    place = tmp_path / "sources" / "sdist" / "thing-1.2.0"
    shutil.rmtree(place)
    place.write_bytes(GARBAGE)
    assert [document.content for document in source.documents()] == expected != []
