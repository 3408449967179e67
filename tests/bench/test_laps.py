"""What counts as a sign, as sources, as words and as the end: in an edited message and in a stream."""

from __future__ import annotations

import time

from tests.bench.first_sign import table
from tests.bench.laps import NAMES, Laps

PAGES = "Reading the Flask 3.1 documentation …\n- [Signals](https://flask.example/signals)"


def after(*texts: str, streams: bool = False) -> set[str]:
    laps = Laps()
    laps.asked("t", time.perf_counter())
    for text in texts:
        (laps.streamed if streams else laps.shown)("t", text)
    return set(laps.of("t"))


def test_an_edited_message() -> None:
    assert after("Looking it up …") == {"sign"}
    assert after("Looking it up …", PAGES) == {"sign", "sources"}
    assert after(PAGES, "Call `send` …") == {"sign", "sources", "words"}
    assert after("Call `send` [1].\n\n[1] https://flask.example/signals") == set(NAMES)


def test_a_message_that_streams() -> None:
    begun = f"Looking it up …\n\n{PAGES}\n\n"
    assert after("Looking it up …\n\n", streams=True) == {"sign"}
    assert after(begun, streams=True) == {"sign", "sources"}
    assert after(f"{begun}Call `send`", streams=True) == {"sign", "sources", "words"}


def test_an_aim_that_is_missed_is_named() -> None:
    fast, slow = dict.fromkeys(NAMES, 100.0), dict.fromkeys(NAMES, 2000.0)
    told = table([("Slack", [fast] * 4, [fast] * 4), ("Discord", [slow] * 4, [fast] * 4)])
    assert "sign: p95 at most 300 ms: missed: Discord 2000" in told
    assert "met" in table([("Slack", [fast] * 4, [fast] * 4)])
