"""Both journeys on fakes: the order of the steps, what each costs in model calls, and how each fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from core.catalogue import Catalogue, ChannelSettings
from core.domain import Answer, Document, Product, Question, Release, Section, Turn, Vote
from core.engine import Engine
from core.errors import EncoderError, ModelMissing, ModelUnavailable
from core.feedback.accepted_answers import AcceptedAnswers
from core.ingestion.chunking import chunk
from core.memory.community import CommunityMemory
from core.memory.decision import PAPER, Decision
from core.memory.scoring import Policy, Thresholds, VoteWeighting
from core.models.breaker import Breaker
from core.models.embedding.encoder import Encoders
from core.models.ollama.client import Ollama
from core.pipeline.research import Research
from core.pipeline.resources import STEPS, ModelBudget, Resources
from core.ports import LanguageModel, Prompt, Reranker
from core.ports.corpora import Indexes
from core.prompts import DONT_KNOW
from core.recipes import recipe_of
from core.retrieval.confidence import DEFAULT_JUDGEMENT, Signs
from core.retrieval.ranking import DEFAULT_RANKING
from core.retrieval.search import Searcher
from tests.fake_rewordings import FakeRewordings
from tests.fake_upkeep import FakeVoters
from tests.fakes import (
    FakeCorpora,
    FakeEncoder,
    FakeMemories,
    FakeModel,
    FakeOpinions,
    FakeVectors,
    FakeWords,
)
from tests.ollama_answers import Recorded
from tests.ollama_server import Behaviour, OllamaServer
from tests.patience import PATIENCE

PAGES = {
    "timer.md": "The timer is set with `--timer`. It keeps the water warm for {minutes} minutes by default.",
    "descaling.md": "To descale the kettle, fill it with vinegar and boil it twice, then rinse it.",
    "filter.md": "The limescale filter sits behind the spout. Press the latch and pull the filter out.",
    "noise.md": "A kettle that hums louder than a bee has a loose plate. Tighten the screws of the plate.",
    "lid.md": "The lid opens with a push on the red button. A lid that sticks needs one drop of oil.",
    "cord.md": "The cord is replaced by unscrewing the base and lifting the brown clamp with a flat tool.",
}
MINUTES = {"1.0": "20", "1.5": "45", "2.0": "45"}
TIMER = "How many minutes does the timer keep the water warm by default?"
FILTER = "How do I press the latch and pull the limescale filter out behind the spout?"
PARTS = f"{FILTER[:-1]}, and how do I replace the cord by lifting the brown clamp of the base?"
BOTH = "How many minutes does the timer keep the water warm by default in 1.0 and in 2.0?"
ASKED = (Turn("user", TIMER), Turn("assistant", "45 minutes [1].", release="2.0"))


@dataclass
class House:
    """An engine on fakes, and what stands behind it."""

    engine: Engine
    memories: FakeMemories
    memory: CommunityMemory
    opinions: FakeOpinions

    async def ask(self, text: str, history: Sequence[Turn] = (), **given: Any) -> Answer:
        return await self.engine.answer(Question(text, "cli:ada", history=tuple(history), **given))


class Backwards:
    """A reranker that prefers what names the word it was made with."""

    name = "backwards"

    def __init__(self, word: str) -> None:
        self.word = word
        self.asked: list[tuple[str, int]] = []

    weighs = False

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        self.asked.append((question, len(passages)))
        return [0.9 if self.word in passage else 0.1 for passage in passages]


async def house(
    model: LanguageModel | None = None,
    only: Sequence[str] = STEPS,
    reranker: Reranker | None = None,
    keep: int = 3,
    second_look: bool = False,
    decision: Decision = PAPER,
    recipe: str = "threadlore",
    enough: float = DEFAULT_JUDGEMENT.enough,
    chosen: bool = True,
    renamed: str = "",
) -> House:
    """Index the pages of three releases and wire an engine that answers by a recipe.

    In the release `renamed` every page has another path and title.
    """
    encoder = FakeEncoder()
    store, vectors, words, memories = FakeCorpora(), FakeVectors(), FakeWords(), FakeMemories()
    releases = [Release(name, latest=name == "2.0") for name in MINUTES]
    product = Product("Kettle", ("kettle",), tuple(releases))
    for release, minutes in MINUTES.items():
        documents = [
            chunk(
                Document(path, path[:-3], f"https://k/{release}/{path}", (Section((path[:-3],), "", text),)),
                release=release,
                source="s",
                count_tokens=encoder.count_tokens,
                max_tokens=encoder.max_tokens,
            )
            for path, text in (
                (f"the-{p}" if release == renamed else p, t.format(minutes=minutes)) for p, t in PAGES.items()
            )
        ]
        for document in documents:
            await store.put(release, document)
        corpus = await store.swap(release, [document.id for document in documents], encoder.name)
        rows = await store.rows(release)
        table = await encoder.encode([row.embedded for row in rows])
        await store.put_vectors(
            encoder.name, {row.text_hash: vector for row, vector in zip(rows, table, strict=True)}
        )
        await vectors.upsert(corpus.collection, [row.id for row in rows], table)
        await words.upsert(corpus.collection, [(row.id, row.title, row.text) for row in rows])
    judgement = replace(DEFAULT_JUDGEMENT, enough=enough)
    ranking = replace(DEFAULT_RANKING, judgement=judgement)
    searcher = Searcher(Indexes(store, vectors, words), ranking, reranker)
    await searcher.load()
    searcher.learning.clear()  # this house embeds no sentences, and never will
    encoders = Encoders("fake", Path("unused"), lambda name, cache: encoder)
    memory = CommunityMemory(
        memories,
        store,
        Thresholds(),
        lambda asked, remembered: "",
        decision=decision,
        rewordings=FakeRewordings(memories),
    )
    await memory.load(encoder, {})
    catalogue = Catalogue(product, channels={"slack:C1": ChannelSettings(release="1.0")})
    steps = ModelBudget(model, only=only)
    opinions = FakeOpinions(memories)
    parts = Resources(
        catalogue,
        memory,
        memories,
        searcher,
        encoders,
        model,
        steps,
        guard_by_model=second_look,
        keep=keep,
        opinions=opinions,
        chosen=chosen,
    )
    accepted = AcceptedAnswers(memory, memories, opinions, Research(parts))
    weighting = VoteWeighting(FakeVoters(memories), memory.thresholds, Policy(), {})
    return House(Engine(parts, recipe_of(recipe)(parts), accepted, weighting), memories, memory, opinions)


@asynccontextmanager
async def served(
    only: Sequence[str] = STEPS, timeout: float = PATIENCE, **given: Any
) -> AsyncIterator[tuple[House, OllamaServer]]:
    """An engine whose model is a loopback Ollama behind a breaker."""
    async with OllamaServer(**given) as server:
        ollama = Ollama(server.url, server.model, timeout=timeout, retries=0)
        try:
            yield await house(Breaker(ollama, failures=2), only), server
        finally:
            await ollama.close()


# --- model calls --------------------------------------------------------------------------------


async def test_a_stand_alone_question_takes_three_calls_and_a_follow_up_four() -> None:
    async with served() as (bot, server):
        answer = await bot.ask(TIMER)
        assert answer.route == "documents" and server.calls == 3
        assert list(answer.trace["steps"]) == ["reduce", "select"]
        follow = await bot.ask("and in 1.0?", ASKED)
        assert follow.route == "documents" and server.calls <= 3 + 4
        assert list(follow.trace["steps"]) == ["understand", "reduce", "select"]
        assert server.most_running == 1


@pytest.mark.parametrize(("text", "history"), [(TIMER, ()), ("and in 1.0?", ASKED), (PARTS, ())])
async def test_without_steps_the_model_only_writes(text: str, history: tuple[Turn, ...]) -> None:
    async with served(only=()) as (bot, server):
        assert (await bot.ask(text, history)).route == "documents"
        assert server.calls == 1 and not server.chats[0].body.get("format")


async def test_what_is_up_voted_is_reused_without_a_call() -> None:
    async with served() as (bot, server):
        answer = await bot.ask(TIMER)
        assert await bot.engine.feedback(Vote(answer.id, "cli:bob", 1))
        calls = server.calls
        again = await bot.ask(TIMER)
        assert (again.route, again.text, server.calls) == ("reuse", answer.text, calls)
        assert again.offers == answer.offers == ("1.0",)


async def test_what_has_no_answer_or_no_release_takes_no_call() -> None:
    async with served() as (bot, server):
        assert (await bot.ask("Who won the chess olympiad in Lugano?")).route == "abstain"
        unknown = await bot.ask("How is the timer set in Kettle 9.0?")
        assert (unknown.route, unknown.release) == ("abstain", "") and "9.0" in unknown.text
        assert server.calls == 0


# --- reduction and selection --------------------------------------------------------------------


async def test_the_answer_is_written_from_what_was_selected_in_the_words_of_the_page() -> None:
    def structured(recorded: Recorded, schema: Any) -> dict[str, Any]:
        if "keep" in schema["properties"]:
            return {"reasoning": "", "keep": list(range(1, 30))}
        return {"reasoning": "", "ranking": [4, 1]}

    async with served(structured=structured) as (bot, server):
        answer = await bot.ask(TIMER)
        assert answer.trace["read"] == [4, 1] and len(answer.evidence) >= 4
        written = server.chats[-1].prompt
        assert written.count("<evidence number=") == 2
        assert "warm for 45 minutes by default" in written


@pytest.mark.parametrize(
    "bad", ["no JSON", '{"keep": [99], "reasoning": ""}', '{"keep": [], "reasoning": ""}']
)
async def test_a_reduction_that_does_not_hold_is_done_by_rule(bad: str) -> None:
    async with served(only=("reduce",)) as (bot, server):
        server.script(Behaviour(text=bad))
        answer = await bot.ask(TIMER)
        assert answer.route == "documents" and "45 minutes" in answer.text and server.calls == 2


@pytest.mark.parametrize("kind", ["busy", "crashed", "missing", "hang"])
async def test_a_server_that_fails_in_the_first_step_is_not_asked_again(kind: Any) -> None:
    async with served(timeout=0.3 if kind == "hang" else PATIENCE) as (bot, server):
        server.always = Behaviour(kind)
        answer = await bot.ask("and in 1.0?", ASKED)
        assert answer.route == "quote" and "20 minutes" in answer.text
        assert answer.trace["model_error"] and server.calls == 1


async def test_an_open_breaker_answers_at_once_by_quoting() -> None:
    inner = FakeModel(lambda prompts: ModelUnavailable("The server is down; start it."))
    bot = await house(Breaker(inner, failures=2))
    for _ in range(2):
        assert (await bot.ask(TIMER)).route == "quote"
    calls = len(inner.calls)
    assert calls == 2
    answer = await bot.ask("and in 1.0?", ASKED)
    assert answer.route == "quote" and len(inner.calls) == calls
    assert "The server is down" in answer.trace["model_error"]


@pytest.mark.parametrize(
    ("chosen", "error", "told"),
    [
        (True, ModelUnavailable("down"), True),
        (False, ModelUnavailable("down"), False),
        (False, ModelMissing("Pull it."), True),
    ],
)
async def test_of_a_model_that_nobody_chose_it_is_not_said_that_it_does_not_answer(
    chosen: bool, error: Exception, told: bool
) -> None:
    bot = await house(FakeModel(lambda prompts: error), chosen=chosen)
    answer = await bot.ask(TIMER)
    assert answer.route == "quote" and bool(answer.trace.get("unwritten")) is told
    assert answer.trace["model_error"], "why and the log tell it all the same"


async def test_the_fixed_phrase_stands_alone() -> None:
    bot = await house(FakeModel(lambda prompts: f"{DONT_KNOW} But it may be 3."), only=())
    answer = await bot.ask(TIMER)
    assert answer.route == "abstain" and answer.text.startswith(DONT_KNOW) and "may be" not in answer.text


async def test_of_compared_releases_each_keeps_a_chunk() -> None:
    def script(prompts: Sequence[Prompt]) -> dict[str, Any] | str:
        if "keep" in prompts[0].content:
            return {"reasoning": "", "keep": list(range(1, 40))}
        if "You rank" in prompts[0].content:
            return {"reasoning": "", "ranking": [1]}
        return "It was 20 minutes [1], it is 45 minutes [2]."

    model = FakeModel(script)
    answer = await (await house(model, keep=1)).ask(BOTH)
    read = [item.chunk.release for item in answer.evidence if item.number in answer.trace["read"]]
    assert sorted(read) == ["1.0", "2.0"] and answer.release == "1.0+2.0"
    assert answer.offers == ()


# --- composite questions ------------------------------------------------------------------------


async def test_each_part_is_answered_in_the_quote_form_too() -> None:
    answer = await (await house()).ask(PARTS)
    assert answer.route == "quote" and "Press the latch" in answer.text and "brown clamp" in answer.text
    assert {c.path for c in answer.citations} >= {"filter.md", "cord.md"}
    assert "I found nothing" not in answer.text


async def test_a_part_without_evidence_is_said_so() -> None:
    text = f"{FILTER[:-1]}, and how do I send a telegram to Lugano?"
    quoted = await (await house()).ask(text)
    missing = "How do I send a telegram to Lugano?"
    assert quoted.route == "quote" and "Press the latch" in quoted.text
    assert quoted.text.endswith(f"I found nothing in the Kettle 2.0 documentation on “{missing}”.")
    model = FakeModel(lambda prompts: "Press the latch [1].")
    written = await (await house(model, only=())).ask(text)
    said = f"I found nothing in the Kettle 2.0 documentation on “{missing}”."
    assert written.text == f"Press the latch [1].\n\n{said}"
    assert "Lugano" not in " ".join(prompt.content for prompt in model.calls[0].prompts)


async def test_compared_releases_are_quoted_each() -> None:
    answer = await (await house()).ask(BOTH)
    assert "20 minutes" in answer.text and "45 minutes" in answer.text
    assert {c.release for c in answer.citations} == {"1.0", "2.0"}


# --- other releases -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "given", "offers"),
    [
        (TIMER, {}, ("1.0",)),  # 1.5 says the same
        (TIMER, {"channel": "slack:C1"}, ("2.0", "1.5")),
        (TIMER.replace("?", " in 2.0?"), {}, ()),
        (TIMER, {"release": "2.0"}, ()),
        (FILTER, {}, ()),
    ],
)
async def test_releases_that_say_something_else_are_named_where_none_was_asked_for(
    text: str, given: dict[str, str], offers: tuple[str, ...]
) -> None:
    for model in (None, FakeModel(lambda prompts: "It is 45 minutes, or 20 minutes [1].")):
        answer = await (await house(model, only=())).ask(text, **given)
        assert answer.citations and answer.offers == offers and answer.trace["offers"] == list(offers)


async def test_asking_again_for_an_offered_release_is_one_step() -> None:
    bot = await house()
    first = await bot.ask(TIMER)
    history = (Turn("user", TIMER), Turn("assistant", first.text, release=first.release))
    again = await bot.ask(f"and in {first.offers[0]}?", history)
    assert again.release == "1.0" and "20 minutes" in again.text


async def test_while_sentences_are_still_learnt_a_quote_is_said_as_sure_only_where_its_own_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bot = await house()
    sure = await bot.ask(TIMER)
    bot.engine._searcher.learning.add("2.0")
    assert (await bot.ask(TIMER)).level == "sure", "each sentence here is a passage, too"

    async def unread(*_: object) -> dict[str, list[tuple[str, float]]]:
        return {}

    monkeypatch.setattr(bot.engine._searcher, "windows_near", unread)
    doubted = await bot.ask(TIMER)
    assert sure.level == "sure" and not sure.text.startswith("The closest")
    assert doubted.level == "close" and doubted.text.startswith("The closest I found:")
    same = await bot.ask("and in 1.5?", ASKED)
    assert same.text.startswith("The same in 1.5:"), "what is the same says that itself"


async def test_asked_again_for_a_release_it_says_what_is_the_same_and_what_differs() -> None:
    bot = await house()
    same = await bot.ask("and in 1.5?", ASKED)
    assert same.text.startswith("The same in 1.5: [timer](") and same.release == "1.5"
    assert "further" not in same.trace, "what is the same needs no other page"
    assert same.citations[0].release == "1.5" and "```" not in same.text
    differs = await bot.ask("and in 1.0?", ASKED)
    assert differs.text.startswith(
        "Different in 1.0 than in 2.0:\n\n```diff\n- It keeps the water warm for 45"
    )
    assert "+ It keeps the water warm for 20" in differs.text and "> The timer is set with" in differs.text
    kept = {pair.release: pair.answer for pair in bot.memories.all_pairs().values()}
    assert kept["1.5"].startswith("**timer**\n> The timer") and "Different" not in kept["1.0"]
    pressed = await bot.ask(TIMER, release="1.0", after="2.0")
    assert pressed.text == differs.text
    other = await bot.ask(f"{FILTER[:-1]} in 1.5?", ASKED)
    assert "The same" not in other.text and "latch" in other.text


async def test_what_stands_on_a_page_of_another_name_is_the_same() -> None:
    bot = await house(renamed="1.5")
    assert (await bot.ask(TIMER)).offers == ("1.0",)
    same = await bot.ask("and in 1.5?", ASKED)
    assert same.text.startswith("The same in 1.5: [the-timer](") and same.citations[0].release == "1.5"
    assert (await bot.ask(BOTH.replace("1.0", "1.5"))).text.startswith("The same in 1.5 and 2.0:")
    assert (await (await house(renamed="1.0")).ask(TIMER)).offers == ("1.0",)


async def test_a_comparison_says_once_what_is_the_same() -> None:
    answer = await (await house()).ask(BOTH.replace("1.0", "1.5"))
    assert answer.text.startswith("The same in 1.5 and 2.0:") and answer.text.count("45 minutes") == 1
    assert "+ It keeps the water warm for 45" in (await (await house()).ask(BOTH)).text


# --- retrieval ----------------------------------------------------------------------------------


async def test_a_reranker_orders_what_was_found() -> None:
    reranker = Backwards("vinegar")
    answer = await (await house(reranker=reranker)).ask(TIMER)
    assert answer.evidence[0].chunk.path == "descaling.md" and answer.evidence[0].number == 1
    assert reranker.asked == [(TIMER, len(answer.evidence))]
    plain = await (await house()).ask(TIMER)
    assert plain.evidence[0].chunk.path == "timer.md"
    of_search = asdict(Signs()).keys()
    assert all(plain.trace["signs"][name] == answer.trace["signs"][name] for name in of_search)


class Away:
    """A reranker whose service does not answer."""

    name = "away"

    weighs = False

    async def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        raise EncoderError("no card")


async def test_where_a_reranker_fails_what_was_found_keeps_its_order(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level("WARNING"):
        answer = await (await house(reranker=Away())).ask(TIMER)
    plain = await (await house()).ask(TIMER)
    assert [e.chunk.path for e in answer.evidence] == [e.chunk.path for e in plain.evidence]
    assert "no card" in caplog.text


async def test_the_trace_tells_how_each_page_was_found() -> None:
    answer = await (await house()).ask(TIMER)
    first = answer.trace["evidence"][0]
    assert first["matched"] and first["ranks"]["dense"] == first["ranks"]["words"] == 1


async def test_a_cited_figure_is_also_told_in_the_unit_that_is_asked_for() -> None:
    lived = await house()
    asked = TIMER.replace("How many minutes", "How many hours")
    answer = await lived.ask(asked)
    assert answer.route == "quote" and "45 minutes" in answer.text
    assert answer.text.endswith("Calculation: 45 minutes [1] = **0.75 hours**")
    assert "Calculation" not in (await lived.ask(TIMER)).text


async def test_a_plain_calculation_asks_no_page_and_is_remembered_by_nobody() -> None:
    model = FakeModel("Written [1].")
    lived = await house(model)
    answer = await lived.ask("what is 16 MiB in bytes?")
    assert (answer.route, answer.citations, answer.pair_id) == ("calculation", (), "")
    assert "**16777216 bytes**" in answer.text and not model.calls
    assert "calculator" in " ".join((await lived.engine.answer_log.why(answer.id))["sentences"])
    unasked = await lived.ask("what is 16 MiB in bytes?", unasked=True)
    assert unasked.route != "calculation"
