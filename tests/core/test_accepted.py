"""People's answers on fakes: when one becomes a pair, and when it stops being one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from core.catalogue import Catalogue, ChannelSettings
from core.domain import Answer, Product, Queries, Question, Release, Scope
from core.feedback.accepted_answers import DIRECT, EMPTY, OBJECTED, AcceptedAnswers, Outcome, Written, pair_of
from core.memory.community import CommunityMemory
from core.memory.scoring import Thresholds
from core.models.embedding.encoder import Encoders
from core.pipeline.research import Research
from core.pipeline.resources import Resources
from core.ports.corpora import Indexes
from core.ports.opinions import Correction
from core.retrieval.search import Searcher
from tests.fakes import FakeCorpora, FakeEncoder, FakeMemories, FakeOpinions, FakeVectors, FakeWords

ASKED = Question("How do I descale the kettle?", "slack:U1", "slack:C1")
WRITTEN = Written("slack:C1:7.1", "slack:U2", "Bob", "Boil vinegar in it.", "https://chat.example/7")
PUBLIC = Scope()
SAID = Correction("a1", "slack:U2", "Bob", "wrong", "Use citric acid.", 10.0)


@dataclass
class House:
    accepted: AcceptedAnswers
    memory: CommunityMemory
    memories: FakeMemories
    opinions: FakeOpinions
    encoder: FakeEncoder

    async def recalled(
        self, text: str = "descale kettle", release: str = "2.0", scope: Scope = PUBLIC
    ) -> str:
        """Return the answer that is reused for a question, empty for none."""
        [vector] = await self.encoder.encode([text])
        found = await self.memory.recall(vector, text, release, scope)
        return found.high[0][0].answer if found.route == "reuse" else ""


@pytest.fixture
async def house() -> House:
    encoder, store, memories = FakeEncoder(), FakeCorpora(), FakeMemories()
    product = Product("Kettle", ("kettle",), (Release("1.0"), Release("2.0", latest=True)))
    searcher = Searcher(Indexes(store, FakeVectors(), FakeWords()))
    await searcher.load()
    memory = CommunityMemory(memories, store, Thresholds(min_voters=3), lambda asked, remembered: "")
    await memory.load(encoder, {})
    catalogue = Catalogue(product, channels={"slack:C9": ChannelSettings(release="1.0")})
    encoders = Encoders("fake", Path("unused"), lambda name, cache: encoder)
    opinions = FakeOpinions(memories)
    parts = Resources(catalogue, memory, memories, searcher, encoders)
    accepted = AcceptedAnswers(memory, memories, opinions, Research(parts))
    return House(accepted, memory, memories, opinions, encoder)


async def asked_for(house: House, release: str = "2.0", scope: Scope = PUBLIC) -> None:
    """Keep an answer a1 to the question, as the engine does."""
    trace = {"queries": {"base": "How do I descale the kettle?", "topic": "descale kettle"}}
    answer = Answer("a1", "With soap.", "quote", release, queries=Queries("", ""), trace=trace)
    question = Question("How do I descale the kettle?", "slack:U1", "slack:C1", scope)
    await house.memories.save_answer(answer, question, None)


async def topic(house: House) -> str:
    pair = await house.memories.pair(pair_of(WRITTEN.message))
    assert pair is not None
    return pair.topic


# --- accepting --------------------------------------------------------------------------------


async def test_an_accepted_message_is_a_pair_with_its_author_as_source(house: House) -> None:
    outcome = await house.accepted.accept(WRITTEN, ASKED, "slack:U3")
    pair = outcome.pair
    assert pair is not None and not outcome.problem
    assert (pair.answer, pair.release, pair.scope, pair.origin) == (WRITTEN.text, "2.0", "public", "person")
    assert (pair.asker, pair.channel) == ("slack:U1", "slack:C1")
    [source] = pair.citations
    assert (source.title, source.url, source.release) == ("Answer by Bob", WRITTEN.link, "2.0")
    assert await house.opinions.author(pair.id) == "slack:U2"
    assert await house.recalled(pair.topic) == WRITTEN.text, (
        "one helper vouches for it, whatever votes it needs"
    )
    assert not await house.memory.verify()


async def test_its_release_is_that_of_the_question_or_of_the_channel(house: House) -> None:
    named = Question("How do I descale the kettle in 1.0?", "slack:U1", "slack:C1")
    outcome = await house.accepted.accept(WRITTEN, named, "slack:U3")
    assert outcome.pair is not None and outcome.pair.release == "1.0"
    there = Question(ASKED.text, "slack:U1", "slack:C9")
    outcome = await house.accepted.accept(Written("m2", "u", "U", "text", ""), there, "slack:U3")
    assert outcome.pair is not None and outcome.pair.release == "1.0"


async def test_a_mark_that_is_put_again_is_for_the_question_as_it_is_then(house: House) -> None:
    await house.accepted.accept(WRITTEN, ASKED, "slack:U3")
    assert await house.accepted.withdraw(WRITTEN.message, "slack:U3")
    other = Question("How do I fill the teapot in 1.0?", "slack:U1", "slack:C1")
    outcome = await house.accepted.accept(WRITTEN, other, "slack:U3")
    assert outcome.pair is not None
    kept = await house.memories.pair(outcome.pair.id)
    assert kept is not None and (kept.release, kept.question) == ("1.0", outcome.pair.question)
    assert await house.recalled(kept.topic, "1.0") == WRITTEN.text
    assert await house.recalled(kept.topic) == "" and await house.memory.verify() == []


@pytest.mark.parametrize(
    ("question", "text", "problem"),
    [
        (Question(ASKED.text, scope=Scope("direct", "slack:D1")), "text", DIRECT),
        (ASKED, "  \n", EMPTY),
        (Question("How do I descale the kettle in 7.3?"), "text", "There is no release 7.3."),
    ],
)
async def test_what_cannot_be_remembered_is_told_and_leaves_nothing(
    house: House, question: Question, text: str, problem: str
) -> None:
    written = Written("m", "u", "U", text, "")
    assert await house.accepted.accept(written, question, "h") == Outcome(None, problem)
    assert await house.memories.pair(pair_of("m")) is None
    assert await house.opinions.marked("m", "accept") == frozenset()


async def test_what_was_accepted_in_private_is_recalled_there_only(house: House) -> None:
    private = Scope("private", "slack:G1")
    await house.accepted.accept(WRITTEN, Question(ASKED.text, "u", "slack:G1", private), "h")
    about = await topic(house)
    assert await house.recalled(about) == ""
    assert await house.recalled(about, scope=private) == WRITTEN.text


# --- withdrawing ------------------------------------------------------------------------------


async def test_it_goes_with_the_last_helpers_mark_and_comes_back_with_a_new_one(house: House) -> None:
    for helper in ("h1", "h2", "h1"):
        await house.accepted.accept(WRITTEN, ASKED, helper)
    about = await topic(house)
    assert not await house.accepted.withdraw(WRITTEN.message, "nobody")
    assert not await house.accepted.withdraw(WRITTEN.message, "h1")
    assert await house.recalled(about) == WRITTEN.text
    assert await house.accepted.withdraw(WRITTEN.message, "h2")
    assert not await house.accepted.withdraw(WRITTEN.message, "h2")
    assert await house.recalled(about) == ""
    reworded = Written(WRITTEN.message, WRITTEN.author, "Bob", "Boil lemon in it.", "")
    await house.accepted.accept(reworded, ASKED, "h1")
    assert await house.recalled(about) == "Boil lemon in it.", "the words of now count"
    assert not await house.memory.verify()


async def test_an_author_objects_for_good_and_the_text_is_gone(house: House) -> None:
    await house.accepted.accept(WRITTEN, ASKED, "h")
    assert await house.accepted.object(WRITTEN.message, "slack:U2")
    assert await house.memories.pair(pair_of(WRITTEN.message)) is None
    assert not await house.accepted.object(WRITTEN.message, "slack:U2")
    assert (await house.accepted.accept(WRITTEN, ASKED, "h")).problem == OBJECTED
    assert await house.memory.everything() == ()


async def test_an_objection_of_somebody_else_is_no_objection(house: House) -> None:
    await house.opinions.mark(WRITTEN.message, "slack:U9", "object")
    assert (await house.accepted.accept(WRITTEN, ASKED, "h")).pair is not None


async def test_edits_are_followed_and_a_message_that_is_emptied_or_deleted_is_forgotten(house: House) -> None:
    await house.accepted.accept(WRITTEN, ASKED, "h")
    about = await topic(house)
    await house.accepted.reworded(WRITTEN.message, "Boil lemon in it.")
    assert await house.recalled(about) == "Boil lemon in it."
    await house.accepted.reworded(WRITTEN.message, " ")
    assert await house.recalled(about) == ""
    await house.accepted.accept(WRITTEN, ASKED, "h")
    assert await house.accepted.gone(WRITTEN.message)
    assert await house.memories.pair(pair_of(WRITTEN.message)) is None
    await house.accepted.reworded("unknown", "text")
    assert not await house.accepted.gone("unknown")


async def test_a_pair_that_an_admin_retired_stays_so_whatever_is_edited(house: House) -> None:
    await house.accepted.accept(WRITTEN, ASKED, "h")
    about = await topic(house)
    await house.memory.retire([pair_of(WRITTEN.message)])
    await house.accepted.reworded(WRITTEN.message, "Boil lemon in it.")
    assert await house.recalled(about) == ""


# --- corrections ------------------------------------------------------------------------------


async def test_a_helpers_better_answer_is_remembered_with_question_release_and_link(house: House) -> None:
    await asked_for(house, release="1.0")
    kept = await house.accepted.correct(SAID, True, "https://chat.example/8")
    pair = await house.memories.pair(kept.pair_id)
    assert pair is not None
    assert (pair.question, pair.topic) == ("How do I descale the kettle?", "descale kettle")
    assert (pair.answer, pair.release, pair.asker) == ("Use citric acid.", "1.0", "slack:U1")
    assert pair.citations[0].title == "Answer by Bob" and pair.citations[0].url == "https://chat.example/8"
    assert await house.recalled(release="1.0") == "Use citric acid."
    again = await house.accepted.correct(
        Correction("a1", "slack:U2", "Bob", "wrong", "Use lemon.", 20.0), True, ""
    )
    assert again.pair_id == kept.pair_id and await house.recalled(release="1.0") == "Use lemon."
    await house.accepted.correct(Correction("a1", "slack:U2", "Bob", "outdated", "", 30.0), True, "")
    assert await house.recalled(release="1.0") == "", "the helper took it back"
    [last] = await house.accepted.corrections("a1")
    assert (last.what, last.pair_id) == ("outdated", "")


async def test_what_a_helper_writes_in_private_of_a_published_answer_is_recalled_there_alone(
    house: House,
) -> None:
    inside = Scope("private", "slack:G1")
    await asked_for(house, scope=inside)
    first = await house.accepted.correct(SAID, True, "", inside)
    assert await house.recalled(scope=inside) == "Use citric acid." and await house.recalled() == ""
    await house.memory.publish("slack:G1")
    kept = await house.memories.pair(first.pair_id)
    assert kept is not None
    house.memories.change(first.pair_id, scope="public", channel="")
    await house.memory.rebuild()
    assert await house.recalled() == "Use citric acid.", "an admin published it"
    secret = Correction("a1", "slack:U2", "Bob", "wrong", "The code is 1234.", 20.0)
    await house.accepted.correct(secret, True, "", inside)
    assert await house.recalled() == ""
    assert await house.recalled(scope=inside) == "The code is 1234." and await house.memory.verify() == []


@pytest.mark.parametrize(
    ("helper", "release", "scope"),
    [(False, "2.0", Scope()), (True, "", Scope()), (True, "2.0", Scope("direct", "slack:D1"))],
)
async def test_a_better_answer_of_others_or_without_a_place_is_kept_only(
    house: House, helper: bool, release: str, scope: Scope
) -> None:
    await asked_for(house, release, scope)
    kept = await house.accepted.correct(SAID, helper, "")
    assert kept.pair_id == "" and await house.memory.everything() == ()
    [told] = await house.accepted.corrections()
    assert told.better == "Use citric acid." and told.question == "How do I descale the kettle?"


async def test_a_correction_of_a_forgotten_answer_is_an_error(house: House) -> None:
    with pytest.raises(KeyError):
        await house.accepted.correct(SAID, True, "")
