"""What is said where the pages hold no answer: the nearest of them, what is remembered, or why."""

from __future__ import annotations

from dataclasses import replace

from core.domain import (
    Document,
    Evidence,
    Product,
    QAPair,
    Queries,
    Question,
    Recall,
    Release,
    Section,
    Vector,
)
from core.errors import ModelUnavailable, ServerDown
from core.generation.citations import citation
from core.pipeline.context import QueryContext
from core.pipeline.release_notes import Told, begun, nearest
from core.pipeline.stage import changes_often, dont_know, run
from core.pipeline.stages.quote import about_others
from core.query.language import detected
from core.recipes import recipe_of
from core.retrieval.confidence import Judgement
from core.retrieval.found import Found
from tests.core.evaluation.small import house
from tests.core.generation.samples import SESSIONS, evidence

FLASK = Product("Flask", ("flask",), (Release("3.1"),))
LIMITS = "The slow queue pauses for 60 seconds between two tries, the fast queue for 3 seconds."
NEAR = Judgement(bias=-1.0)
RARITY = {"secret": 4.0, "key": 2.0, "session": 3.0, "chess": 6.0, "olympiad": 7.0}


def asked(text: str, *found: Evidence, **given: object) -> QueryContext:
    pages = Found(found, rarity=RARITY, judgement=NEAR)
    return QueryContext(Question(text), queries=Queries(text, text), releases=("3.1",), found=pages, **given)


def test_only_pages_that_bear_on_the_question_are_named() -> None:
    near, far = evidence(1, SESSIONS), evidence(2, "Press the button to begin.", heading="Buttons")
    text = dont_know(asked("secret key session", near, far), FLASK).text
    assert text.startswith("I don't know.\n\nThe nearest pages are:\n- [Quickstart › Sessions](")
    assert "Buttons" not in text
    assert dont_know(asked("chess olympiad session", near, far), FLASK).text == "I don't know."


def test_a_page_that_is_named_shows_its_sentence_that_is_nearest() -> None:
    page = "Sign cookies first and then send them.\n\nThe secret key of a session signs its cookie."
    text = dont_know(asked("secret key session", evidence(1, page)), FLASK).text
    assert text.endswith("): The secret key of a session signs its cookie.")
    twice = dont_know(
        asked("secret key session", evidence(1, page), evidence(2, page, heading="Again")), FLASK
    )
    assert twice.text == text  # of pages that say the same the first is named
    more = evidence(2, "The key of a session signs nothing else.")  # another stretch of the same section
    assert dont_know(asked("secret key session", evidence(1, page), more), FLASK).text == text


def test_pages_that_are_likely_to_answer_are_named_although_their_words_are_others() -> None:
    context = asked("chess olympiad session", evidence(1, SESSIONS))
    context.found = replace(context.pages, judgement=Judgement(bias=0.1))
    assert "\n- [Quickstart › Sessions](" in dont_know(context, FLASK).text


def test_a_remembered_answer_to_a_question_like_it_is_offered() -> None:
    pair = QAPair(
        "p1", "How do I sign cookies?", "Set `SECRET_KEY` [1].\n\nKeep it safe.", "3.1", "public", 0.9
    )
    context = asked("chess", recall=Recall("reference", ((pair, 0.7),)))
    answer = dont_know(context, FLASK)
    assert answer.text == (
        "I don't know.\n\nA similar question was answered: “How do I sign cookies?”\n\n"
        "Set `SECRET_KEY`.\n\nKeep it safe."
    )
    assert answer.taken.pairs == {"p1"} and answer.route == "abstain"


def test_a_question_in_another_language_is_told_why_and_gets_pages_that_have_its_words() -> None:
    context = asked("Wie setze ich den secret key?", evidence(1, SESSIONS), untranslated=True)
    context.question = Question(context.question.text, language="de")
    text = dont_know(context, FLASK).text
    assert text.startswith(
        "Your question is in German, the documentation is in English, and no language model"
    )
    assert (
        "These pages mention words from your question:\n- [Quickstart › Sessions](" in text
        and "I don't know" not in text
    )
    context.course.taken["understand"] = "rules: No model server."
    context.course.failure = ServerDown("No model server.")
    assert dont_know(context, FLASK).text == text, "asking again does not start a model"
    context.course.failure = ModelUnavailable("It did not begin to answer.")
    assert "Ask again in a moment" in dont_know(context, FLASK).text
    context.course.taken.clear()
    context.found = Found()
    assert dont_know(context, FLASK).text.endswith("Ask in English.")


