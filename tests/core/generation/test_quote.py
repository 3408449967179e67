import time

import pytest

from core.generation.quotes.quote import quote, without_introduction
from core.generation.quotes.units import units
from core.languages import speaking
from core.text.words import query_terms
from tests.core.generation.samples import SESSIONS, UPLOADS, evidence

RARE = {"secret": 4.0, "key": 2.0, "session": 3.0, "upload": 4.0, "file": 2.0, "secret_key": 6.0}


def weight(term: str) -> float:
    return RARE.get(term, 0.5)


def ask(question: str, *found: object, **given: object) -> tuple[str, tuple]:
    return quote(query_terms(question), found, weight, "Flask", "3.1", **given)


def test_it_says_that_it_quotes_and_cites_what_it_quotes() -> None:
    text, citations = ask(
        "How do I set a secret key?", evidence(1, UPLOADS, heading="File Uploads"), evidence(2, SESSIONS)
    )
    first, *rest = text.split("\n\n")
    assert first == "No language model answered, so I quote the Flask 3.1 documentation:"
    assert rest[0].startswith("**Quickstart › Sessions**\n> ")
    assert "To use sessions you have to set a secret key. Here is how sessions work: [1]" in rest[0]
    assert [(c.number, c.url) for c in citations] == [(1, "https://docs.example.org/quickstart/#sessions")]


def test_code_follows_its_quote_in_its_own_fence() -> None:
    text, _ = ask("How do I set a secret key?", evidence(1, SESSIONS))
    assert "\n\n```python\napp.secret_key = b'...'\nsession['username'] = name\n```" in text
    assert "> ```" not in text


def test_list_items_are_quoted_whole() -> None:
    text, _ = ask("secure_filename before you store", evidence(1, UPLOADS, heading="File Uploads"))
    assert "> - Use `secure_filename()` before you store a name." in text


def test_a_term_goes_with_its_definition() -> None:
    page = "**SECRET_KEY**\n\nA value that is used for signing. Do not reveal it."
    text, _ = ask("what is SECRET_KEY", evidence(1, page, heading="Values"))
    assert "> **SECRET_KEY**: A value that is used for signing." in text
    text, _ = ask("what is SECRET_KEY", evidence(1, page, heading="Values > SECRET_KEY"))
    assert "> A value that is used for signing." in text


def test_another_release_is_named() -> None:
    text, _ = ask("secret key", evidence(1, SESSIONS, release="2.3"))
    assert "**Quickstart › Sessions (Flask 2.3)**" in text


def test_nothing_is_said_twice_and_there_are_at_most_three_passages() -> None:
    pages = [evidence(n, SESSIONS, title=f"Page{n}") for n in range(1, 7)]
    text, citations = ask("secret key session", *pages)
    assert text.count("you have to set a secret key") == 1
    assert 1 <= len(citations) <= 3


def test_a_sentence_that_leans_on_the_one_before_brings_it_along() -> None:
    page = "The client keeps a pool of connections. It needs a secret key to open one."
    text, _ = ask("secret key", evidence(1, page))
    assert "> The client keeps a pool of connections. It needs a secret key to open one. [1]" in text


@pytest.mark.parametrize(
    "debris",
    [
        ".. toctree:: secret key session upload",
        "See :ref:`secret-key` for the secret key session.",
        "secret key session upload without an end",
        "and the secret key of a session is cut off before.",
        "The secret key (which is cut off.",
        "Secret key:",
        "Table of contents secret key session upload.",
        "- [Secret key](key.html)",
        "Copyright 2024 secret key session authors.",
        "Previous: secret key. Next: session.",
    ],
)
def test_debris_is_never_quoted(debris: str) -> None:
    text, citations = ask("secret key session upload", evidence(1, debris))
    assert (text, citations) == ("", ())


def test_sentences_that_announce_something_come_with_it_or_not_at_all() -> None:
    assert [unit.text for unit in units("Set the secret key like this:\n\nOther words stand here.")] == [
        "Other words stand here."
    ]
    (unit, *_) = units("Set one of these secret keys:\n\n- the first key of all\n- the second key of all")
    assert unit.follow == "- the first key of all\n- the second key of all"


def test_evidence_that_shares_no_word_still_yields_whole_sentences() -> None:
    text, citations = ask("zzz", evidence(1, SESSIONS))
    assert citations and text.count("> ") >= 1


def test_no_evidence_yields_nothing() -> None:
    assert ask("secret key") == ("", ())


def test_eight_long_chunks_take_little_time() -> None:
    pages = [evidence(n, f"{SESSIONS}\n\n{UPLOADS}\n\n" * 5, title=f"Page{n}") for n in range(1, 9)]
    start = time.process_time()
    ask("secret key session", *pages)
    assert time.process_time() - start < 1.0


def test_an_item_of_a_list_that_was_led_to_is_not_said_again() -> None:
    page = (
        "Blueprints are meant for these cases:\n\n"
        "- Factor an application into blueprints, which suits larger applications.\n"
        "- Register a blueprint at a URL prefix, so that its views share it.\n\n"
        "Blueprints can also hold templates and static files for applications."
    )
    text, _ = ask("blueprints cases applications", evidence(1, page))
    assert text.count("Factor an application into blueprints") == 1
    assert text.count("Register a blueprint at a URL prefix") == 1


@pytest.mark.parametrize("language", ["en", "de", "es", "zh"])
def test_the_line_above_quotes_is_known_in_every_language(language: str) -> None:
    with speaking(language):
        text, _ = ask("secret key", evidence(1, SESSIONS))
    assert "Flask 3.1" in text.partition("\n\n")[0]
    assert without_introduction(text) == text.partition("\n\n")[2] != ""
    assert without_introduction("It listens on 9090.\n\nSee below.") == "It listens on 9090.\n\nSee below."
