"""Pages below those that were found are read by the model, where it is not sure that these answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from core.domain import Answer, ContextChunk, Document, Evidence, Product, Queries, Question, Release, Section
from core.errors import ModelUnavailable
from core.pipeline.context import QueryContext
from core.pipeline.resources import ModelBudget, Resources
from core.pipeline.stage import run
from core.pipeline.stages.retrieve import FURTHER, WHOLE, Reduce, Select
from core.pipeline.stages.search_again import _unread
from core.pipeline.stages.write import request_of
from core.ports import Prompt
from core.recipes import recipe_of
from core.retrieval.confidence import Judgement
from core.retrieval.found import AGAIN, KEPT, Found, followed, reranked
from tests.core.evaluation.small import house
from tests.fakes import FakeModel, Reply

ASKED = "how is the lid of the kettle closed"
PRODUCT = Product("Kettle", ("kettle",), (Release("1.0", latest=True),))
SURE, UNSURE = Judgement(enough=0.0, close=0.0), Judgement(enough=1.0, close=0.0)
TARGET = "Turn the ring to close the lid."


def page(number: int, words: int = 20) -> Evidence:
    text = f"The lid of kettle {number}. " + "It boils. " * words
    return Evidence(number, ContextChunk(f"c{number}", f"p{number}.md", f"Page {number}", "", "", text), 1.0)


def found(judgement: Judgement, words: int = 20, **more: bool) -> Found:
    pages = tuple(page(number, words) for number in range(1, 2 * KEPT + 1))
    return Found(pages[:KEPT], rarity={"lid": 2.0}, judgement=judgement, below=pages[KEPT:], **more)


async def resources(model: FakeModel) -> Resources:
    made, _ = await house(
        PRODUCT, {"1.0": [Document("a.md", "A", "", (Section(("A",), "", TARGET),))]}, model
    )
    return replace(made.parts, model=model, budget=ModelBudget(model, only=()))


async def read_of(pages: Found, further: bool = True, window: int = 8192) -> QueryContext:
    model = FakeModel("")
    model.context_tokens = window
    parts = await resources(model)
    context = QueryContext(Question(ASKED), queries=Queries(ASKED, ASKED), found=pages)
    await Reduce(parts, further)(context)
    await Select(parts)(context)
    return context


async def test_where_it_is_not_sure_the_pages_below_are_read_too() -> None:
    context = await read_of(found(UNSURE))
    assert [item.number for item in context.chosen or ()] == list(range(1, 2 * KEPT + 1))
    assert [item.number for item in context.pages.evidence] == list(range(1, KEPT + 1))  # what quotes use


@pytest.mark.parametrize(
    ("pages", "further"), [(found(SURE), True), (found(UNSURE), False), (found(UNSURE, named=True), True)]
)
async def test_elsewhere_only_those_found_are_read(pages: Found, further: bool) -> None:
    context = await read_of(pages, further)
    assert len(context.chosen or ()) == KEPT and not context.further


async def test_only_so_many_are_read_as_a_share_of_the_context_holds() -> None:
    window = 4_000
    context = await read_of(found(UNSURE, words=50), window=window)
    model = FakeModel("")
    sizes = [model.count_tokens(text) for text in (context.texts or {}).values()]
    assert KEPT < len(sizes) < 2 * KEPT
    assert sum(sizes) <= FURTHER * window < sum(sizes) + sizes[-1]


async def test_those_found_are_read_whatever_room_they_take() -> None:
    context = await read_of(found(UNSURE, words=200), window=2_000)
    assert [item.number for item in context.chosen or ()] == list(range(1, KEPT + 1))


async def test_a_page_found_loses_nothing_to_one_below() -> None:
    told = "Turn the ring, and the lid of the kettle is closed."
    pages = found(UNSURE)
    near = replace(pages.evidence[0].chunk, page="The kettle boils.", after=told)
    long = replace(pages.below[0].chunk, page=told + "\n\n" + "The lid of the kettle. " * 2000)
    both = replace(
        pages,
        evidence=(replace(pages.evidence[0], chunk=near), *pages.evidence[1:]),
        below=(replace(pages.below[0], chunk=long), *pages.below[1:]),
    )
    context = await read_of(both)
    assert told in (context.texts or {})[1] and KEPT + 1 not in (context.texts or {})


async def test_pages_that_notes_put_first_are_not_read_twice() -> None:
    pages = found(UNSURE)
    twice = replace(pages, evidence=(replace(pages.below[0], number=1), *pages.evidence[1:]))
    context = await read_of(twice)
    ids = [item.chunk.id for item in context.chosen or ()]
    numbers = [item.number for item in context.chosen or ()]
    assert len(ids) == len(set(ids)) == 2 * KEPT - 1 and numbers == list(range(1, 2 * KEPT))


LONG = Section(("Kettle", "Lids"), "", "\n\n".join(f"Part {n} of {'long ' * 150}." for n in range(14)))


async def pieces_of(found_at: Sequence[int], enough: Judgement) -> list[int]:
    """Return which pages of a long section are read where those at some places were found, best first."""
    model = FakeModel("")
    made, _ = await house(PRODUCT, {"1.0": [Document("a.md", "Kettle", "", (LONG,))]}, model)
    parts = replace(made.parts, model=model, budget=ModelBudget(model, only=()))
    section = await parts.searcher.pages_of("1.0")
    assert len(section) >= 6
    pages = [Evidence(n, section[at], 1.0) for n, at in enumerate(found_at, 1)]
    context = QueryContext(
        Question(ASKED),
        queries=Queries("long", "long"),
        found=Found(tuple(pages), rarity={"long": 2.0}, judgement=enough),
    )
    await Reduce(parts, further=True)(context)
    await Select(parts)(context)
    return [section.index(item.chunk) for item in context.chosen or ()]


@pytest.mark.parametrize("enough", [SURE, UNSURE])
async def test_pages_between_two_of_their_section_are_read_in_their_order(enough: Judgement) -> None:
    assert await pieces_of([2, 0], enough) == [0, 1, 2]
    assert await pieces_of([3, 0], enough) == [0, 1, 2, 3]
    assert await pieces_of([4, 0], enough) == [0, 4]  # three would be another story


async def answered(reply: Callable[[Sequence[Prompt]], Reply]) -> tuple[Answer, QueryContext]:
    """Ask where the thirteenth page of thirteen tells."""
    near = "The lid of the kettle is closed, number {}. How is the lid of the kettle closed?"
    pages = [
        Document(f"p{n}.md", f"Lids {n}", "https://k/l", (Section((f"Lids {n}",), "", near.format(n)),))
        for n in range(11)
    ]
    pages.append(Document("ring.md", "Ring", "https://k/r", (Section(("Ring",), "", TARGET),)))
    model = FakeModel(reply)
    made, _ = await house(PRODUCT, {"1.0": pages}, model)
    searcher = made.parts.searcher
    searcher.ranking = replace(searcher.ranking, judgement=UNSURE)
    parts = replace(made.parts, model=model, budget=ModelBudget(model, only=()))
    context = QueryContext(Question(ASKED), is_draft=True, withheld=frozenset({"memory"}))
    return await run(recipe_of("threadlore")(parts), context), context


async def test_an_answer_may_rest_on_a_page_below() -> None:
    def says(prompts: Sequence[Prompt]) -> str:
        shown = prompts[-1].content
        at = shown.index(TARGET)
        number = int(shown[:at].rpartition('number="')[2].partition('"')[0])
        assert number > KEPT
        return f"Turn the ring [{number}]."

    answer, context = await answered(says)
    assert (answer.route, answer.text, answer.citations[0].path) == (
        "documents",
        "Turn the ring [1].",
        "ring.md",
    )
    assert answer.citations[0].hash in {item.chunk.hash for item in context.pages.evidence}
    assert context.trace.found and "ring.md" in {page.path for page in context.trace.found.evidence}


async def test_where_the_model_fails_quotes_are_of_the_pages_found() -> None:
    answer, context = await answered(lambda _: ModelUnavailable("It is off."))
    assert answer.route in ("quote", "abstain") and context.trace.model_error
    assert len(context.pages.evidence) == KEPT and len(context.chosen or ()) > KEPT


async def test_a_reranker_hands_on_the_pages_that_it_put_below() -> None:
    class Backwards:
        weighs = False

        async def scores(self, question: str, passages: list[str]) -> list[float]:
            return [float(number) for number in range(len(passages))]

    pages = found(UNSURE)
    both = replace(pages, evidence=(*pages.evidence, *pages.below), below=())
    again = await reranked(Backwards(), ASKED, both, KEPT)  # type: ignore[arg-type]
    assert [item.number for item in (*again.evidence, *again.below)] == list(range(1, 2 * KEPT + 1))
    assert [item.chunk.id for item in again.below] == [f"c{n}" for n in range(KEPT, 0, -1)]


def test_a_second_search_goes_below_what_the_first_one_found() -> None:
    first = found(UNSURE)
    again = _unread(first, first.evidence)
    assert [item.chunk.id for item in again.evidence] == [item.chunk.id for item in first.below]
    other = _unread(first, first.evidence[1:])
    assert [item.number for item in other.evidence] == [1, *range(KEPT + 1, 2 * KEPT)]
    assert not _unread(first, (*first.evidence, *first.below)).evidence


def test_what_both_searches_found_goes_before_the_rest_of_the_first() -> None:
    """The first led nowhere: what only the second found is read first."""
    known = Found(tuple(page(number) for number in range(1, KEPT + 1)))
    fresh = Found((page(20), page(21)))
    again = Found((page(20), page(7), page(21)))
    both = followed(fresh, again, known)
    assert [item.chunk.id for item in both.evidence] == ["c20", "c21", "c7", "c1", "c2", "c3"]
    assert [item.number for item in both.evidence] == list(range(1, 2 + AGAIN + 1))


def test_what_was_found_and_never_read_is_read_where_the_second_search_has_it() -> None:
    known = Found((page(1), page(2)))
    fresh = Found((page(2), page(3)))
    assert [item.chunk.id for item in followed(fresh, fresh, known).evidence] == ["c2", "c3", "c1"]


@pytest.mark.parametrize(("enough", "whole"), [(SURE, WHOLE), (UNSURE, KEPT)])
async def test_the_best_pages_are_read_whole(enough: Judgement, whole: int) -> None:
    """What decides may share no word with the question."""
    rest = "\n\n".join(f"Nobody knows why it is so, number {n}. " * 8 for n in range(5))
    long = [
        replace(item, chunk=replace(item.chunk, page=f"{item.chunk.page}\n\n{rest}"))
        for item in (page(n) for n in range(1, KEPT + 1))
    ]
    context = await read_of(Found(tuple(long), rarity={"lid": 2.0}, judgement=enough))
    ends = [text.endswith("number 4.") for text in (context.texts or {}).values()]
    assert ends == [True] * whole + [False] * (KEPT - whole)


def test_a_part_on_which_something_near_was_found_stays_in_the_question() -> None:
    near, nothing = Judgement(enough=1.0, close=0.0), Judgement(enough=1.0, close=1.0)
    context = QueryContext(
        Question("may they go? what is left?"),
        queries=Queries("May they go? What is left?", "go left", parts=("May they go?", "What is left?")),
        by_part={
            "May they go?": Found((page(1),), judgement=near),
            "What is left?": Found((page(2),), judgement=nothing),
        },
    )
    assert context.open == ("May they go?", "What is left?") and context.unfound == ("What is left?",)
    asked = request_of(context, "Kettle")
    assert (asked.question, asked.parts) == ("May they go?", ("May they go?",))
    context.by_part["What is left?"] = Found((page(2),), judgement=near)
    asked = request_of(context, "Kettle")
    assert (asked.question, asked.parts) == (context.queries.base, context.parts)
