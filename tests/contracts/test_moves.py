"""What every `MoveStore` does: nothing that is kept of a channel stands under the id that it had."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Boolean, Float, Integer, LargeBinary, String, insert, select

from core.ports.about import FORMER
from core.ports.channels import Moved
from core.ports.opinions import pair_of
from storage.database.database import Database
from storage.serving.moves import KEYS, PACKED, PLACES, SqlMoves, carried
from storage.tables import AboutRow, Base, ChannelModeRow, ClaimRow, MarkRow, PairRow, PlacementRow, PostRow
from storage.tables.columns import Key, Prose

MOVED = Moved("slack:G1", "slack:C9", ("https://s.example/archives/G1/", "https://s.example/archives/C9/"))
PEOPLE = ("asker", "author", "by", "person", "resolver", "voter", "who")
OTHERS = ("release", "stale_in", "told", "about.name", "changes.key", "notices.key", "words.place")
"""Ends of columns that name no channel, or not for long: changes are heard of within the hour. A one-way name
holds for the place where it was made (`words.place`)."""


@pytest.fixture
async def database(place: str | None, tmp_path: Path) -> AsyncIterator[Database]:
    if place is None:
        pytest.skip("channels are moved by SQL only; there is no fake")
    opened = await Database.open(tmp_path, place)
    yield opened
    await opened.close()


def row(table: Any, channel: str, number: int) -> dict[str, Any]:
    """Return a row that names a channel wherever its table can."""
    packed = {column.key: column for _, column in PACKED if column.class_.__table__ is table}
    named = {place.column.key: place for place in (*PLACES, *KEYS) if place.column.class_.__table__ is table}
    values: dict[str, Any] = {}
    for column in table.columns:
        if column.key in named:
            values[column.key] = f"{named[column.key].before}slack:{channel}:{number}"
        elif column.key in packed:
            values[column.key] = [["slack", channel, str(number), ""], {"url": MOVED.links[0] + "p1"}]
        elif isinstance(column.type, LargeBinary):
            values[column.key] = b""
        elif isinstance(column.type, Float | Integer):
            values[column.key] = number
        elif isinstance(column.type, Boolean):
            values[column.key] = False
        elif isinstance(column.type, Prose | String):
            values[column.key] = f"x{number}" if column.primary_key else ""
        else:
            values[column.key] = []
    return values


async def everything(database: Database) -> dict[str, list[dict[str, Any]]]:
    async with database.read() as connection:
        return {
            table.name: [dict(one._mapping) for one in await connection.execute(select(table))]
            for table in Base.metadata.sorted_tables
        }


def test_every_name_of_a_channel_is_known() -> None:
    """A new column that names a channel or a message in it has to be one of those that follow its id."""
    moving = {f"{p.column.class_.__tablename__}.{p.column.key}" for p in (*PLACES, *KEYS)}
    names = {
        f"{table.name}.{column.name}"
        for table in Base.metadata.sorted_tables
        for column in table.columns
        if isinstance(column.type, Key) and column.type.length == 255
    }
    assert {name for name in names if not name.endswith((*PEOPLE, *OTHERS))} == moving


async def test_nothing_stands_under_the_old_id_and_everything_under_the_new(database: Database) -> None:
    tables = {place.column.class_.__table__ for place in (*PLACES, *KEYS)}
    async with database.write() as connection:
        for table in tables:
            await connection.execute(insert(table), [row(table, "G1", 1), row(table, "G12", 2)])
    before = await everything(database)
    for _ in range(2):
        await SqlMoves(database).move(MOVED)
        after = await everything(database)
        told = json.dumps(after).replace("G12", "")
        assert "G1" not in told and told.count("C9") == json.dumps(before).replace("G12", "").count("G1")
        assert {name: len(rows) for name, rows in after.items()} == {n: len(r) for n, r in before.items()}


async def test_pairs_lose_their_place_and_open_questions_their_process(database: Database) -> None:
    pair = row(PairRow.__table__, "G1", 1) | {"id": "p1"}
    public = pair | {"id": "p2", "scope": "public", "channel": ""}
    claim = row(ClaimRow.__table__, "G1", 1) | {"answer_id": None, "holder": "me", "asker": "slack:~3f"}
    async with database.write() as connection:
        await connection.execute(insert(PairRow), [pair, public])
        placed = {"store": "high", "score": 0.9, "cluster": 1, "shadowed_by": ""}
        await connection.execute(insert(PlacementRow), [placed | {"pair_id": key} for key in ("p1", "p2")])
        await connection.execute(insert(ClaimRow), claim)
    assert await SqlMoves(database).move(MOVED) == ("p1",)
    found = await everything(database)
    assert [one["pair_id"] for one in found["placements"]] == ["p2"]
    told = [(one["holder"], one["tries"], one["asker"]) for one in found["claims"]]
    assert told == [("", 0, "~")], "that it begins anew counts against nobody"


async def test_what_stands_under_the_new_id_already_stays(database: Database) -> None:
    async with database.write() as connection:
        for channel, said in (("G1", "old"), ("C9", "new")):
            mode = row(ChannelModeRow.__table__, channel, 1) | {"channel": f"slack:{channel}", "mode": said}
            await connection.execute(insert(ChannelModeRow), mode)
            claim = row(ClaimRow.__table__, channel, 1) | {"answer_id": said}
            await connection.execute(insert(ClaimRow), claim)
            await connection.execute(insert(PostRow), row(PostRow.__table__, channel, 1))
    await SqlMoves(database).move(MOVED)
    found = await everything(database)
    assert [(one["channel"], one["mode"]) for one in found["channel_modes"]] == [("slack:C9", "new")]
    assert [(one["message"], one["answer_id"]) for one in found["claims"]] == [("slack:C9:1", "new")]
    assert [one["part"] for one in found["posts"]] == ["slack:C9:1"]


async def test_a_pair_made_of_a_message_is_found_by_its_new_key_after_every_move(database: Database) -> None:
    made = pair_of("slack:G1:1")
    async with database.write() as connection:
        await connection.execute(insert(PairRow), row(PairRow.__table__, "G1", 1) | {"id": made})
        await connection.execute(insert(MarkRow), row(MarkRow.__table__, "G1", 1))
    await SqlMoves(database).move(MOVED)
    await SqlMoves(database).move(Moved("slack:C9", "slack:C10"))
    async with database.read() as connection:
        for key in ("slack:C9:1", "slack:C10:1"):
            known = select(AboutRow.value).where(AboutRow.name == FORMER + pair_of(key))
            assert await connection.scalar(known) == made


def test_what_somebody_wrote_is_left_as_it_is() -> None:
    payload = {
        "ref": {"platform": "slack", "channel": "G1", "message": "1.2"},
        "scope": {"kind": "private", "channel": "slack:G1"},
        "text": "G1",
        "links": [
            "https://s.example/archives/G1/p1?thread_ts=1.2&cid=G1",
            "see https://s.example/archives/G1/p1",
            "slack:G12",
        ],
    }
    assert carried(payload, MOVED) == {
        "ref": {"platform": "slack", "channel": "C9", "message": "1.2"},
        "scope": {"kind": "private", "channel": "slack:C9"},
        "text": "G1",
        "links": [
            "https://s.example/archives/C9/p1?thread_ts=1.2&cid=C9",
            "see https://s.example/archives/G1/p1",
            "slack:G12",
        ],
    }
