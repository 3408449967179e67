"""Show a person what is stored about them: on a page of their own, in short, or all of it as JSON."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from core.community.overrides import DefaultReleases
from core.insights.given import GivenAnswer, GivenStore
from core.languages import N_, _
from core.ports import PersonStore
from core.privacy.names import Privacy
from core.text.times import iso, minute_of, since_epoch
from core.text.words import shortened

LISTED = 10
"""Questions, and public answers, that are listed."""
VOTES = 5
"""Votes on answers to others that are listed."""
LATEST = 20
"""Questions that the short form names; the whole has all."""
SHOWN = 150
"""Characters of a question in the short form."""
FILE = "my-data.json"
Held = Mapping[str, Any]
HeldBy = Callable[[Collection[str]], list[dict[str, Any]]]
"""Returns rows of what is held of a person, by their accounts; in a thread."""
NOBODY: Mapping[str, HeldBy] = MappingProxyType({})
NOTHING = N_("I store nothing about you.")
_SECTIONS = {
    "questions": N_("questions with their answers"),
    "remembered": N_("remembered answers to your questions"),
    "answers of theirs": N_("your answers that are remembered"),
    "messages": N_("messages that I answered"),
    "votes": N_("votes"),
    "corrections": N_("corrections of answers"),
    "told apart": N_("answers that you marked as not for your question"),
    "marks": N_("marks (✅, ❌) on messages"),
    "asked of people": N_("your questions that were passed to people"),
    "put to people": N_("questions that you put to people"),
    "resolved": N_("other people's questions that you helped with"),
    "asked for help": N_("questions that I brought to you"),
    "commands": N_("audit-log entries"),
    "modes set": N_("channels whose mode you set"),
    "own release": N_("default release"),
    "releases set": N_("channels whose release you set"),
    "pauses set": N_("pauses that you set"),
    "words elsewhere": N_("other people's questions and answers that contain your words"),
    "events": N_("event ids, so that I do not answer twice"),
    "read in channels": N_("messages in channels that I read as a source"),
}
"""How each kind of thing is called, in the order in which it is told; others come last, by their names."""
PRIVACY = N_(
    "I keep what you ask me and how you vote, so that answers get better. `/threadlore my-data` shows it to "
    "you, `/threadlore forget me` removes it, and with `/threadlore opt-out` nothing of yours is kept."
)


@dataclass(frozen=True, slots=True)
class OwnPage:
    """One person's page; `recent` are public answers in channels that they read, `release` their own one."""

    asked: tuple[GivenAnswer, ...] = ()
    voted: tuple[GivenAnswer, ...] = ()
    recent: tuple[GivenAnswer, ...] = ()
    release: str = ""
    is_out: bool = False

    @property
    def all(self) -> tuple[GivenAnswer, ...]:
        """Return every answer on it."""
        return (*self.asked, *self.voted, *self.recent)


class OwnPages:
    """Collects a person's page; `voter` returns the name that an account votes under."""

    def __init__(
        self, given: GivenStore, releases: DefaultReleases, privacy: Privacy, voter: Callable[[str], str]
    ) -> None:
        self._given = given
        self._releases = releases
        self._privacy = privacy
        self._voter = voter

    async def of(self, account: str, channels: Collection[str] = ()) -> OwnPage:
        """Return somebody's page, with answers of the public channels (`slack:C1`) that they read.

        What they voted on is listed where everybody on their platform can read it.
        """
        accounts, voter = self._privacy.names.everyone(account), self._voter(account)
        asked = await self._given.asked(accounts, voter, LISTED)
        recent = await self._given.public(channels, voter, LISTED) if channels else ()
        voted = await self._given.voted(voter, accounts, VOTES * 3)
        platform = account.partition(":")[0]
        read = [one for one in voted if one.scope == "public" and platform == one.channel.partition(":")[0]]
        return OwnPage(
            asked=asked,
            voted=tuple(read[:VOTES]),
            recent=recent,
            release=await self._releases.of_person(account),
            is_out=self._privacy.is_out(account),
        )


class MyData:
    """Collects what is stored about a person, over all their linked accounts."""

    def __init__(
        self, *, store: PersonStore, privacy: Privacy, others: Mapping[str, HeldBy] = NOBODY
    ) -> None:
        """`others` hold something, too, by section."""
        self._store = store
        self._privacy = privacy
        self._others = others

    async def of(self, user: str) -> dict[str, Any]:
        """Return everything stored: accounts, whether they opted out, and rows by kind."""
        accounts = self._privacy.names.everyone(user)
        rows = dict(await self._store.held(accounts))
        for section, held_by in self._others.items():
            if more := await asyncio.to_thread(held_by, accounts):
                rows[section] = more
        told = {section: [_readable(row) for row in found] for section, found in rows.items()}
        return {"accounts": sorted(accounts), "opted_out": self._privacy.is_out(user), **told}


def _readable(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its times as people write them."""
    return {
        key: iso(value) if (key == "at" or key.endswith("_at")) and isinstance(value, int | float) else value
        for key, value in row.items()
    }


def as_json(held: Held) -> str:
    """Write everything as JSON, so that people can take it along."""
    return json.dumps(held, ensure_ascii=False, indent=2)


def short(held: Held, whole: str) -> str:
    """Summarise the counts and the latest questions; `whole` says where to find everything."""
    out = _("You have opted out: I store nothing new about you.") if held["opted_out"] else ""
    others = {key: key for key, rows in held.items() if isinstance(rows, list) and key not in _SECTIONS}
    names = _SECTIONS | {key: name for key, name in others.items() if key != "accounts"}
    counts = [f"- {_(name)}: {len(held[section])}" for section, name in names.items() if held.get(section)]
    if not counts:
        return " ".join([_(NOTHING), out]).strip()
    accounts = ", ".join(f"`{account}`" for account in held["accounts"])
    parts = ["\n".join([_("What I store about {accounts}:").format(accounts=accounts), *counts])]
    questions: Sequence[Mapping[str, Any]] = held.get("questions", ())
    if questions:
        listed = "\n".join(_question(row) for row in questions[:LATEST])
        parts.append("\n".join([_("Your latest questions:"), listed]))
    parts += [whole, out]
    parts.append(
        _("`/threadlore forget me` removes all of it, `/threadlore opt-out` keeps nothing from now on.")
    )
    return "\n\n".join(part for part in parts if part)


def _question(row: Mapping[str, Any]) -> str:
    cut = shortened(str(row["question"]), SHOWN) or _("(its words are removed already)")
    where = f" · {row['channel']}" if row["channel"] else ""
    return f"- {minute_of(since_epoch(row['at']))} UTC{where}: {cut}"
