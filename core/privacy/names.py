"""People who opted out, one-way names for people in old records, and whose words a text holds."""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from core.domain import Product, Question, Turn
from core.ports.people import OptOutStore
from core.text.words import STOP_WORDS, index_terms, stem

KEY_BYTES = 32
"""Length of the key that one-way names are made with."""
Notice = Literal["answer", "vote"]
"""What somebody who opted out is told once: how they are answered, that their votes do not count."""
_LIST = "opt-out"
_PAGES = "pages"
_GONE = "gone"
ANEW_SECONDS = 600.0
"""How long other processes of a cluster take an author's pages for old, unless they are told of new ones."""
_MARK = "~"
Said = tuple[str, Collection[str]]
"""A text, and whose words it holds."""
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
"""Writing without spaces: there two characters count as a word."""
_SMALL = frozenset(stem(word) for word in STOP_WORDS)


class Names:
    """One-way names of people, each for one place only, such as a pair or a message.

    `slack:~3f…` keeps the platform and nothing else of an account. Who has the key can tell whether it is a
    certain person's, which is how a later vote replaces an earlier one and how forgetting finds it; nobody
    can read the account from it, or see that two places have the same person. `people` are the accounts
    that `corpora.toml` links.
    """

    def __init__(self, key: bytes, people: Mapping[str, Collection[str]]) -> None:
        self._key = key
        self._people = {name: frozenset(accounts) for name, accounts in people.items()}
        self._name = {account: name for name, accounts in people.items() for account in accounts}

    def person(self, account: str) -> str:
        """Return the name under which linked accounts count as one."""
        return self._name.get(account, account)

    def everyone(self, account: str) -> frozenset[str]:
        """Return all names of the person behind an account, or behind a name of `corpora.toml`."""
        name = self.person(account)
        return frozenset({account, name, *self._people.get(name, ())})

    def veil(self, name: str, place: str) -> str:
        """Return the one-way name of an account at a place; of a one-way name, itself."""
        if not name or is_veiled(name):
            return name
        platform, colon, _ = name.partition(":")
        return f"{platform if colon else ''}{colon}{_MARK}{self._digest(name, place)}"

    def veils(self, account: str, place: str) -> frozenset[str]:
        """Return every one-way name that a person may stand under at a place."""
        return frozenset(self.veil(name, place) for name in self.everyone(account))

    def of_pages(self, account: str) -> str:
        """Return the one-way name of an account as an author of pages, the same for all of them."""
        return self.veil(account, _PAGES)

    def authors(self, accounts: Iterable[str]) -> set[str]:
        """Return the one-way names of accounts as authors of pages; GitHub's stand there in small letters."""
        return {self.of_pages(name) for account in accounts for name in (account, account.lower())}

    def of_gone(self, path: str) -> str:
        """Return the one-way name of a page whose words are gone."""
        return f"{_MARK}{self._digest(path, _GONE)}"

    def _digest(self, name: str, place: str) -> str:
        parts = (part.encode("utf-8", "surrogatepass") for part in (place, name))
        return hashlib.blake2b(b"\0".join(parts), digest_size=12, key=self._key).hexdigest()

    def stands_for(self, name: str, account: str, place: str) -> bool:
        """Return True if a name that was kept for a place is that of the person behind an account."""
        if is_veiled(name):
            return name in self.veils(account, place)
        return bool(name) and self.person(name) == self.person(account)


def is_veiled(name: str) -> bool:
    """Return True if a name is a one-way name."""
    return name.rpartition(":")[2].startswith(_MARK)


