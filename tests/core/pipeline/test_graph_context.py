"""The recipe `graph_context` and the graph of pairs it walks, as pairs come and go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.domain import Document, Product, Question, Release, Scope, Section, Vector, Vote
from core.memory.question_graph import PairGraphs
from core.pipeline.context import QueryContext
from core.pipeline.resources import ModelBudget
from core.pipeline.stage import run
from core.ports import PregeneratedPair, Prompt
from core.recipes import recipe_of
from tests.contracts.samples import keep, pair
from tests.core.evaluation.small import house as small_house
from tests.core.evaluation.small import parts
from tests.core.test_engine import TIMER, house
from tests.fakes import FakeEncoder, FakeMemories, FakeModel, Reply

ASKED = "what is the default of the timer?"


def says(prompts: Sequence[Prompt]) -> Reply:
    if "You read relations" in prompts[0].content:
        told = (("the timer", "has the default", "45 minutes"), ("the timer", "is", "a dragon"))
        return {"triplets": [dict(zip(("head", "relation", "tail"), one, strict=True)) for one in told]}
    return "45 minutes [1]."


async def asked(model: FakeModel | None, question: Question, pairs: bool = True) -> QueryContext:
    """Answer by the recipe over two small releases; return what the question's way left."""
    made = await parts(model, pairs)
    context = QueryContext(question, is_draft=True, withheld=frozenset({"memory"}))
    await run(recipe_of("graph_context")(replace(made.parts, budget=ModelBudget(model))), context)
    return context


async def test_the_model_reads_two_pairs_and_the_triplets_with_both_ends_in_them() -> None:
    model = FakeModel(says)
    context = await asked(model, Question(ASKED))
    assert [call.kind for call in model.calls] == ["structured", "stream"]
    told = model.calls[-1].prompts[1].content
    assert "the timer has the default 45 minutes." in told and "dragon" not in told
    assert context.draft is not None and context.draft.citations[0].path == "timer.md"
    assert 0 < len(context.pages.evidence) <= 2


class Written:
    """A `RelationExtractor` that writes the same of everything."""

    name = "written"

    def __init__(self) -> None:
        self.read: list[str] = []

    async def linearized(self, texts: Sequence[str]) -> list[str]:
        self.read += texts
        return [
            "<triplet> the timer <subj> 45 minutes <obj> duration <subj> a dragon <obj> said to be",
            "<triplet> the timer <obj> cut short",
        ]


async def test_rebel_s_triplets_with_both_ends_in_the_context_stand_beside_the_model_s() -> None:
    model, rebel = FakeModel(says), Written()
    made = await parts(model, True)
    context = QueryContext(Question(ASKED), is_draft=True, withheld=frozenset({"memory"}))
    given = replace(made.parts, budget=ModelBudget(model), rebel=rebel)
    await run(recipe_of("graph_context")(given), context)
    told = model.calls[-1].prompts[1].content
    assert "the timer has the default 45 minutes." in told and "the timer duration 45 minutes." in told
    assert "dragon" not in told and any("45 minutes" in text for text in rebel.read)
    without = await asked(
        FakeModel(lambda prompts: {"triplets": []} if "You read" in prompts[0].content else "45 [1]."),
        Question(ASKED),
    )
    assert "duration" not in "".join(without.texts.values())


async def test_without_a_model_the_pages_of_the_pairs_are_quoted() -> None:
    context = await asked(None, Question(ASKED))
    assert context.draft is not None and context.draft.route == "quote" and "45 minutes" in context.draft.text


async def test_where_there_are_no_pairs_the_nearest_pages_are_read() -> None:
    context = await asked(FakeModel(says), Question(ASKED), pairs=False)
    assert len(context.pages.evidence) == 2 and context.draft is not None


async def test_a_remembered_pair_is_read_and_what_it_cites_is_cited() -> None:
    model = FakeModel(says)
    bot = await house(model, (), recipe="graph_context")
    first = await bot.ask(TIMER)
    assert first.route == "documents", "nothing is remembered yet"
    assert await bot.engine.feedback(Vote(first.id, "cli:bob", 1))
    again = await bot.ask(TIMER)
    assert again.route == "reference" and [e.chunk.title for e in again.evidence] == [TIMER]
    assert again.citations == first.citations
    assert await bot.engine.feedback(Vote(first.id, "cli:bob", 0))
    assert (await bot.ask(TIMER)).route == "documents", "what is voted bad leaves the graph"


async def vector_of(topic: str) -> Vector:
    (vector,) = await FakeEncoder().encode([topic])
    made: Vector = vector
    return made


