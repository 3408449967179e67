"""`opt-out`: keep nothing of a person from now on; `opt-in`: keep it again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result
from bot.commands.privacy.forget import SURE
from bot.commands.privacy.my_data import USER

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application


async def opt_out(app: Application, given: Given) -> Result:
    """Keep nothing of a person from now on, and forget them."""
    from bot.commands.privacy_texts import whom

    return Result(await app.people.opt_out(await whom(app, given)))


def opted_out_text(result: Result) -> Sequence[str]:
    """Say what was removed, and what changes it."""
    from bot.commands.privacy_texts import LEFT

    return [LEFT.format(gone=result.data.text)]


async def opt_out_in_chat(app: Application, call: Call) -> str | None:
    """Do it in chat for the person who gives it, once it is confirmed."""
    from bot.commands.privacy_texts import LEAVING, LEFT, LEFT_ALREADY, OPT_OUT, within
    from core.languages import _
    from core.ports.about import FORGOTTEN

    within(app, call, call.person.id)
    if app.privacy.is_out(call.person.id):
        await call.tell(_(LEFT_ALREADY))
        return None

    async def act() -> str:
        return _(LEFT).format(gone=(await app.people.opt_out(call.person.id)).text)

    return await call.confirm(_(LEAVING), act, label=OPT_OUT, outcome=FORGOTTEN)


OPT_OUT_COMMAND = Command(
    "opt-out",
    "admin",
    "store nothing about a person, and delete what there is",
    opt_out,
    opted_out_text,
    options=(SURE, USER),
    who="everybody",
    changes=True,
    help_in_chat="store nothing about me, and delete what there is",
    dialogue=opt_out_in_chat,
    rank=53,
)


async def opt_in(app: Application, given: Given) -> Result:
    """Keep what a person asks and votes again."""
    from bot.commands.privacy_texts import whom

    return Result({"was_out": await app.privacy.opt_in(await whom(app, given))})


def opted_in_text(result: Result) -> Sequence[str]:
    """Say that they are back, or had never left."""
    from bot.commands.privacy_texts import BACK, NEVER_LEFT

    return [BACK if result.data["was_out"] else NEVER_LEFT]


async def opt_in_in_chat(app: Application, call: Call) -> None:
    """Do it in chat for the person who gives it."""
    from bot.commands.privacy_texts import BACK, NEVER_LEFT, within
    from core.languages import _

    within(app, call, call.person.id)
    await call.tell(_(BACK if await app.privacy.opt_in(call.person.id) else NEVER_LEFT))


OPT_IN_COMMAND = Command(
    "opt-in",
    "admin",
    "store a person's questions and votes again",
    opt_in,
    opted_in_text,
    options=(USER,),
    who="everybody",
    changes=True,
    help_in_chat="store my questions and votes again",
    dialogue=opt_in_in_chat,
    rank=54,
)
