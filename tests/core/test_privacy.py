"""Who was forgotten since when, by account and as an author of pages."""

from __future__ import annotations

import time

from core.privacy.names import Names, Privacy, is_veiled
from tests.fake_privacy import FakeOptOuts

NAMES = Names(b"key", {"ann": ("slack:U1", "discord:7")})


def test_an_author_has_one_name_for_all_pages_and_nobody_reads_the_account_from_it() -> None:
    name = NAMES.of_pages("slack:U1")
    assert is_veiled(name) and name.startswith("slack:~") and "U1" not in name
    assert name == NAMES.of_pages("slack:U1") != NAMES.of_pages("slack:U2")
    assert name not in NAMES.veils("slack:U1", "p1"), "it tells nothing of who asked or voted"


async def test_who_was_forgotten_is_gone_for_what_began_before() -> None:
    privacy = Privacy(FakeOptOuts(), NAMES)
    await privacy.load()
    before = time.time()
    author = NAMES.of_pages("discord:7")
    assert not privacy.gone({"slack:U1", author, ""}, 0.0)
    await privacy.forget("slack:U1")
    after = time.time() + 1
    assert privacy.gone({"discord:7"}, before) and not privacy.gone({"discord:7"}, after)
    assert privacy.gone({author}, after), "a page may be read as it was"
    await privacy.pages_are_made_anew(NAMES.everyone("slack:U1"))
    assert privacy.gone({author}, before) and not privacy.gone({author}, time.time() + 1)
    assert not privacy.gone({"slack:U2", NAMES.of_pages("slack:U2")}, 0.0)