@pytest.mark.parametrize(("scope", "hears"), [(Scope(), False), (Scope("private", "slack:C1"), True)])
async def test_a_private_pair_is_in_the_graph_of_its_channel_alone(scope: Scope, hears: bool) -> None:
    made = await parts(pairs=True)
    memory, store = made.parts.memory, made.parts.store
    assert isinstance(store, FakeMemories)
    await memory.load(FakeEncoder(), {})
    await keep(store, pair("p1", topic=ASKED, release="2.0", scope="private:slack:C1"))
    await memory.vote(Vote("a-p1", "u", 1), 1.0)
    graphs = PairGraphs(memory, made.parts.searcher)
    found = await graphs.nearest(await vector_of(ASKED), "2.0", scope, 3)
    assert (found[0][0].id == "p1") is hears
    assert all(isinstance(one, PregeneratedPair) for one, _ in found[hears:]) and len(found) == 3
    made_alone = await graphs.nearest(await vector_of(ASKED), "2.0", None, 3)
    assert all(isinstance(one, PregeneratedPair) for one, _ in made_alone)


async def test_the_graph_follows_what_is_learned_and_what_is_no_longer_made() -> None:
    made = await parts(pairs=True)
    memory, store, searcher = made.parts.memory, made.parts.store, made.parts.searcher
    assert isinstance(store, FakeMemories)
    await memory.load(FakeEncoder(), {})
    graphs, vector = PairGraphs(memory, searcher), await vector_of(ASKED)

    async def found() -> tuple[set[str], int]:
        near = [one for one, _ in await graphs.nearest(vector, "2.0", Scope(), 1000)]
        kept = {one.id for one in near if not isinstance(one, PregeneratedPair)}
        return kept, len(near) - len(kept)

    live = searcher.live_pairs("2.0")
    assert live is not None
    for number, topic in enumerate((ASKED, "how do I descale a kettle with vinegar?"), 1):
        await keep(store, pair(f"p{number}", topic=topic, release="2.0"))
        await memory.vote(Vote(f"a-p{number}", "u", 1), 1.0)
        assert await found() == ({f"p{n + 1}" for n in range(number)}, len(live.by_id))
    await memory.retire(["p1"])
    del searcher._pairs["2.0"]
    assert await found() == ({"p2"}, 0)


@pytest.mark.parametrize("dimensions", [256, 128])
async def test_the_graph_follows_another_encoder(dimensions: int) -> None:
    made = await parts()
    memory, store = made.parts.memory, made.parts.store
    assert isinstance(store, FakeMemories)
    await keep(store, pair("p1", topic=ASKED, release="2.0"))
    await memory.load(FakeEncoder(), {})
    await memory.vote(Vote("a-p1", "u", 1), 1.0)
    graphs, ranks = PairGraphs(memory, made.parts.searcher), []
    for encoder in (FakeEncoder(), FakeEncoder(f"other@{dimensions}", dimensions)):
        await memory.load(encoder, {})
        [vector] = await encoder.encode([ASKED])
        [(found, rank)] = await graphs.nearest(vector, "2.0", Scope(), 3)
        ranks.append((found.id, rank))
    assert ranks[0] == ranks[1] == ("p1", pytest.approx(ranks[0][1])) and ranks[0][1] > 0


SETTINGS = {
    "LID_COLOR": "The color of the lid, as a word.",
    "LID_LOCK": "Whether the lid is locked. Requires `LID_COLOR` to be set.",
    "BOIL_TIME": "How many seconds the water boils.",
}


@pytest.mark.parametrize(
    ("question", "told", "cited"),
    [
        (
            "which settings concern the lid?",
            "- `LID_COLOR`: The color of the lid, as a word. [1]\n"
            "- `LID_LOCK`: Whether the lid is locked. [2]",
            ["LID_COLOR", "LID_LOCK"],
        ),
        ("what depends on LID_COLOR?", "depend on `LID_COLOR`:\n\n- `LID_LOCK` [1]", ["LID_LOCK"]),
        ("what does LID_LOCK depend on?", "`LID_LOCK` depends on these:\n\n- `LID_COLOR` [1]", ["LID_LOCK"]),
    ],
)
async def test_a_list_is_answered_from_the_graph_with_its_pages(
    question: str, told: str, cited: list[str]
) -> None:
    sections = tuple(Section(("Settings", name), name, text) for name, text in SETTINGS.items())
    page = Document("config.md", "Settings", "https://k/config", sections)
    other = Document("old.md", "Old", "https://k/old", (Section(("LID_HINGE",), "", "The lid's hinge."),))
    product = Product("Kettle", (), (Release("1.0"), Release("2.0", latest=True)))
    made, _ = await small_house(product, {"1.0": [other], "2.0": [page]})
    context = QueryContext(Question(question), is_draft=True, withheld=frozenset({"memory"}))
    answer = await run(recipe_of("graph_context")(made.parts), context)
    assert answer.text.endswith(told) and answer.release == "2.0"
    assert [entry.url.partition("#")[2] for entry in answer.citations] == cited
    context = QueryContext(Question("how long does it boil?"), is_draft=True, withheld=frozenset({"memory"}))
    assert "these" not in (await run(recipe_of("graph_context")(made.parts), context)).text
