"""`threadlore check` on the whole bot: what a change of the documentation breaks, and what it does not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from bot.commands.command_line import handle
from core.domain import Question, Scope, Vote
from core.errors import UsageError
from evaluation.commands.check import inside
from tests.journeys.house import Bot

PORT = "Which port does the dashboard listen on?"
CRON = "How do I send the report every night at fixed times with cron?"
RETRIES = "How often is a failed job tried again by default?"
ANN = "slack:UANN"
EVERYBODY = Scope()


async def checked(bot: Bot, docs: Path, **request: Any) -> tuple[str, int]:
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await handle(bot.app, {"command": "check", "release": "2.0", "docs": str(docs), **request}, send)
    return "\n".join(m["line"] for m in messages if "line" in m), messages[-1]["code"]


async def learnt(bot: Bot, text: str, scope: Scope = EVERYBODY) -> str:
    answer = await bot.app.engine.answer(Question(text, ANN, scope.channel or "slack:C1", scope))
    assert await bot.app.engine.feedback(Vote(answer.id, ANN, 1))
    return answer.pair_id


async def _unheard(_: dict[str, Any]) -> None:
    return None


def edit(page: Path, before: str, after: str) -> None:
    text = page.read_text()
    assert before in text
    page.write_text(text.replace(before, after))


async def test_what_a_pull_request_breaks_is_a_table_and_nothing_of_the_bot_changes(
    bot: Bot, tmp_path: Path
) -> None:
    port, cron = await learnt(bot, PORT), await learnt(bot, CRON)
    inner = await learnt(bot, RETRIES, Scope("private", "slack:C9"))
    gold = tmp_path / "gold.jsonl"
    lines = [
        {"id": "port", "gold_file": "dashboard.rst", "evidence": ["port 9090||9090 is"]},
        {"id": "more", "gold_file": "jobs.md", "evidence": ["retry_limit"]},
        {"id": "never", "gold_file": "dashboard.rst", "evidence": ["port 1"]},
    ]
    more = {"type": "direct", "question": "a | b?", "release": "2.0", "split": "report"}
    gold.write_text("\n".join(json.dumps(line | more) for line in lines))
    docs = tmp_path / "docs"
    shutil.copytree(bot.kettle.folder / "docs" / "2.0", docs)
    before = await bot.counts()
    told, code = await checked(bot, docs, gold=str(gold))
    assert (told, code) == (
        "## No answer would break\n\n6 answers of 2.0 looked at; 0 of its pages changed.",
        0,
    )

    edit(docs / "dashboard.rst", "in the browser", "in any browser")  # says the same of the port
    (docs / "nights.md").write_text((docs / "scheduling.md").read_text())
    (docs / "scheduling.md").unlink()
    told, code = await checked(bot, docs, gold=str(gold))
    assert code == 0 and "### Said on another page now" in told and "nights.md says it now." in told
    assert cron in told and port not in told

    (docs / "nights.md").unlink()
    edit(docs / "dashboard.rst", "9090", "9191")
    edit(docs / "jobs.md", "8 times", "9 times")
    told, code = await checked(bot, docs, gold=str(gold))
    assert code == 1 and told.startswith("## 4 answers would break")
    rows = {row.split("`")[1]: row for row in told.splitlines() if "`" in row}
    assert rows.keys() == {port, cron, inner, "port"}
    assert "9090" in rows[port] and PORT in rows[port] and "`dashboard.rst`" in rows[port]
    assert "The page is gone" in rows[cron]
    assert RETRIES not in told and "8 times" not in told, "a private channel's words are not for everybody"
    assert "gold `port` | a \\| b?" in rows["port"] and "“port 9090”" in rows["port"]
    told, code = await checked(bot, docs, changed=["docs/jobs.md"])
    assert code == 1 and inner in told and port not in told
    assert (await checked(bot, docs, changed=["README.md"]))[1] == 0

    row = {"question": "What is the port?", "answer": "The dashboard listens on port 9090 by default."}
    brought = row | {"release": "2.0", "url": "https://kettle.example/2.0/dashboard#opening-the-dashboard"}
    await handle(bot.app, {"command": "memory", "action": "import", "text": json.dumps(brought)}, _unheard)
    told, code = await checked(bot, docs, changed=["docs/dashboard.rst"])
    assert code == 1 and told.startswith("## 2 answers would break") and "What is the port?" in told

    after = await bot.counts()
    assert after["pairs"] == before["pairs"] + 1 and after["answers"] == before["answers"]
    with pytest.raises(UsageError, match=r"There is no release 9\.9 in corpora\.toml; there is: 1\.0"):
        await checked(bot, docs, release="9.9")
    with pytest.raises(UsageError, match=r"There is no folder \S+nowhere; name the one that has the pages"):
        await checked(bot, docs / "nowhere")


def test_a_changed_path_is_written_from_the_top_of_the_checkout(tmp_path: Path) -> None:
    docs = tmp_path / "project" / "docs"
    (tmp_path / "project" / ".git").mkdir(parents=True)
    assert inside("docs/api/index.rst", docs, docs) == ["docs/api/index.rst", "api/index.rst"]
    assert inside("docs", docs.parent, docs) == ["docs", "."]
    assert inside(str(docs / "index.rst"), docs, docs) == ["index.rst"]
    assert inside("src/app.py", docs.parent, docs) == ["src/app.py"], "no page has that path"


async def test_a_folder_without_any_page_of_the_release_is_refused(bot: Bot, tmp_path: Path) -> None:
    await learnt(bot, PORT)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "notes.md").write_text("# Notes\n\nNothing of Kettle's.\n")
    with pytest.raises(UsageError, match=r"No page of 2\.0 lies in .*elsewhere; name the folder"):
        await checked(bot, tmp_path / "elsewhere")
