"""Where a quote is no more than the closest, several sections are shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain import Answer, Document, Product, Question, Release, Section, Turn
from core.pipeline.context import QueryContext
from core.pipeline.stage import run
from core.recipes import recipe_of
from core.retrieval.confidence import Judgement
from tests.core.evaluation.small import house
from tests.fakes import FakeModel

PRODUCT = Product("Kettle", ("kettle",), (Release("1.0", latest=True), Release("0.9")))
ASKED = "how is the lid of the kettle closed"
TEXTS = (
    "The lid of the kettle is closed before it boils. A closed lid is safe.",
    "Kettles have a lid. The lid is made of steel, and it is closed.",
    "Turn the ring of the lid until it clicks, and the kettle is closed.",
)
AS_OFTEN = {"bias": 0.0, "close": 0.0}
"""Of a judgement that holds every quote for right in one of two cases."""


def pages_of(texts: tuple[str, ...]) -> list[Document]:
    return [
        Document(f"p{n}.md", f"Part {n}", f"https://k/{n}", (Section((f"Part {n}",), "", text),))
        for n, text in enumerate(texts)
    ]


async def asked(
    enough: float, texts: tuple[str, ...] = TEXTS, question: Question | None = None, older: str = ""
) -> Answer:
    before = (*texts[:2], older) if older else texts
    made, _ = await house(PRODUCT, {"1.0": pages_of(texts), "0.9": pages_of(before)}, FakeModel(""))
    searcher = made.parts.searcher
    searcher.ranking = replace(
        searcher.ranking,
        judgement=Judgement(enough=0.0, close=0.0),
        quotes=Judgement(enough=enough, **AS_OFTEN),
    )
    searcher.learning.clear()  # its sentences count as embedded
    parts = replace(made.parts, model=None)
    given = question or Question(ASKED, release="1.0")
    context = QueryContext(given, is_draft=True, withheld=frozenset({"memory"}))
    return await run(recipe_of("threadlore")(parts), context)


async def test_a_hedge_of_several_sections_is_as_sure_as_its_first() -> None:
    answer = await asked(1.0)
    assert (answer.level, len(answer.citations), answer.confidence) == ("close", 3, 0.5)
    assert answer.text.startswith("The closest I found:")


async def test_one_section_alone_is_as_sure_as_it_is() -> None:
    answer = await asked(1.0, TEXTS[:1])
    assert (answer.level, len(answer.citations), answer.confidence) == ("close", 1, 0.5)


async def test_what_is_sure_stays_one_section() -> None:
    answer = await asked(0.5)
    assert (answer.level, len(answer.citations), answer.confidence) == ("sure", 1, 0.5)


AGAIN = Question(
    "and in 0.9?",
    history=(Turn("user", ASKED), Turn("assistant", "The closest I found: …", release="1.0")),
)


async def test_of_several_that_are_the_same_in_another_release_that_is_said_with_all_of_them() -> None:
    answer = await asked(1.0, question=AGAIN)
    assert answer.text.startswith("The same in 0.9: [") and answer.level == "close"
    assert [entry.release for entry in answer.citations] == ["0.9"] * 3
    assert all(f"[{number}]" in answer.text for number in (1, 2, 3))


async def test_where_one_of_several_differs_in_another_release_all_are_shown_and_hedged_there() -> None:
    answer = await asked(1.0, question=AGAIN, older="Turn the ring of the lid, and the kettle is closed.")
    assert answer.text.startswith("The closest I found:") and "Turn the ring of the lid, and" in answer.text
    assert [entry.release for entry in answer.citations] == ["0.9"] * 3 and "Different" not in answer.text


LIDS = (
    ("Reference", "Kettle.open_lid()", "Opens the lid. Steam escapes at once, so mind your hands."),
    ("Reference", "Kettle.lift_lid()", "Lifts the lid off, as far as the ring has room."),
    ("Guide", "Lids", "A lid closes by itself. To look inside call `open_lid()`."),
    ("Guide", "Spare lids", "Spare lids are sold by the dozen."),
)
"""Title, heading and text of pages."""


async def beside(question: str, *more: tuple[str, str, str]) -> Answer:
    documents = [
        Document(f"{title}{n}.md", title, f"https://k/{n}", (Section((title, heading), "", text),))
        for n, (title, heading, text) in enumerate((*LIDS, *more))
    ]
    made, _ = await house(PRODUCT, {"1.0": documents, "0.9": documents}, FakeModel(""))
    searcher = made.parts.searcher
    searcher.ranking = replace(
        searcher.ranking, judgement=Judgement(enough=0.0, close=0.0), quotes=Judgement(close=0.0)
    )
    searcher.learning.clear()
    context = QueryContext(Question(question), is_draft=True, withheld=frozenset({"memory"}))
    return await run(recipe_of("threadlore")(replace(made.parts, model=None)), context)


def headings(answer: Answer) -> list[str]:
    return [citation.title.rpartition(" › ")[2] for citation in answer.citations]


@pytest.mark.parametrize(
    "question",
    [
        "difference between open_lid and lift_lid?",
        "kettle.open_lid() vs kettle.lift_lid()",
        "how is open_lid different from lift_lid",
    ],
)
async def test_of_two_things_whose_difference_is_asked_both_entries_are_quoted(question: str) -> None:
    answer = await beside(question)
    assert headings(answer) == ["Kettle.open_lid()", "Kettle.lift_lid()"]
    assert "Steam escapes" in answer.text and "as far as the ring" in answer.text


async def test_entries_that_tell_something_are_quoted_rather_than_mere_lines() -> None:
    lines = (("Names", "open_lid", "See `open_lid`."), ("Names", "lift_lid", "See `lift_lid`."))
    answer = await beside("difference between open_lid and lift_lid?", *lines)
    assert headings(answer) == ["Kettle.open_lid()", "Kettle.lift_lid()"]


async def test_one_section_that_compares_two_things_is_quoted_by_itself() -> None:
    both = (
        "Guide",
        "open_lid and lift_lid",
        "One tilts the lid; the other takes it away: open_lid, lift_lid.",
    )
    answer = await beside("difference between open_lid and lift_lid?", both)
    assert headings(answer)[0] == "open_lid and lift_lid"


async def test_a_longer_name_is_no_word_of_the_shorter_one() -> None:
    care = ("Guide", "Care", "`lift_with_care()` calls `open_lid()` before it, if there is a lid.")
    lift = ("Reference", "Kettle.lift()", "Lifts the kettle itself, for which it takes both hands.")
    answer = await beside("lift vs open_lid", lift, care)
    assert headings(answer) == ["Kettle.lift()", "Kettle.open_lid()"]


@pytest.mark.parametrize("question", ["open_lid vs throw_lid", "difference between open_lid and open_lid"])
async def test_what_has_no_entry_of_its_own_is_answered_as_any_question(question: str) -> None:
    assert headings(await beside(question)) != ["Kettle.open_lid()", "Kettle.lift_lid()"]


async def test_of_two_things_without_entries_the_paragraph_on_both_is_quoted_and_never_as_sure() -> None:
    modes = ("Guide", "Modes", "- lazy: boils once it is asked to\n- eager: boils before anybody asks")
    code = ("Guide", "Examples", "Start it:\n\n```sh\nkettle --mode lazy\nkettle --mode eager\n```")
    for question in ("lazy or eager, whats the diff?", "difference between lazy and eager", "lazy vs eager"):
        answer = await beside(question, code, modes)
        assert headings(answer) == ["Modes"] and answer.level == "close", question
    assert headings(await beside("lazy or eager, whats the diff?", code)) != ["Modes"]


async def test_what_each_of_two_things_is_says_hardly_how_they_differ() -> None:
    assert (await beside("difference between open_lid and lift_lid?")).level == "close"


async def test_a_name_is_looked_for_as_it_is_spelled_and_as_pages_sign_it() -> None:
    more = (
        ("API", "dump()", "`kettle.json.dump(obj, fp)`\n\nWrites what a kettle holds to a file, as JSON."),
        ("API", "dumps()", "`kettle.json.dumps(obj)`\n\nReturns what a kettle holds as JSON, a text."),
        (
            "API",
            "JSONMaker.dumps()",
            "`kettle.json.maker.JSONMaker.dumps(obj)`\n\nMakes JSON as `json.dumps` does.",
        ),
    )
    assert headings(await beside("open_lid vs json.dumps", *more)) == ["Kettle.open_lid()", "dumps()"]
    assert headings(await beside("difference between json.dump and json.dumps", *more)) == [
        "dump()",
        "dumps()",
    ]


@pytest.mark.parametrize(
    "question", ["on vs off", "this vs that", "lazy vs off", "it vs it", "difference between the and a"]
)
async def test_words_that_say_nothing_are_no_two_things(question: str) -> None:
    assert (await beside(question)).level in ("close", "none", "sure")


async def test_what_names_both_already_is_quoted_as_for_any_question() -> None:
    faq = (
        "FAQ",
        "What is the difference between lazy and eager?",
        "The moment at which the kettle boils its water.",
    )
    modes = ("Guide", "Modes", "- lazy: boils once lazy\n- eager: boils before, eager")
    assert headings(await beside("difference between lazy and eager", faq, modes))[0] == faq[1]


OPEN = ("`LidError` is raised where a lid that is open already is opened once more: the lid is open.",)


@pytest.mark.parametrize(
    ("message", "level"),
    [
        ("lid is open already", "sure"),
        ("the pump of 'unit-3' is jammed", "close"),
        ("lid /dev/lid0 is open already", "sure"),
    ],
)
async def test_a_quote_on_another_error_of_the_same_name_is_not_sure(message: str, level: str) -> None:
    answer = await asked(0.0, OPEN, Question(f"kettle.LidError: {message}", release="1.0"))
    assert (answer.route, answer.level) == ("quote", level)
