import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.domain import Product, Question, Turn, single_spaced
from core.query.followups.complete import complete
from core.query.forms import without_addresses
from core.query.releases.resolve import resolve
from core.query.understand import checked, queries
from core.vocabulary import word_list
from tests.core.query.products import PRODUCTS
from tests.effort import examples

FLASK = PRODUCTS["flask"]
ERRORS = "How do I register error handlers in Flask 3.1?"
DEBUG = "How do I enable debug mode?"
BLUEPRINT = "How do I create a blueprint?"
KEY = "How do I set SECRET_KEY?"
LASTS = "how long does a permanent session last and can i change it per user"
COFFEE = "Is there a shortage of coffee in Brazil?"


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
        (DEBUG, "oh i forgot to say I'm on 2.0", "How do I enable debug mode in 2.0?"),
        (DEBUG, "wrong release, i am on 2.0", "How do I enable debug mode in 2.0?"),
        (DEBUG, "that didn't work, I'm using flask 2.0", "How do I enable debug mode in 2.0?"),
        (DEBUG, "you answered for 3.1 but I need 2.0", "How do I enable debug mode in 2.0?"),
        (DEBUG, "wir sind noch auf 2.0", "How do I enable debug mode in 2.0?"),
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
        (KEY, "where do I put that?", "where do I put SECRET_KEY?"),
        (LASTS, "is that safe", "is permanent session safe"),
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
        assert found.base == single_spaced(text)
        assert not found.rewritten


@pytest.mark.parametrize(
    ("earlier", "text", "base"),
    [
        ("Tell me about Johnny Bench.", "Was he married?", "Was Johnny Bench married?"),
        ("Tell me about Johnny Bench.", "What was his award?", "What was Johnny Bench's award?"),
        ("Who is Ada Lovelace?", "Did they know her?", "Did Ada Lovelace know her?"),
        (
            "Which WSGI server should I use?",
            "how many workers does it need?",
            "how many workers does WSGI server need?",
        ),
        (
            "How do fires help an ecosystem?",
            "That's interesting. Can they be planned?",
            "Can fires be planned?",
        ),
    ],
)
def test_people_and_things_are_named(earlier, text, base):
    assert _ask(text, earlier).base == base


def test_what_a_thread_is_about_is_said_where_the_last_question_does_not_say_it():
    found = _ask(
        "Why did it end?", "Tell me about the Bronze Age.", "Was its collapse sudden?", "Who was there?"
    )
    assert found.base == "About Bronze Age: Who was there? Why did it end?"


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        ("What caused the drought?", ("Brazil",)),
        ("Is there another way?", ("Brazil", "coffee")),
        ("How do I set SECRET_KEY?", ()),
        ("Does gunicorn work?", ()),
        ("different question: what caused the war?", ()),
        ("How do I register error handlers for a blueprint in an application factory?", ()),
    ],
)
def test_a_message_that_leans_stays_and_its_search_takes_the_thread_along(text, carried):
    found = _ask(
        text, "Is there a shortage of coffee in Brazil?", answer="Yes. The drought in Brazil is one cause."
    )
    assert found.base == text and not found.rewritten
    assert set(carried) <= set(found.carried) and bool(found.carried) == bool(carried)
    assert "coffee" not in found.filtered


@pytest.mark.parametrize(
    ("text", "carried"),
    [
        ("put the instance folder somewhere else (our nfs is slow)", ("nfs", "slow")),
        ("how do I stream a big file (the browser gives up) to people?", ("browser", "gives")),
        ("how do I write a test for a view (async)?", ()),  # one word belongs to what is asked
        ("how do I write a test for a view (flask 2.0)?", ()),
        ("how do I call url_for in a test (url_for builds no address)?", ()),
        ("sessions (where are they kept)?", ()),  # little else is said
    ],
)
def test_what_is_said_in_brackets_is_searched_for_and_no_sign(text, carried):
    found = _ask(text)
    assert found.base == text and set(carried) <= set(found.carried) and bool(found.carried) == bool(carried)
    assert not set(carried) & set(found.filtered.split())


def test_identifiers_of_the_answer_are_taken_along_but_not_to_another_release():
    answer = "Use `click.confirm` with `abort=True`."
    assert "click.confirm" in _ask("exit when they answer no?", "ask for confirmation", answer=answer).carried
    assert "click.confirm" not in _ask("and in 2.0?", "ask for confirmation in 2.3", answer=answer).carried


def test_a_new_subject_ends_the_old_one():
    found = _ask(
        "Is the limit fixed?",
        "Is there a shortage of coffee in Brazil?",
        "How do I upload files with SIZE_MAX?",
    )
    assert "SIZE_MAX" in found.carried and "coffee" not in found.carried


