"""HTTP statuses that people name by number, and pages by name."""

from __future__ import annotations

import http
import time
from collections.abc import Sequence
from runpy import run_path
from types import SimpleNamespace

import pytest

from core.text import statuses as module
from core.text.spelling import replaced
from core.text.statuses import NAMES, statuses, written_out
from core.text.words import index_terms


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("every 2nd upload dies with 413, its only 5 megs", ["413"]),
        ("random 502s from the balancer", []),
        ("random 502 from the balancer, then a 503", ["502", "503"]),
        ("405 when my form posts", ["405"]),
        ("the answer is 415 sometimes", ["415"]),
        ("get (429) from it", ["429"]),
        ("a 404 for /lids, own 500 page, always 400", []),
        ("upload says 413 Request Entity Too Large", []),
        ("RequestEntityTooLarge, 413", []),
        ("boil 413 kettles", []),
        ("boil 413 more kettles", []),
        ("it takes 503 ms", []),
        ("on port 502", []),
        ("line 415 of lid.py", []),
        ("at most 413 of them", []),
        ("errorhandler(405) is not called", []),
        ("`405` and /lids/405 and 4.413 and 413.5", []),
        ("version 412 of it", []),
        ("chmod 505 on the folder, uid 501, as RFC 431 says", []),
        ("a user gets 403 when uploading", ["403"]),
        ("413 and 413", ["413"]),
        ("nginx says 413: too big", ["413"]),
    ],
)
def test_statuses_are_told_from_what_counts(text: str, found: list[str]) -> None:
    assert statuses(text) == found


PASSAGES = {
    "a": "If the limit is exceeded, a 413 `RequestEntityTooLarge` error is raised.",
    "b": "Handle RequestEntityTooLarge with a page of your own.",
    "c": "What is too large for an entity, a request is.",
    "d": "The old lid is gone. 410 (Gone) is what it answers.",
    "e": "Gone are the days of conflict.",
    "f": "The lid may be locked.",
}


async def holding(terms: Sequence[str], most: int) -> list[str]:
    """Return the passages that have all terms."""
    return [key for key, text in PASSAGES.items() if set(terms) <= set(index_terms(text))][:most]


async def test_a_status_gets_the_name_that_pages_have() -> None:
    found = await written_out(["413", "410", "409", "423"], holding, PASSAGES)
    assert found == {
        "413": "413 Request Entity Too Large",
        "410": "410 Gone",
        "409": "Conflict",  # neither its number nor a name of it stands there: what it means is searched for
        "423": "Locked",
    }
    assert replaced("dies with 413, not 4130", found) == "dies with 413 Request Entity Too Large, not 4130"


def test_a_number_before_a_colon_or_a_comma_gets_its_name_too() -> None:
    found = {"413": "413 Payload Too Large"}
    told = "413 Payload Too Large"
    assert replaced("413: why, (413), 413=x and 413, 413.", found) == (
        f"{told}: why, ({told}), {told}=x and {told}, {told}."
    )
    assert (
        replaced("413:80, 4.413, 413.5, 413-2, 413/2, E413", found)
        == "413:80, 4.413, 413.5, 413-2, 413/2, E413"
    )


def test_names_are_the_same_whatever_pythons_own_library_calls_them(monkeypatch: pytest.MonkeyPatch) -> None:
    newest = {413: "Content Too Large", 414: "URI Too Long", 416: "Range Not Satisfiable", 410: "Gone"}
    told = [SimpleNamespace(value=value, phrase=phrase) for value, phrase in newest.items()]
    monkeypatch.setattr(http, "HTTPStatus", told)
    names = run_path(module.__file__)["NAMES"]
    assert names == {number: NAMES[number] for number in ("413", "414", "416", "410")}
    assert names["413"] == ("Request Entity Too Large", "Payload Too Large", "Content Too Large")


@pytest.mark.parametrize("line", ["413 x ", "dies with 413, ", f"to{' ' * 50}x 413 "])
def test_a_long_message_takes_no_time(line: str) -> None:
    began = time.perf_counter()
    statuses(line * (40_000 // len(line)))
    assert time.perf_counter() - began < 1


async def test_what_pages_tell_by_number_is_found_by_it() -> None:
    many = {str(n): "A 413 Content Too Large comes." for n in range(20)}

    async def all_of_them(terms: Sequence[str], most: int) -> list[str]:
        return list(many)[:most]

    assert await written_out(["413"], all_of_them, many) == {}
