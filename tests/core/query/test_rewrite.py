import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Product, Question, Turn
from core.query.releases import resolve
from core.query.rewrite import checked, queries
from core.vocabulary import word_list
from tests.core.query.products import PRODUCTS

FLASK = PRODUCTS["flask"]
ERRORS = "How do I register error handlers in Flask 3.1?"
DEBUG = "How do I enable debug mode?"
BLUEPRINT = "How do I create a blueprint?"
KEY = "How do I set SECRET_KEY?"


def _ask(text, *earlier, product=FLASK, answer="Like this."):
    history = []
    for said in earlier:
        history += [Turn("user", said), Turn("assistant", answer)]
    question = Question(text, history=tuple(history))
    return queries(question, product, resolve(question, product))


@pytest.mark.parametrize(
    ("earlier", "text", "base"),
    [
        (ERRORS, "and in 2.3?", "How do I register error handlers in Flask 2.3?"),
        (ERRORS, "same for 2.0?", "How do I register error handlers in Flask 2.0?"),
        (ERRORS, "2.3?", "How do I register error handlers in Flask 2.3?"),
        (DEBUG, "and in 2.0?", "How do I enable debug mode in 2.0?"),
        (DEBUG, "was it different in 2.0?", "How do I enable debug mode in 2.0?"),
        (ERRORS, "and in the latest release?", "How do I register error handlers in the latest release?"),
        ("What changed between 2.0 and 2.3?", "and in 3.1?", "What changed between 2.0 and 3.1?"),
        (ERRORS, "what about async views?", "How do I register async views in Flask 3.1?"),
        (ERRORS, "and for blueprints?", "How do I register error handlers in Flask 3.1 for blueprints?"),
        (BLUEPRINT, "thanks! and with url prefixes?", "How do I create a blueprint with url prefixes?"),
        (DEBUG, "how do I turn it off?", "how do I turn debug mode off?"),
        (ERRORS, "How do I test them?", "How do I test error handlers in Flask 3.1?"),
        (DEBUG, "does that work with gunicorn?", "does enabling debug mode work with gunicorn?"),
        (BLUEPRINT, "how do I delete one?", "how do I delete a blueprint?"),
        (BLUEPRINT, "can I do that for one app only?", "can I create a blueprint for one app only?"),
        (BLUEPRINT, "what are its parameters?", "what are blueprint's parameters?"),
        (KEY, "what does that setting do?", "what does SECRET_KEY do?"),
        (KEY, "how long should it be?", "how long should SECRET_KEY be?"),
        (KEY, "and SESSION_COOKIE_NAME?", "How do I set SESSION_COOKIE_NAME?"),
        ("Is SECRET_KEY needed?", "no, I meant SESSION_COOKIE_NAME", "Is SESSION_COOKIE_NAME needed?"),
        (DEBUG, "what's the default?", "what's the default for debug mode?"),
        (ERRORS, "why?", "How do I register error handlers in Flask 3.1? Why?"),
        (KEY, "what if I use docker?", "How do I set SECRET_KEY? What if I use docker?"),
        (
            "Why does flask.g lose its value between requests?",
            "and session?",
            "Why does session lose its value between requests?",
        ),
    ],
)
def test_follow_ups_are_completed(earlier, text, base):
    found = _ask(text, earlier)
    assert found.base == base
    assert found.rewritten


@pytest.mark.parametrize(
    "text",
    [
        "How do sessions work?",
        "How do I create a form and validate it?",
        "Is it possible to use websockets with Flask 2.3?",
        "Where do I put the template?",
        "hello,  how do I register error handlers in Flask 3.1?  thanks!",
        "The error that happens when I start the server is OSError, what is wrong?",
        "what changed in 3.1",
        "If I use gunicorn, does it reload templates?",
        "thanks, that helped!",
        "",
    ],
)
def test_what_stands_alone_is_unchanged(text):
    for found in (_ask(text), _ask(text, BLUEPRINT) if text and "thanks," not in text else _ask(text)):
        assert found.base == text
        assert not found.rewritten


def test_follow_up_of_a_follow_up():
    assert _ask("and in 2.0?", ERRORS, "and for blueprints?").base == (
        "How do I register error handlers in Flask 2.0 for blueprints?"
    )
    assert _ask("how do I turn it off?", DEBUG, "and in 2.3?").base == "how do I turn debug mode off in 2.3?"


def test_a_completed_follow_up_does_not_ask_the_earlier_question_again():
    found = _ask("what if I use docker?", KEY)
    assert found.parts == (found.base,)


