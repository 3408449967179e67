"""What `my-data`, `forget`, `opt-out` and `opt-in` say, and whom they may be about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.privacy.visibility import stay_within
from core.errors import UsageError
from core.languages import N_

if TYPE_CHECKING:
    from bot.commands.command import Given
    from bot.commands.slash.table import Call
    from bot.operations.application import Application

WHOLE = N_("The file has all of it.")
WHOLE_BY_ADMIN = N_("An admin can send you all of it: `threadlore my-data --user {user} --json`.")
"""Where all of it is, where the bot can send files and where it cannot."""
LEAVING = N_(
    "From then on I store nothing about you: no questions, votes or answers. No model sees your words. "
    "Ask me and I quote the documentation. What I have stored until now is permanently deleted."
)
LEFT = N_(
    "You have opted out: from now on I store nothing about you. {gone} `/threadlore opt-in` changes it."
)
LEFT_ALREADY = N_("You had already opted out; I store nothing about you. `/threadlore opt-in` changes it.")
BACK = N_("Welcome back: what you ask me and how you vote is kept again, and answers are written for you.")
NEVER_LEFT = N_("You have not opted out. `/threadlore my-data` shows what I store about you.")
REMOVES = (
    "This permanently deletes the questions of {who}, their answers, their votes, "
    "and anything learned from them."
)
REMOVES_YOURS = N_(
    "This permanently deletes your questions, their answers, your votes, and anything learned from them."
)
OPT_OUT = N_("Opt out")


def within(app: Application, call: Call, user: str) -> None:
    """Raise UsageError where somebody's accounts are out of the reach of where the command was given."""
    stay_within(call.person.id, app.privacy.names.everyone(user))


async def whom(app: Application, given: Given) -> str:
    """Return whom `--user` names; raises UsageError for what is no account and nobody's name."""
    user: str = given["user"]
    if ":" not in user and await app.my_data.of(user) == {"accounts": [user], "opted_out": False}:
        raise UsageError(
            f"I know nobody called {user}. Write the account with its platform, such as slack:{user}."
        )
    return user
