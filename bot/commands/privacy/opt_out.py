"""`opt-out`: keep nothing of a person from now on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Result
from bot.commands.privacy.forget import SURE
from bot.commands.privacy.my_data import USER

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application


async def run(app: Application, given: Given) -> Result:
    """Keep nothing of a person from now on, and forget them."""
    return Result(await app.people.opt_out(given["user"]))


def text(result: Result) -> Sequence[str]:
    """Say what was removed, and what changes it."""
    from bot.commands.privacy_texts import LEFT

    return [LEFT.format(gone=result.data.text)]


async def dialogue(app: Application, call: Call) -> str | None:
    """Do it in chat for whoever gives it, once it is confirmed."""
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


COMMAND = Command(
    "opt-out",
    "admin",
    "keep nothing of a person from now on, and forget them",
    run,
    text,
    options=(SURE, USER),
    who="everybody",
    changes=True,
    help_in_chat="keep nothing of mine, and forget what there is",
    dialogue=dialogue,
    rank=53,
)
