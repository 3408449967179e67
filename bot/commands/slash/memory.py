"""`/threadlore memory …`: what the community has taught the bot; the command line's own, in pages.

Nothing that was said in a private channel is shown anywhere else, whoever asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bot.app.application import Application
from bot.commands.memory import memory
from bot.commands.serving import channel_of
from bot.commands.slash.table import Call, Option, Subcommand
from bot.commands.slash.words import whole_number
from bot.interactions.components import WRONG
from bot.interactions.visibility import may_hear
from core.ports.opinions import Correction
from core.text.markup import inert

PAGE = 12
"""Lines of a list that are shown at once."""
_ID = Option("id", "The pair's id, or the one it was imported under", required=True)
_PAGE = Option("page", "Which page of the list", named=True)
_CHANNEL = Option("channel", "Which channel; `here` for this one", required=True, kind="channel")


class MemoryCommands:
    """Commands about community memory."""

    def __init__(self, app: Application) -> None:
        self._app = app

    @property
    def subcommands(self) -> tuple[Subcommand, ...]:
        """Return the lines of the table."""
        stores = ("high", "low", "retired", "evicted")
        return (
            Subcommand(
                "memory list",
                "what people voted on or brought",
                self._list,
                (
                    Option("release", "Only this release"),
                    Option("store", "Only this store", choices=stores, named=True),
                    _PAGE,
                ),
            ),
            Subcommand("memory show", "one pair: question, answer, pages, votes", self._show, (_ID,)),
            Subcommand("memory retire", "take a pair out: no vote brings it back", self._retire, (_ID,)),
            Subcommand("memory restore", "let votes decide again on a retired pair", self._restore, (_ID,)),
            Subcommand("memory stale", "remembered answers whose pages changed", self._stale, (_PAGE,)),
            Subcommand(
                "memory renew",
                "let a stale pair be reused again",
                self._renew,
                (_ID, Option("new", "With what would be answered now", kind="flag")),
            ),
            Subcommand("memory bursts", "votes that came close together", self._bursts, (_PAGE,)),
            Subcommand(
                "memory corrections",
                "what people found wrong with answers, and what they wrote instead",
                self._corrections,
                (_PAGE,),
            ),
            Subcommand(
                "memory private",
                "tell what was learnt in a channel there alone: it became private",
                self._private,
                (_CHANNEL,),
            ),
            Subcommand(
                "memory public",
                "tell everywhere what was learnt in a private channel; given in that channel",
                self._public,
                (_CHANNEL,),
            ),
            Subcommand("memory verify", "check memory against the votes", self._verify),
            Subcommand("memory rebuild", "derive every placement from the votes again", self._rebuild),
        )

    async def _list(self, call: Call) -> str:
        wanted = {name: call.given[name] for name in ("release", "store") if name in call.given}
        return await self._tell_list(call, "list", **wanted)

    async def _show(self, call: Call) -> str:
        await call.tell(_text(*await self._do(call, "show", id=call.given["id"])))
        return "shown"

    async def _stale(self, call: Call) -> str:
        return await self._tell_list(call, "stale")

    async def _bursts(self, call: Call) -> str:
        return await self._tell_list(call, "bursts")

    async def _verify(self, call: Call) -> str:
        await call.tell(_text(*await self._do(call, "verify")))
        return "shown"

    async def _renew(self, call: Call) -> None:
        given = {"id": call.given["id"], "new": "new" in call.given}
        await call.tell(_text(*await self._do(call, "renew", **given)))

    async def _private(self, call: Call) -> None:
        channel = channel_of(call.given["channel"], call.where.channel_key)
        await call.tell(_text(*await self._do(call, "private", channel=channel)))

    async def _retire(self, call: Call) -> str:
        await self._do(call, "find", id=call.given["id"])

        async def retire() -> str:
            return _text(*await self._do(call, "retire", id=call.given["id"]))

        told = (
            f"This takes {call.given['id']} out of memory: no vote brings it back, only "
            "`/threadlore memory restore`."
        )
        return await call.confirm(told, retire, "Yes, retire it")

    async def _restore(self, call: Call) -> None:
        await call.tell(_text(*await self._do(call, "restore", id=call.given["id"])))

    async def _public(self, call: Call) -> str:
        channel = channel_of(call.given["channel"], call.where.channel_key)
        await self._do(call, "may publish", channel=channel)

        async def publish() -> str:
            return _text(*await self._do(call, "public", channel=channel))

        told = f"This tells everybody what was learnt in {channel}."
        return await call.confirm(told, publish, "Yes, tell everybody")

    async def _rebuild(self, call: Call) -> str:
        async def rebuild() -> str:
            return _text(*await self._do(call, "rebuild"))

        told = "This derives every placement from the votes again, which takes a while in a large memory."
        return await call.confirm(told, rebuild, "Yes, rebuild it")

    async def _corrections(self, call: Call) -> str:
        hears = {"hears": call.scope.key}
        found = await self._app.engine.accepted.corrections()
        shown = [said for said in found if may_hear(hears, said.scope)]
        lines = corrections_lines(shown)
        if hidden := len(found) - len(shown):
            lines.append(
                f"- {hidden} more from private channels and direct messages, which are shown there alone"
            )
        await call.tell(
            _paged(lines, call) if lines else "Nobody has said yet what was wrong with an answer."
        )
        return "shown"

    async def _tell_list(self, call: Call, action: str, **given: Any) -> str:
        lines, notes = await self._do(call, action, **given)
        await call.tell(_paged([f"- {line}" for line in lines], call) if lines else _text(lines, notes))
        return "shown"

    async def _do(self, call: Call, action: str, **given: Any) -> tuple[list[str], list[str]]:
        """Carry out what the command line has, for who listens here; return its lines and notes."""
        lines: list[str] = []
        notes: list[str] = []

        async def keep(message: dict[str, Any]) -> None:
            lines.extend([message["line"]] if "line" in message else [])
            notes.extend([message["note"]] if "note" in message else [])

        await memory(self._app, {"action": action, "hears": call.scope.key, **given}, keep)
        return lines, notes


def _text(lines: Sequence[str], notes: Sequence[str]) -> str:
    """Return what the command line said, in the words of the platforms."""
    return "\n".join([*lines, *notes]).replace("`threadlore ", "`/threadlore ")


def _paged(lines: Sequence[str], call: Call) -> str:
    pages = -(-len(lines) // PAGE)
    page = whole_number(call.given.get("page", "1"), "The page", most=max(pages, 1))
    shown = list(lines[(page - 1) * PAGE : page * PAGE])
    if pages > 1:
        more = f"; `--page {page + 1}` shows the next" if page < pages else ""
        shown.append(f"Page {page} of {pages}{more}.")
    return "\n".join(shown)


def corrections_lines(corrections: Sequence[Correction]) -> list[str]:
    """List what people found wrong with answers, the latest first."""
    lines = []
    for said in corrections:
        better = f" Better: {inert(' '.join(said.better.split()))}" if said.better else ""
        taken = " (remembered)" if said.pair_id else ""
        who = f"“{inert(said.question)}” ({said.release}), {inert(said.name)}"
        lines.append(f"- {who}: {WRONG[said.what]}.{better}{taken}")
    return lines
