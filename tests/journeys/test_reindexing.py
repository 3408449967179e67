"""A reindex as people see it: what goes on, what went wrong, what is well again; on every platform."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.commands.command_line import handle, status_of
from bot.operations.alerts import Alerts
from bot.operations.scheduler import Clock
from bot.rendering.status import status_text
from core.catalogue.tables import RETRY_SECONDS
from core.domain import Question
from core.errors import EncoderChanged, OverQuota, StorageError
from core.ingestion.reading import Progress
from core.ports import BUILD
from tests.core.ingestion_sources.site_server import Site, bomb, flood, page, redirect
from tests.journeys.house import Bot, Kettle, house, new_folder
from tests.journeys.kettle import PORTS
from tests.journeys.stage import EVERYWHERE, ask, open_stage, squeezed, until
from tests.journeys.test_dashboard import get, served
from tests.shared_vectors import LOADED, one_for_all

PORT = "Which port does the dashboard listen on?"
NEW = "# Zeppelins\n\nA zeppelin job flies to the moon with the flag `--zeppelin`.\n"


@EVERYWHERE
async def test_a_dry_run_is_told_where_it_was_asked_for(platform: str, bot: Bot) -> None:
    pages = bot.kettle.folder / "docs" / "2.0"
    (pages / "new.md").write_text(NEW)
    (pages / "scheduling.md").unlink()
    async with open_stage(platform, bot) as stage:
        answer = await ask(stage, PORT)
        await stage.react("hal", answer, "👍")
        page = pages / "dashboard.rst"
        page.write_text(page.read_text().replace("9090", "9999"))
        await until_remembered(bot)
        await stage.slash("boss", "threadlore", "reindex 2.0 --dry-run")
        said = squeezed(
            await until(lambda: next((t for t in stage.heard("boss") if "unchanged" in t), ""), "the plan")
        )
        assert "1 to add, 1 changed, 1 to remove" in said
        for word in ("added", "changed", "removed"):
            assert f"{word}: folder:docs/2.0: " in said, said
        assert "remembered answer to look at again" in said and "Nothing has been changed" in said
        assert PORTS["2.0"] in (await ask(stage, PORT)).text, "nothing has been"


async def until_remembered(bot: Bot) -> None:
    """Wait until an answer that was voted for can be touched by a reindex."""
    for _ in range(200):
        if await bot.app.memory.everything():
            return
        await asyncio.sleep(0.05)


@EVERYWHERE
async def test_several_releases_in_one_run_and_one_that_fails_is_the_messages_last_state(
    platform: str, bot: Bot
) -> None:
    docs = bot.kettle.folder / "docs"
    (docs / "1.5" / "new.md").write_text(NEW)
    put = bot.app.corpora.put

    async def full(release: str, document: Any) -> None:
        if release == "1.5":
            raise OverQuota("The disk is nearly full.")
        await put(release, document)

    bot.app.corpora.put = full  # type: ignore[method-assign]
    (docs / "2.0" / "new.md").write_text(NEW)
    async with open_stage(platform, bot) as stage:
        await stage.slash("boss", "threadlore", "reindex")
        said = squeezed(
            await until(lambda: next((t for t in stage.public() if "1.5 failed" in t), ""), "the end")
        )
        assert "The disk is nearly full." in said and "the old pages keep answering" in said
        assert "2.0: 6 pages" in said and "1 added" in said, "what went well is told, too"
        assert len(stage.public()) == 1, "one message"
        assert PORTS["1.5"] in (await ask(stage, f"{PORT[:-1]} in 1.5?")).text
        (act,) = [act for act in await bot.app.audit.acts() if act.what.startswith("reindex")][:1]
        assert act.outcome == "failed: The disk is nearly full."


async def test_over_quota_is_in_status_told_to_admins_once_and_well_again_once(kettle: Kettle) -> None:
    (kettle.folder / "docs" / "2.0" / "new.md").write_text(NEW)
    said: list[str] = []

    async def send(message: dict[str, Any]) -> None:
        said.extend(str(message[key]) for key in ("line",) if key in message)

    async with house(kettle, max_passages=3) as bot:
        with pytest.raises(OverQuota, match="MAX_PASSAGES allows 3"):
            await handle(bot.app, {"command": "index", "release": "2.0"}, send)
        answer = await bot.app.engine.answer(Question(PORT, "web:ada", "web:help"))
        assert PORTS["2.0"] in answer.text, "the old corpus answers"
        told = status_text(await status_of(bot.app))
        assert "index of 2.0 failed" in told and "leave pages out" in told and "or raise it" in told
    async with open_alerts(kettle, max_passages=3) as (bot, desk, alerts):
        await alerts.tick()
        await alerts.tick()
        (told,) = desk()  # once
        assert "2.0 cannot be brought up to date" in told and "leave pages out" in told
    async with open_alerts(kettle) as (bot, desk, alerts):
        await alerts.tick()
        assert desk() == [], "a restart says nothing again"
        (done,) = await bot.app.corpus_manager.reindex("2.0")
        assert done.reading.added == ("folder:docs/2.0: new.md",) and done.embedded == 1
        await alerts.tick()
        await alerts.tick()
        assert desk() == ["2.0 is up to date again."]
        assert "failed" not in status_text(await status_of(bot.app))


@asynccontextmanager
async def open_alerts(kettle: Kettle, **given: Any) -> AsyncIterator[Any]:
    """Open a house with a desk for admins, and what looks after alerts."""
    async with house(kettle, **given) as bot, open_stage("fake", bot) as stage:
        bot.dispatch.notices.channels = (stage.key("desk"),)
        alerts = Alerts(bot.app, bot.dispatch.notices, free=lambda _: (10**12, 10**12))
        yield bot, lambda: [squeezed(said.text) for said in stage.desk()], alerts


async def test_a_source_is_told_after_three_failures_once_and_when_it_works_again(kettle: Kettle) -> None:
    pages = kettle.folder / "docs" / "2.0"
    async with open_alerts(kettle) as (bot, desk, alerts):
        for outage in (1, 2):
            pages.rename(pages.with_name("elsewhere"))
            for failure in range(1, 6):
                with_others = await bot.app.corpus_manager.reindex("2.0")
                assert with_others[0].reading.failed
                await alerts.tick()
                assert len(desk()) == 2 * (outage - 1) + (failure >= 3)
            pages.with_name("elsewhere").rename(pages)
            await bot.app.corpus_manager.reindex("2.0")
            await alerts.tick()
            await alerts.tick()
            assert len(desk()) == 2 * outage
        assert "folder:docs/2.0 of 2.0 failed 3 times in a row" in desk()[0]
        assert desk()[1] == "folder:docs/2.0 of 2.0 is read again."


async def test_after_a_restart_nothing_is_read_that_is_not_due(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        corpora, schedules = bot.app.corpora, bot.app.schedules
        read: list[str] = []

        async def reindex(release: str, sources: object) -> None:
            read.append(release)

        for _ in range(3):  # a supervisor that starts it again and again
            await Clock(corpora, schedules, reindex).tick()
        assert read == []
        late = Clock(corpora, schedules, reindex, now=lambda: time.time() + 14 * 86_400)
        await late.tick()
        assert sorted(read) == ["1.0", "1.5", "2.0"], "what was missed is read once"


async def test_what_cannot_be_built_is_tried_again_later_and_later(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        now = time.time()
        clock = Clock(bot.app.corpora, bot.app.schedules, bot.app.corpus_manager.reindex, now=lambda: now)
        waits = []
        for _ in range(3):
            await bot.app.corpora.note_run("2.0", BUILD, "The disk is full.", ())
            began = now = time.time()
            while "2.0" not in await clock.due():
                now += 60
            waits.append(round((now - began) / RETRY_SECONDS))
        assert waits == [1, 2, 4]
        assert set((await clock.due())["2.0"]) == {s for r, s in bot.app.schedules if r == "2.0"}


async def test_status_tells_of_every_source_when_it_was_read_and_will_be(bot: Bot) -> None:
    status = await status_of(bot.app)
    assert all(source["next_at"] > source["read_at"] for source in status["sources"])
    text = squeezed(status_text(status))
    assert "2.0 folder:docs/2.0: read 20" in text and ", next 20" in text


async def test_the_pages_endpoint_tells_what_goes_on_and_how_it_ended(kettle: Kettle) -> None:
    async with served(kettle, dashboard_token="s3cret") as (url, bot):
        assert (await get(f"{url}/api/progress"))[0] == 401
        admin = {"headers": {"Authorization": "Bearer s3cret"}}
        assert (await get(f"{url}/api/progress", **admin))[2] == {"running": [], "ended": []}
        seen: list[Any] = []
        put = bot.app.corpora.put_vectors

        async def slow(encoder: str, vectors: Any, tokens: Any) -> None:
            seen.append((await get(f"{url}/api/progress", **admin))[2]["running"])
            await put(encoder, vectors, tokens)

        bot.app.corpora.put_vectors = slow
        pages = kettle.folder / "docs" / "2.0"
        (pages / "new.md").write_text(NEW)
        await bot.app.corpus_manager.reindex("2.0")
        (work,) = seen[0]
        assert (work["release"], work["stage"], work["total"]) == ("2.0", "embedding", 1)

        async def full(encoder: str, vectors: Any, tokens: Any) -> None:
            raise StorageError("The disk is full.")

        bot.app.corpora.put_vectors = full
        (kettle.folder / "docs" / "1.5" / "new.md").write_text(NEW.replace("job", "task"))
        with pytest.raises(StorageError):
            await bot.app.corpus_manager.reindex("1.5")
        ended = {work["release"]: work for work in (await get(f"{url}/api/progress", **admin))[2]["ended"]}
        assert ended["2.0"]["stage"] == "done" and not ended["2.0"]["error"]
        assert ended["1.5"]["stage"] == "failed" and ended["1.5"]["error"]


async def test_a_hostile_site_is_in_status_and_its_good_page_answers(kettle: Kettle) -> None:
    bad = {"/docs/bomb": bomb, "/docs/loop": redirect("/docs/loop"), "/docs/flood": flood}
    bad |= {"/docs/meta": redirect("http://169.254.169.254/")}
    bad |= {"/docs/nested": (b"<div>" * 40_000, "text/html")}
    good = page("Zeppelins", "A zeppelin job flies to the moon with the flag --zeppelin.")
    start = page("Start", "Welcome.", *(name.removeprefix("/docs/") for name in bad), "good")
    with Site({"/docs/": start, "/docs/good": good} | bad) as site:
        with kettle.config.open("a") as file:
            file.write(
                f'\n[[unversioned.source]]\nkind = "website"\nstart = ["{site.url}/docs/"]\n'
                "private = true\ndelay = 0\n"
            )
        async with house(kettle) as bot:
            await bot.app.corpus_manager.reindex("2.0")
            told = squeezed(status_text(await status_of(bot.app)))
            assert "5 passed over" in told, told
            for reason in ("too large: more than", "redirects in a circle", "is no public address"):
                assert reason in told or reason in str((await status_of(bot.app))["sources"])
            reasons = str((await status_of(bot.app))["sources"])
            assert "nested too deeply" in reasons
            answer = await bot.app.engine.answer(Question("Which flag flies a zeppelin job to the moon?"))
            assert "--zeppelin" in answer.text and answer.citations[0].url == f"{site.url}/docs/good"


async def test_another_encoder_is_refused_at_start_and_on_reindex_and_told_what_to_do(kettle: Kettle) -> None:
    usual = one_for_all("all-MiniLM-L6-v2", kettle.encoder_cache)
    LOADED["other"] = Renamed(usual)
    async with house(kettle, embedding_model="other") as bot:
        corpus = (await bot.app.corpora.live())["2.0"]
        status = status_text(await status_of(bot.app))
        assert f"2.0 was embedded by {corpus.encoder}, EMBEDDING_MODEL is other@256" in status
        assert "run `threadlore index --rebuild`" in status
        assert PORTS["2.0"] in (await bot.app.engine.answer(Question(PORT))).text, "it goes on answering"
        with pytest.raises(EncoderChanged, match=r"--rebuild`.*old index keeps answering"):
            await bot.app.corpus_manager.reindex("2.0")
        late = time.time() + 200
        clock = Clock(bot.app.corpora, bot.app.schedules, bot.app.corpus_manager.reindex, now=lambda: late)
        assert "2.0" not in await clock.due(), "it is not tried every minute"
        assert (await bot.app.corpora.live())["2.0"] == corpus
        (done,) = await bot.app.corpus_manager.reindex("2.0", rebuild=True)
        assert done.corpus.encoder == "other@256"
        assert PORTS["2.0"] in (await bot.app.engine.answer(Question(PORT))).text


class Renamed:
    """An encoder under another name."""

    name = "other@256"

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._encoder, name)


async def test_every_release_answers_before_the_windows_of_any_are_embedded(
    tmp_path: Path, encoder_cache: Path
) -> None:
    seen: list[tuple[str, str, int]] = []
    async with house(new_folder(tmp_path / "kettle", encoder_cache)) as bot:

        def watch(progress: Progress) -> None:
            seen.append((progress.release, progress.stage, len(bot.app.engine.ready)))

        await bot.app.corpus_manager.reindex("", watch)
        stages = ("embedding", "sentences")
        embedding = [(release, ready) for release, stage, ready in seen if stage in stages]
        assert list(dict.fromkeys(embedding)) == [
            ("2.0", 0),
            ("1.5", 1),
            ("1.0", 2),
            ("2.0", 3),
            ("1.5", 3),
            ("1.0", 3),
        ]
        seen.clear()
        await bot.app.corpus_manager.complete("", watch)
        assert seen == [], "nothing is lacking any more"
