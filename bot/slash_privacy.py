"""`/threadlore forget`: a person's own data."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

from bot.chat import Person
from bot.slash import ONLY_ADMINS, Call, Option, Subcommand

_MENTION = re.compile(r"<@!?(\w+)(?:\|[^>]*)?>")
Forget = Callable[[str], Awaitable[Any]]


def privacy_commands(forget: Forget) -> tuple[Subcommand, ...]:
    """Return the commands that concern what is kept of a person."""

    async def forget_person(call: Call) -> None:
        """Forget a person once it is confirmed: it cannot be taken back."""
        said = next((word for word in call.words if word.lstrip("-") != "confirm"), "me")
        user = call.person.id if said == "me" else _account(said, call.person)
        own = user == call.person.id
        rest = [word for word in call.words if word != said]
        if not (own or call.is_admin):
            await call.tell(ONLY_ADMINS)
        elif not user:
            await call.tell(
                f"I can't tell who `{said}` is; write the account, such as `slack:U123` or `discord:456`."
            )
        elif not call.confirmed or len(rest) > 1:
            await call.tell(
                f"This removes for good what {'you' if own else user} asked and voted, with the answers and "
                f"what was remembered of them. To go on: `/threadlore forget {'me' if own else said} confirm`"
            )
        else:
            await call.tell((await forget(user)).text)

    options = (
        Option("person", "Somebody else; only admins may do that", kind="person"),
        Option("account", "An account on another platform, such as slack:U123; only admins may do that"),
        Option("confirm", "Really do it; without this you are told what it does", kind="flag"),
    )
    return (
        Subcommand(
            "forget",
            "remove for good what you (`me`) asked and voted; admins also name others: `forget slack:U123`",
            forget_person,
            options,
            everybody=True,
        ),
    )


def _account(said: str, admin: Person) -> str:
    """Return the account that a mention or an id means, on the admin's platform; empty for a mere name."""
    platform = admin.id.partition(":")[0]
    if match := _MENTION.fullmatch(said):
        return f"{platform}:{match[1]}"
    return "" if said.startswith("@") else said if ":" in said else f"{platform}:{said}"
