"""Pages change under remembered answers: they are confirmed, written anew, or wait for an admin."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.commands.command_line import handle
from bot.operations.scheduler import Clock
from bot.rendering.status import status_text
from core.domain import Answer, Question, Vote
from core.errors import UsageError
from core.generation.quotes.quote import without_introduction
from tests.journeys.house import Bot, Kettle, house
from tests.ollama_server import Behaviour, OllamaServer

PORT = "Which port does the dashboard listen on?"
ANN, BOB = "slack:UANN", "slack:UBOB"


async def learnt(bot: Bot, text: str = PORT, release: str = "") -> Answer:
    """Have a question answered and the answer voted good by who asked."""
    answer = await bot.app.engine.answer(Question(text, ANN, "slack:C1", release=release))
    assert await bot.app.engine.feedback(Vote(answer.id, ANN, 1))
    assert (await asked(bot, text, release)).route == "reuse"
    return answer


async def asked(bot: Bot, text: str = PORT, release: str = "") -> Answer:
    return await bot.app.engine.answer(Question(text, BOB, "slack:C1", release=release))


def page(bot: Bot, name: str = "dashboard.rst", release: str = "2.0") -> Path:
    return bot.kettle.folder / "docs" / release / name


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))


async def told(bot: Bot, **request: Any) -> tuple[list[str], int]:
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await handle(bot.app, {"command": "memory", **request}, send)
    lines = [message[key] for message in messages for key in ("line", "note") if key in message]
    return lines, messages[-1]["code"]


async def sound(bot: Bot) -> bool:
    return (await told(bot, action="verify"))[1] == 0


async def test_a_page_that_says_it_still_renews_the_pair(bot: Bot) -> None:
    first = await learnt(bot)
    edit(page(bot), "The dashboard shows queues", "Read this first. The dashboard shows queues")
    edit(page(bot), "choose another one", "you may choose another one")
    await bot.app.corpus_manager.reindex("2.0")
    again = await asked(bot)
    assert again.route != "reuse", "never silently reused"
    assert "The pages it cites have changed since." in again.trace["guard"]
    assert (await bot.counts())["stale"] == 1
    assert await bot.app.stale_review.slice() == 1
    now = await asked(bot)
    assert (now.route, now.text, now.pair_id) == ("reuse", without_introduction(first.text), first.pair_id)
    live = await bot.app.corpora.page_hashes("2.0")
    assert {c.hash for c in now.citations} <= live and now.citations != first.citations
    assert (await bot.counts())["stale"] == 0 and await sound(bot)


async def test_a_page_that_says_something_else_is_left_to_an_admin(bot: Bot) -> None:
    first = await learnt(bot)
    edit(page(bot), "9090", "9191")
    await bot.app.corpus_manager.reindex("2.0")
    assert await bot.app.stale_review.slice() == 1 and await bot.app.stale_review.slice() == 0
    assert (await asked(bot)).route != "reuse"
    shown = status_text(await bot.app.corpus_manager.status())
    assert "1 remembered answers cite pages that changed; `threadlore memory stale`" in shown
    ((line,), _) = await told(bot, action="stale")
    assert first.pair_id in line and "9090" in line and "9191" in line and "--new" in line
    ((row,), _) = await told(bot, action="stale", json=True)
    assert "9191" in json.loads(row)["proposal"] and "9090" in json.loads(row)["answer"]
    assert await sound(bot)
    with pytest.raises(UsageError, match="No stale pair"):
        await told(bot, action="renew", id="p0")

    await told(bot, action="renew", id=first.pair_id, new=True)
    now = await asked(bot)
    assert now.route == "reuse" and "9191" in now.text and "9090" not in now.text
    assert await sound(bot)


async def test_an_admin_may_keep_the_words_or_take_the_pair_out(bot: Bot) -> None:
    first = await learnt(bot)
    edit(page(bot), "9090", "9191")
    await bot.app.corpus_manager.reindex("2.0")
    assert "Not checked yet." in (await told(bot, action="stale"))[0][0]
    assert (await told(bot, action="stale", check=True))[0][0] == "Checked 1 answer."
    await told(bot, action="renew", id=first.pair_id)
    now = await asked(bot)
    assert now.route == "reuse" and "9090" in now.text
    edit(page(bot), "9191", "9292")
    await bot.app.corpus_manager.reindex("2.0")
    assert (await asked(bot)).route != "reuse", "its pages changed once more"
    await told(bot, action="retire", id=first.pair_id)
    assert (await told(bot, action="stale"))[0] == ["No remembered answer waits: all cite pages as they are."]
    assert await sound(bot)


async def test_a_page_that_is_gone_cannot_be_kept_as_source(bot: Bot) -> None:
    first = await learnt(bot, "How do I send the report every night at fixed times with cron?")
    page(bot, "scheduling.md").unlink()
    await bot.app.corpus_manager.reindex("2.0")
    await bot.app.stale_review.slice()
    ((line,), _) = await told(bot, action="stale")
    assert "is not there any more" in line
    with pytest.raises(UsageError, match="retire the pair"):
        await told(bot, action="renew", id=first.pair_id)


async def test_pages_that_come_back_make_it_current_without_anybody(bot: Bot) -> None:
    first = await learnt(bot)
    for before, after in (("9090", "9191"), ("9191", "9090")):
        edit(page(bot), before, after)
        await bot.app.corpus_manager.reindex("2.0")
        await bot.app.stale_review.slice()
    now = await asked(bot)
    assert (now.route, now.text) == ("reuse", without_introduction(first.text))
    assert await sound(bot) and (await bot.counts())["stale"] == 0


async def test_a_comparison_is_current_again_when_both_releases_say_so(bot: Bot) -> None:
    both = "Which port does the dashboard listen on by default in 1.5 and in 2.0?"
    first = await learnt(bot, both)
    assert first.release == "1.5+2.0"
    for release, port in (("1.5", "7171"), ("2.0", "9090")):
        edit(page(bot, release=release), port, f"{port}1")
        await bot.app.corpus_manager.reindex(release)
    assert (await asked(bot, both)).route != "reuse"
    for release, port in (("1.5", "7171"), ("2.0", "9090")):
        edit(page(bot, release=release), f"{port}1", port)
        await bot.app.corpus_manager.reindex(release)
    assert (await asked(bot, both)).route == "reuse"
    edit(page(bot, release="1.5"), "The dashboard shows", "Look: the dashboard shows")
    edit(page(bot, release="1.5"), "in the browser", "in any browser")
    await bot.app.corpus_manager.reindex("1.5")
    await bot.app.stale_review.slice()
    assert (await asked(bot, both)).route == "reuse" and await sound(bot)


async def test_a_process_that_died_before_or_while_looking_goes_on(kettle: Kettle) -> None:
    async with house(kettle) as bot:
        for text in (PORT, "How often is a failed job tried again by default?"):
            await learnt(bot, text)
        corpus_manager, marked = bot.app.corpus_manager, bot.app.corpus_manager.going_live._mark_stale

        async def died(release: str) -> None:
            raise KeyboardInterrupt

        edit(page(bot), "9090 by default", "9090 by default, mind you")
        edit(page(bot, "jobs.md"), "8 times", "9 times")
        corpus_manager.going_live._mark_stale = died  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            await corpus_manager.reindex("2.0")
        corpus_manager.going_live._mark_stale = marked  # type: ignore[method-assign]
    async with house(kettle) as bot:
        assert (await asked(bot)).route != "reuse", "a start marks what a dead process could not"
        assert (await bot.counts())["stale"] == 2
        assert await bot.app.stale_review.slice(1) == 1
    async with house(kettle) as bot:
        clock = Clock(bot.app.corpora, {}, bot.app.corpus_manager.reindex, renew=bot.app.stale_review.slice)
        await clock.renew()
        assert await bot.app.stale_review.slice() == 0
        (waiting,) = await bot.app.stale_review.waiting()
        assert "8" in waiting.finding and waiting.pair.answer != waiting.proposal
        assert (await asked(bot)).route == "reuse"
        assert await sound(bot)


async def test_the_model_writes_it_anew_and_the_same_answer_is_renewed(
    writer: Bot, ollama: OllamaServer
) -> None:
    ollama.say("The dashboard listens on port 9090 [1].")
    first = await learnt(writer)
    edit(
        page(writer), "The dashboard listens on port 9090 by default", "Its port is 9090 unless you change it"
    )
    await writer.app.corpus_manager.reindex("2.0")
    ollama.say("The dashboard listens on the port 9090 [1].")
    calls = ollama.calls
    assert await writer.app.stale_review.slice() == 1
    assert ollama.calls > calls
    now = await asked(writer)
    assert (now.route, now.pair_id) == ("reuse", first.pair_id) and "on the port 9090" in now.text

    edit(page(writer), "Its port is 9090", "Its port is 9191")
    await writer.app.corpus_manager.reindex("2.0")
    ollama.say("The dashboard listens on port 9191 [1].")
    await writer.app.stale_review.slice()
    (waiting,) = await writer.app.stale_review.waiting()
    assert "9191" in waiting.proposal and (await asked(writer)).route != "reuse"
    assert await sound(writer)


async def test_while_the_model_is_away_a_pair_waits_for_it(writer: Bot, ollama: OllamaServer) -> None:
    ollama.say("The dashboard listens on port 9090 [1].")
    await learnt(writer)
    edit(page(writer), "The dashboard listens on port 9090 by default", "Its port is 9090")
    await writer.app.corpus_manager.reindex("2.0")
    ollama.always = Behaviour("crashed")
    assert await writer.app.stale_review.slice() == 0
    (waiting,) = await writer.app.stale_review.waiting()
    assert waiting.finding == "" and (await asked(writer)).route != "reuse"


async def test_a_dry_run_lists_the_remembered_answers_that_a_reindex_would_touch(bot: Bot) -> None:
    answer = await bot.app.engine.answer(Question("Which port does the dashboard listen on?", "web:ann"))
    await bot.app.engine.feedback(Vote(answer.id, "web:ann", 1))
    lines: list[str] = []

    async def hear(message: dict[str, Any]) -> None:
        lines.append(str(message.get("line", "")))

    async def planned() -> list[str]:
        lines.clear()
        await handle(bot.app, {"command": "index", "dry_run": True}, hear)
        return [line for line in lines if "remembered" in line]

    assert await planned() == []
    page = bot.kettle.folder / "docs" / "2.0" / answer.citations[0].path
    page.write_text(page.read_text() + "\nA further word.\n")
    assert [answer.pair_id in line and "dashboard" in line for line in await planned()] == [True]
