"""What `my-data`, `forget`, `opt-out` and `opt-in` say, and whom they may be about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.privacy.visibility import stay_within
from core.languages import N_

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application

WHOLE = N_("The file has all of it.")
WHOLE_BY_ADMIN = N_("An admin can send you all of it: `threadlore my-data --user {user} --json`.")
"""Where all of it is, where the bot can send files and where it cannot."""
LEAVING = N_(
    "From then on I keep nothing of yours: no questions, votes or answers, and your words go to no model. "
    "Ask me and I quote the documentation. What I have kept until now goes, too, for good."
)
LEFT = N_("You have opted out: from now on nothing of yours is kept. {gone} `/threadlore opt-in` changes it.")
LEFT_ALREADY = N_("You had opted out before; nothing of yours is kept. `/threadlore opt-in` changes it.")
BACK = N_("Welcome back: what you ask me and how you vote is kept again, and answers are written for you.")
NEVER_LEFT = N_("You have not opted out. `/threadlore my-data` shows what I keep of you.")
REMOVES = (
    "This removes for good what {who} asked and voted, with the answers and what was remembered of them."
)
REMOVES_YOURS = N_(
    "This permanently deletes your questions, their answers, your votes, and what was remembered of them."
)
OPT_OUT = N_("Opt out")


def within(app: Application, call: Call, user: str) -> None:
    """Raise UsageError where somebody's accounts are out of the reach of where the command was given."""
    stay_within(call.person.id, app.privacy.names.everyone(user))
