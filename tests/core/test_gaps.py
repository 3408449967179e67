from __future__ import annotations

import numpy as np

from core.insights.gaps import Statistics, grouped
from core.insights.statistics import EVERYTHING, Day, Unserved, Within
from core.memory.scoring import Thresholds


class Asked:
    """A `StatisticsStore` that holds what it is given."""

    def __init__(self, *found: Unserved) -> None:
        self.found = found
        self.since: list[float] = []

    async def days(self, since: float, within: Within = EVERYTHING) -> tuple[Day, ...]:
        return ()

    async def unserved(self, since: float, limit: int, within: Within = EVERYTHING) -> tuple[Unserved, ...]:
        self.since.append(since)
        return self.found[:limit]


class Directions:
    """Encoders that know for every topic which way its vector points."""

    name = "directions"

    async def current(self) -> Directions:
        return self

    async def encode(self, texts: list[str]) -> np.ndarray:
        ways = {"stream": (1, 0), "streaming": (0.95, 0.31), "login": (0, 1)}
        return np.array([ways[text] for text in texts], np.float32)


def question(topic: str, at: float, why: str = "abstained", page: tuple[str, str] = ("", "")) -> Unserved:
    return Unserved(f"a{at}", topic, f"How to {topic}?", "1.0", at, why, page)


async def test_questions_about_one_thing_are_one_gap_and_the_largest_comes_first():
    page = ("Streaming", "https://docs.example/s")
    store = Asked(
        question("login", 5),
        question("streaming", 4, "voted down", page),
        question("stream", 3, page=page),
        question("stream", 2),
    )
    first, second = await Statistics(store, Directions(), Thresholds()).gaps(7)
    assert [q.at for q in first.questions] == [4, 3, 2]
    assert first.example.question == "How to streaming?"
    assert first.reasons == {"voted down": 1, "abstained": 2}
    assert first.page == page
    assert [q.topic for q in second.questions] == ["login"] and second.page == ("", "")


async def test_nothing_unserved_is_no_gap():
    assert await Statistics(Asked(), Directions(), Thresholds()).gaps(7) == ()


def test_a_centroid_is_the_mean_of_its_members():
    # the third is as near as τ to the first, but not to the mean of the first two
    angles = np.radians([0, 40, -40])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert grouped(vectors, 0.7) == [[0, 1], [2]]
    assert grouped(vectors, 0.4) == [[0, 1, 2]]