def test_of_a_question_in_another_language_small_words_and_the_product_lead_to_no_page() -> None:
    page = evidence(1, "Flask reads a comment of nginx.", heading="Configuration")
    rarity = {"flask": 0.5, "comment": 5.0, "session": 3.0}
    context = asked("Comment définir la session avec Flask ?", page, evidence(2, SESSIONS), untranslated=True)
    context.question = Question(context.question.text, language="fr")
    context.found = Found(context.pages.evidence, rarity=rarity, judgement=NEAR)
    text = dont_know(context, FLASK).text
    assert "Configuration" not in text and "\n- [Quickstart › Sessions](" in text


def test_a_question_in_dutch_is_told_why_in_one_sentence_with_links_to_pages() -> None:
    text = "Hoe maak ik een session key?"
    context = asked(text, evidence(1, SESSIONS), untranslated=True)
    context.question = Question(text, language=detected(text))
    told = dont_know(context, FLASK).text
    assert told.startswith("Your question is in Dutch, the documentation is in English, and no language")
    assert "\n- [Quickstart › Sessions](" in told


def test_words_that_two_languages_share_lead_to_pages_whatever_their_endings_and_accents() -> None:
    pages = evidence(1, "Press the button.", heading="Buttons"), evidence(2, SESSIONS)
    for text in ("Como defino uma chave secreta?", "Comment définir une clé secrète ?"):
        context = asked(text, *pages, untranslated=True)
        context.question = Question(text, language=detected(text))
        told = dont_know(context, FLASK).text
        assert "\n- [Quickstart › Sessions](" in told and "Buttons" not in told


def test_an_error_of_the_product_is_no_matter_of_what_else_was_running() -> None:
    page = evidence(1, "Raised where no greenlet runs.", heading="Exceptions > MissingSession")
    told = Told("Raised where no greenlet runs. [1]", (citation(page, 1),))
    error = "behind nginx:\nflask.errors.MissingSession: no greenlet_spawn here"
    assert about_others("close", asked(error), FLASK, told) == "close"
    coded = "nginx\n(app:81) [FL011] MissingSession: no greenlet_spawn here"
    assert about_others("close", asked(coded), FLASK, told) == "close"
    assert about_others("close", asked("nginx: no greenlet_spawn here"), FLASK, told) == "none"
    assert about_others("close", asked("nginx\nOtherError: no greenlet_spawn here"), FLASK, told) == "none"


class Attributes:
    """Says of every question that its answer changes soon, for any encoder."""

    def knows(self, encoder: str) -> bool:
        return True

    def is_dynamic(self, vector: Vector) -> bool:
        return True


async def test_what_is_so_just_now_is_not_answered_from_pages() -> None:
    page = Document("limits.md", "Limits", "https://k/limits", (Section(("Limits",), "", LIMITS),))
    product = Product("Queue", ("queue",), (Release("1.0", latest=True),))
    made, _ = await house(product, {"1.0": [page]}, None)
    parts = replace(made.parts, attributes=Attributes())

    async def text_for(asked: str) -> str:
        context = QueryContext(Question(asked), is_draft=True, withheld=frozenset({"memory"}))
        return (await run(recipe_of("threadlore")(parts), context)).text

    assert "The slow queue pauses" in await text_for("how long does the slow queue pause?")
    told = await text_for("how long does the slow queue pause right now?")
    assert told.startswith(
        "I don't know.\n\nThe answer changes often, and I have not read it anywhere just now."
    )
    assert "[Limits](https://k/limits)" in told


def test_pages_that_say_nothing_of_what_changes_from_day_to_day_are_not_offered() -> None:
    other = evidence(1, "The proxy is started by the system.", heading="Proxy")
    context = asked("when is the next chess olympiad", other)
    told = changes_often(context, FLASK).text
    assert told.endswith("I have not read it anywhere just now.") and "pages" not in told
    speaks = evidence(1, "We play chess every week.", heading="Chess")
    told = changes_often(asked("when is the next chess olympiad", speaks), FLASK).text
    assert "The nearest pages are:" in told and "Chess" in told


def test_a_page_of_another_release_is_never_shown_without_that_it_is_one() -> None:
    other = evidence(1, "`BOIL_LIMIT` says how hot it gets.", heading="BOIL_LIMIT", release="4.0")
    context = asked("what is BOIL_LIMIT", other, elsewhere=("BOIL_LIMIT", ("2.3", "4.0")))
    told = begun(context, "Flask", {}, ())
    assert told and told.citations[0].release == "4.0" and "BOIL_LIMIT (Flask 4.0)" in told.text
    said = "The documentation of Flask 3.1 does not mention `BOIL_LIMIT`. That of 2.3 and 4.0 does:"
    assert told.text.startswith(said)
    assert nearest(("2.0", "2.3"), "3.1") == "2.3" and nearest((), "3.1") == ""
    voted_down = begun(context, "Flask", {}, {other.chunk.hash})
    assert voted_down and not voted_down.citations, "which ends in I don't know"