@pytest.mark.parametrize(
    "text",
    [
        "stream a big template piece by piece instead of rendering it in one go",
        "pass a config object from the group to its subcommands",
        "call a click command from python without it calling sys.exit",
        "Our users say they get logged out after a month",
        "TRUSTED_HOSTS?",
        "click.get_os_args vanished?",
        "When was the session API added?",
        "how do i change the password then",
    ],
)
def test_stand_alone_questions_in_a_thread_are_unchanged(text):
    assert _ask(text, BLUEPRINT).base == text


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


def test_what_is_an_askers_own_is_taken_out_of_a_pasted_error():
    pasted = 'File "/srv/views.py", line 3\nGET <https://shop.de/a?b=1> refused by www.example.org, x.py'
    assert without_addresses(pasted).split() == ["GET", "<", ">", "refused", "by", ",", "x.py"]


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


BYTES = (Turn("user", "How do I set SECRET_KEY in Flask 2.3?"), Turn("assistant", "To 32 random bytes."))


@pytest.mark.parametrize(
    ("question", "rewrite", "allowed"),
    [
        ("and for SESSION_COOKIE_NAME?", "How do I set SESSION_COOKIE_NAME in Flask 2.3?", True),
        ("and for SESSION_COOKIE_NAME?", "How do I set SESSION_COOKIE in Flask 2.3?", False),
        ("does --debug matter?", "Does --debug-mode matter for SECRET_KEY?", False),
        ("does it need 64 bytes?", "Does SECRET_KEY need 64 bytes?", True),
        ("does it need 64 bytes?", "Does SECRET_KEY need 32 bytes?", False),
        ("does it need 64 bytes?", "Does SECRET_KEY need 64 bytes in Flask 3.1?", False),
        ("is it never logged?", "Is SECRET_KEY never logged?", True),
        ("is it never logged?", "Is SECRET_KEY logged?", False),
        ("is it logged?", "Is SECRET_KEY not logged?", False),
        ("is 1.5 s enough?", "Is 15 s enough for SECRET_KEY?", False),
        ("why `app.run()`?", "Why app.run_simple() for SECRET_KEY?", False),
        ("does flask.g work?", "Does flask.session work?", False),
        ("and without it?", "How do I run Flask 2.3 with SECRET_KEY?", False),
        ("on port 8000?", "SECRET_KEY on port 80001?", False),
        ("does config['DEBUG'] work too?", "Does config work too for SECRET_KEY?", False),
        ("does it work?", "Does SECRET_KEY work with PROXY?", False),
        ("twice?", "How do I set SECRET_KEY three times?", False),
        ("is -p ok?", "Is -P ok for SECRET_KEY?", False),
        ("does 2.3.1 change it?", "Does 2.3 change SECRET_KEY?", False),
        ("why does it matter?", "How does SECRET_KEY matter?", False),
        ("why does it matter?", "Why does SECRET_KEY matter?", True),
        ("are the last two the same?", "Are SECRET_KEY and random bytes the same?", True),
    ],
)
def test_a_rewrite_that_changes_what_is_asked_is_found(question, rewrite, allowed):
    assert checked(rewrite, question, BYTES) is allowed


@given(st.text(max_size=300), st.text(max_size=200))
@settings(max_examples=examples(150), deadline=None)
def test_any_text_is_survived(text, earlier):
    alone = Question(text)
    found = resolve(alone, FLASK)
    assert queries(alone, FLASK, found).base == alone.text
    assert all(0 <= start < end <= len(text) for start, end in found.spans)
    threaded = Question(text, history=(Turn("user", earlier),))
    assert queries(threaded, FLASK, resolve(threaded, FLASK)).base.strip() or not text.strip()


_WORDS = word_list(
    "how do i and in 2.3 Flask 9.9 what about it that for SECRET_KEY blueprints ? , the latest not"
)


@given(st.lists(st.sampled_from(_WORDS), max_size=9).map(" ".join), st.sampled_from([ERRORS, DEBUG, KEY]))
@settings(max_examples=examples(200), deadline=None)
def test_completion_neither_drops_nor_invents(text, earlier):
    base = _ask(text, earlier).base
    assert checked(base, text, (Turn("user", earlier),)) or base == text


@pytest.mark.parametrize(
    ("asked", "said", "completed"),
    [
        ("How do I set the secret key?", "how long should it be?", "how long should secret key be?"),
        ("How do I configure the error log?", "Where is it stored?", "Where is error log stored?"),
        (
            "How do I disable the reloader?",
            "does that work on Windows?",
            "does disabling the reloader work on Windows?",
        ),
    ],
)
def test_a_whole_question_begins_a_subject_of_its_own(asked, said, completed):
    turns = [
        turn
        for text in ("How do I nest blueprints?", asked)
        for turn in (Turn("user", text, "a"), Turn("assistant", "Some answer."))
    ]
    assert complete(said, turns, PRODUCTS["flask"]).text == completed
