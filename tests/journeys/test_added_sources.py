"""Documentation that an admin adds by its address: checked, read, asked at once, kept, removed again."""

from __future__ import annotations

import io
import tarfile
from typing import Any

import pytest

from bot.app.serve import _indexed
from bot.commands.command_line import handle, status_of
from bot.rendering.status import status_text
from core.catalogue.added import address_of
from core.domain import Product, Question, Release, Vote
from core.errors import SourceError, ThreadloreError, UsageError
from core.query.releases.resolve import resolve
from tests.core.ingestion_sources.site_server import Site, page, status
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.stage import told, until

PAGES: dict[str, Any] = {
    "/guide/": page("Lantern", "Lantern lights rooms.", "/guide/wick", "/guide/oil"),
    "/guide/wick": page("Changing the wick", "Turn the brass ring by 40 degrees to change the wick."),
    "/guide/oil": page("Filling oil", "Fill at most 300 millilitres of oil through the cap."),
    "/gone/": status(404),
}
WICK = "How do I change the wick?"


async def command(bot: Bot, **request: Any) -> list[str]:
    """Give `sources` as the command line does; return its lines and notes."""
    lines: list[str] = []

    async def keep(message: dict[str, Any]) -> None:
        lines.extend(str(message[key]) for key in ("line", "note") if key in message)

    await handle(bot.app, {"command": "sources", "caller": "cli:root", **request}, keep)
    return lines


async def test_a_site_is_added_asked_kept_over_a_restart_and_removed(kettle: Kettle) -> None:
    file = kettle.home / "added.toml"
    with Site(PAGES) as site:
        async with house(kettle) as bot:
            with pytest.raises(UsageError, match="is on this network, not on the internet"):
                await command(bot, action="add", address=f"{site.url}/guide/")
            with pytest.raises(SourceError, match="HTTP 404"):
                await command(bot, action="add", address=f"{site.url}/gone/", private=True)
            assert not site.asked["/guide/"] and not file.exists()
            name = f"{site.url.removeprefix('http://')}/guide"
            (line,) = await command(bot, action="add", address=f"{site.url}/guide/", private=True)
            assert line.startswith(f"Read 3 pages of {name}.")
            answer = await bot.app.engine.answer(Question(WICK, "slack:U1", release=name))
            assert "40 degrees" in answer.text and answer.citations[0].url == f"{site.url}/guide/wick"
            usual = await bot.app.engine.answer(Question("Which port does the dashboard listen on?"))
            assert usual.release == "2.0", "the latest release stays what it was"
            assert name in (await command(bot))[0] and file.stat().st_mode & 0o077 == 0
            with pytest.raises(UsageError, match="is there already"):
                await command(bot, action="add", address=f"{site.url}/guide", private=True)
        async with house(kettle) as bot:
            again = await bot.app.engine.answer(Question(WICK, "slack:U1", release=name))
            assert "40 degrees" in again.text and (name, f"website:{name}") in bot.app.schedules
            assert await command(bot, action="remove", address=f"{site.url}/guide/") == [
                f"Removed {name} with its pages."
            ]
            assert name not in bot.app.engine.ready and name not in await bot.app.corpora.live()
            assert name not in (await command(bot))[0] and not file.exists()
            assert {release for release, _ in bot.app.schedules} == {"1.0", "1.5", "2.0"}
            with pytest.raises(SourceError, match="was removed"):  # what the schedule had in its hand
                await bot.app.corpus_manager.reindex(name)
            with pytest.raises(UsageError, match="was not added; nothing was"):
                await command(bot, action="remove", address="2.0")
            assert (await command(bot, action="list")) == await command(bot)
        file.write_text("[product\n")
        async with house(kettle) as bot:
            assert bot.app.added.names == () and "2.0" in bot.app.engine.ready
            assert not file.exists() and (kettle.home / "added.broken.toml").exists()


