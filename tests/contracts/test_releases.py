"""What every `ReleaseStore` does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from core.catalogue import ChannelSettings
from core.community.overrides import DefaultReleases
from core.domain import Product, Release
from core.errors import UsageError
from core.ports.channels import ReleaseSet, ReleaseStore
from core.privacy.names import Names
from core.query.releases.resolve import lookup
from storage.database.database import Database
from storage.serving.channels import SqlReleases
from tests.fake_channels import FakeReleases

GIVEN = ReleaseSet("slack:C1", "2.0", "slack:U1", 10.5)
PRODUCT = Product("Kettle", releases=(Release("1.5"), Release("2.0")))


@pytest.fixture
async def store(place: str | None, tmp_path: Path) -> AsyncIterator[ReleaseStore]:
    if place is None:
        yield FakeReleases()
        return
    database = await Database.open(tmp_path, place)
    yield SqlReleases(database)
    await database.close()


async def test_the_last_release_that_somebody_chose_counts_until_it_is_taken_back(
    store: ReleaseStore,
) -> None:
    assert await store.of_people() == {}
    await store.choose("slack:U1", "2.0", 1.0)
    await store.choose("slack:U2", "1.5", 1.0)
    await store.choose("slack:U1", "1.5", 2.0)
    assert await store.of_people() == {"slack:U1": "1.5", "slack:U2": "1.5"}
    await store.choose("slack:U1", "", 3.0)
    assert await store.of_people() == {"slack:U2": "1.5"}


async def test_the_last_release_of_a_channel_counts_until_it_is_taken_back(store: ReleaseStore) -> None:
    assert await store.of_channels() == ()
    other = replace(GIVEN, channel="discord:1")
    for given in (GIVEN, replace(GIVEN, release="1.5", at=20.0), other):
        await store.give(given)
    assert await store.of_channels() == (other, replace(GIVEN, release="1.5", at=20.0))
    await store.give(replace(GIVEN, release=""))
    assert await store.of_channels() == (other,)


async def test_linked_accounts_use_one_release_and_what_is_gone_counts_no_more(store: ReleaseStore) -> None:
    names = Names(b"k" * 16, {"ann": ["slack:U1", "discord:7"]})
    configured = {"slack:C1": ChannelSettings(release="1.5")}
    releases = DefaultReleases(store, configured, PRODUCT, names, lookup)
    assert await releases.choose("slack:U1", "v1.5") == "1.5", "any spelling"
    assert await releases.of_person("discord:7") == "1.5"
    assert await releases.choose("discord:7", "2.0") == "2.0"
    assert await releases.of_person("slack:U1") == "2.0" and len(await store.of_people()) == 1
    assert await releases.choose("slack:U1", "Latest") == "" == await releases.of_person("discord:7")
    with pytest.raises(UsageError, match=r"no release `9\.9`.*2\.0, 1\.5, or `latest`"):
        await releases.choose("slack:U1", "9.9")
    assert await releases.of_channel("slack:C1") == "1.5"
    assert await releases.give("slack:C1", "2.0", "slack:U1") == "2.0"
    assert await releases.give("slack:C1", "default", "slack:U1") == "1.5"
    await store.choose("slack:U9", "0.1", 1.0)
    later = DefaultReleases(store, configured, PRODUCT, names, lookup)
    assert await later.of_person("slack:U9") == "", "it is in the catalogue no more"


async def test_who_is_forgotten_uses_no_release_and_gave_none(store: ReleaseStore) -> None:
    releases = DefaultReleases(store, {}, PRODUCT, Names(b"k" * 16, {}), lookup)
    await releases.choose("slack:U1", "1.5")
    await releases.give("slack:C1", "1.5", "slack:U1")
    await releases.unname({"slack:U1"})
    assert await releases.of_person("slack:U1") == ""
    assert (await releases.given())["slack:C1"].by == "forgotten"