def test_parts_of_a_follow_up_are_completed():
    assert _ask("how do I disable it in tests, and where do I see the state?", DEBUG).parts == (
        "How do I disable debug mode in tests?",
        "Where do I see the state?",
    )


def test_thanks_in_between_are_no_question():
    assert _ask("and in 2.0?", DEBUG, "thanks a lot").base == "How do I enable debug mode in 2.0?"


def test_without_history_a_fragment_stays():
    assert _ask("and in 2.3?").base == "and in 2.3?"


def test_bots_answer_explains_a_pronoun_only_where_the_question_does_not():
    assert _ask("what does that option do?", "It fails!", answer="Set `SESSION_COOKIE_SECURE`.").base == (
        "what does SESSION_COOKIE_SECURE do?"
    )
    assert _ask("how long should it be?", KEY, answer="See `PERMANENT_SESSION_LIFETIME`.").base == (
        "how long should SECRET_KEY be?"
    )


def test_forms():
    found = _ask("How do I register error handlers in Flask 3.1?")
    assert found.filtered == "register error handlers Flask 3.1"
    assert found.versionless == "register error handlers Flask"
    assert found.parts == ("How do I register error handlers in Flask 3.1?",)
    assert _ask(DEBUG).versionless == ""
    assert _ask("How do I use GET with --debug and SECRET_KEY?").filtered == "GET --debug SECRET_KEY"


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("How do I register error handlers in Flask 3.1?", "How do I register error handlers?"),
        ("hello, How do I nest blueprints? thanks!", "How do I nest blueprints?"),
        ("Flask 2.3: how do I flash?", "How do I flash?"),
        ("What is Flask?", "What is Flask?"),
        ("How do I install Flask 2.3?", "How do I install Flask?"),
        ("What changed between 2.0 and 3.1?", "What changed between 2.0 and 3.1?"),
        ("Does 2.3.0 still have before_first_request?", "Does Flask still have before_first_request?"),
        ("we're on v2.3, how do I load config from TOML", "how do I load config from TOML"),
        ("How do I test my Flask app with pytest?", "How do I test my app with pytest?"),
        ("and in Flask 2.3 with Python 3.12?", "and with Python 3.12?"),
    ],
)
def test_topic(text, topic):
    assert _ask(text).topic == topic


def test_topic_is_the_same_for_every_release():
    assert len({_ask(f"How do I enable debug mode in {r}?").topic for r in ("2.0", "Flask 2.3", "v3.1")}) == 1


def test_glossary_is_added():
    product = Product("NetPilot", glossary={"PM": ("performance monitoring",)})
    assert _ask("Where are PM counters?", product=product).filtered == "PM counters performance monitoring"
    assert _ask("performance monitoring at 5 pm", product=product).filtered.endswith("PM")


@pytest.mark.parametrize(
    ("rewrite", "question", "allowed"),
    [
        ("How do I set SECRET_KEY in 2.3?", "and in 2.3?", True),
        ("How do I set SECRET_KEY in 3.1?", "and in 2.3?", False),
        ("How do I set SECRET_KEY?", "and in 2.3?", False),
        ("How do I set SESSION_KEY in 2.3?", "and in 2.3?", False),
        ("How do I set the secret key in 2.3?", "and in 2.3?", True),
        ("", "and in 2.3?", False),
        ("Why is SECRET_KEY set?", "why is it not set?", False),
        ("Why is SECRET_KEY not set?", "why is it not set?", True),
        ("How do I set SECRET_KEY? " * 20, "why?", False),
    ],
)
def test_rewrites_are_checked(rewrite, question, allowed):
    assert checked(rewrite, question, (Turn("user", KEY),)) is allowed


@given(st.text(max_size=300), st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_text_is_survived(text, earlier):
    alone = Question(text)
    found = resolve(alone, FLASK)
    assert queries(alone, FLASK, found).base == text
    assert all(0 <= start < end <= len(text) for start, end in found.spans)
    threaded = Question(text, history=(Turn("user", earlier),))
    assert queries(threaded, FLASK, resolve(threaded, FLASK)).base.strip() or not text.strip()


_WORDS = word_list(
    "how do i and in 2.3 Flask 9.9 what about it that for SECRET_KEY blueprints ? , the latest not"
)


@given(st.lists(st.sampled_from(_WORDS), max_size=9).map(" ".join), st.sampled_from([ERRORS, DEBUG, KEY]))
@settings(max_examples=200, deadline=None)
def test_completion_neither_drops_nor_invents(text, earlier):
    base = _ask(text, earlier).base
    assert checked(base, text, (Turn("user", earlier),)) or base == text
