"""A channel in which the bot is noise, on every platform: it falls back to mentions and admins are told."""

from __future__ import annotations

from core.community.unsolicited import LEAST
from tests.journeys.house import Bot
from tests.journeys.stage import EVERYWHERE, Said, Stage, answer, ask, open_stage, told, until
from tests.journeys.test_modes import PORT, listen


async def unasked(stage: Stage, count: int) -> list[Said]:
    """Have questions answered that nobody put to the bot."""
    said = []
    for _ in range(count):
        said.append(await stage.say("ann", PORT))
        await answer(stage, said[-1])
    return said


async def against(stage: Stage, said: list[Said]) -> None:
    """Have two people vote the answers down, in turn."""
    for place, one in enumerate(said):
        await stage.react(("bob", "hal")[place % 2], stage.replies(one)[0], "👎")


@EVERYWHERE
async def test_a_channel_that_votes_the_bot_down_is_served_by_mentions(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "questions")
        bot.dispatch.notices.channels = (stage.key("desk"),)
        said = await unasked(stage, LEAST)
        await against(stage, said[:4])
        await stage.quiet()
        assert await bot.app.modes.mode(stage.key()) == "questions" and not stage.desk()
        await against(stage, said[4:6])
        await until(lambda: stage.desk(), "admins are told")
        assert await bot.app.modes.mode(stage.key()) == "mentions"
        notice = stage.desk()[0].text
        assert stage.key() in notice and "voted down" in notice and "/threadlore mode questions" in notice
        (act,) = [act for act in await bot.app.audit.acts() if act.who == "bot"]
        assert act.what == "mode mentions" and "voted down" in act.outcome
        left = await stage.say("ann", PORT)
        await stage.quiet()
        assert not stage.replies(left), "nothing is said unasked any more"
        await ask(stage, "How do I open the dashboard?")
        await stage.slash("boss", "threadlore", "status")
        assert "voted down" in await told(stage, "boss", "mentions (set by bot")


@EVERYWHERE
async def test_an_admin_sets_the_mode_back_and_a_fresh_count_begins(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "questions")
        said = await unasked(stage, LEAST)
        await against(stage, said[:6])
        await stage.quiet()
        assert await bot.app.modes.mode(stage.key()) == "mentions"
        await stage.slash("boss", "threadlore", "mode")
        assert "voted down" in await told(stage, "boss", "mentions"), "it says why"
        await stage.slash("boss", "threadlore", "mode questions")
        await told(stage, "boss", "questions")
        second = await stage.say("bob", "Where do workers write their log?")
        await answer(stage, second)
        assert (await bot.dispatch.unsolicited.of(stage.key())).answers == 1


@EVERYWHERE
async def test_any_sign_of_life_is_notice(platform: str, bot: Bot) -> None:
    async with open_stage(platform, bot) as stage:
        listen(bot, stage.key(), "questions")
        voted, thanked, pressed, deleted, taken_back, _ignored = await unasked(stage, 6)
        await stage.react("bob", stage.replies(voted)[0], "👍")
        await stage.say("ann", "thanks!", under=thanked)
        await stage.press("hal", stage.replies(pressed)[0], "why")
        await stage.press("ann", stage.replies(deleted)[0], "delete")
        await stage.delete(taken_back)
        await until(lambda: not stage.replies(taken_back) and not stage.replies(deleted), "they are gone")
        await stage.quiet()
        heard = await bot.app.unsolicited.latest(stage.key(), 9)
        assert len(heard) == 5, "a question that was taken back counts no more"
        assert [one.noticed for one in heard] == [False, False, True, True, True]
        assert [len(one.against) for one in heard] == [0, 1, 0, 0, 0], "who deletes is against it"
