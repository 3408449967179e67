"""Sources of which a part takes more than it may: that part is named, and the rest is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from core.catalogue import SourceOptions, SourceSpec
from core.errors import SourceError
from core.ingestion.sources import folder
from core.ingestion.sources.github import source as github
from core.ingestion.sources.history import source as history
from core.ingestion.sources.sdist import source as sdist
from core.ingestion.sources.website import source as website
from core.ports import Unread
from core.workers.process import is_too_costly, over
from tests.core.ingestion_sources.index_server import Index, serving, tar_of
from tests.core.ingestion_sources.site_server import Site, page
from tests.fake_workers import FakeWorkers

T = TypeVar("T")
WHY = "over the limit of one document: 120 s of processor time (PARSE_SECONDS)"


class Tired(FakeWorkers):
    """Does not do work that is given something with the word `hostile` in it."""

    def run(self, work: Callable[..., T], *given: Any, patience: float = 1.0) -> T:
        if any("hostile" in str(thing) for thing in given):
            raise over("120 s of processor time (PARSE_SECONDS)")
        return super().run(work, *given, patience=patience)


def spec(kind: str, options: SourceOptions, root: Path, **keys: Any) -> SourceSpec:
    return SourceSpec(kind, options, root=root, where="corpora.toml, line 8", **keys)


def test_a_page_whose_links_cannot_be_read_is_named(tmp_path: Path) -> None:
    pages = {
        "/docs/": page("Start", "Welcome.", "bad", "good"),
        "/docs/bad": page("Bad", "It is hostile.", "good"),
        "/docs/good": page("Good", "It is good."),
    }
    with Site(pages) as site:
        options = website.Options(start=[f"{site.url}/docs/"], private=True, delay=0.0)
        source = website.WebsiteSource(spec("website", options, tmp_path), tmp_path, Tired())
        assert [d.path for d in source.documents()] == ["docs", "docs/good"]
        ((place, reason),) = source.skipped
        assert (
            place == f"{site.url}/docs/bad"
            and isinstance(reason, Unread)
            and WHY in reason
            and is_too_costly(reason)
        )


def test_a_sitemap_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    def index(site: Site) -> bytes:
        names = "".join(f"<sitemap><loc>{site.url}/{n}.xml</loc></sitemap>" for n in ("hostile", "good"))
        return f"<sitemapindex>{names}</sitemapindex>".encode()

    with Site({"/docs/a": page("A", "It is good.")}) as site:
        site.pages |= {
            "/sitemap.xml": (index(site), "text/xml"),
            "/hostile.xml": (b"<urlset/>", "text/xml"),
            "/good.xml": (f"<urlset><url><loc>{site.url}/docs/a</loc></url></urlset>".encode(), "text/xml"),
        }
        options = website.Options(start=[f"{site.url}/sitemap.xml"], private=True, delay=0.0)

        class Patient(Tired):
            def run(self, work: Callable[..., T], *given: Any, patience: float = 1.0) -> T:
                first = given[0] if isinstance(given[0], bytes) else b""
                kept = [b"" if b"sitemapindex" in first else thing for thing in given]
                if any("hostile" in str(thing) for thing in kept):
                    raise over("120 s of processor time (PARSE_SECONDS)")
                return FakeWorkers.run(self, work, *given, patience=patience)

        source = website.WebsiteSource(spec("website", options, tmp_path), tmp_path, Patient())
        assert [d.path for d in source.documents()] == ["docs/a"]
        ((place, reason),) = source.skipped
        assert place == f"{site.url}/hostile.xml" and WHY in reason


def test_a_file_whose_place_on_its_site_cannot_be_found_out_is_named(tmp_path: Path) -> None:
    for name in ("a", "hostile", "z"):
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / f"{name}.md").write_text("# Kettle\n\nText.\n")
    source = folder.FolderSource(spec("folder", folder.Options(path="docs"), tmp_path), Tired())
    assert [d.path for d in source.documents()] == ["a.md", "z.md"]
    ((path, reason),) = source.skipped
    assert path == "hostile.md" and WHY in reason


def test_an_archive_that_takes_too_much_is_a_source_that_failed(tmp_path: Path) -> None:
    packed = tar_of({"hostile-1.0/docs/index.rst": b"hello"})
    with serving(Index({"hostile": {"hostile-1.0.tar.gz": packed}}, "json")) as index:
        options = sdist.Options(package="hostile", version="1.0")
        source = sdist.SdistSource(spec("sdist", options, tmp_path), tmp_path, index.url, Tired())
        with pytest.raises(SourceError, match=r"hostile-1\.0\.tar\.gz cannot be unpacked: over the limit"):
            list(source.documents())


def test_exports_that_take_too_much_are_sources_that_failed(tmp_path: Path) -> None:
    (tmp_path / "hostile.json").write_text(json.dumps({"channel": {"id": "1"}, "messages": []}))
    talk = history.HistorySource(spec("history", history.Options(path="hostile.json"), tmp_path), Tired())
    with pytest.raises(SourceError, match=r"hostile\.json cannot be read: over the limit"):
        list(talk.documents())
    (tmp_path / "hostile.json").write_text("[]")
    options = github.Options(repository="pallets/flask", export="hostile.json")
    issues = github.GithubSource(spec("github", options, tmp_path), tmp_path, Tired())
    with pytest.raises(SourceError, match=r"hostile\.json is not JSON that can be read: over the limit"):
        list(issues.documents())


@pytest.mark.parametrize("order", [("guild", "channel", "messages"), ("messages", "channel", "guild")])
def test_a_discord_export_is_read_in_whatever_order_its_parts_come(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    def said(mark: int, author: str, text: str, **more: Any) -> dict[str, Any]:
        at = f"2024-05-01T10:{mark:02}:00.000+00:00"
        who = {"id": author, "name": author, "isBot": False}
        return {"id": str(mark), "type": "Default", "timestamp": at, "content": text, "author": who, **more}

    parts = {
        "guild": {"id": "9"},
        "channel": {"id": "5", "type": "GuildTextChat", "name": "support"},
        "messages": [
            said(1, "ann", "How long is the cord?"),
            said(2, "eve", "A metre.", reactions=[{"emoji": {"name": "✅"}, "count": 1}]),
        ],
    }
    (tmp_path / "talk.json").write_text(json.dumps({name: parts[name] for name in order}))
    options = history.Options(path="talk.json")
    (found,) = history.HistorySource(spec("history", options, tmp_path), FakeWorkers()).documents()
    assert found.path == "support/1" and found.url == "https://discord.com/channels/9/5/1"
    assert b"A metre." in found.content
