"""`forget-me` in chat: the same as `forget me`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from bot.commands.command import Command
from bot.commands.privacy.forget import SURE
from bot.commands.privacy.forget import dialogue as forget

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application


async def dialogue(app: Application, call: Call) -> str | None:
    """Forget whoever gives it, once it is confirmed."""
    return await forget(app, replace(call, name="forget", words=("me", *call.words)))


COMMAND = Command(
    "forget-me",
    "admin",
    "the same as `forget me`",
    options=(SURE,),
    who="everybody",
    where="chat",
    dialogue=dialogue,
    logged=True,
    rank=52,
)
