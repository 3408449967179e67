"""`threadlore evaluate --answers` on the whole bot: the served answers are scored, and nothing is kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main
from bot.commands.command_line import handle
from bot.privacy.exports import noted
from core.errors import UsageError
from core.retrieval.ranking import FILE
from tests.journeys.house import Bot


def line(key: str, question: str, **but: Any) -> str:
    told: dict[str, Any] = {
        "id": key,
        "product": "kettle",
        "release": "2.0",
        "kind": "option",
        "question": question,
        "answerable": True,
        "must": ["9090"],
        "section": [{"page": "dashboard.rst", "heading": "Opening the dashboard"}],
        "half": "tune",
    }
    return json.dumps(told | but)


async def test_answers_are_scored_and_nothing_of_it_is_kept(bot: Bot, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    outside: dict[str, Any] = {"answerable": False, "must": [], "section": [], "kind": "unanswerable"}
    path.write_text(
        "\n".join(
            [
                line("port", "Which port does the dashboard listen on by default?"),
                line("wrong", "Which port does the dashboard listen on?", must=["code:kettle whistle"]),
                line("outside", "Who won the chess olympiad in Lugano?", **outside),
                line("later", "Which port?", half="report"),
                line("other", "Which port?", product="teapot"),
            ]
        )
        + "\n"
    )
    before = await bot.counts()
    said: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    request = {"command": "evaluate", "answers": str(path), "half": "tune"}
    await handle(bot.app, request | {"report": str(tmp_path / "report"), "details": True}, send)
    assert said[-1] == {"code": 0}
    shown = said[0]["line"]
    assert "| tune | 3 | 0.500 | 0.000 | 1.000 |" in shown and "teapot" not in shown
    details = {text["line"].split(" ", 2)[1]: text["line"] for text in said[1:-1]}
    assert "does not hold 'code:kettle whistle'" in details["wrong"] and "outside" not in details
    assert await bot.counts() == before
    assert len(noted(bot.kettle.home)) == 1, "forgetting finds the report"

    said.clear()
    await handle(bot.app, request | {"json": True}, send)
    found = json.loads(said[0]["line"])
    assert found["groups"]["all"]["n"] == 3
    port, wrong, _ = found["questions"]
    assert port["right"] and port["section"] and "9090" in port["text"] and not wrong["right"]

    said.clear()
    bot.app.searcher.learning.add("2.0")
    await handle(bot.app, request, send)
    assert said[0]["note"].startswith("The sentences of 2.0 are still to be learnt:")


async def test_too_few_quotes_teach_a_home_nothing(bot: Bot, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    asked = "Which port does the dashboard listen on by default?"
    path.write_text("\n".join([line("one", asked), line("two", asked, half="report")]))
    request = {"command": "tune", "answers": str(path)}

    async def send(message: dict[str, Any]) -> None:
        raise AssertionError(message)

    before = bot.app.searcher.ranking
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "this needs 20"),
        ({"gold": "gold.jsonl"}, "one after the other"),
        ({"reset": True}, "--reset"),
    )
    for added, said in refused:
        with pytest.raises(UsageError, match=said):
            await handle(bot.app, request | added, send)
    assert bot.app.searcher.ranking is before and not (bot.kettle.home / FILE).exists()


def test_answers_are_measured_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["evaluate", "gold.jsonl", "--answers", "answers.jsonl", "--report", "r"])
    assert end.value.code == 2
    assert "--answers FILE" in capsys.readouterr().err


@pytest.mark.parametrize("what", ["answers", "followups", "promoted", "recipe"])
async def test_a_folder_that_cannot_hold_the_report_is_told_first(
    bot: Bot, tmp_path: Path, what: str
) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(line("port", "Which port does the dashboard listen on by default?") + "\n")
    asked = {"answers": str(path), "followups": [str(path)], "promoted": True, "recipe": ["qamr"]}
    request = {"command": "evaluate", what: asked[what], "report": str(path)}
    said: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        said.append(message)

    with pytest.raises(UsageError, match="cannot hold a report"):
        await handle(bot.app, request | ({"gold": str(path)} if what == "recipe" else {}), send)
    assert not any("line" in message for message in said)
