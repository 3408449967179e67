"""What `doctor` says of the places where the documentation comes from."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bot.cli.doctor.sources import sources
from bot.home.findings import Finding
from core.settings import load_settings
from tests.core.ingestion_sources.index_server import Index, serving, tar_of
from tests.core.ingestion_sources.site_server import Site, page, status
from tests.core.ingestion_sources.test_git import commit, git
from tests.patience import SOON

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="needs the git command: apt-get install git")


SDIST = tar_of({"kettle-1.0/a.md": b"x"})


async def looked_at(tmp_path: Path, written: str, index: str = "", seconds: float = 5.0) -> list[Finding]:
    config = tmp_path / "corpora.toml"
    head = '[product]\nname = "Kettle"\n[[release]]\nname = "1.0"\nlatest = true\n'
    blocks = "".join(f"[[release.source]]\n{block}\n" for block in written.split("---"))
    config.write_text(head + blocks)
    more = {"package_index": index} if index else {}
    return await sources(load_settings(None, home=tmp_path / "home", config=config, **more), seconds)


@contextmanager
def silent() -> Iterator[str]:
    """Yield the address of a machine that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def closed() -> str:
    """Return an address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


async def test_places_that_are_there_are_good(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    git(tmp_path / "project", "init", "-q", "-b", "main")
    commit(tmp_path / "project", "one", "a.md")
    (tmp_path / "docs" / "deep").mkdir(parents=True)
    (tmp_path / "docs" / "deep" / "a.md").write_text("# A\n")
    with (
        Site({"/docs/": page("Start", "Hello.")}) as site,
        serving(Index({"kettle": {"kettle-1.0.tar.gz": SDIST}})) as index,
    ):
        found = await looked_at(
            tmp_path,
            f'kind = "website"\nstart = ["{site.url}/docs/"]\nprivate = true\n---'
            'kind = "git"\nrepository = "./project"\nref = "main"\n---'
            'kind = "sdist"\npackage = "kettle"\nversion = "1.0"\n---'
            'kind = "folder"\npath = "./docs"\n',
            index.url,
        )
        assert [(f.state, f.said) for f in found] == [("good", "is there")] * 4
        assert not (tmp_path / "home" / "sources").exists(), "nothing was fetched"


async def test_what_will_never_be_there_is_bad_and_says_what_to_correct(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    git(tmp_path / "project", "init", "-q", "-b", "main")
    commit(tmp_path / "project", "one", "a.md")
    with (
        Site({"/docs/": page("Start", "Hello."), "/gone/": status(404)}) as site,
        serving(Index({"kettle": {"kettle-1.0.tar.gz": SDIST}})) as index,
    ):
        found = await looked_at(
            tmp_path,
            f'kind = "website"\nstart = ["{site.url}/docs/", "{site.url}/gone/"]\nprivate = true\n---'
            f'kind = "website"\nstart = ["{site.url}/docs/"]\n---'
            'kind = "git"\nrepository = "./project"\nref = "mian"\n---'
            'kind = "git"\nrepository = "./elsewhere"\n---'
            'kind = "sdist"\npackage = "kettle"\nversion = "2.0"\n',
            index.url,
        )
    assert {f.state for f in found} == {"bad"}
    gone, private, ref, elsewhere, version = found
    assert gone.said.endswith("/gone/ answers with HTTP 404") and gone.advice.startswith("correct `start`")
    assert "private = true" in f"{private.said} {private.advice}"
    assert "'mian'" in ref.said and "near it: main" in ref.advice
    assert "elsewhere" in elsewhere.said and "correct `repository`" in elsewhere.advice
    assert "no kettle 2.0" in version.said and "versions near it: 1.0" in version.advice
    assert all("corpora.toml, line" in f"{f.said} {f.advice}" for f in found)


@pytest.mark.parametrize("away", [silent, closed])
async def test_what_is_away_is_told_soon_and_all_at_once(tmp_path: Path, away) -> None:  # type: ignore[no-untyped-def]
    def blocks(url: str) -> str:
        return (
            f'kind = "website"\nstart = ["{url}/docs/"]\nprivate = true\n---'
            f'kind = "git"\nrepository = "{url}/kettle.git"\n---'
            'kind = "sdist"\npackage = "kettle"\nversion = "2.0"\n'
        )

    began = time.monotonic()
    if away is silent:
        with silent() as url:
            found = await looked_at(tmp_path, blocks(url), url, seconds=1.0)
    else:
        found = await looked_at(tmp_path, blocks(closed()), closed(), seconds=1.0)
    took = time.monotonic() - began
    assert [f.state for f in found] == ["unsure"] * 3, found
    assert all("network" in f.advice for f in found), found
    assert took < SOON, "not one after the other, and without the waits of a crawl"


async def test_what_was_fetched_needs_no_index_any_more(tmp_path: Path) -> None:
    (tmp_path / "home" / "sources" / "sdist" / "kettle-2.0").mkdir(parents=True)
    (found,) = await looked_at(tmp_path, 'kind = "sdist"\npackage = "kettle"\nversion = "2.0"\n', closed())
    assert found.state == "good"


async def test_a_folder_that_is_missing_or_holds_nothing_is_bad(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "lid.png").write_bytes(b"\x89PNG")
    found = await looked_at(
        tmp_path,
        'kind = "folder"\npath = "./nowhere"\n---'
        'kind = "folder"\npath = "./empty"\n---'
        'kind = "pdf"\npath = "./pictures"\n---'
        'kind = "pdf"\npath = "./manual.pdf"\n---'
        'kind = "history"\npath = "./export.zip"\n',
    )
    assert [f.state for f in found] == ["bad"] * 5, found
    assert all("corpora.toml, line" in f"{f.said} {f.advice}" for f in found)
    nowhere, empty, *_ = found
    assert "does not exist" in nowhere.said and "correct `path`" in nowhere.advice
    assert f"No file in {tmp_path / 'empty'} ends in" in empty.said


async def test_a_live_channel_hides_no_other_source(tmp_path: Path) -> None:
    found = await looked_at(
        tmp_path, 'kind = "history"\nchannel = "slack:C1"\n---kind = "folder"\npath = "./nowhere"\n'
    )
    assert ["folder:" in f.what for f in found] == [True], "the channel is asked for by `history`"
