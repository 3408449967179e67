"""`/threadlore pause | resume | mode | audit`: where and whether questions are answered, and who did what."""

from __future__ import annotations

from bot.commands.serving import begin_pause, change_mode, channel_of, end_pause, mode_and_channel, modes_text
from bot.commands.slash.table import Call, Option, Subcommand
from bot.commands.slash.words import whole_number
from bot.operations.audit import audit_text
from core.community.channels import DEFAULT, EVERYWHERE, MODES, ChannelModes, Pauses
from core.privacy.audit import AuditStore

ACTS = 20
"""Acts of the audit log that are shown unless a number is named."""


def serving_commands(modes: ChannelModes, pauses: Pauses, audit: AuditStore) -> tuple[Subcommand, ...]:
    """Return the commands about where the bot answers, and about what was done."""
    here = Option("here", "Only this channel; everything when left out", kind="flag")

    async def pause(call: Call) -> None:
        said = " ".join(call.given[name] for name in ("time", "reason") if name in call.given)
        ends = f"/threadlore resume{' here' if 'here' in call.given else ''}"
        await call.tell(await begin_pause(pauses, _place(call), said, call.person.id, ends))

    async def resume(call: Call) -> None:
        this = call.where.channel_key
        await call.tell(await end_pause(pauses, _place(call), this))

    async def mode(call: Call) -> str:
        this = call.where.channel_key
        said = [call.given[name] for name in ("channel", "mode") if name in call.given]
        channel, wanted = mode_and_channel(said)
        if not channel:
            await call.tell(await modes_text(modes, this))
            return "shown"
        key = channel_of(channel, this)
        await call.tell(await change_mode(modes, key, wanted, call.person.id))
        return f"{key} is {await modes.mode(key)}" if wanted else "shown"

    async def show_audit(call: Call) -> str:
        number = whole_number(call.given.get("number", str(ACTS)), "The number of lines", most=200)
        await call.tell(audit_text(await audit.acts(number)))
        return "shown"

    return (
        Subcommand(
            "pause",
            "answer no new questions for a time (`30`, `2h`) or `until further notice`; votes still count",
            pause,
            (
                here,
                Option("time", "Minutes, 2h or 1d; open when left out"),
                Option("reason", "Why", rest=True),
            ),
        ),
        Subcommand("resume", "answer questions again", resume, (here,)),
        Subcommand(
            "mode",
            "show or set what a channel is answered: mentions, questions, every post of a forum, or nothing",
            mode,
            (
                Option("channel", "Which channel; this one when left out", kind="channel"),
                Option("mode", "How it is served from now on", choices=(*MODES, DEFAULT)),
            ),
        ),
        Subcommand(
            "audit",
            "who gave which command, where, and what came of it",
            show_audit,
            (Option("number", "How many lines, 20 when left out"),),
        ),
    )


def _place(call: Call) -> str:
    return call.where.channel_key if "here" in call.given else EVERYWHERE
