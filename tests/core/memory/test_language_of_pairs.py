"""Pairs in different languages: filed apart, and heard by the same people."""

from __future__ import annotations

from dataclasses import replace

from core.domain import Scope
from core.memory.partitions.partition_index import key_of, platform_of, scope_of
from core.ports import Remembered

PAIR = Remembered("p1", "How?", "How?", "So.", "3.1", "public", 0.9, 1.0, channel="slack:C1")


def test_each_language_has_its_own_partition() -> None:
    german = replace(PAIR, language="de")
    assert key_of(PAIR, "high") == ("3.1", "public", "high")
    assert key_of(german, "high") == ("3.1", "public~de", "high")
    assert key_of(replace(PAIR, language=""), "high") == key_of(PAIR, "high")
    assert key_of(german, "low", share=False) == ("3.1", "public@slack~de", "low")


def test_where_platforms_do_not_share_what_has_none_is_for_all_of_them() -> None:
    assert [platform_of(name) for name in ("slack:C1", "ada", "")] == ["slack", "", ""]
    for asker, heard in (("discord:9", "public@discord"), ("ada", "public"), ("", "public")):
        assert key_of(replace(PAIR, channel="", asker=asker), "high", share=False)[1] == heard
    inside = replace(PAIR, scope="private:slack:C1")
    assert key_of(inside, "high", share=False)[1] == "private:slack:C1"


def test_who_hears_a_pair_does_not_depend_on_its_language() -> None:
    private = replace(PAIR, scope="private:slack:C1", language="zh")
    heard = key_of(private, "high")[1]
    assert scope_of(heard) == "private:slack:C1"
    assert Scope("private", "slack:C1").hears(scope_of(heard))
    assert not Scope().hears(scope_of(heard))
    assert Scope("public", "", "slack").hears(scope_of(key_of(replace(PAIR, language="de"), "high")[1]))
