"""Wikidata, one hop: what is asked, how often, what is kept, and that failures cost nothing."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bot.app.builders.core import wikidata_of
from core.domain import Question, Scope
from core.errors import ConfigurationError
from core.generation.triplets import Triplet
from core.generation.wikidata import FILE, KEPT, REST, Wikidata
from core.pipeline.context import QueryContext
from core.pipeline.resources import ModelBudget
from core.pipeline.stage import run
from core.recipes import recipe_of
from core.settings import load_settings
from tests.core.evaluation.small import parts
from tests.core.pipeline.test_graph_context import says
from tests.fakes import FakeModel
from tests.patience import PATIENCE
from tests.wikidata_server import wikidata

CONTACT = "https://kettle.example/bot"
STATEMENTS = {
    "the timer": [("part of", "kettle"), ("has the unit", "45 minutes"), ("said to be", "a dragon")],
    'say "hi"\\': [("instance of", "greeting")],
}


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def made(
    url: str, folder: Path, clock: Callable[[], float], seconds: float = PATIENCE, pause: float = 0.0
) -> Wikidata:
    return Wikidata(url, CONTACT, folder / FILE, clock=clock, seconds=seconds, pause=pause)


async def test_what_was_asked_is_kept_in_the_home_for_a_month(tmp_path: Path) -> None:
    clock = Clock()
    async with wikidata(STATEMENTS) as server:
        first = await made(server.url, tmp_path, clock).about(["the timer", "nobody", 'say "hi"\\'])
        assert Triplet("the timer", "part of", "kettle") in first
        assert Triplet('say "hi"\\', "instance of", "greeting") in first, "quotes are escaped in the query"
        again = made(server.url, tmp_path, clock)
        assert await again.about(["the timer", "nobody"]) == first[:3]
        assert len(server.asked) == 1, "also what nothing is known of is asked once"
        clock.now += KEPT + 1
        await again.about(["the timer"])
        assert server.asked[1:] == [["the timer"]]
    assert (tmp_path / FILE).stat().st_mode & 0o077 == 0
    assert "kettle" in (tmp_path / FILE).read_text("utf-8")


@pytest.mark.parametrize(
    ("trouble", "rest"), [("429 300", 300), ("429 5", REST), ("500", REST), ("maxlag", REST), ("html", REST)]
)
async def test_a_failure_says_nothing_and_rests_as_long_as_it_is_told(
    tmp_path: Path, trouble: str, rest: float
) -> None:
    clock = Clock()
    async with wikidata(STATEMENTS) as server:
        asked = made(server.url, tmp_path, clock)
        server.trouble = [trouble]
        assert await asked.about(["the timer"]) == []
        clock.now += rest - 1
        assert await asked.about(["the timer"]) == [] and len(server.asked) == 1
        clock.now += 2
        assert await asked.about(["the timer"]) and len(server.asked) == 2


async def test_a_slow_or_absent_endpoint_costs_the_limit_once(tmp_path: Path) -> None:
    clock = Clock()
    async with wikidata(STATEMENTS) as server:
        asked = made(server.url, tmp_path, clock, seconds=0.2)
        server.trouble = ["slow"]
        began = asyncio.get_running_loop().time()
        assert await asked.about(["the timer"]) == []
        assert asyncio.get_running_loop().time() - began < 4, "the endpoint takes five seconds"
        heard = len(server.asked)  # on a busy machine the limit may be over before it is
        assert await asked.about(["the timer"]) == [] and len(server.asked) == heard <= 1
    gone = made("http://127.0.0.1:9/sparql", tmp_path, clock)
    assert await gone.about(["the timer"]) == []


async def test_requests_go_one_a_second_and_never_side_by_side(tmp_path: Path) -> None:
    async with wikidata(STATEMENTS) as server:
        asked = Wikidata(server.url, CONTACT, tmp_path / FILE, seconds=PATIENCE)
        await asyncio.gather(*(asked.about([name]) for name in ("one", "two", "one")))
        assert [len(names) for names in server.asked] == [1, 1], "the third had its answer meanwhile"
        assert server.times[1] - server.times[0] >= 0.7


async def test_a_question_that_waits_too_long_in_line_goes_without_and_nobody_rests(tmp_path: Path) -> None:
    async with wikidata(STATEMENTS) as server:
        asked = Wikidata(server.url, CONTACT, tmp_path / FILE, seconds=PATIENCE, pause=2.0)
        await asked.about(["one"])
        busy = asyncio.create_task(asked.about(["two"]))  # pauses first, with the line behind it
        await asyncio.sleep(0)
        asked._seconds = 0.2
        assert await asked.about(["the timer"]) == []
        asked._seconds = PATIENCE
        await busy
        assert await asked.about(["the timer"]), "others being asked is no failure"


async def test_a_broken_file_is_asked_anew(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("[", "utf-8")
    async with wikidata(STATEMENTS) as server:
        assert await made(server.url, tmp_path, Clock()).about(["the timer"])
    assert json.loads((tmp_path / FILE).read_text("utf-8"))["the timer"]["said"]


@pytest.mark.parametrize("scope", [Scope(), Scope("private", "slack:C1"), Scope("direct", "slack:D1")])
async def test_the_recipe_looks_up_names_of_public_questions_alone(tmp_path: Path, scope: Scope) -> None:
    model = FakeModel(says)
    async with wikidata(STATEMENTS) as server:
        built = await parts(model, pairs=True)
        kept = replace(built.parts, budget=ModelBudget(model), wikidata=made(server.url, tmp_path, Clock()))
        question = Question("what is the default of the timer?", scope=scope)
        context = QueryContext(question, is_draft=True, withheld=frozenset({"memory"}))
        await run(recipe_of("graph_context")(kept), context)
        told = model.calls[-1].prompts[1].content
        if scope.kind != "public":
            assert server.asked == [] and "has the unit" not in told
            return
        assert server.asked == [["the timer"]], "only what the question names, too"
        assert "the timer has the unit 45 minutes." in told
        assert "dragon" not in told, "both ends must stand in the context"


def test_it_is_off_by_default_and_wants_somebody_who_is_reached(tmp_path: Path) -> None:
    assert wikidata_of(load_settings(None, home=tmp_path), "en") is None
    settings = load_settings(None, home=tmp_path, wikidata_url="https://query.wikidata.org/sparql")
    with pytest.raises(ConfigurationError, match="WIKIDATA_CONTACT"):
        wikidata_of(settings, "en")
    with pytest.raises(ConfigurationError, match="WIKIDATA_URL"):
        load_settings(None, home=tmp_path, wikidata_url="query.wikidata.org")
