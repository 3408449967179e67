"""`threadlore simulate --tables --recipes`: recipes answer ten rounds, each on its own home; people vote."""

from __future__ import annotations

from pathlib import Path

from evaluation.papers.by_round import METRICS, by_round, curves
from evaluation.papers.community import Community
from evaluation.papers.recipe_rounds import play
from evaluation.plots import draw_rounds
from evaluation.simulation.data import read_topics
from evaluation.simulation.stores import Texts
from tests.core.evaluation.questions import written
from tests.effort import thorough
from tests.fakes import FakeEncoder

NAMES = ("threadlore", "qamr")


@thorough("test_recipes.py::test_what_is_measured_is_what_is_served")
async def test_recipes_play_ten_rounds_and_what_people_vote_good_is_given_again(
    tmp_path: Path, encoder_cache: Path
) -> None:
    topics = read_topics(written(tmp_path / "questions.jsonl"))[:5]
    community = Community(topics, Texts(FakeEncoder()))
    await community.ready()
    heard: list[str] = []
    (tmp_path / "homes" / "home").mkdir(parents=True)
    (tmp_path / "homes" / "home" / "models").symlink_to(encoder_cache)  # to export one takes five seconds
    played = await play(community, NAMES, tmp_path / "homes", heard.append)
    assert [line.partition(":")[0] for line in heard] == [*NAMES]
    assert not (tmp_path / "homes" / "qamr").exists(), "a home goes when its recipe is done"
    for name in NAMES:
        rounds = played[name]
        assert [len(one.texts) for one in rounds] == [len(lines) for lines in community.lines]
        right = [right for one in rounds for right in one.right]
        assert sum(right) / len(right) > 0.5, "things that words can tell apart"
        assert all(ms > 0 for one in rounds for ms in one.ms)
    first, *_, last = played["threadlore"]
    assert first.stored > len(community.known), "what it told is remembered"
    reused = [reused for one in played["threadlore"][1:] for reused in one.reused]
    assert any(reused) and last.stored < len(community.known) + len(right), "and given again"
    assert not any(reused for one in played["qamr"] for reused in one.reused), "it has no memory"
    tables = await by_round(community, {}, played)
    drawn = curves(tables)
    assert set(drawn[METRICS["growth"]]) == {f"recipe `{name}`" for name in NAMES}
    assert all(len(values) == 10 for values in drawn["SIM"].values())
    assert draw_rounds(drawn, tmp_path) in ((), ("rounds.png",)) and draw_rounds({}, tmp_path) == ()
