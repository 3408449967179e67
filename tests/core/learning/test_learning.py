"""What votes teach: weights that are kept only where held-out questions are ranked no worse."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np

from core.domain import Answer, Citation, Question, Scope, Standing, Vote
from core.learning.fit import fit_weights
from core.learning.learner import FILE, LEAST, Learnt, Shares, _seen, keep_learnt, learn, read_learnt, used
from core.learning.voted import Said, Voted, said
from core.ports import Remembered
from core.retrieval.features import FEATURES
from core.retrieval.ranking import DEFAULT_RANKING, DEFAULT_WEIGHTS
from tests.fake_rewordings import FakeRewordings
from tests.fakes import FakeMemories

START = np.array([DEFAULT_WEIGHTS[name] for name in FEATURES])
TRUE = START + np.where(np.array(FEATURES) == "reference", 6.0, 0.0)
"""The weights by which pages are right here."""


def votes(count: int, bad: float = 0.0, seed: int = 0) -> list[Voted]:
    """Make questions for which the reference is better than shipped weights have it; some votes are bad."""
    lot = random.Random(seed)
    numbers = np.random.default_rng(seed)
    found = []
    for number in range(count):
        table = numbers.uniform(0.0, 1.0, (12, len(FEATURES)))
        first = int(np.argmax(table @ START))
        good = first == int(np.argmax(table @ TRUE))
        worth = 0.5 if good != (lot.random() < bad) else -0.5
        found.append(Voted(table, np.arange(12) == first, worth, f"section {number}"))
    return found


def right(learnt: Learnt) -> float:
    """Return how often the right page comes first for questions that nobody voted on."""
    row = np.array([used(DEFAULT_RANKING, learnt, "e").weights[name] for name in FEATURES])
    tables = [one.table for one in votes(200, seed=99)]
    return float(np.mean([np.argmax(table @ row) == np.argmax(table @ TRUE) for table in tables]))


def learnt_from(voted: list[Voted], old: Learnt | None = None) -> Learnt:
    found = learn(voted, DEFAULT_RANKING, old or Learnt())
    return Learnt(**{**{name: getattr(found, name) for name in Learnt.__slots__}, "encoder": "e"})


def test_down_votes_teach_what_the_shipped_weights_have_wrong() -> None:
    learnt = learnt_from(votes(300))
    assert learnt.after.beats(learnt.before) and learnt.votes == 300
    assert right(learnt) > right(Learnt()) + 0.15
    assert "learned from 300 votes on 300 questions: first page right 0." in learnt.told


def test_bad_votes_do_not_worsen() -> None:
    for bad in (0.1, 0.3):
        assert right(learnt_from(votes(300, bad))) >= right(Learnt())


def test_down_votes_alone_turn_nothing_around() -> None:
    learnt = learnt_from([one for one in votes(300) if not one.is_good])
    assert not learnt.weights and "0 were found good" in learnt.why
    few = [one for number, one in enumerate(votes(600)) if not one.is_good or number % 6 == 0]
    assert right(learnt_from(few)) >= right(Learnt()) - 0.05


def test_votes_for_what_comes_first_already_change_nothing() -> None:
    voted = [Voted(one.table, one.cited, 0.5, one.section) for one in votes(100)]
    learnt = learnt_from(voted)
    assert not learnt.weights and "is no better" in learnt.why and not learnt.told
    assert used(DEFAULT_RANKING, learnt, "e") is DEFAULT_RANKING


def test_a_few_votes_teach_nothing() -> None:
    learnt = learnt_from(votes(LEAST - 1))
    assert not learnt.weights and f"it takes {LEAST}" in learnt.why


def test_votes_on_one_section_alone_change_nothing() -> None:
    for section in ("a", "b", "c", "d", "e", "f"):  # some of them are held out
        one = [Voted(o.table, o.cited, o.worth, section) for o in votes(60)]
        assert not learnt_from(one).weights


def test_what_was_learnt_goes_when_it_is_of_no_use_any_more() -> None:
    old = learnt_from(votes(300))
    happy = [Voted(one.table, one.cited, 0.5, one.section) for one in votes(100)]
    assert learnt_from(votes(300), old).weights
    assert not learnt_from(happy, old).weights


def test_a_list_counts_for_its_worth_and_against_what_is_marked() -> None:
    rows = np.eye(3)
    marks = np.array([True, False, False])
    up = fit_weights([rows], [marks], np.zeros(3), 0.1, [1.0])
    down = fit_weights([rows], [marks], np.zeros(3), 0.1, [-1.0])
    assert up[0] > 0 > down[0] and down[1] > 0
    both = fit_weights([rows, rows], [marks, marks], np.zeros(3), 0.1, [1.0, -0.1])
    assert both[0] > 0


def test_it_is_kept_whole_and_only_for_what_it_was_learnt_for(tmp_path: Path) -> None:
    learnt = learnt_from(votes(300))
    keep_learnt(tmp_path, learnt)
    assert read_learnt(tmp_path) == learnt
    ranking = used(DEFAULT_RANKING, learnt, "e")
    assert ranking.weights == learnt.weights and learnt.told in ranking.told
    assert used(DEFAULT_RANKING, learnt, "another") is DEFAULT_RANKING
    for broken in ("{", "[]", json.dumps({"weights": {"near": "NaN"}}), '{"weights": 3}'):
        (tmp_path / FILE).write_text(broken)
        assert read_learnt(tmp_path) == Learnt()
    assert used(DEFAULT_RANKING, Learnt(off=True), "e").lift == 0.0


def test_shares_are_of_what_is_right_by_good_and_bad_votes() -> None:
    table = np.zeros((2, len(FEATURES)))
    table[0, 0] = 1.0
    first = np.array([True, False])
    row = np.eye(len(FEATURES))[0]
    good, bad = Voted(table, first, 0.5, "a"), Voted(table, first, -0.5, "b")
    assert Shares.of([good], row) == Shares(1.0, 1.0, 1.0)
    assert Shares.of([bad], row) == Shares(0.0, 0.0, 0.0)
    assert Shares.of([bad], -row) == Shares(1.0, 0.0, 0.5)
    assert not Shares.of([good], row).beats(Shares(1.0, 1.0, 1.0))


async def kept(store: FakeMemories, key: str, scope: str = "public", asker: str = "slack:U1") -> None:
    """Keep an answer that cites a page, with its pair."""
    cited = (Citation(1, "Page", "https://k/page", "2.0", "page.md", f"hash {key}"),)
    pair = Remembered(f"p{key}", f"q {key}?", f"q {key}?", "a", "2.0", scope, 0.5, 1.0, cited, asker=asker)
    answer = Answer(f"a{key}", "a", "quote", "2.0", cited, pair_id=pair.id)
    await store.save_answer(answer, Question(f"q {key}?", asker, scope=Scope.parse(scope)), pair)


async def vote(store: FakeMemories, key: str, voter: str, value: int, standing: Standing = "known") -> None:
    await store.vote(Vote(f"a{key}", voter, 1 if value else 0, standing=standing), 1.0)


async def test_only_public_questions_teach_and_only_of_those_who_are_kept() -> None:
    store = FakeMemories()
    for key, scope, asker in (
        ("good", "public", "slack:U1"),
        ("secret", "private:slack:C9", "slack:U1"),
        ("out", "public", "slack:UOUT"),
        ("stranger", "public", "slack:U1"),
        ("retired", "public", "slack:U1"),
        ("even", "public", "slack:U1"),
        ("bad", "public", "slack:U1"),
    ):
        await kept(store, key, scope, asker)
        await vote(store, key, "slack:U2", key != "bad", "new" if key == "stranger" else "known")
    await vote(store, "even", "slack:U3", 0)
    await vote(store, "bad", "slack:U3", 0)
    await store.set_aside(["pretired"], "retired")
    found = await said(store, FakeRewordings(store), lambda account: account == "slack:UOUT")
    assert {entry.question: (entry.net, entry.votes) for entry in found} == {
        "q good?": (1.0, 1),
        "q bad?": (-2.0, 2),
    }
    assert {entry.section for entry in found} == {"hash good", "hash bad"}


async def test_a_persons_accepted_answer_teaches_the_pages_that_it_links() -> None:
    store = FakeMemories()
    text = "See https://k/timer.md and try again."
    pair = Remembered("h1", "how?", "how?", text, "2.0", "public", 0.9, 1.0, origin="person")
    silent = Remembered("h2", "why?", "why?", "Because.", "2.0", "public", 0.9, 1.0, origin="person")
    await store.add([pair, silent])
    [entry] = await said(store, FakeRewordings(store))
    assert entry.question == "how?" and entry.links == text and entry.net > 0


def test_votes_that_turn_into_their_opposites_are_something_new() -> None:
    def told(*nets: float) -> list[Said]:
        return [Said(f"q{n}", "1.0", "en", frozenset({"h"}), "", net, 1, 0.0) for n, net in enumerate(nets)]

    assert _seen(told(1.0, -1.0), DEFAULT_RANKING, "e") == _seen(told(1.0, -1.0), DEFAULT_RANKING, "e")
    assert _seen(told(1.0, -1.0), DEFAULT_RANKING, "e") != _seen(told(-1.0, 1.0), DEFAULT_RANKING, "e")
