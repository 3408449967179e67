"""`opt-in`: keep what a person asks and votes again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result
from bot.commands.privacy.my_data import USER

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Keep what a person asks and votes again."""
    return Result({"was_out": await app.privacy.opt_in(given["user"])})


def text(result: Result) -> Sequence[str]:
    """Say that they are back, or had never left."""
    from bot.commands.privacy_texts import BACK, NEVER_LEFT

    return [BACK if result.data["was_out"] else NEVER_LEFT]


async def dialogue(app: Application, call: Call) -> None:
    """Do it in chat for whoever gives it."""
    from bot.commands.privacy_texts import BACK, NEVER_LEFT, within
    from core.languages import _

    within(app, call, call.person.id)
    await call.tell(_(BACK if await app.privacy.opt_in(call.person.id) else NEVER_LEFT))


COMMAND = Command(
    "opt-in",
    "admin",
    "keep what a person asks and votes again",
    run,
    text,
    options=(USER,),
    who="everybody",
    changes=True,
    help_in_chat="keep what I ask and vote again",
    dialogue=dialogue,
    rank=54,
)
