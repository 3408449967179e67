"""`threadlore memory …` on the whole bot: what is brought is reused, voted on, taken out, and checked."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from bot.commands.command_line import handle
from bot.commands.look.why import RAISED_BY
from core.domain import Question, Vote
from core.errors import UsageError
from core.feedback.accepted_answers import Written
from core.retrieval.features import FEATURES
from core.retrieval.found import RERANKER, VOTES
from tests.journeys.child import run
from tests.journeys.house import Bot, Kettle, house

BREW = "How do I descale the kettle worker?"
REWORDED = "How can I descale the kettle worker?"
LINES = (
    {"id": "descale", "question": BREW, "answer": "Run `kettle descale`.", "url": "https://kettle.example/d"},
    {"id": 7, "question": "How do I pause the pouring queue?", "answer": "`kettle pause`", "release": "1.5"},
    {"id": "bad", "question": "Is boiling twice a good idea?", "answer": "Sure.", "score": 0.1},
    {"question": "  ", "answer": "x"},
    {"question": "What is steam?", "answer": "Hot.", "release": "9.9"},
    {"question": "What is steam in 3.7?", "answer": "Hot."},
)


async def told(bot: Bot, action: str, **more: Any) -> tuple[int, list[str], list[str]]:
    """Carry out a memory command; return its code, lines and notes."""
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await handle(bot.app, {"command": "memory", "action": action, **more}, send)
    lines, notes = ([m[key] for m in messages if key in m] for key in ("line", "note"))
    return messages[-1]["code"], lines, notes


async def batch(bot: Bot, *entries: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        if "line" in message:
            found.append(json.loads(message["line"]))

    await handle(bot.app, {"command": "batch", "lines": [json.dumps(entry) for entry in entries]}, send)
    return found


def jsonl(*entries: dict[str, Any]) -> str:
    return "\n".join(json.dumps(entry) for entry in entries)


async def test_what_is_imported_is_reused_by_its_name_and_voted_on(bot: Bot) -> None:
    code, lines, notes = await told(bot, "import", text=jsonl(*LINES))
    assert code == 1
    assert lines == ["Imported 3 pairs, 3 lines left out."]
    assert [note.split()[1] for note in notes] == ["4", "5", "6"]
    assert "1.0, 1.5, 2.0" in notes[1] and "3.7" in notes[2]

    for release in ("1.0", "2.0"):
        (found,) = await batch(bot, {"question": REWORDED, "release": release, "user": "slack:U1"})
        assert (found["route"], found["pair_id"], found["release"]) == ("reuse", "descale", release)
        assert found["retrieved"] and {r["release"] for r in found["retrieved"]} == {release}
        assert found["similarity"] > 0.84
        assert found["answer"] == "Run `kettle descale`."
        assert [c["url"] for c in found["citations"]] == ["https://kettle.example/d"]
    pause = {"question": "How do I pause the pouring queue?"}
    inside, outside = await batch(bot, pause | {"release": "1.5"}, pause | {"release": "2.0"})
    assert (inside["route"], inside["pair_id"]) == ("reuse", "7")
    assert (outside["route"], outside["pair_id"]) != ("reuse", "7")

    answer = await bot.app.engine.answer(Question(REWORDED, "slack:U1"))
    for voter in ("slack:U1", "slack:U2"):
        assert await bot.app.engine.feedback(Vote(answer.id, voter, 0))
    (again,) = await batch(bot, {"question": REWORDED})
    assert again["route"] != "reuse" and again["pair_id"] == ""
    _, (shown,), _ = await told(bot, "show", id="descale", json=True)
    assert {k: json.loads(shown)[k] for k in ("id", "store", "up", "down", "uses", "release")} == {
        "id": "descale",
        "store": "low",
        "up": 0,
        "down": 2,
        "uses": 3,
        "release": "*",
    }
    assert (await told(bot, "verify"))[0] == 0


async def test_why_names_the_pair_behind_an_answer_and_how_it_stands(bot: Bot) -> None:
    await told(bot, "import", text=jsonl(LINES[0]))
    answer = await bot.app.engine.answer(Question(REWORDED))
    code, (said,), _ = await told(bot, "why", answer_id=answer.id)
    assert code == 0
    assert "no model was called" in said and "(descale)" in said and "similarity 0." in said
    await told(bot, "retire", id="descale")
    assert (await bot.app.engine.answer(Question(REWORDED))).route != "reuse"
    _, (said,), _ = await told(bot, "why", answer_id=answer.id)
    assert "an admin has taken it out" in said
    await told(bot, "rebuild")
    assert (await bot.app.engine.answer(Question(REWORDED))).route != "reuse"
    _, lines, _ = await told(bot, "list", store="retired")
    assert len(lines) == 1 and "(descale)" in lines[0]


async def test_a_retired_pair_is_restored_to_where_its_votes_put_it(bot: Bot) -> None:
    await told(bot, "import", text=jsonl(LINES[0]))
    answer = await bot.app.engine.answer(Question(REWORDED, "slack:U1"))
    assert (answer.route, answer.pair_id) == ("reuse", (await bot.app.memory.find("descale")).id)
    with pytest.raises(UsageError, match=r"is not retired; now it counts as good"):
        await told(bot, "restore", id="descale")
    await told(bot, "retire", id="descale")
    for voter in ("slack:U1", "slack:U2"):
        await bot.app.engine.feedback(Vote(answer.id, voter, 0))
    assert not bot.app.memory.stores(), "no vote brings it back"
    code, (said,), _ = await told(bot, "restore", id="descale")
    assert code == 0 and "(descale): it counts as bad" in said
    assert "0 votes for and 2 against it, reused 1 time" in said and "1 times" not in said
    for voter in ("slack:U1", "slack:U2"):
        await bot.app.engine.feedback(Vote(answer.id, voter, None))
    assert (await bot.app.engine.answer(Question(REWORDED))).route == "reuse"
    await told(bot, "retire", id="descale")
    await told(bot, "restore", id="descale")
    assert (await bot.app.engine.answer(Question(REWORDED))).route == "reuse"
    before = bot.app.memory.stores()
    await told(bot, "rebuild")
    assert bot.app.memory.stores() == before and (await told(bot, "verify"))[0] == 0


async def test_what_an_import_or_its_author_took_out_is_not_restored(bot: Bot) -> None:
    await told(bot, "import", text=jsonl(LINES[0]))
    old = await bot.app.memory.find("descale")
    await told(bot, "import", text=jsonl(LINES[0] | {"answer": "Use vinegar."}))
    with pytest.raises(UsageError, match=r"replaced by i\w+ in an import; retire that one first"):
        await told(bot, "restore", id=old.id)
    question = Question("How do I clean the spout?", "slack:U1")
    written = Written("slack:C1:1", "slack:U2", "Bob", "With a pipe cleaner.", "https://slack.example/1")
    pair = (await bot.app.engine.accepted.accept(written, question, "slack:U3")).pair
    await bot.app.engine.accepted.withdraw("slack:C1:1", "slack:U3")
    with pytest.raises(UsageError, match="was written by a person, who may have withdrawn it"):
        await told(bot, "restore", id=pair.id)
    with pytest.raises(UsageError, match="There is no pair nobody"):
        await told(bot, "restore", id="nobody")


async def test_near_lines_are_merged_and_a_changed_answer_replaces_the_one_before(bot: Bot) -> None:
    twice = LINES[0] | {"id": "again", "question": REWORDED, "answer": "Descale it.", "score": 0.8}
    code, lines, _ = await told(bot, "import", text=jsonl(LINES[0], twice, LINES[0]))
    assert code == 0
    assert "Imported 2 pairs, 1 merged" in lines[0] and "1 was there already" in lines[0]
    (found,) = await batch(bot, {"question": REWORDED})
    assert found["pair_id"] == "descale"

    for answer in ("Use vinegar.", LINES[0]["answer"], "Use vinegar."):
        await told(bot, "import", text=jsonl(LINES[0] | {"answer": answer}))
        (found,) = await batch(bot, {"question": BREW})
        assert (found["route"], found["answer"], found["pair_id"]) == ("reuse", answer, "descale")


async def test_what_is_exported_can_be_imported_elsewhere(kettle: Kettle, bot: Bot) -> None:
    private = {"question": "Who has the descaling key?", "answer": "Ada.", "scope": "private:slack:C9"}
    await told(bot, "import", text=jsonl(*LINES[:3], private))
    _, lines, notes = await told(bot, "export")
    assert notes == ["Exported 4 pairs."]
    ids = [json.loads(line)["id"] for line in lines]
    for name in ids:
        await told(bot, "retire", id=name)
    assert (await bot.counts())["high"] == 0
    other = kettle.copy(kettle.folder.with_name("other"))
    async with house(other, database_url=f"sqlite:///{other.folder}/other.sqlite3") as fresh:
        code, _, _ = await told(fresh, "import", text="\n".join(lines))
        assert code == 0
        _, copied, _ = await told(fresh, "export")
        assert sorted(map(drop_ids, copied)) == sorted(map(drop_ids, lines))


async def test_importing_ones_own_export_changes_nothing(bot: Bot) -> None:
    await told(bot, "import", text=jsonl(*LINES[:2], {"question": "Who pours?", "answer": "Ada."}))
    answered = await bot.app.engine.answer(Question("Which port does the dashboard listen on?", "slack:U1"))
    await bot.app.engine.feedback(Vote(answered.id, "slack:U1", 1))
    written = Written("slack:C1:1", "slack:U2", "Bob", "With a pipe cleaner.\n", "https://slack.example/1")
    question = Question("How do I clean the spout?", "slack:U1")
    await bot.app.engine.accepted.accept(written, question, "slack:U3")
    _, exported, _ = await told(bot, "export")
    stores = bot.app.memory.stores()
    for _ in range(2):
        code, lines, notes = await told(bot, "import", text="\n".join(exported), name="own.jsonl")
        assert (code, lines, notes) == (0, ["Imported 0 pairs, 5 were there already."], [])
        assert bot.app.memory.stores() == stores and (await told(bot, "export"))[1] == exported

    await bot.app.engine.accepted.withdraw("slack:C1:1", "slack:U3")
    code, lines, notes = await told(bot, "import", text="\n".join(exported))
    assert (code, lines) == (1, ["Imported 0 pairs, 4 were there already, 1 line left out."])
    assert notes[0].endswith("a person wrote this answer, and it was taken back")
    other = [json.loads(line) for line in exported]
    other[0]["answer"] = "Another answer."
    _, lines, _ = await told(bot, "import", text=jsonl(other[0]))
    assert lines[0].startswith("Imported 1 pair")


def drop_ids(line: str) -> str:
    row = json.loads(line)
    return json.dumps(row | {"id": ""})


async def test_a_table_of_csv_is_read_like_jsonl(bot: Bot) -> None:
    table = (
        f'Question;Answer;ID;score\r\n"{BREW}";"Run\r\n`kettle descale`; wait";d;0.95\r\nonly a question\r\n'
    )
    code, lines, notes = await told(bot, "import", text=table, name="pairs.csv")
    assert (code, lines) == (1, ["Imported 1 pair, 1 line left out."])
    assert notes == ['line 4 was left out: "answer" is missing or empty']
    (found,) = await batch(bot, {"question": BREW})
    assert (found["pair_id"], found["answer"]) == ("d", "Run\r\n`kettle descale`; wait")


async def test_verify_tells_what_somebody_changed_behind_its_back(kettle: Kettle, bot: Bot) -> None:
    await told(bot, "import", text=jsonl(*LINES[:3]))
    database = create_engine(f"sqlite:///{kettle.home / 'threadlore.sqlite3'}")
    with database.begin() as connection:
        connection.execute(text("UPDATE placements SET score = 0.5 WHERE store = 'high'"))
        connection.execute(text("DELETE FROM placements WHERE store = 'low'"))
    database.dispose()
    code, lines, notes = await told(bot, "verify")
    assert code == 1
    assert sum("its votes give 0.9000" in line for line in lines) == 2
    assert any("stands nowhere" in line for line in lines)
    assert "memory rebuild" in notes[0]
    await told(bot, "rebuild")
    assert (await told(bot, "verify"))[0] == 0


async def test_a_full_store_keeps_what_is_best_and_public_reuse_waits_for_voters(kettle: Kettle) -> None:
    names = ("grinder", "filter", "scale", "lid", "whistle")
    many = [
        {"question": f"What is the {name} for?", "answer": name, "score": 0.7 + 0.05 * place}
        for place, name in enumerate(names)
    ]
    async with house(kettle, memory_limit=3, min_voters=2) as bot:
        _, lines, _ = await told(bot, "import", text=jsonl(*many))
        assert lines == ["Imported 5 pairs, 2 not kept, MEMORY_LIMIT is reached."]
        assert (await bot.counts())["high"] == 3
        assert (await told(bot, "verify"))[0] == 0
        question = Question("Which port does the dashboard listen on?", "slack:U1")
        first = await bot.app.engine.answer(question)
        await bot.app.engine.feedback(Vote(first.id, "slack:U1", 1))
        assert (await bot.app.engine.answer(question)).route != "reuse"
        await bot.app.engine.feedback(Vote(first.id, "slack:U2", 1))
        assert (await bot.app.engine.answer(replace(question, asker="slack:U3"))).route == "reuse"


async def test_import_and_export_as_a_script_gives_them(kettle: Kettle) -> None:
    (kettle.folder / "pairs.jsonl").write_text(jsonl(*LINES[:3]), encoding="utf-8")
    ended = await run(kettle, "memory", "import", "pairs.jsonl")
    assert (ended.code, ended.out, ended.err) == (0, "Imported 3 pairs.\n", "")
    ended = await run(kettle, "memory", "export", "out.jsonl")
    assert (ended.code, ended.out) == (0, "")
    out = kettle.folder / "out.jsonl"
    assert out.stat().st_mode & 0o077 == 0
    assert [json.loads(line)["id"] for line in out.read_text(encoding="utf-8").splitlines()]
    ended = await run(kettle, "memory", "show", "descal")
    assert ended.code == 2 and "memory list" in ended.err


async def test_what_changed_is_data_for_scripts(bot: Bot) -> None:
    _, lines, _ = await told(bot, "import", text=jsonl(LINES[0]), json=True)
    assert json.loads(lines[0])["imported"] == 1 and json.loads(lines[0])["left_out"] == 0
    pair_id = (await bot.app.memory.everything())[0].id
    for action, outcome in (("retire", {"id": pair_id}), ("restore", {"id": pair_id})):
        code, lines, _ = await told(bot, action, id="descale", json=True)
        assert code == 0 and json.loads(lines[0]).items() >= outcome.items()
    _, lines, _ = await told(bot, "rebuild", json=True)
    assert json.loads(lines[0]) == {"placements": 1, "as_before": True}
    _, lines, _ = await told(bot, "verify", json=True)
    assert json.loads(lines[0]) == {"wrong": [], "placed": 1, "recalled": 1}
    _, lines, _ = await told(bot, "private", channel="slack:C1", json=True)
    assert json.loads(lines[0]) == {"channel": "slack:C1", "learnt": 0, "moved": 0}


async def test_why_tells_admins_how_each_page_was_ranked(bot: Bot) -> None:
    answer = await bot.app.engine.answer(Question("Which port does kettle serve listen on by default?"))
    code, (said,), _ = await told(bot, "why", answer_id=answer.id)
    assert code == 0 and re.search(r"Page 1: score -?\d+\.\d\d; rank \d+ by meaning, rank \d+ by words", said)
    assert re.search(r"Ahead of the average page by [^()]+ \(\+\d+\.\d\d\)", said)
    _, (line,), _ = await told(bot, "why", answer_id=answer.id, json=True)
    [first, *_] = json.loads(line)["pages"]
    assert first["place"] == 1 and {"dense", "words"} <= first["ranks"].keys()
    assert 1 <= len(first["raised_by"]) <= 3 and first["raised_by"].keys() <= RAISED_BY.keys()


def test_what_raises_a_page_has_words_for_admins() -> None:
    assert RAISED_BY.keys() == {*FEATURES, VOTES, RERANKER}