def packed(name: str, text: str) -> bytes:
    """Return a source distribution that holds one page."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        entry = tarfile.TarInfo(f"{name}/docs/wick.md")
        entry.size = len(text.encode())
        archive.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()


async def test_in_chat_an_admin_adds_what_is_public_and_sees_it_being_read(kettle: Kettle) -> None:
    link = '<!doctype html><a href="/files/lantern-1.0.tar.gz">lantern-1.0.tar.gz</a>'
    text = "# Lantern\n\n## Changing the wick\n\nTurn the brass ring by 40 degrees to change the wick.\n"
    archive = (packed("lantern-1.0", text), "application/gzip")
    shelf = {"/simple/lantern/": link, "/files/lantern-1.0.tar.gz": archive}
    with Site({**PAGES, **shelf}) as site:
        address = f"{site.url}/guide/"
        async with house(kettle, package_index=f"{site.url}/simple/") as bot:
            stage = FakeStage(bot)
            await stage.slash("ann", "threadlore", "sources add lantern==1.0")
            await told(stage, "ann", "Only admins may do that")
            await stage.slash("boss", "threadlore", f"sources add {address}")
            await told(stage, "boss", "127.0.0.1 is on this network, not on the internet")
            await stage.slash("boss", "threadlore", f"sources add --private {address}")
            await told(stage, "boss", "there is no option")
            await stage.slash("boss", "threadlore", "sources add our docs")
            await told(stage, "boss", "I cannot read “our docs”. Write the address of a website")
            assert not site.asked and not bot.app.added.names
            await stage.slash("boss", "threadlore", "sources add lantern==1.0")
            await told(stage, "boss", "Reading lantern==1.0.")
            await until(lambda: any("Read 1 page of lantern==1.0" in text for text in stage.public()))
            assert bot.app.added.names == ("lantern==1.0",)
            asked = Question("How do I change the wick in lantern==1.0?")
            assert "40 degrees" in (await bot.app.engine.answer(asked)).text
            acts = [f"{act.what}: {act.outcome}" for act in await bot.app.audit.acts(9)]
            assert "sources add lantern==1.0: done" in acts
            assert any(act.startswith(f"sources add {address}: failed: 127.0.0.1 is on") for act in acts)
            await stage.slash("boss", "threadlore", "sources remove lantern==1.0")
            await told(stage, "boss", "Removed lantern==1.0 with its pages.")
            assert not bot.app.added.names


async def test_what_cannot_be_read_is_taken_out_again(bot: Bot, kettle: Kettle) -> None:
    pages = {"/empty/": "<!doctype html><html><body></body></html>"}
    nothing = pytest.raises(ThreadloreError, match="holds no document that can be read")
    with Site(dict(pages)) as site, nothing:
        await command(bot, action="add", address=f"{site.url}/empty/", private=True)
    assert not bot.app.added.names and not (kettle.home / "added.toml").exists()
    assert [entry["name"] for entry in await bot.app.corpus_manager.releases()] == ["1.0", "1.5", "2.0"]


@pytest.mark.parametrize(
    ("text", "name", "source"),
    [
        ("flask==3.1.0", "flask==3.1.0", {"kind": "sdist", "package": "flask", "version": "3.1.0"}),
        (
            "https://pypi.org/project/flask/3.1.0/",
            "flask==3.1.0",
            {"kind": "sdist", "package": "flask", "version": "3.1.0"},
        ),
        (
            "https://github.com/pallets/click/tree/main/docs",
            "pallets/click@main",
            {
                "kind": "git",
                "repository": "https://github.com/pallets/click.git",
                "ref": "main",
                "path": "docs",
            },
        ),
        (
            "https://git.example.org/team/tool.git@v2:manual",
            "git.example.org/team/tool@v2",
            {
                "kind": "git",
                "repository": "https://git.example.org/team/tool.git",
                "ref": "v2",
                "path": "manual",
            },
        ),
    ],
)
def test_an_address_says_what_it_is(text: str, name: str, source: dict[str, Any]) -> None:
    found = address_of(text)
    assert (found.name, dict(found.source)) == (name, source)
    product = Product("Kettle", (), (Release(name), Release("2.0", latest=True)))
    for asked in (f"In {name}, how do I begin?", f"How do I begin with {name}?"):
        assert resolve(Question(asked), product).release == name


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("https://pypi.org/project/flask/", "Which version"),
        ("file:///etc/passwd", "cannot read"),
        ("ssh://git@intern/repo.git", "cannot read"),
        ("/home/me/docs", "cannot read"),
        ("https://me:secret@docs.example.org/", "a password in it"),
        ("http://router/", "cannot read"),
        ("https://docs.example.org:80800/", "cannot read"),
        ("https://[docs.example.org/", "cannot read"),
        ("https://git.example.org:80800/tool.git", "cannot read"),
    ],
)
def test_what_is_no_address_is_told(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        address_of(text)


async def test_git_is_kept_to_the_addresses_that_were_checked(bot: Bot) -> None:
    with Site({}) as site:
        with pytest.raises(UsageError, match="is on this network"):
            await command(bot, action="add", address=f"{site.url}/tool.git", private=False)
        with pytest.raises(SourceError, match=r"127\.0\.0\.1 is no public address"):
            await command(bot, action="add", address=f"{site.url}/tool.git", private=True)
        assert not site.asked and not bot.app.added.names


def taken_out(kettle: Kettle, release: str) -> None:
    """Take a release out of corpora.toml."""
    kept = [part for part in kettle.config.read_text().split("[[release]]\n") if f'"{release}"\n' not in part]
    kettle.config.write_text("[[release]]\n".join(kept))


async def test_a_release_that_corpora_toml_has_no_more_is_kept_told_and_removed_with_its_votes_left(
    kettle: Kettle,
) -> None:
    asked = Question("Which port does the dashboard listen on?", "slack:U1", "slack:C1", release="1.5")
    async with house(kettle) as bot:
        answer = await bot.app.engine.answer(asked)
        await bot.app.engine.feedback(Vote(answer.id, "slack:U2", 1), helper=True)
        before = await bot.counts()
    whole = kettle.config.read_text()
    taken_out(kettle, "1.5")
    async with house(kettle) as bot:
        assert sorted(bot.app.searcher.corpora) == ["1.0", "2.0"] and not bot.app.searcher.contents("1.5")
        await bot.app.corpus_manager.follow()
        assert sorted(bot.app.searcher.corpora) == ["1.0", "2.0"]
        line = "1.5 is not in `corpora.toml` any more, so its pages (5) do not answer. If it is called"
        assert line in status_text(await status_of(bot.app)) and line in "\n".join(await command(bot))
        assert await bot.app.memory.verify() == []
    kettle.config.write_text(whole)
    async with house(kettle) as bot:  # nothing is read anew
        assert (await bot.app.engine.answer(asked)).pair_id == answer.pair_id
    taken_out(kettle, "1.5")
    async with house(kettle) as bot:
        assert await command(bot, action="remove", address="1.5") == ["Removed 1.5 with its pages."]
        assert sorted(await bot.app.corpora.live()) == ["1.0", "2.0"]
        assert not any("any more" in line for line in await command(bot))
        assert [run for run in await bot.app.corpora.runs() if run.release == "1.5"] == []
        assert await bot.app.memory.verify() == []
    kettle.config.write_text(whole)
    async with house(kettle) as bot:
        await bot.app.corpus_manager.reindex("1.5")
        assert (await bot.app.engine.answer(asked)).pair_id == answer.pair_id, "votes and answers stay"
        after = await bot.counts()
        assert [after[key] for key in ("high", "votes")] == [before[key] for key in ("high", "votes")]


async def test_pages_of_a_source_that_corpora_toml_has_no_more_go_at_the_next_start(kettle: Kettle) -> None:
    text = kettle.config.read_text()
    assert "unversioned" in text
    kettle.config.write_text(text[: text.index("[[unversioned")])
    async with house(kettle) as bot:
        assert await bot.app.corpus_manager.sources_gone("2.0") == {"folder:docs/all"}
        assert await _indexed(bot.app, "2.0", lambda _: None)
        assert {page.source for page in await bot.app.corpora.manifest("2.0")} == {"folder:docs/2.0"}
        assert not await _indexed(bot.app, "2.0", lambda _: None), "there is nothing more to do"


async def test_pages_of_a_source_that_moved_stay_until_its_new_place_can_be_read(kettle: Kettle) -> None:
    async def pages(bot: Bot) -> set[str]:
        return {page.source for page in await bot.app.corpora.manifest("2.0")}

    text, folder = kettle.config.read_text(), kettle.folder / "docs" / "all"
    kettle.config.write_text(text.replace('"docs/all"', '"docs/moved"'))
    async with house(kettle) as bot:
        assert await _indexed(bot.app, "2.0", lambda _: None)
        assert await pages(bot) == {"folder:docs/all", "folder:docs/2.0"}, "it cannot be read yet"
        assert any("docs/moved" in run.source and run.error for run in await bot.app.corpora.runs())
        folder.rename(folder.with_name("moved"))
        assert await _indexed(bot.app, "2.0", lambda _: None)
        assert await pages(bot) == {"folder:docs/moved", "folder:docs/2.0"}
