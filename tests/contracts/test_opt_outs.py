"""What every `OptOutStore` does, and what `Privacy` makes of it."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from core.ports import OptOutStore
from core.privacy.names import Names, Privacy, is_veiled
from storage.database.database import Database
from storage.people.forgetting import SqlOptOuts
from tests.fake_privacy import FakeOptOuts

PEOPLE = {"ann": ("slack:U1", "discord:7")}


@pytest.fixture
async def store(place: str | None, tmp_path: Path) -> AsyncIterator[OptOutStore]:
    if place is None:
        yield FakeOptOuts()
        return
    database = await Database.open(tmp_path, place)
    yield SqlOptOuts(database)
    await database.close()


async def test_names_are_on_the_list_until_they_are_taken_off(store: OptOutStore) -> None:
    assert await store.opt_outs() == frozenset()
    await store.opt_in(["a"])
    for _ in range(2):
        await store.opt_out(["a", "b"], 1.0)
    await store.opt_out(["c"], 2.0)
    await store.opt_in(["b"])
    assert await store.opt_outs() == {"a", "c"}


async def test_each_thing_is_told_once_until_they_opt_out_again(store: OptOutStore) -> None:
    await store.opt_out(["a", "b"], 1.0)
    assert await store.tell(["a", "b"], "answer")
    assert not await store.tell(["b"], "answer"), "all names of a person were told"
    assert await store.tell(["a"], "vote") and not await store.tell(["a", "b"], "vote")
    assert not await store.tell(["z"], "answer"), "who did not opt out is told nothing"
    await store.opt_out(["a"], 2.0)
    assert not await store.tell(["a"], "answer")
    await store.opt_in(["a", "b"])
    await store.opt_out(["a"], 3.0)
    assert await store.tell(["a"], "answer")


async def test_linked_accounts_opt_out_together_and_nothing_names_them(store: OptOutStore) -> None:
    privacy = Privacy(store, Names(b"k" * 32, PEOPLE))
    await privacy.load()
    assert await privacy.opt_out("slack:U1") and not await privacy.opt_out("discord:7")
    for account in ("slack:U1", "discord:7", "ann"):
        assert privacy.is_out(account)
    assert not any(privacy.is_out(account) for account in ("slack:U2", "slack:u1", ""))
    listed = await store.opt_outs()
    assert listed and all(is_veiled(name) for name in listed)
    assert not any("U1" in name or "ann" in name for name in listed)
    again = Privacy(store, Names(b"k" * 32, {}))
    await again.load()
    assert again.is_out("slack:U1"), "each account is on the list, should the link be taken out"
    assert await privacy.first_time("ann", "vote") and not await privacy.first_time("discord:7", "vote")
    assert not await privacy.first_time("slack:U2", "vote")
    assert await privacy.opt_in("discord:7") and not await privacy.opt_in("slack:U1")
    assert not privacy.is_out("slack:U1")


def test_a_one_way_name_is_for_one_place_and_keeps_the_platform() -> None:
    names = Names(b"k" * 32, PEOPLE)
    one = names.veil("slack:U1", "p1")
    assert one.startswith("slack:~") and one == names.veil("slack:U1", "p1") == names.veil(one, "p2")
    assert one != names.veil("slack:U1", "p2") and one != Names(b"l" * 32, PEOPLE).veil("slack:U1", "p1")
    assert names.veil("ann", "p1").startswith("~") and names.veil("", "p1") == ""
    assert names.stands_for(one, "discord:7", "p1") and not names.stands_for(one, "discord:7", "p2")
    assert names.stands_for("slack:U9", "slack:U9", "p1") and not names.stands_for("", "", "p1")


async def test_who_was_forgotten_is_known_by_the_last_time(store: OptOutStore) -> None:
    assert await store.forgotten() == {}
    await store.forget(["a", "b"], 1.0)
    await store.forget(["b", "c"], 2.0)
    assert await store.forgotten() == {"a": 1.0, "b": 2.0, "c": 2.0}
    assert await store.opt_outs() == frozenset(), "that is another list"


async def test_other_processes_know_the_authors_of_pages_that_are_gone(store: OptOutStore) -> None:
    names = Names(b"k" * 32, PEOPLE)
    one, two = (Privacy(store, names, is_shared=True) for _ in range(2))
    authors = [names.of_pages("slack:U1"), names.of_pages("discord:7")]
    await two.heard()
    assert not any(two.gone([author], 1.0) for author in authors)
    began = time.time()
    await one.forget("slack:U1")
    await two.heard()
    assert all(two.gone([author], began) for author in authors)
    assert two.gone(authors, time.time() + 60), "a page may still be read as it was"
    assert not two.gone([names.of_pages("slack:U2")], 1.0)
    await one.pages_are_made_anew(["slack:U1", "discord:7", "ann"])
    await two.heard()
    assert two.gone(authors, began) and not two.gone(authors, time.time() + 1)
    assert two.forgotten("slack:U1") < time.time(), "what they write from now on is read"
    await one.forget("github:Bob")
    await two.heard()
    assert two.gone([names.of_pages("github:bob")], began), "GitHub's authors stand there in small letters"


async def test_linked_accounts_are_forgotten_together_and_nothing_names_them(store: OptOutStore) -> None:
    privacy = Privacy(store, Names(b"k" * 32, PEOPLE))
    await privacy.load()
    assert privacy.forgotten("slack:U1") == 0.0
    before = time.time()
    await privacy.forget("slack:U1")
    for account in ("slack:U1", "discord:7", "ann"):
        assert before <= privacy.forgotten(account) <= time.time()
        assert not privacy.is_out(account)
    assert privacy.forgotten("slack:U2") == privacy.forgotten("") == 0.0
    assert all(is_veiled(name) and "U1" not in name for name in await store.forgotten())
