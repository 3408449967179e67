"""When the model is asked what a message means, and what of its output is believed."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain import Product, Queries, Question, Release, Resolution, Turn
from core.errors import ModelMalformed, ModelRefused
from core.query.forms import filtered
from core.query.releases.resolve import resolve
from core.query.understand import doubt, queries, understand
from tests.fakes import FakeModel

KETTLE = Product(
    "Kettle",
    ("kettle",),
    (Release("1.0"), Release("1.5", ("old",)), Release("2.0", ("v2",), latest=True)),
    {"PM": ("performance monitoring",)},
)
TIMER = (
    Turn("user", "How do I set the timer in 1.5?"),
    Turn("assistant", "Use `--timer` [1].", release="1.5"),
)


def ruled(text: str, history: tuple[Turn, ...] = (), **given: Any) -> tuple[Question, Resolution, Queries]:
    question = Question(text, history=history, **given)
    resolution = resolve(question, KETTLE)
    return question, resolution, queries(question, KETTLE, resolution)


def doubted(text: str, history: tuple[Turn, ...] = (), **given: Any) -> str:
    return doubt(*ruled(text, history, **given))


def says(base: str = "", **given: Any) -> FakeModel:
    """A model that gives these fields."""
    output = {"release": "", "base": base, "filtered": "", "versionless": "", "parts": [base]} | given
    return FakeModel(lambda prompts: output)


async def understood(
    model: FakeModel, text: str, history: tuple[Turn, ...] = (), **given: Any
) -> tuple[Resolution, Queries]:
    question, resolution, forms = ruled(text, history, **given)
    return await understand(model, question, KETTLE, resolution, forms)


@pytest.mark.parametrize(
    "text",
    [
        "How do I set the timer in 2.0?",
        "How do I set the timer?",
        "Does it run on Python 3.12?",
        "What changed between 1.0 and 2.0?",
        "Is the timer the same in 1.5 and 2.0?",
        "How do I set the timer in 1.5 and in Kettle 2.0?",
        "timer option, 1.0, 1.5 or 2.0",
        "How do I set the timer in 7.0?",
        "How do I set the timer in the latest version?",
        "which versions of Python does Kettle support?",
    ],
)
def test_a_question_that_stands_alone_needs_no_model(text: str) -> None:
    assert doubted(text) == ""


@pytest.mark.parametrize("text", ["and in 2.0?", "what is its default?", "any danger with that approach?"])
def test_a_follow_up_is_in_doubt(text: str) -> None:
    assert doubted(text, TIMER) == "follow-up"


def test_in_a_thread_too_a_question_with_its_release_is_clear() -> None:
    assert doubted("How do I change the filter in Kettle 2.0?", TIMER) == ""
    assert doubted("How do I change the filter? " + "It is a long story. " * 10, TIMER) == ""
    assert doubted("What does this mean?\n```\nTimerError\n```", TIMER) == ""


@pytest.mark.parametrize(
    "text",
    [
        "How do I set the timer in the older version?",
        "timer option for version one point five",
        "we have the second release here, how do I set the timer",
        "One desk has 1.5, another one 2.0. How do I set the timer?",
    ],
)
def test_a_release_that_rules_cannot_read_is_in_doubt(text: str) -> None:
    assert doubted(text) == "release"
    assert doubted(text, release="2.0") == ""


async def test_a_follow_up_becomes_what_the_model_says() -> None:
    model = says(
        "What is the default of --timer in 1.5?",
        filtered="default --timer 1.5",
        versionless="default --timer",
        parts=["What is the default of --timer in 1.5?"],
    )
    resolution, forms = await understood(model, "what is its default?", TIMER)
    assert forms.base == "What is the default of --timer in 1.5?" and forms.rewritten
    assert (forms.filtered, forms.versionless) == ("default --timer 1.5", "default --timer")
    assert (resolution.release, resolution.origin) == ("1.5", "thread")
    (call,) = model.calls
    assert call.kind == "structured" and "How do I set the timer in 1.5?" in call.prompts[-1].content


@pytest.mark.parametrize(
    "base",
    [
        "",
        "What is the default of the timer in 2.0?",  # another release
        "What is the default of --minutes?",  # invents an identifier
        "What is the default of the timer I set with --timer in 1.5, and --lid?",  # and among what was said
        "What is the default of the timer, 45 minutes?",  # invents a number
        "Who invented the tea that people drink in Nepal?",  # says what nobody said
        "How do I set the timer in 1.5?",  # repeats the last question
    ],
)
async def test_a_base_that_invents_or_drops_is_replaced_by_the_rules(base: str) -> None:
    text = "what is its default?"
    _, _, rules = ruled(text, TIMER)
    assert rules.rewritten
    _, forms = await understood(says(base, filtered=base, versionless=base), text, TIMER)
    assert forms == rules


async def test_without_a_thread_the_message_stays_as_it_is() -> None:
    text = "timer option for version one point five"
    model = says("What is the timer option for version one point five?", release="1.5")
    resolution, forms = await understood(model, text)
    assert (forms.base, forms.rewritten) == (text, False)
    assert (resolution.release, resolution.origin, resolution.named) == ("1.5", "question", ("1.5",))
    _, forms = await understood(says("What is the timer option for version one point five?"), text)
    assert (forms.base, forms.rewritten) == (text, False)


@pytest.mark.parametrize(("release", "found"), [("old", "1.5"), ("v2", "2.0"), ("9.9", "2.0"), ("", "2.0")])
async def test_only_a_release_that_exists_is_believed(release: str, found: str) -> None:
    resolution, _ = await understood(says(release=release), "How do I set the timer in the other version?")
    assert resolution.release == found


async def test_where_rules_are_sure_of_the_release_the_model_is_not_heard() -> None:
    resolution, _ = await understood(says("How do I set it?", release="1.0"), "what is its default?", TIMER)
    assert resolution.release == "1.5"


async def test_of_several_named_releases_the_model_picks_one_of_them() -> None:
    text = "One desk has 1.5, another one 2.0. How do I set the timer?"
    resolution, _ = await understood(says(release="1.5"), text)
    assert (resolution.release, resolution.named, resolution.comparison) == ("1.5", ("1.5",), False)
    resolution, _ = await understood(says(release="1.0"), text)
    assert (resolution.named, resolution.comparison) == (("1.5", "2.0"), True)


async def test_search_forms_keep_every_fact_and_what_the_glossary_adds() -> None:
    text, base = "and for PM with --timer?", "How do I set the timer for PM with --timer in 1.5?"
    dropped = says(base, filtered="set timer PM 1.5", versionless="set timer PM --timer 1.5")
    _, forms = await understood(dropped, text, TIMER)
    assert "--timer" in forms.filtered and "performance monitoring" in forms.filtered
    assert "1.5" not in forms.versionless
    kept = says(base, filtered="timer PM --timer 1.5", versionless="timer PM --timer")
    _, forms = await understood(kept, text, TIMER)
    assert forms.filtered == "timer PM --timer 1.5 performance monitoring"
    assert forms.versionless == "timer PM --timer performance monitoring"


@pytest.mark.parametrize(
    ("parts", "held"),
    [
        (["How do I set --timer?", "How do I clean the filter?"], True),
        (["How do I set --timer?"], False),  # one part is the whole
        (["How do I set --timer?", "How do I mend the --lid?"], False),
        (["How do I set --timer?", "Why is the sky blue?"], False),
        (["timer", "filter"], False),
        ([], False),
        ("How?", False),
    ],
)
async def test_parts_are_believed_where_they_hold_the_whole_question(parts: Any, held: bool) -> None:
    base = "How do I set --timer and how do I clean the filter?"
    text = "--timer and how do I clean the filter?"
    _, forms = await understood(says(base, parts=parts), text, TIMER)
    assert forms.base == base
    assert (forms.parts == tuple(parts)) is held


async def test_output_without_its_fields_changes_nothing() -> None:
    question, resolution, rules = ruled("what is its default?", TIMER)
    for output in ({}, {"base": None, "release": 3, "filtered": [], "versionless": {}, "parts": [None]}):
        model = FakeModel(lambda prompts, output=output: output)
        assert await understand(model, question, KETTLE, resolution, rules) == (resolution, rules)


async def test_the_models_errors_are_raised() -> None:
    with pytest.raises(ModelMalformed):
        await understood(FakeModel(lambda prompts: ModelMalformed("no JSON")), "what is its default?", TIMER)


async def test_a_long_thread_is_cut_until_it_fits() -> None:
    history = tuple(Turn("user", f"question {number} " + "word " * 300) for number in range(20))
    model = says()
    model.context_tokens = 1400
    await understood(model, "and what about that?", (*history, *TIMER))
    sent = " ".join(prompt.content for prompt in model.calls[0].prompts)
    assert model.count_tokens(sent) < 1400 and "How do I set the timer in 1.5?" in sent
    model.context_tokens = 300
    with pytest.raises(ModelRefused, match="OLLAMA_NUM_CTX"):
        await understood(model, "and what about that?", TIMER)


async def test_the_parts_of_a_base_that_was_refused_are_refused_with_it() -> None:
    text, given = (
        "and remove it for a single one?",
        ["How do I set the timer in 1.5?", "How do I remove the timer?"],
    )
    base = "How do I remove the timer in 1.5 for a single one with `kettle.SKIP_TIMER`?"
    _, forms = await understood(says(base, parts=given), text, TIMER)
    ours = ruled(text, TIMER)[2]
    assert forms.base == ours.base and forms.parts == ours.parts


async def test_parts_that_do_not_stand_alone_are_refused() -> None:
    text = "and what is its default in 2.0, and the limit of the timer?"
    base = "What is the default of the timer in 2.0, and what is the limit of the timer?"
    for parts in (
        ["What is the default of the timer in 2.0?", "What is its limit?"],
        ["What is its default in 2.0?", "What is the limit of the timer?"],
    ):
        _, forms = await understood(says(base, parts=parts), text, TIMER)
        assert forms.base == base and forms.parts != tuple(parts)


@pytest.mark.parametrize(
    "text",
    [
        "AttributeError: 'Kettle' object has no attribute 'boil'",
        "type object 'Kettle' has no attribute 'boil'",
        "AttributeError: module 'Kettle' has no attribute 'boil'",
    ],
)
def test_of_what_python_says_of_a_missing_attribute_only_the_names_are_searched_for(text: str) -> None:
    assert filtered(text) == "Kettle boil"
    assert filtered(f"since today: {text}").endswith("Kettle boil")


def test_what_only_stresses_a_question_is_not_searched_for() -> None:
    assert filtered("who on earth pulls in a kettle, and why the hell") == "pulls kettle"
    assert filtered("what in the world is a kettle") == "kettle"
    assert filtered("a kettle on earth, or in the world") == "kettle earth world"


ON = (
    Turn("user", "How do I turn on the lamp of the kettle in the kitchen?"),
    Turn("assistant", "Press the button; on the stove, turn the ring [1].", release="2.0"),
)


@pytest.mark.parametrize(
    ("text", "base", "is_taken"),
    [
        ("and on the stove?", "How do I turn on the lamp of the kettle on the stove?", True),
        ("and on the stove?", "How do I turn on the lamp of the kettle in the garden?", False),
        ("and with threads?", "How do I turn on the lamp of the kettle with tasks?", False),
        ("and with threds?", "How do I turn on the lamp of the kettle with threads?", True),
    ],
)
async def test_a_rewrite_keeps_what_a_follow_up_names(text: str, base: str, is_taken: bool) -> None:
    _, forms = await understood(says(base), text, ON)
    assert (forms.base == base) == is_taken


async def test_a_thread_in_another_language_leaves_a_rewrite_its_words() -> None:
    thread = (
        Turn("user", "Comment allumer la lampe de la bouilloire quand elle est vide ?"),
        Turn("assistant", "Appuyez sur le bouton [1].", release="2.0"),
    )
    base = "How do I turn on the lamp of the kettle on the stove while it is empty?"
    _, forms = await understood(says(base), "and on the stove?", thread, language="en")
    assert forms.base == base