class Privacy:
    """Knows who opted out; linked accounts opt out together.

    The list of them holds one-way names alone. It is read once and held in memory, for every message asks.
    """

    def __init__(self, store: OptOutStore, names: Names, is_shared: bool = False) -> None:
        """Other processes of a cluster change the lists, too, where they are `is_shared`."""
        self.names = names
        self._is_shared = is_shared
        self._store = store
        self._out: frozenset[str] = frozenset()
        self._forgotten: dict[str, float] = {}
        self._authors: dict[str, float] = {}

    async def load(self) -> None:
        """Read the lists of those who opted out and of those who asked to be forgotten."""
        self._out = await self._store.opt_outs()
        self._forgotten = await self._store.forgotten()

    def is_out(self, account: str) -> bool:
        """Return True if the person behind an account opted out."""
        return bool(self._out) and bool(account) and not self._out.isdisjoint(self._listed(account))

    async def opt_out(self, account: str) -> bool:
        """Store nothing about a person from now on; return False if they had opted out before."""
        before = self.is_out(account)
        await self._store.opt_out(self._listed(account), time.time())
        await self.load()
        return not before

    async def opt_in(self, account: str) -> bool:
        """Store what a person asks and votes again; return False if they had not opted out."""
        before = self.is_out(account)
        await self._store.opt_in(self._listed(account))
        await self.load()
        return before

    async def forget(self, account: str) -> None:
        """Note that a person asked to be forgotten now; sources leave out what they wrote before."""
        now = time.time()
        await self._store.forget(self._listed(account), now)
        authors = self.names.authors(self.names.everyone(account))
        self._authors |= dict.fromkeys(authors, math.inf)
        if self._is_shared:  # who else answers of these pages hears of it, until they are new
            await self._store.forget(authors, now + ANEW_SECONDS)
        await self.load()

    async def pages_are_made_anew(self, accounts: Collection[str]) -> None:
        """Note that no page holds words any more that these people wrote before they were forgotten."""
        now, authors = time.time(), self.names.authors(accounts)
        self._authors |= dict.fromkeys(authors, now)
        if self._is_shared and authors:
            await self._store.forget(authors, now)

    async def heard(self) -> None:
        """Know whom another process of a cluster has forgotten until now, before its news arrive."""
        if self._is_shared:
            self._forgotten = await self._store.forgotten()

    def gone(self, people: Collection[str], since: float) -> bool:
        """Return True if any of these people was forgotten since then, by account or as an author of pages.

        Of an author that is so until their pages are made again: just now one may be read as it was.
        """
        latest = (max(self.forgotten(who), self._authors.get(who, 0.0)) for who in people if who)
        return any(at and at >= since for at in latest)

    def forgotten(self, account: str) -> float:
        """Return when the person behind an account last asked to be forgotten, 0 for never."""
        if not self._forgotten or not account:
            return 0.0
        return max((self._forgotten.get(name, 0.0) for name in self._listed(account)), default=0.0)

    async def first_time(self, account: str, what: Notice) -> bool:
        """Note that somebody is told something; return False if they were told before."""
        return self.is_out(account) and await self._store.tell(self._listed(account), what)

    def _listed(self, account: str) -> frozenset[str]:
        return self.names.veils(account, _LIST)


def nobody(account: str) -> bool:
    """Return False: nobody opted out, where there is no list of them."""
    return False


def since_never(people: Collection[str], at: float) -> bool:
    """Return False: nobody was forgotten, where there is no list of them."""
    return False


async def nothing_heard() -> None:
    """Know already who was forgotten, where no other process forgets anybody."""


def no_name(account: str) -> str:
    """Give an account no one-way name, where nobody makes any."""
    return ""


def never(account: str) -> float:
    """Return 0.0: an account never asked to be forgotten, where there is no list of them."""
    return 0.0


def grains(text: str) -> set[str]:
    """Return what of a text can be recognised in another one: its words by their stems, no small words."""
    pairs = (run[at : at + 2] for run in _UNSPACED.findall(text) for at in range(len(run) - 1))
    return ({term for term in index_terms(text) if len(term) > 1} - _SMALL) | set(pairs)


def carried(text: str, own: Iterable[str], said: Sequence[Said]) -> frozenset[str]:
    """Return whose words a text holds, of those who `said` something, that do not stand in `own` texts.

    A name that is taken too often costs an answer when that person is forgotten; one that is missed leaves a
    word of theirs behind. So every word counts that others have said and that stands in nothing else.
    """
    new = grains(text).difference(*map(grains, own))
    found: set[str] = set()
    for words, people in said if new else ():
        if people and not new.isdisjoint(grains(words)):
            found.update(people)
    return frozenset(found)


def others_texts(question: Question) -> list[Said]:
    """Return what others than the asker said in the thread before a question."""
    return [(turn.text, people) for turn in question.history if (people := _people(turn, question.asker))]


def asker_texts(question: Question, product: Product) -> list[str]:
    """Return the texts whose words are the asker's own, or nobody's: the product and its releases."""
    names = [product.name, *product.aliases]
    names += [name for release in product.releases for name in (release.name, *release.aliases)]
    mine = [turn.text for turn in question.history if not _people(turn, question.asker)]
    return [question.text, " ".join(names), *mine]


def of_thread(question: Question, product: Product, base: str, forms: str, by_model: bool) -> frozenset[str]:
    """Return whose words of the thread are in the queries: in `base`, and in `forms`, all of them together.

    Where a model wrote `base`, a word that nobody said may be anybody's in other words.
    """
    said = others_texts(question)
    if not said:
        return frozenset()
    texts = asker_texts(question, product)
    every = [*texts, *(words for words, _ in said)]
    if by_model and base != question.text and grains(base).difference(*map(grains, every)):
        return frozenset(person for _, people in said for person in people)
    return carried(forms, texts, said)


def _people(turn: Turn, asker: str) -> tuple[str, ...]:
    people = (turn.author,) if turn.role == "user" else turn.authors
    return tuple(person for person in people if person and person != asker)
