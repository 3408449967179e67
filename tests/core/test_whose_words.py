"""Whose words a question or an answer holds is told by the words themselves."""

from __future__ import annotations

from core.domain import Product, Question, Release, Turn
from core.privacy.names import asker_texts, carried, of_thread, others_texts

KETTLE = Product("Kettle", ("kettle",), (Release("1.5"), Release("2.0", latest=True)))
ASKED = Turn("user", "Which port does the blue dashboard listen on?", "slack:UANN")
ANSWERED = Turn("assistant", "On 9090, says the crimson page.", authors=("slack:UANN", "slack:UHAL"))


def taken(base: str, text: str = "and in 1.5?", by_model: bool = False, forms: str = "") -> frozenset[str]:
    question = Question(text, "slack:UBOB", history=(ASKED, ANSWERED))
    return of_thread(question, KETTLE, base, forms or base, by_model)


def test_a_follow_up_holds_the_words_of_who_is_completed() -> None:
    assert taken("Which port does the blue dashboard listen on in 1.5?") == {"slack:UANN"}
    assert taken("What is on the crimson page in 1.5?") == {"slack:UANN", "slack:UHAL"}, "what the bot said"
    assert taken("and in Kettle 1.5?") == frozenset(), "the product and its releases are nobody's"
    assert taken("and in 1.5?", forms="and in 1.5? blue") == {"slack:UANN"}, "words that a search takes along"


def test_ones_own_words_are_nobody_elses() -> None:
    assert taken("is a blue dashboard there?", "is a blue dashboard there?") == frozenset()
    earlier = Turn("user", "I like blue dashboards.", "slack:UBOB")
    question = Question("and there?", "slack:UBOB", history=(ASKED, earlier))
    base = "Is there a blue dashboard?"
    assert of_thread(question, KETTLE, base, base, False) == frozenset()


def test_a_word_that_a_model_puts_in_may_be_anybodys() -> None:
    base = "What is the azure panel's port in 1.5?"
    assert taken(base, by_model=True) == {"slack:UANN", "slack:UHAL"}, "it may be blue in other words"
    alone = Question("What is it?", "slack:UBOB")
    assert of_thread(alone, KETTLE, base, base, True) == frozenset(), "nobody else said anything"


def test_words_are_known_by_their_stems_and_without_spaces() -> None:
    assert carried("It configures dashboards.", ["x"], [("configured dashboard", ["a"])]) == {"a"}
    assert carried("请打开仪表板的端口", ["x"], [("仪表板在哪里", ["a"])]) == {"a"}
    assert carried("What is it about?", ["x"], [("It is about what it is.", ["a"])]) == frozenset()
    assert carried("a blue one", ["Blue!"], [("blue", ["a"])]) == frozenset()


def test_others_are_those_who_are_not_the_asker() -> None:
    question = Question("x", "slack:UANN", history=(ASKED, ANSWERED, Turn("user", "who knows", "")))
    assert others_texts(question) == [(ANSWERED.text, ("slack:UHAL",))]
    assert ASKED.text in asker_texts(question, KETTLE)
