"""Slips of the keyboard in questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest

from core.text.spelling import OFTEN, mended, replaced, shortened, slips, suspects
from core.text.words import index_terms

PAGES = 100
HELD = {
    "context": 40,
    "ctx": 3,
    "function": 30,
    "func": 20,
    "template": 20,
    "filtered": OFTEN,
    "folded": OFTEN - 1,
    "session": 9,
    "streaming": 30,
    "steaming": 3,
}


async def rarity(terms: Sequence[str]) -> Mapping[str, float]:
    counts = {index_terms(word)[0]: count for word, count in HELD.items()}
    return {t: math.log1p((PAGES - counts.get(t, 0) + 0.5) / (counts.get(t, 0) + 0.5)) for t in terms}


def tokens(word: str) -> int:
    return 1 if word in (*HELD, "templates", "filtered") else 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("my tempaltes are not found", ["tempaltes"]),
        ("raise Forbidden('Nope', 'you cant write tempaltes')", []),
        ("set the sesion, or the filtre?", ["sesion", "filtre"]),
        ('`tempaltes` and "sesionn" and ```\nfiltre\n```', []),
        ("sesion_id sesion-x /sesion sesion.py sesion() sesion= --sesion Sesion SESION", []),
        ("loging", ["loging"]),
        ("logs", []),
        ("it doesnt and cant, wont", ["doesnt", "cant", "wont"]),
        ("font front want cant.py", []),
        ("a lid w/o a ring, aw/o w/of docs/w/o/x", ["w/o"]),
    ],
)
def test_plain_words_alone_may_have_a_slip(text: str, words: list[str]) -> None:
    assert suspects(text) == words


def test_slips_are_one_edit_and_keep_the_first_letter() -> None:
    assert {"template", "tmplate", "teemplate", "tomplate", "etmplate"} & {*slips("tmeplate")} == {
        "template",
        "tmplate",
    }
    assert all(word[0] == "s" for word in slips("session")) and "session" not in {*slips("session")}


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("tempaltes", "templates"),
        ("filtred", "filtered"),
        ("sesion", "session"),
        ("streming", "streaming"),
        ("foldde", None),  # what pages hardly speak of
        ("sourdough", None),
        ("session", None),
    ],
)
async def test_a_word_that_no_page_has_is_mended_by_one_that_many_have(word: str, meant: str | None) -> None:
    assert (await mended([word], rarity, PAGES, tokens)).get(word) == meant
    assert await mended([word], rarity, OFTEN, tokens) == {}, "a corpus of nothing tells nothing"


def test_words_in_code_and_quotes_stay() -> None:
    said = "cant raise X('Nope', 'you cant') with `cant` and \"it cant\""
    assert replaced(said, {"cant": "can't"}) == said.replace("cant raise", "can't raise")


def test_whole_words_are_replaced_and_names_stay() -> None:
    assert (
        replaced("sesion of `sesion` in sesion-x", {"sesion": "session"}) == "session of `sesion` in sesion-x"
    )


@pytest.mark.parametrize("chunks", [0, PAGES])
async def test_contracted_forms_get_their_apostrophe_whatever_pages_have(chunks: int) -> None:
    async def known(terms: Sequence[str]) -> Mapping[str, float]:
        return dict.fromkeys(terms, 0.0)  # pages have "doesn", cut from "doesn't"

    words = suspects("it doesnt stop, i cant end it and didnt try")
    meant = await mended(words, known, chunks, tokens)
    assert meant == {"doesnt": "doesn't", "cant": "can't", "didnt": "didn't"}
    assert replaced("it doesnt stop, i cant", meant) == "it doesn't stop, i can't"
    meant = await mended(suspects("boil w/o a lid"), known, chunks, tokens)
    assert replaced("boil w/o a lid, see docs/w/o", meant) == "boil without a lid, see docs/w/o"


async def test_what_people_shorten_is_written_out_unless_pages_have_the_short_form_as_a_name() -> None:
    text = "whats the ctx of a func, and `ctx` or ctx.push or Ctx?"
    assert shortened(text) == ["whats", "ctx", "func"]
    found = await mended(shortened(text), rarity, PAGES, tokens)
    assert found == {"whats": "what is", "ctx": "context"}
    assert replaced(text, found) == "what is the context of a func, and `ctx` or ctx.push or Ctx?"
    assert await mended(["ppl", "smth"], rarity, PAGES, tokens) == {"ppl": "people", "smth": "something"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("recycle a worker every n requests", []),
        ("n+1 query problem fix", []),
        ("keep the last n lines", []),
        ("more than n of them", []),
        ("pots n pans", ["n"]),
        ("before n after it boils", ["n"]),
        ("the first n last one", ["n"]),
    ],
)
def test_a_number_that_is_called_n_is_no_and(text: str, found: list[str]) -> None:
    assert shortened(text) == found
