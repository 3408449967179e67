"""What of a model's translation holds, and how understanding falls back where it does not."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain import Product, Question, Release, Turn
from core.query import understand
from core.query.checks import translated
from core.query.language import says_little
from core.query.releases.resolve import resolve
from core.query.understand import queries
from tests.fakes import FakeModel

FLASK = Product("Flask", ("flask",), (Release("2.3"), Release("3.1", latest=True)))


@pytest.mark.parametrize(
    ("question", "base", "holds"),
    [
        ("Wie setze ich SECRET_KEY?", "How do I set SECRET_KEY?", True),
        ("Wie setze ich SECRET_KEY?", "How do I set the secret key?", True),
        ("Wie setze ich SECRET_KEY?", "How do I set the key?", False),
        ("Wie setze ich ein Cookie?", "How do I set SESSION_COOKIE_NAME?", False),
        ("Wie setze ich ein Cookie?", "Wie setze ich ein Cookie?", False),
        ("Wie lange gilt es bei 30 Minuten?", "How long does it last with 31 minutes?", False),
        ("Wie mache ich das in zwei Apps?", "How do I do that in two apps?", True),
        ("Warum geht url_for nicht?", "Why does url_for not work?", True),
        ("Warum geht url_for nicht?", "Why does url_for fail?", True),
        ("Warum geht url_for nicht?", "How does url_for work?", False),
        ("Wie geht url_for?", "Why does url_for not work?", False),
        ("In 3.1 passiert nichts mehr", "Nothing happens anymore in 3.1", True),
        ("Cookie z.B. ohne Ablauf setzen", "Set a cookie, for instance without an expiry", True),
        ("flask.g 和 session 有什么区别", "What is the difference between flask.g and session?", True),
        ("flask.g 是不是线程安全的", "Is flask.g thread safe?", True),
        ("为什么 jsonify 不返回列表", "Why does jsonify return lists?", False),
        ("为什么 jsonify 不返回列表", "Why does jsonify not return lists?", True),
        ("怎么设置 cookie", "", False),
        ("怎么设置 cookie", "How do I set a cookie? " * 30, False),
    ],
)
def test_names_numbers_and_negation_are_kept(question: str, base: str, holds: bool) -> None:
    language = "zh" if any("\u4e00" <= sign <= "\u9fff" for sign in question) else "de"
    assert translated(base, question, (), language) is holds


def test_a_follow_up_takes_names_and_negation_from_its_thread() -> None:
    thread = (Turn("user", "Warum geht url_for nicht?"),)
    assert translated("Why does url_for not work in 2.3?", "und in 2.3?", thread, "de")


def _output(base: str, **more: Any) -> dict[str, Any]:
    return {"release": "", "base": base, "filtered": "", "versionless": "", "parts": [base], **more}


async def _understood(question: Question, output: dict[str, Any]) -> tuple[str, str, str]:
    resolution = resolve(question, FLASK)
    ruled = queries(question, FLASK, resolution)
    assert understand.doubt(question, resolution, ruled, FLASK) == "language"
    model = FakeModel(lambda prompts: output)
    found, forms = await understand.understand(model, question, FLASK, resolution, ruled)
    return found.release, forms.base, forms.topic


async def test_the_translation_is_what_is_searched_and_remembered() -> None:
    question = Question("Wie ändere ich das Session-Cookie in 2.3?", language="de")
    base = "How do I change the session cookie in 2.3?"
    assert await _understood(question, _output(base)) == ("2.3", base, "How do I change the session cookie?")


@pytest.mark.parametrize(
    "output",
    [
        {},
        _output("How do I change the session cookie in 3.1?"),
        _output("Wie ändere ich das Session-Cookie in 2.3?"),
        {"base": None, "parts": "x"},
    ],
)
async def test_what_does_not_hold_leaves_the_question_as_it_is(output: dict[str, Any]) -> None:
    question = Question("Wie ändere ich das Session-Cookie in 2.3?", language="de")
    assert (await _understood(question, output))[:2] == ("2.3", question.text)


async def test_a_release_in_words_is_taken_from_the_translation() -> None:
    question = Question("Wie ging das in der älteren Version mit dem Session-Cookie?", language="de")
    base = "How did the session cookie work in the older version?"
    assert (await _understood(question, _output(base, release="2.3")))[0] == "2.3"
    base = "How did the session cookie work?"
    assert (await _understood(question, _output(base, release="2.3")))[0] == "3.1", "nobody asked for it"


def test_english_questions_are_not_translated() -> None:
    for language in ("", "en"):
        question = Question("How do I set a cookie?", language=language)
        resolution = resolve(question, FLASK)
        assert not understand.doubt(question, resolution, queries(question, FLASK, resolution), FLASK)


def test_german_documentation_is_asked_in_german() -> None:
    product = Product("Kessel", (), (Release("1"),), language="de")
    assert not understand.is_foreign(Question("Wie?", language="de"), product)
    assert understand.is_foreign(Question("How?", language="en"), product)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("Wie setze ich ein Cookie?", "und in 2.3?"),
        ("Wie setze ich ein Cookie?", "geht das auch in 2.3?"),
        ("¿Cómo pongo una cookie?", "¿y en 2.3?"),
        ("怎么设置 cookie？", "那 2.3 呢？"),
        ("Comment définir un cookie ?", "et dans la 2.3 ?"),
    ],
)
def test_a_follow_up_that_only_names_a_release_is_completed_by_rule(before: str, text: str) -> None:
    question = Question(text, history=(Turn("user", before), Turn("assistant", "…")))
    base = queries(question, FLASK, resolve(question, FLASK)).base
    assert base.startswith(before[:-1].strip()) and "2.3" in base


def test_words_that_ask_something_say_more() -> None:
    assert says_little("呢") and says_little("und")
    assert not says_little("löschen") and not says_little("设置")
