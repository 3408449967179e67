"""`threadlore evaluate --promoted` on the whole bot: nothing of memory changes, and the code says it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bot.cli.main import main
from bot.commands.command_line import handle
from bot.privacy.exports import noted
from core.domain import Question, Vote
from core.errors import UsageError
from core.query.attributes import load
from tests.journeys.house import Bot
from tests.ollama_server import OllamaServer

QUESTIONS = ("Which port does the dashboard listen on?", "How often is a failed job tried again by default?")
ANN = "slack:UANN"


async def promoted(bot: Bot, **request: Any) -> tuple[list[str], int]:
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await handle(bot.app, {"command": "evaluate", "promoted": True, **request}, send)
    return [m[key] for m in messages for key in ("line", "note") if key in m], messages[-1]["code"]


async def test_what_would_be_answered_differently_after_a_change_is_listed(bot: Bot, tmp_path: Path) -> None:
    for text in QUESTIONS:
        answer = await bot.app.engine.answer(Question(text, ANN))
        await bot.app.engine.feedback(Vote(answer.id, ANN, 1))
    brought = json.dumps({"question": "What is steam?", "answer": "Hot.", "release": "2.0"})
    await handle(bot.app, {"command": "memory", "action": "import", "text": brought}, _nobody)
    before = await bot.counts()
    lines, code = await promoted(bot)
    assert code == 0 and lines == [
        "1 answers that people wrote or brought are not asked again.",
        "0 of 2 promoted answers would now be other ones.",
    ]

    given = {"command": "finetune", "action": "export", "folder": str(tmp_path / "data")}
    await handle(bot.app, given, _nobody)
    taught = (tmp_path / "data" / "train.inst.jsonl").read_text(encoding="utf-8").splitlines()
    held = (tmp_path / "data" / "test.inst.jsonl").read_text(encoding="utf-8").splitlines()
    said = " ".join((*taught, *held))
    assert (
        len(taught) == 2 and len(held) == 1 and all(text in said for text in (*QUESTIONS, "What is steam?"))
    )
    assert "3; train 2, test 1" in (tmp_path / "data" / "README.md").read_text(encoding="utf-8")

    lists = {"static": "how do I clean part {}?", "dynamic": "is server {} down right now?"}
    labelled = tmp_path / "own.toml"
    rows = (f"{kind} = {json.dumps([text.format(n) for n in range(10)])}" for kind, text in lists.items())
    parts = {"tables": "how many rows has table {}?", "colors": "which color has wall {}?"}
    domains = (f"{name} = {json.dumps([text.format(n) for n in range(10)])}" for name, text in parts.items())
    labelled.write_text("\n".join([*rows, "[domains]", *domains]), encoding="utf-8")
    told: list[str] = []

    async def hear(message: dict[str, Any]) -> None:
        told.append(message.get("line", ""))

    await handle(bot.app, {"command": "train-attributes", "file": str(labelled)}, hear)
    assert told[0].startswith("20 questions, 10 folds: accuracy ")
    assert told[1].startswith("20 questions of 2 domains, 10 folds: accuracy ")
    own, problem = load(bot.kettle.home / "attributes.json")
    encoder = await bot.app.corpus_manager.encoders.current()
    (vector,) = await encoder.encode(["is server 7 down right now?"])
    assert not problem and own.knows(encoder.name) and own.is_dynamic(vector)
    with pytest.raises(UsageError, match="--model needs a model"):
        await handle(bot.app, {"command": "train-attributes", "file": str(labelled), "model": True}, _nobody)
    (table,) = await encoder.encode(["how many rows has table 42?"])
    assert own.domain(table) == "tables"

    page = bot.kettle.folder / "docs" / "2.0" / "dashboard.rst"
    page.write_text(page.read_text().replace("9090", "9191"))
    await bot.app.corpus_manager.reindex("2.0")
    lines, code = await promoted(bot, report=str(tmp_path / "report"))
    assert code == 1 and lines[-2] == "1 of 2 promoted answers would now be other ones."
    assert QUESTIONS[0] in lines[1] and any("9191" in line for line in lines)
    report = json.loads((tmp_path / "report" / "promoted.json").read_text(encoding="utf-8"))
    assert (report["replayed"], report["changed"], report["model"]) == (2, 1, "none")
    assert len(noted(bot.kettle.home)) == 2 + 4, "forgetting finds the report and what was exported"

    after = await bot.counts()
    assert {key: after[key] for key in ("answers", "pairs", "votes", "high", "low")} == {
        key: before[key] for key in ("answers", "pairs", "votes", "high", "low")
    }


async def test_the_model_s_own_labels_are_measured_beside_what_is_learned(
    writer: Bot, ollama: OllamaServer, tmp_path: Path
) -> None:
    lists = {"static": "how do I clean part {}?", "dynamic": "is server {} down right now?"}
    labelled = tmp_path / "own.toml"
    rows = (f"{kind} = {json.dumps([text.format(n) for n in range(10)])}" for kind, text in lists.items())
    labelled.write_text("\n".join(rows), encoding="utf-8")
    told: list[str] = []

    async def hear(message: dict[str, Any]) -> None:
        told.append(message.get("line", ""))

    ollama.answer = lambda chat: (
        "dynamic" if "right now" in chat.body["messages"][-1]["content"] else "static"
    )
    before = ollama.calls
    given = {"command": "train-attributes", "file": str(labelled), "model": True}
    await handle(writer.app, given, hear)
    assert ollama.calls - before == 60, "three samples agree at once"
    assert "20 questions: accuracy 1.000, F1 1.000; 3.00 calls and" in told[1]
    assert told[1].endswith("0 samples said neither, 0 questions got no label.")


MEASURED = "or --promoted or --unasked FILE alone"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], MEASURED),
        (["gold.jsonl"], "name a folder for the report, which is made: --report DIR"),
        (["--report", "r"], MEASURED),
        (["gold.jsonl", "--promoted"], MEASURED),
    ],
)
def test_a_file_or_the_promoted_ones_are_measured(
    given: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main(["evaluate", *given])
    assert end.value.code == 2
    assert said in capsys.readouterr().err


async def _nobody(_: dict[str, Any]) -> None:
    return None
