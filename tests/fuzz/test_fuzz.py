"""A few cases of every edge, and those that once failed; `python -m tests.fuzz` plays more."""

from __future__ import annotations

import pytest

from bot.platforms.slack.components import pressed
from bot.platforms.slack.text.mrkdwn import from_slack
from bot.rendering.harmless import harmless
from tests.fuzz.__main__ import EDGES, SHARES, played

FAILED = (
    ("ollama", 1, 336),  # a line that is nested too deep
    ("ollama", 1, 399),
    ("openai", 1, 8),  # a list of models that is a number
    ("openai", 1, 18),
    ("openai", 1, 66),
    ("slack", 1, 218),  # an item that is a number
    ("slack", 1, 58),  # a press of another shape
    ("texts", 1, 273),  # a link to https://[DONE]
    ("payloads", 11, 17799),  # a link to nothing, <|>
    ("gold", 11, 1995),  # a line that is nested too deep
    ("corpora", 22, 383),  # a number of ten thousand digits
    ("ollama", 32, 5383),  # a count of tokens that no float holds
    ("openai", 32, 2896),
    ("gateway", 1, 69),  # a message without an author
    ("gateway", 1, 75),  # a command without a name
    ("gateway", 1, 96),  # an interaction of nobody
    ("gateway", 1, 152),  # a command of another name
    ("gateway", 1, 556),  # an interaction without data
    ("gateway", 1, 3201),  # an interaction whose token is no text
    ("gateway", 41, 2558),  # a token that Discord does not know
    ("http", 1, 202),  # a client that leaves in the middle of its request
)
"""Edge, seed and number of cases that once failed."""


@pytest.mark.parametrize("edge", [edge for edge in EDGES if edge != "control"])
async def test_nothing_at_an_edge_ends_or_hangs_the_bot(edge: str) -> None:
    report = await played(edge, 7, 0, 60)
    assert not report.failures, report.failures[0]


@pytest.mark.parametrize(("edge", "seed", "number"), FAILED)
async def test_what_once_failed_is_refused(edge: str, seed: int, number: int) -> None:
    report = await played(edge, seed, number, 1)
    assert not report.failures, report.failures[0]


def test_a_link_that_leads_nowhere_is_shown_as_it_is() -> None:
    assert harmless("[the guide](https://[DONE]/a)") == "<https://%5BDONE%5D/a>"


@pytest.mark.parametrize("body", [{"user": "U1"}, {"type": "block_actions", "actions": 5}, {"channel": [1]}])
def test_a_press_of_another_shape_is_none(body: dict[str, object]) -> None:
    assert pressed(body) is None


def test_a_link_of_slack_that_leads_nowhere_is_its_words() -> None:
    assert from_slack("see <|the guide>") == "see the guide"


def test_a_million_cases_are_shared_out_among_all_edges() -> None:
    assert SHARES.keys() == EDGES.keys() and sum(SHARES.values()) == 100
