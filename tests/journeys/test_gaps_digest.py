"""What was not answered: told to admins each week on every platform, and written for those who document."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from bot.commands.command_line import handle
from bot.operations.alerts import AWAY_SECONDS, Alerts
from bot.operations.digest import Digest
from core.domain import Question
from core.errors import UsageError
from tests.journeys.fake_stage import FakeStage
from tests.journeys.house import Bot
from tests.journeys.stage import EVERYWHERE, ON_EACH_WIRE, Stage, answer, ask, open_stage, told, until
from tests.ollama_server import Behaviour, OllamaServer

UNKNOWN = "How do I rotate the log files for zebras?"
SECRET = "How do I hide a treasure from pirates?"


async def unserved(stage: Stage) -> None:
    """Ask what nobody knows, twice in public and once where nobody else may hear it."""
    asked = [
        await stage.say("ann", UNKNOWN, to="bot"),
        await stage.say("ann", "How can I rotate the log files for zebras?", to="bot"),
        await stage.say("ann", SECRET, "private", to="bot"),
        await stage.say("ann", SECRET, "direct"),
    ]
    for said in asked:
        await answer(stage, said)
    await stage.quiet()


def digest(bot: Bot, now: datetime) -> Digest:
    told = bot.app.statistics
    return Digest("mon 09:00", told.gaps, told.wrong_reuse, bot.dispatch.notices, "Kettle", lambda: now)


@ON_EACH_WIRE
async def test_admins_are_told_each_week_what_was_not_answered_in_public(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        bot.dispatch.notices.channels = (stage.key("desk"),)
        monday = datetime(2026, 11, 23, 9, 0)
        await digest(bot, monday).tick()
        assert not stage.desk(), "nothing is told where there is nothing"
        await unserved(stage)
        for now in (monday.replace(day=30), monday.replace(day=30, hour=15), datetime(2026, 12, 6, 12, 0)):
            await digest(bot, now).tick()
        await stage.quiet()
        (seen,) = stage.desk()
        assert "2 questions on 1 topic" in seen.text and "2×" in seen.text and "2 abstained" in seen.text
        assert "zebras" in seen.text and "treasure" not in seen.text


@EVERYWHERE
async def test_gaps_are_listed_and_written_as_a_page_for_admins(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        await unserved(stage)
        await stage.slash("boss", "threadlore", "gaps")
        listed = await told(stage, "boss", "zebras")
        assert "2×" in listed and "nearest page" in listed and "https://kettle.example/" in listed
        await stage.slash("boss", "threadlore", "gaps --markdown")
        page = await told(stage, "boss", "What the Kettle documentation does not answer")
        assert "Rotate the log files for zebras" in page and "treasure" not in page


async def test_the_page_goes_to_a_file_that_forgetting_knows(bot: Bot, tmp_path: Path) -> None:
    await bot.app.engine.answer(Question(UNKNOWN, "fake:ann", "fake:public"))
    sent: list[dict[str, object]] = []

    async def send(message: dict[str, object]) -> None:
        sent.append(message)

    file = tmp_path / "gaps.md"
    await handle(bot.app, {"command": "gaps", "markdown": str(file)}, send)
    assert sent[0]["line"] == f"1 topics are in {file}." and sent[-1] == {"code": 0}
    text = file.read_text()
    assert f"### 1. {UNKNOWN}" in text and "- Suggested: a section “Rotate the log files for zebras”" in text
    assert "- Nearest page: [" in text and "## Kettle 2.0" in text
    assert str(file) in (await bot.app.people.forget("fake:ann")).text, "it still names what was asked"


@pytest.mark.parametrize("days", [-3, 0, 3651])
async def test_days_that_cannot_be_are_refused(bot: Bot, days: int) -> None:
    async def send(message: dict[str, object]) -> None:
        raise AssertionError(message)

    with pytest.raises(UsageError, match="from 1 to 3650"):
        await handle(bot.app, {"command": "gaps", "days": days}, send)


# --- other things that admins should know -----------------------------------------------------


@EVERYWHERE
async def test_a_source_that_fails_again_and_again_is_told_once(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        bot.dispatch.notices.channels = (stage.key("desk"),)
        alerts = Alerts(bot.app, bot.dispatch.notices)
        source = (await bot.app.corpora.runs())[0]
        for _ in range(2):
            await bot.app.corpora.note_run(source.release, source.source, "The folder is gone.", ())
        await alerts.tick()
        assert not stage.desk()
        for _ in range(2):
            await bot.app.corpora.note_run(source.release, source.source, "The folder is gone.", ())
            await alerts.tick()
        (seen,) = await until(stage.desk, "admins are told")
        assert "3 times in a row" in seen.text and "The folder is gone." in seen.text


async def test_a_model_that_goes_and_comes_back_is_told_each_time(writer: Bot, ollama: OllamaServer) -> None:
    async with open_stage("fake", writer) as stage:
        writer.dispatch.notices.channels = (stage.key("desk"),)
        now = [1000.0]
        alerts = Alerts(writer.app, writer.dispatch.notices, lambda: now[0])
        ollama.always = Behaviour("crashed")
        for told in (0, 2):
            for number in range(3):
                await ask(stage, f"Which port does the dashboard of queue number {told + number} listen on?")
            await alerts.tick()
            assert len(stage.desk()) == told, "a short while is nobody's business"
            now[0] += AWAY_SECONDS
            await alerts.tick()
            await alerts.tick()
            assert "away for 10 minutes" in stage.desk()[told].text
            writer.app.engine.model._open_until = 0.0
            now[0] += 60
            await alerts.tick()
            assert len(stage.desk()) == told + 2
            assert "answers again, after 11 minutes" in stage.desk()[told + 1].text


async def test_a_disk_that_is_nearly_full_is_told_once_a_day(bot: Bot) -> None:
    async with open_stage("fake", bot) as stage:
        bot.dispatch.notices.channels = (stage.key("desk"),)
        free = [50_000_000_000]
        alerts = Alerts(bot.app, bot.dispatch.notices, free=lambda _: (free[0], 100_000_000_000))
        await alerts.tick()
        assert not stage.desk()
        free[0] = 300_000_000
        for _ in range(3):
            await alerts.tick()
        (seen,) = stage.desk()
        assert "300 MB left" in seen.text


async def test_a_figure_leads_to_public_threads_alone(bot: Bot) -> None:
    async with FakeStage(bot) as stage:
        found = []
        for place in ("public", "private"):
            [seen] = stage.replies(await stage.say("ann", UNKNOWN, place, to="bot"))
            found.append(await bot.app.conversations.answer_of(f"fake:{place}:{seen.id}"))
        thread = await bot.dispatch.thread(found[0])
        assert thread["question"] == UNKNOWN and thread["link"].startswith("https://fake.example/public/")
        assert await bot.dispatch.thread(found[1]) == await bot.dispatch.thread("a1") == {}


@EVERYWHERE
async def test_a_question_that_was_deleted_or_edited_is_in_no_digest(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        first = await stage.say("ann", UNKNOWN, to="bot")
        await answer(stage, first)
        second = await stage.say("ann", "How can I rotate the log files for zebras?", to="bot")
        await answer(stage, second)
        (gap,) = await bot.app.statistics.gaps(30)
        assert len(gap.questions) == 2
        await stage.delete(first)
        await stage.edit(second, "Which port does the dashboard listen on?")
        await stage.quiet()
        assert await bot.app.statistics.gaps(30) == ()
        (day,) = await bot.app.statistics.days(30)
        assert day.routes["abstain"] == 1 and sum(day.routes.values()) == 2
