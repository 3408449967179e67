"""Replies of a small model, played by hand over real pages: what people must see of each, and must not.

Prompts are free to change: an exchange keeps the question, the pages, the replies and what is seen.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from core.domain import ContextChunk, Evidence
from core.errors import ModelMalformed
from core.generation.answer import Request, write
from core.languages import name_of
from core.ports import Prompt
from core.prompts import DONT_KNOW
from core.query.language import detected
from tests.core.generation.samples import Told

HERE = Path(__file__).parent / "played"
PAGES = json.loads((HERE / "evidence.json").read_text("utf-8"))
EXCHANGES = [json.loads(line) for line in (HERE / "exchanges.jsonl").read_text("utf-8").splitlines()]
DRIVEN = [json.loads(line) for line in (HERE / "driven.jsonl").read_text("utf-8").splitlines()]
"""What was answered to a serving bot over Flask and urllib3 by somebody who saw its prompts alone.

`kind` is what that player meant to do, in each reply; the pages are cut to what decides.
"""


class Played(Told):
    """A model that says what was played; the last reply again where more is asked."""

    def __init__(self, replies: Sequence[str]) -> None:
        super().__init__()
        self.replies = list(replies)

    def stream(self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int) -> AsyncIterator[str]:
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return Told(reply).stream(prompts, temperature=temperature, max_tokens=max_tokens)


def asked(exchange: dict[str, Any]) -> Request:
    evidence = tuple(
        Evidence(number, ContextChunk(name, url=f"https://flask/{name}", release="3.1", **PAGES[name]), 1.0)
        for number, name in enumerate(exchange["evidence"], 1)
    )
    code = exchange["language"]
    return Request(
        exchange["question"],
        "Flask",
        ("3.1",),
        evidence,
        language=name_of(code),
        code=code,
        documented="en",
        speaks=detected,
    )


def driven(exchange: dict[str, Any]) -> Request:
    evidence = tuple(
        Evidence(piece["number"], ContextChunk(**_chunk(piece)), 1.0) for piece in exchange["evidence"]
    )
    code = exchange["language"]
    return Request(
        exchange["question"],
        exchange["product"],
        tuple(exchange["releases"]),
        evidence,
        language=name_of(code),
        code=code,
        documented="en",
        speaks=detected,
        original=exchange.get("original", ""),
    )


def _chunk(piece: dict[str, Any]) -> dict[str, Any]:
    name = f"p{piece['number']}"
    told = {key: piece[key] for key in ("title", "heading", "release")}
    return told | {"id": name, "path": name, "url": f"https://docs/{name}", "page": piece["page"]}


@pytest.mark.parametrize(
    ("exchange", "request_of"),
    [*((one, asked) for one in EXCHANGES), *((one, driven) for one in DRIVEN)],
    ids=[f"{at}: {e['question'][:60]}" for at, e in enumerate([*EXCHANGES, *DRIVEN], 1)],
)
async def test_what_is_seen_of_a_played_reply(
    exchange: dict[str, Any], request_of: Callable[[dict[str, Any]], Request]
) -> None:
    shown: list[str] = []

    async def show(text: str) -> None:
        shown.append(text)

    written = None
    try:
        written = await write(Played(exchange["replies"]), request_of(exchange), show, every=0)
    except ModelMalformed:
        assert exchange["end"] == "quotes"
    if written:
        assert exchange["end"] == ("unknown" if written.text == DONT_KNOW else "answer"), written.text
        assert all(said in written.text for said in exchange["sees"]), written.text
        assert bool(written.citations) == (exchange["end"] == "answer")
        assert set(exchange.get("cites", ())) <= {entry.title for entry in written.citations}
    seen = [*shown, *([written.text] if written else [])]
    assert not [said for said in exchange["lacks"] if any(said in text for text in seen)], seen


def test_replies_of_every_kind_were_played() -> None:
    assert len(EXCHANGES) >= 15 and len(DRIVEN) >= 60
    assert {exchange["end"] for exchange in EXCHANGES} == {"answer", "quotes", "unknown"}
