"""`forget`, in chat also `forget-me`: remove what a person asked and voted, for good."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application
    from bot.ports.chat import Person


_MENTION = re.compile(r"<@!?(\w+)(?:\|[^>]*)?>")
SURE = Option("confirm", "Really do it; without this you are told what it does", kind="flag", where="chat")


async def run(app: Application, given: Given) -> Result:
    """Forget a person with all linked accounts."""
    from bot.commands.privacy_texts import whom

    return Result(await app.people.forget(await whom(app, given)))


def text(result: Result) -> Sequence[str]:
    """Say what was removed."""
    return [result.data.text]


async def dialogue(app: Application, call: Call) -> str | None:
    """Forget a person once it is confirmed in chat: it cannot be taken back."""
    from bot.commands.privacy_texts import REMOVES, REMOVES_YOURS, within
    from bot.commands.slash.table import ONLY_ADMINS
    from core.languages import _
    from core.ports.about import FORGOTTEN

    said = call.given.get("account") or call.given.get("person") or "me"
    user = call.person.id if said == "me" else _account(said, call.person)
    own = user == call.person.id
    if not (own or call.is_admin):
        await call.tell(_(ONLY_ADMINS))
        return None
    if not user:
        await call.tell(
            f"I can't tell who `{said}` is; write the account, such as `slack:U123` or `discord:456`."
        )
        return None

    within(app, call, user)

    async def act() -> str:
        return (await app.people.forget(user)).text

    asked = replace(call, words=(said, *(("confirm",) if call.confirmed else ())))
    told = _(REMOVES_YOURS) if own else REMOVES.format(who=user)
    return await asked.confirm(told, act, outcome=FORGOTTEN if own else "done")


def _account(said: str, admin: Person) -> str:
    """Return the account that a mention or an id means, on the admin's platform; empty for a mere name."""
    platform = admin.id.partition(":")[0]
    if match := _MENTION.fullmatch(said):
        return f"{platform}:{match[1]}"
    return "" if said.startswith("@") else said if ":" in said else f"{platform}:{said}"


COMMAND = Command(
    "forget",
    "admin",
    "delete a person's questions, their answers, votes, and anything learned from them",
    run,
    text,
    options=(
        Option("person", "Somebody else; only admins may do that", kind="person", where="chat"),
        Option(
            "account",
            "An account elsewhere, such as slack:U123; for admins",
            named=True,
            hidden=True,
            where="chat",
        ),
        SURE,
        Option(
            "user",
            "Whom, such as slack:U1; linked accounts go with it",
            required=True,
            named=True,
            where="terminal",
        ),
    ),
    who="everybody",
    changes=True,
    help_in_chat=(
        "permanently delete what you asked and voted (`forget me`); admins can name others: "
        "`forget @somebody`"
    ),
    dialogue=dialogue,
    logged=True,
    secret=True,
    rank=51,
)


async def forget_me(app: Application, call: Call) -> str | None:
    """Forget the person who gives it, once it is confirmed."""
    return await dialogue(app, replace(call, name="forget", words=("me", *call.words)))


FORGET_ME = Command(
    "forget-me",
    "admin",
    "the same as `forget me`",
    options=(SURE,),
    who="everybody",
    where="chat",
    dialogue=forget_me,
    logged=True,
    rank=52,
)
