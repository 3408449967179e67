"""The key that one-way names are made with: the one that the database belongs to, or none is taken."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from bot.app.privacy_key import KEY, key_of
from core.errors import ConfigurationError
from core.privacy.names import KEY_BYTES
from tests.fake_about import FakeAbout


async def test_a_key_is_made_once_and_is_for_nobody_else(tmp_path: Path) -> None:
    about = FakeAbout()
    made = await key_of(tmp_path, about)
    assert len(made) == KEY_BYTES and await key_of(tmp_path, about) == made
    assert (tmp_path / KEY).stat().st_mode & 0o077 == 0
    assert made.hex() not in str(about._known) and await key_of(tmp_path, about) == made


async def test_a_key_of_another_home_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    about = FakeAbout()
    made = await key_of(tmp_path, about)
    (tmp_path / KEY).write_bytes(bytes(KEY_BYTES))
    with pytest.raises(ConfigurationError, match=r"not the key.*put it back from a backup"):
        await key_of(tmp_path, about)
    assert (tmp_path / KEY).read_bytes() == bytes(KEY_BYTES), "nothing is written over"
    (tmp_path / KEY).write_bytes(made)
    assert await key_of(tmp_path, about) == made


@pytest.mark.parametrize("held", [None, b"", b"torn", b"x" * 33, "folder"])
@pytest.mark.parametrize("where", ["listed", "people"])
async def test_a_lost_or_torn_key_is_refused_where_somebody_has_a_one_way_name(
    tmp_path: Path, held: bytes | str | None, where: str
) -> None:
    about = FakeAbout()
    await key_of(tmp_path, about)
    (tmp_path / KEY).unlink()
    if isinstance(held, bytes):
        (tmp_path / KEY).write_bytes(held)
    elif held:
        (tmp_path / KEY).mkdir()
    getattr(about, where).append("slack:~3fab")
    with pytest.raises(ConfigurationError, match="put it back from a backup"):
        await key_of(tmp_path, about)


async def test_a_key_that_may_not_be_read_is_not_lost_and_nothing_is_given_up(tmp_path: Path) -> None:
    class Closed(type(tmp_path)):  # type: ignore[misc]
        def read_bytes(self) -> bytes:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))

    about = FakeAbout()
    made = await key_of(tmp_path, about)
    for listed in ([], ["slack:~3fab"]):
        about.listed[:] = listed
        with pytest.raises(ConfigurationError, match=r"Permission denied.*user that runs the bot") as told:
            await key_of(Closed(tmp_path), about)
        assert "DELETE" not in str(told.value)
    assert (tmp_path / KEY).read_bytes() == made


async def test_where_nobody_has_a_one_way_name_a_lost_key_is_made_anew(tmp_path: Path) -> None:
    about = FakeAbout()
    made = await key_of(tmp_path, about)
    (tmp_path / KEY).unlink()
    about.people.append("slack:U1")
    again = await key_of(tmp_path, about)
    assert again != made and await key_of(tmp_path, about) == again


async def test_a_home_older_than_the_check_keeps_its_key(tmp_path: Path) -> None:
    (tmp_path / KEY).write_bytes(b"k" * KEY_BYTES)
    about = FakeAbout()
    about.listed.append("~3fab")
    assert await key_of(tmp_path, about) == b"k" * KEY_BYTES
    (tmp_path / KEY).write_bytes(b"f" * KEY_BYTES)
    with pytest.raises(ConfigurationError):
        await key_of(tmp_path, about)


async def test_who_gives_up_the_old_names_goes_on_with_a_new_key(tmp_path: Path) -> None:
    """As the refusal says: without the check and the lists, the names that votes stand under are nobody's."""
    about = FakeAbout()
    await key_of(tmp_path, about)
    (tmp_path / KEY).unlink()
    about.people.append("slack:~3fab")
    await about.tell("privacy key", "")
    assert len(await key_of(tmp_path, about)) == KEY_BYTES
