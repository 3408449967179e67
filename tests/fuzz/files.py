"""Edges that are files: corpora.toml, gold files, files of pairs; and texts of people on every platform."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

from bot.platforms.discord.components import filled, pressed
from bot.platforms.discord.markdown import for_discord, messages
from bot.platforms.slack.text.format import sections
from bot.platforms.slack.text.mrkdwn import from_slack, to_mrkdwn
from bot.platforms.slack.text.reading import written
from bot.rendering.harmless import harmless
from core.catalogue.loading import load_catalogue
from core.errors import ThreadloreError
from core.ingestion.sources import Kinds
from core.memory.import_export import read
from evaluation.gold import read_gold
from tests.fuzz.mutation import as_json, changed, reworded, spoiled
from tests.fuzz.watch import Case
from tests.journeys.kettle import write_kettle

GOLD = [
    {
        "id": "a1",
        "type": "single",
        "question": "Which port?",
        "release": "2.0",
        "path": "dashboard.rst",
        "heading": "Opening",
        "answer": "9090",
        "must_contain": ["9090"],
        "split": "test",
    },
    {
        "id": "a2",
        "type": "compare",
        "question": "Which?",
        "by_release": {"1.0": {"path": "a", "must_contain": "x"}},
        "history": [{"role": "user", "text": "hi"}],
    },
    {"id": "a3", "type": "unanswerable", "question": "Why?", "must_not_contain": ["[["]},
]
PAIRS = b"""{"question": "Which port?", "answer": "9090.", "release": "2.0", "score": 0.9, "id": "p1",
 "citations": [{"title": "Dashboard", "url": "https://kettle.example", "release": "2.0"}]}
{"question": "How?", "answer": "So.", "scope": "private:slack:C1"}
"""
CSV = b'question,answer,release,url,score\n"Which port?","9090, mostly",2.0,https://k.example,0.9\nHow?,So.,,,\n'
MORE = """
[people]
ann = ["slack:U1", "discord:1"]
[channels."slack:C1"]
release = "1.0"
mode = "help"
[memory]
share_platforms = false
[glossary]
kettle = ["teapot", "urn"]
[permissions]
pause = ["slack:U1"]
[questions]
"""


@asynccontextmanager
async def corpora() -> AsyncIterator[Case]:
    """`corpora.toml`: a mistake is a ThreadloreError that says what to do."""
    with tempfile.TemporaryDirectory() as folder:
        file = write_kettle(Path(folder))
        valid, kinds = file.read_bytes() + MORE.encode(), Kinds()

        async def case(chance: Random) -> None:
            file.write_bytes(spoiled(valid, chance))
            try:
                load_catalogue(file, kinds)
            except ThreadloreError as error:
                assert str(error).strip()

        yield case


@asynccontextmanager
async def gold() -> AsyncIterator[Case]:
    """Gold files, by their values and by their bytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gold.jsonl"

        async def case(chance: Random) -> None:
            lines = [as_json(changed(line, chance) if chance.random() < 0.6 else line) for line in GOLD]
            raw = b"\n".join(lines)
            file.write_bytes(spoiled(raw, chance) if chance.random() < 0.4 else raw)
            try:
                read_gold(file)
            except ThreadloreError as error:
                assert str(error).strip()

        yield case


@asynccontextmanager
async def pairs() -> AsyncIterator[Case]:
    """Files of pairs that `memory import` reads: bad lines are told, none ends the reading."""

    async def case(chance: Random) -> None:
        raw = spoiled(chance.choice((PAIRS, CSV)), chance)
        if chance.random() < 0.3:
            raw = as_json(changed(json.loads(PAIRS.split(b"}\n{")[0] + b"}"), chance))
        for _ in read(raw.decode("utf-8-sig", "replace"), chance.choice(("", "a.csv", "a.jsonl"))):
            pass

    yield case


TEXT = (
    b"# Title\n\n**bold** _it_ `code` [link](https://k.example/a_(b)) <@U1> <!channel> @everyone ~~no~~\n\n"
    b"```python\nprint('x')\n```\n\n- a\n  - b\n\n> quote\n\n| a | b |\n|---|---|\n| 1 | `2` |"
    b"\n\n||spoiler|| <t:1:R>"
)
CALLS = re.compile(r"<!(?:channel|here|everyone|subteam)|<@[UW]")
"""What calls people on Slack."""


@asynccontextmanager
async def texts() -> AsyncIterator[Case]:
    """What a model or a page says, written for Slack and for Discord: nobody is called by it."""

    async def case(chance: Random) -> None:
        text = spoiled(TEXT, chance)[:6000].decode("utf-8", "replace")
        for write in (from_slack, for_discord, messages, sections, harmless):
            write(text)
        called = CALLS.findall(to_mrkdwn(text))
        assert not called, f"{called} of {text!r}"

    yield case


BLOCKS = {
    "type": "message",
    "user": "U1",
    "text": "hi *there*",
    "ts": "1700000000.000100",
    "channel": "C1",
    "blocks": [
        {
            "type": "rich_text",
            "elements": [
                {
                    "type": "rich_text_section",
                    "elements": [
                        {"type": "text", "text": "hi", "style": {"bold": True}},
                        {"type": "user", "user_id": "U2"},
                        {"type": "link", "url": "https://k.example", "text": "k"},
                        {"type": "emoji", "name": "tea"},
                    ],
                },
                {
                    "type": "rich_text_list",
                    "elements": [{"type": "rich_text_section", "elements": []}],
                    "indent": 1,
                },
                {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "x"}]},
            ],
        },
        {"type": "section", "text": {"type": "mrkdwn", "text": "a"}, "fields": []},
    ],
    "attachments": [{"text": "b", "blocks": [], "fields": [{"title": "t", "value": "v"}]}],
}
PRESS = {
    "custom_id": "up a1",
    "component_type": 2,
    "values": ["x"],
    "components": [
        {"type": 1, "components": [{"type": 4, "custom_id": "better", "value": "It is 9090."}]},
        {"type": 18, "component": {"type": 3, "custom_id": "what", "values": ["wrong"]}},
    ],
}


@asynccontextmanager
async def payloads() -> AsyncIterator[Case]:
    """Blocks of Slack's messages, presses and forms of Discord: words alone are changed."""

    async def case(chance: Random) -> None:
        if chance.random() < 0.5:
            from_slack(written(reworded(BLOCKS, chance)))
        else:
            data = reworded(PRESS, chance)
            pressed(data)
            filled(data)

    yield case
