"""What people say in a thread without asking, and what goes on though it has no question mark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.conversation.triggers import asks_nothing, is_objection
from core.query.asking import is_aside

LINES = (Path(__file__).parents[1] / "golden" / "asides.jsonl").read_text("utf-8").splitlines()
SAID: list[dict[str, Any]] = [json.loads(line) for line in LINES]
LEAST = {"develop": 0.9, "report": 0.65}
"""Share of the asides of each half that are left alone; the rule was mended on the first half only."""


def _is_left_alone(text: str) -> bool:
    return asks_nothing(text) or is_aside(text)


@pytest.mark.parametrize("text", [said["text"] for said in SAID if said["asks"]])
def test_what_goes_on_is_answered(text: str) -> None:
    assert not _is_left_alone(text)


@pytest.mark.parametrize("half", LEAST)
@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
def test_what_asks_nothing_is_left_alone(language: str, half: str) -> None:
    asides = [s["text"] for s in SAID if not s["asks"] and (s["language"], s["half"]) == (language, half)]
    share = sum(map(_is_left_alone, asides)) / len(asides)
    assert len(asides) >= 12 and share >= (LEAST[half] if language != "es" else LEAST[half] - 0.1)


@pytest.mark.parametrize(
    "text", ["that did not work", "it doesn't help", "geht immer noch nicht", "ça marche pas", "no funciona"]
)
def test_an_objection_is_no_aside(text: str) -> None:
    assert is_objection(text) and not _is_left_alone(text)


@pytest.mark.parametrize(
    "text",
    [
        "will it work?",
        "will it work",
        "ok, will that survive a restart",
        "I'll try `kettle run`",
        "will try 1.5",
        "thanks, and for workers",
        "let me see the code",
        "muss ich das testen",
        "wie teste ich das",
    ],
)
def test_what_only_sounds_like_a_plan_is_answered(text: str) -> None:
    assert not _is_left_alone(text)
