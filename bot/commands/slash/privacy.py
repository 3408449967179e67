"""`/threadlore my-data | forget | opt-out | opt-in`: what is kept of a person, by their own wish."""

from __future__ import annotations

import re
from dataclasses import replace

from bot.commands.slash.table import ONLY_ADMINS, Call, Option, Subcommand
from bot.interactions.reach import stay_within
from bot.ports.chat import Attachment, Person, Reply
from bot.privacy.forgetting import Forgetting
from bot.privacy.my_data import FILE, MyData, as_json, short
from core.languages import N_, _
from core.privacy.audit import FORGOTTEN
from core.privacy.names import Privacy

_MENTION = re.compile(r"<@!?(\w+)(?:\|[^>]*)?>")
WHOLE = {
    "slack": N_("An admin can send you all of it: `threadlore my-data --user {user} --json`."),
    "": N_("The file has all of it."),
}
"""Where all of it is, by platform: Slack lets apps send files only with more rights than answering takes."""
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
    "This removes for good what you asked and voted, with the answers and what was remembered of them."
)


def privacy_commands(people: Forgetting, my_data: MyData, privacy: Privacy) -> tuple[Subcommand, ...]:
    """Return the commands that concern what is kept of a person."""

    def within(call: Call, user: str) -> None:
        stay_within(call.person.id, privacy.names.everyone(user))

    async def show(call: Call) -> None:
        within(call, call.person.id)
        held = await my_data.of(call.person.id)
        platform = call.person.id.partition(":")[0]
        where = WHOLE.get(platform, WHOLE[""])
        whole = _(where).format(user=call.person.id)
        files = () if platform in WHOLE or len(held) <= len(("accounts", "opted_out")) else _file(held)
        await call.responder.reply(Reply(short(held, whole), attachments=files))

    async def forget(call: Call) -> str | None:
        """Forget a person once it is confirmed: it cannot be taken back."""
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

        within(call, user)

        async def act() -> str:
            return (await people.forget(user)).text

        asked = replace(call, words=(said, *(("confirm",) if call.confirmed else ())))
        told = _(REMOVES_YOURS) if own else REMOVES.format(who=user)
        return await asked.confirm(told, act, outcome=FORGOTTEN if own else "done")

    async def forget_me(call: Call) -> str | None:
        return await forget(replace(call, name="forget", words=("me", *call.words)))

    async def opt_out(call: Call) -> str | None:
        within(call, call.person.id)
        if privacy.is_out(call.person.id):
            await call.tell(_(LEFT_ALREADY))
            return None

        async def act() -> str:
            return _(LEFT).format(gone=(await people.opt_out(call.person.id)).text)

        return await call.confirm(_(LEAVING), act, label=N_("Opt out"), outcome=FORGOTTEN)

    async def opt_in(call: Call) -> None:
        within(call, call.person.id)
        await call.tell(_(BACK if await privacy.opt_in(call.person.id) else NEVER_LEFT))

    who = (
        Option("person", "Somebody else; only admins may do that", kind="person"),
        Option("account", "An account elsewhere, such as slack:U123; for admins", named=True, hidden=True),
    )
    sure = Option("confirm", "Really do it; without this you are told what it does", kind="flag")
    return (
        Subcommand("my-data", "what I keep of you, for you alone", show, everybody=True, logged=False),
        Subcommand(
            "forget",
            "remove for good what you (`me`) asked and voted; admins also name others: `forget slack:U123`",
            forget,
            (*who, sure),
            everybody=True,
            logged=True,
            secret=True,
        ),
        Subcommand("forget-me", "the same as `forget me`", forget_me, (sure,), everybody=True, logged=True),
        Subcommand(
            "opt-out", "keep nothing of mine, and forget what there is", opt_out, (sure,), everybody=True
        ),
        Subcommand("opt-in", "keep what I ask and vote again", opt_in, everybody=True),
    )


def _file(held: dict[str, object]) -> tuple[Attachment, ...]:
    return (Attachment(FILE, as_json(held)),)


def _account(said: str, admin: Person) -> str:
    """Return the account that a mention or an id means, on the admin's platform; empty for a mere name."""
    platform = admin.id.partition(":")[0]
    if match := _MENTION.fullmatch(said):
        return f"{platform}:{match[1]}"
    return "" if said.startswith("@") else said if ":" in said else f"{platform}:{said}"
