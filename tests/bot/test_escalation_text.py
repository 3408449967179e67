"""What is said of a question that is put to a person."""

from __future__ import annotations

import pytest

from bot.escalation import texts as text
from core.domain import Answer, Citation, Scope
from core.ports.escalations import Ticket

PAGES = tuple(Citation(n, f"Page [{n}]", f"https://docs.example/{n}", "2.0", f"h{n}") for n in range(1, 6))
ANSWER = Answer("a1", "I don't know.\n\nSee below. " + "word " * 200, "abstain", "2.0", citations=PAGES)
CASE = text.Case("Kettle", "2.0", "Ann", "Ann", "How do\nI boil?", "https://chat.example/1", ANSWER)
SECRET = ("boil", "I don't know", "docs.example")


def test_in_public_the_whole_case_is_told():
    told = text.told(CASE, Scope(), False)
    assert told.startswith("**Ann would like help** · Kettle 2.0\n\n> How do I boil?")
    assert "I said: I don't know.\n\nNearest pages:\n- [" in told and told.count("docs.example") == text.PAGES
    assert "[Page 1](https://docs.example/1)" in told and "(https://chat.example/1)" in told
    assert len(told) < 1500, "one message of every platform"


def test_from_a_private_channel_no_more_than_its_asker_shows():
    scope = Scope("private", "slack:G1")
    shown, hidden = text.told(CASE, scope, True), text.told(CASE, scope, False)
    assert "boil" in shown and not any(part in shown for part in SECRET[1:])
    assert not any(part in hidden for part in SECRET) and "chat.example" in hidden


def test_from_direct_messages_there_is_no_link():
    scope = Scope("direct", "slack:D1")
    for shown in (True, False):
        told = text.told(CASE, scope, shown)
        assert ("boil" in told) is shown and "chat.example" not in told and "docs.example" not in told


def test_who_asks_for_somebody_else_is_named():
    case = text.Case("Kettle", "2.0+1.5", "Ann", "Hal", "How?", "")
    assert text.whole(case).startswith("**Hal, for Ann, would like help** · Kettle 2.0 and 1.5")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("Ann", "Ann"),
        ("[x](http://evil)", "xhttp://evil"),
        ("<!here> @everyone", "here everyone"),
        ("  ", text.NO_NAME),
        ("@", text.NO_NAME),
    ],
)
def test_a_name_is_nothing_but_a_name(name: str, shown: str):
    assert text.named(name) == shown


def test_a_long_question_is_cut_at_a_word_and_code_is_one_line():
    cut = text.short("word " * 300, 100)
    assert len(cut) <= 101 and cut.endswith("word …")
    assert text.short("a\n```python\nx = 1\n```\nb", 100) == "a x = 1 b"


def test_the_form_shows_what_would_be_shown():
    form = text.form("a1", "How do I boil " + "much " * 50, "Hal")
    [field] = form.fields
    assert [choice.value for choice in field.choices] == [text.SHOW_QUESTION, text.SHOW_NOTHING]
    assert all(len(choice.label) <= 75 for choice in field.choices) and "Hal" in field.label
    assert len(form.title) <= 24


def ticket(**given) -> Ticket:
    known = {"scope": "public", "question": "How do I boil?", "at": 0.0, "people": ("slack:U9",)}
    values = {"message": "m", "answer_id": "a1", "conversation": "c", "channel": "slack:C1", "release": "2.0"}
    return Ticket(**values, asker="slack:U1", by="slack:U1", **(known | given))


def test_the_list_names_nothing_private():
    told = text.listed(
        (ticket(at=50 * 3600.0), ticket(scope="private:slack:C1", at=98 * 3600.0)), 100 * 3600.0
    )
    first, second = told.splitlines()[1:]
    assert "2 d" in first and "How do I boil?" in first and "slack:U9" in first
    assert "2 h" in second and "boil" not in second
    assert text.listed((), 0.0) == "No question waits for a person."


def test_once_resolved_it_tells_by_whom_and_asks_for_nothing_more():
    done = text.with_resolution(text.told(CASE, Scope(), False), "Hal", "https://chat.example/2")
    assert done.startswith(
        "✅ **Resolved by Hal.** [The answer](https://chat.example/2)\n\n**Ann would like help**"
    )
    assert "> How do I boil?" in done and "Please answer" not in done
    hidden = text.with_resolution(text.call_for_help(CASE), "Hal", "")
    assert hidden == "✅ **Resolved by Hal.**\n\nAnn would like help with a question about Kettle."
