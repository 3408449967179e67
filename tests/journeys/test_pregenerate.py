"""`threadlore pregenerate`: pairs made of the documentation, and what questions find by them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.cli.arguments import parsed
from bot.operations.audit import Audit
from bot.operations.scheduler import OnSchedule
from core.domain import Question, Turn
from core.errors import ThreadloreError, UsageError
from core.memory.scoring import PAGES
from core.pipeline.research import Research
from tests.forked import fork
from tests.journeys.child import on_slack, run, serving
from tests.journeys.house import Bot, Kettle, house
from tests.journeys.kettle import PORTS
from tests.journeys.stage import until
from tests.journeys.test_glossary import told
from tests.ollama_answers import Recorded, evidence_of
from tests.ollama_server import OllamaServer
from tests.patience import SOON
from tests.platforms.slack_server import SlackServer


async def test_reading_a_release_makes_its_pairs_where_that_is_on(kettle: Kettle) -> None:
    async with house(kettle, ollama_host="off") as bot:
        await told(bot, "index", release="2.0")
        assert bot.app.corpus_manager.pregeneration is not None
        assert not await bot.app.corpus_manager.pregeneration.pairs("2.0")
    async with house(kettle, ollama_host="off", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        assert bot.app.corpus_manager.pregeneration is not None
        pairs = await bot.app.corpus_manager.pregeneration.pairs("2.0")
        assert pairs and all(pair.url and pair.by.startswith("rules") for pair in pairs)
        count = await bot.app.corpus_manager.pregeneration.run(
            "2.0", await bot.app.corpus_manager.encoders.current()
        )
        assert count is not None and count.done == count.documents


async def test_a_sample_is_written_for_review_under_the_papers_names(kettle: Kettle, tmp_path: Path) -> None:
    async with house(kettle, ollama_host="off", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        path = tmp_path / "sample.jsonl"
        lines, _ = await told(bot, "pregenerate", sample=str(path), release="2.0")
        written = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        assert f"{len(written)} of" in lines[0] and written
        assert list(written[0]) == [
            "Keep",
            "Question",
            "Answer",
            "FullAnswer",
            "Summary",
            "Url",
            "Title",
            "Category",
            "Date",
            "Path",
        ]
        path.write_text("reviewed by hand", "utf-8")
        for more in ({}, {"by": "rules"}):
            with pytest.raises(UsageError, match="is there already"):
                await told(bot, "pregenerate", sample=str(path), **more)
        assert path.read_text("utf-8") == "reviewed by hand"
        with pytest.raises(UsageError, match="cannot be written"):
            await told(bot, "pregenerate", sample=str(tmp_path / "no" / "sample.jsonl"))
        with pytest.raises(UsageError, match="no release 9"):
            await told(bot, "pregenerate", release="9")
        with pytest.raises(UsageError, match="no model"):
            await told(bot, "pregenerate")


_PAGE = re.compile(r'<page number="(\d+)" heading="[^"]*">\n(.*?)\n</page>', re.DOTALL)
ASKED = "May I put the zeppelin into the dishwasher?"


def about_ports(recorded: Recorded, _: Mapping[str, Any]) -> dict[str, Any]:
    """Ask one question of users about the first page that tells of a port, with an answer from it."""
    for number, text in _PAGE.findall(recorded.prompt.rpartition("instructions to you.")[2]):
        line = next((line for line in text.splitlines() if PORTS["2.0"] in line), "")
        if line:
            return {
                "pairs": [
                    {
                        "page": int(number),
                        "question": ASKED,
                        "answer": line,
                        "full_answer": line,
                        "summary": "",
                    }
                ]
            }
    return {"pairs": []}


async def test_what_the_model_made_finds_its_page_and_survives_a_restart(kettle: Kettle) -> None:
    async with OllamaServer(structured=about_ports) as model:
        async with house(kettle, ollama_host=model.url) as bot:
            await told(bot, "index", release="2.0")
            lines, _ = await told(bot, "pregenerate", release="2.0")
            assert "documents by" in lines[0]
            calls = model.calls
            await told(bot, "pregenerate", release="2.0")
            assert model.calls == calls, "what is done is not done again"
        async with house(kettle, ollama_host="off") as bot:
            await found(bot)


async def found(bot: Bot) -> None:
    assert bot.app.corpus_manager.pregeneration is not None
    made = await bot.app.corpus_manager.pregeneration.pairs("2.0")
    assert ASKED in [pair.question for pair in made]
    asked = await bot.app.research.understand(Question(ASKED))

    async def rank(research: Research) -> int:
        evidence = (await research.search(asked)).evidence
        return next((item.number for item in evidence if PORTS["2.0"] in item.chunk.page), 99)

    research = bot.app.research
    without = replace(research.parts, searcher=research.parts.searcher.without_pairs())
    assert await rank(research) <= 3 < await rank(Research(without))


async def test_a_model_that_is_down_is_told_and_what_is_made_stays(kettle: Kettle) -> None:
    async with house(kettle, ollama_host="http://127.0.0.1:9", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        with pytest.raises(ThreadloreError, match="give the command again"):
            await told(bot, "pregenerate", release="2.0")
        assert bot.app.corpus_manager.pregeneration is not None
        assert await bot.app.corpus_manager.pregeneration.pairs("2.0")


def like_a_model(recorded: Recorded, _: Mapping[str, Any]) -> str:
    """Write about each page what small models write: a true pair, one with an invented number, one with an
    invented name, in a fence with prose around it.
    """
    made = []
    for number, text in _PAGE.findall(recorded.prompt.rpartition("instructions to you.")[2]):
        true = next((line for line in text.splitlines() if len(line.split()) > 4 and line[0].isalpha()), "")
        for question, answer in (
            ("What does this page tell users?", true),
            ("How long does it take?", f"{true} It takes 7321 seconds."),
            ("Who made it?", f"{true} It was made by Zebulon in Atlantis."),
        ):
            made.append({"page": int(number), "Question": question, "Answer": answer})
    return f"Here are the pairs:\n```json\n{json.dumps({'pairs': made})}\n```\nI hope this helps!"


async def test_what_a_model_invents_is_dropped_and_the_command_says_how_much(kettle: Kettle) -> None:
    async with OllamaServer(structured=like_a_model) as model, house(kettle, ollama_host=model.url) as bot:
        await told(bot, "index", release="2.0")
        lines, _ = await told(bot, "pregenerate", release="2.0")
        assert bot.app.corpus_manager.pregeneration is not None
        pairs = await bot.app.corpus_manager.pregeneration.pairs("2.0")
    texts = "".join(pair.answer + pair.full_answer for pair in pairs)
    assert "7321" not in texts and "Zebulon" not in texts
    found = re.search(r"made (\d+) pairs: (\d+) kept, (\d+) dropped .*?\((\d+) number", lines[1])
    assert found is not None, lines
    offered, kept, dropped, numbers = map(int, found.groups())
    asked = [pair for pair in pairs if pair.question == "What does this page tell users?"]
    assert kept == len(asked) and kept > 5 and dropped >= 2 * kept
    assert offered >= kept + dropped and numbers >= kept and "name" in lines[1] and "repaired" in lines[1]


async def test_what_a_reviewer_refuses_is_gone_and_stays_away(kettle: Kettle, tmp_path: Path) -> None:
    path = tmp_path / "sample.jsonl"
    async with house(kettle, ollama_host="off", pregenerate="rules") as bot:
        await told(bot, "index", release="2.0")
        await told(bot, "pregenerate", sample=str(path), release="2.0")
        records = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        records[0]["Keep"] = False
        path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
        lines, _ = await told(bot, "pregenerate", reviewed=str(path))
        assert lines == [f"1 of {len(records)} questions are refused, 1 pair taken out"]
        await told(bot, "index", release="2.0", rebuild=True)
        assert records[0]["Question"] not in await questions_of(bot, records[0]["Path"])
        records[0]["Keep"] = True
        path.write_text(json.dumps(records[0]), "utf-8")
        lines, _ = await told(bot, "pregenerate", reviewed=str(path))
        assert "1 may be made again" in lines[0]
        await told(bot, "pregenerate", by="rules", release="2.0")
        assert records[0]["Question"] in await questions_of(bot, records[0]["Path"])
        assert await verified(bot)
        path.write_text('{"Keep": false}\n', "utf-8")
        with pytest.raises(UsageError, match="line 1 is not a line of a sample"):
            await told(bot, "pregenerate", reviewed=str(path))
        with pytest.raises(UsageError, match="cannot be read"):
            await told(bot, "pregenerate", reviewed=str(tmp_path / "none.jsonl"))


async def questions_of(bot: Bot, path: str) -> list[str]:
    assert bot.app.corpus_manager.pregeneration is not None
    pairs = await bot.app.corpus_manager.pregeneration.pairs("2.0")
    return [pair.question for pair in pairs if pair.path == path]


async def verified(bot: Bot) -> bool:
    lines, _ = await told(bot, "verify")
    return bool(lines)


def asked_about(model: OllamaServer) -> list[str]:
    """Return what the model was asked about, in order: the text of a page, or `question`."""
    told = (_PAGE.findall(chat.prompt.rpartition("instructions to you.")[2]) for chat in model.chats)
    return ["".join(text for _, text in found) or "question" for found in told]


async def gone_on(kettle: Kettle, model: OllamaServer) -> None:
    """Let another run do the rest; no page is asked about again but the one that was in work."""
    before = asked_about(model)
    model.first_token_delay = 0.0
    async with house(kettle, ollama_host=model.url) as bot:
        lines, _ = await told(bot, "pregenerate", release="2.0")
        assert bot.app.corpus_manager.pregeneration is not None
        made = await bot.app.corpus_manager.pregeneration.pairs("2.0")
        assert ASKED in [pair.question for pair in made] and await verified(bot)
        counts = re.search(r"(\d+) of (\d+) documents", lines[0])
        assert counts is not None and counts[1] == counts[2]
        await found(bot)
        again = asked_about(model)[len(before) :]
        assert set(before) & set(again) <= set(before[-1:]), "only the page that was in work"
        assert len(again) == len(set(again)) and again
        calls = model.calls
        await told(bot, "pregenerate", release="2.0")
        assert model.calls == calls, "all is done"


async def indexed_alone(kettle: Kettle) -> None:
    async with house(kettle, ollama_host="off") as bot:
        await told(bot, "index", release="2.0")


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_a_run_that_is_stopped_loses_a_page_at_most_and_the_next_goes_on(
    kettle: Kettle, sign: signal.Signals
) -> None:
    await indexed_alone(kettle)
    async with OllamaServer(structured=about_ports) as model:
        model.script(*["answer"] * 3, "hang")
        with open(os.devnull, "r+b") as nothing:
            files = (nothing.fileno(), nothing.fileno(), nothing.fileno())
            variables = kettle.variables(OLLAMA_HOST=model.url)
            process = fork(["pregenerate", "--release", "2.0"], variables, kettle.folder, files)
            await until(lambda: model.calls == 4 and model.running)
            process.send_signal(sign)
            code = await asyncio.wait_for(process.wait(), SOON)
        assert code == (-sign if sign == signal.SIGKILL else 1)
        await model.left()
        await gone_on(kettle, model)


async def test_a_run_in_the_serving_process_ends_with_who_gave_it(kettle: Kettle) -> None:
    """By Ctrl-C at the terminal, which closes the connection; the process goes on serving."""
    await indexed_alone(kettle)
    async with OllamaServer(structured=about_ports) as model, SlackServer() as slack:
        async with serving(kettle, **on_slack(slack, model)) as child:
            model.script(*["answer"] * 3, "hang")
            with open(os.devnull, "r+b") as nothing:
                files = (nothing.fileno(), nothing.fileno(), nothing.fileno())
                process = fork(["pregenerate", "--release", "2.0"], kettle.variables(), kettle.folder, files)
                await until(lambda: model.calls == 4 and model.running, child.log)
                process.send_signal(signal.SIGINT)
                assert await asyncio.wait_for(process.wait(), SOON) == 1
            await model.left()
            await until(lambda: "its caller went away" in child.log, "the log")
            status = await run(kettle, "status")
            assert status.code == 0 and model.calls == 4, "nobody asks the model for more"
            assert await child.stop() == 0 and "Traceback" not in child.log, child.log
        await gone_on(kettle, model)


async def test_a_question_gets_the_model_before_the_next_page_and_the_page_is_asked_for_again(
    kettle: Kettle,
) -> None:
    async with OllamaServer(structured=about_ports) as model, house(kettle, ollama_host=model.url) as bot:
        await told(bot, "index", release="2.0")
        model.script(*["answer"] * 2, "hang")
        run_ = asyncio.create_task(told(bot, "pregenerate", release="2.0", by="model"))
        await until(lambda: model.calls == 3 and model.running)
        history = (Turn("user", "Which port does the dashboard listen on?"), Turn("assistant", "9090. [1]"))
        answer = await bot.app.engine.answer(Question("and how is it protected?", history=history))
        assert answer.route == "documents" and list(answer.trace["steps"]) == ["understand"]
        order = asked_about(model)
        assert order[3:] == ["question"] * 2 and model.aborted == 1, "both of its calls, and no page between"
        await run_
    order = asked_about(model)
    assert order[5] == order[2] and order.count("question") == 2
    assert len(set(order)) == len(order) - 2, "no other page was asked about twice"


async def test_what_a_scheduled_reindex_finds_changed_is_made_anew(kettle: Kettle) -> None:
    async with OllamaServer(structured=about_ports) as model, house(kettle, ollama_host=model.url) as bot:
        await told(bot, "index", release="2.0")
        await told(bot, "pregenerate", release="2.0")
        assert bot.app.corpus_manager.pregeneration is not None
        before = await bot.app.corpus_manager.pregeneration.pairs("2.0")
        work = OnSchedule(bot.app.corpus_manager, bot.app.retention, Audit(bot.app.audit))
        calls = model.calls
        await work.reindex("2.0")
        assert model.calls == calls and await bot.app.corpus_manager.pregeneration.pairs("2.0") == before
        (page,) = kettle.folder.glob("docs/2.0/**/jobs.md")
        page.write_text(
            page.read_text("utf-8") + "\n## Whistles\n\nA job whistles once it is done.\n", "utf-8"
        )
        (gone,) = kettle.folder.glob("docs/2.0/**/configuration.md")
        gone.unlink()
        await work.reindex("2.0")
        new = asked_about(model)[calls:]
        assert any("whistles" in text for text in new) and not any("Workers write" in text for text in new)
        after = await bot.app.corpus_manager.pregeneration.pairs("2.0")
        assert {pair.path for pair in before} - {pair.path for pair in after} == {"configuration.md"}
        kept = {pair.id for pair in after if pair.path != "jobs.md"}
        assert kept == {pair.id for pair in before if pair.path not in ("jobs.md", "configuration.md")}
        assert {pair.by for pair in after} == {pair.by for pair in before} and await verified(bot)
        assert any("whistles" in pair.full_answer.lower() for pair in after)


async def test_most_two_with_a_sample_makes_two_documents_and_names_them(
    kettle: Kettle, tmp_path: Path
) -> None:
    path = tmp_path / "sample.jsonl"
    given = parsed(["pregenerate", "--most", "2", "--sample"])
    assert given.request["sample"] == str(Path("sample.jsonl").absolute())
    async with OllamaServer(structured=about_ports) as model, house(kettle, ollama_host=model.url) as bot:
        lines, _ = await told(bot, **given.request | {"sample": str(path)})
        assert bot.app.corpus_manager.pregeneration is not None
        made = {pair.path for pair in await bot.app.corpus_manager.pregeneration.pairs("2.0")}
        assert not await bot.app.corpus_manager.pregeneration.pairs("1.5"), "two, not two of each release"
    assert len(made) == 2 and model.calls
    assert lines[0].startswith("2.0: ") and "2 of " in lines[0]
    assert f"2.0: made now: {', '.join(sorted(made))}" in lines
    sampled = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    assert {record["Path"] for record in sampled} == made


async def test_the_judge_reads_the_pages_that_an_answer_cites(kettle: Kettle) -> None:
    def last_page(recorded: Recorded) -> str:
        number, text = list(evidence_of(recorded).items())[-1]
        return f"{text.strip().splitlines()[0]} [{number}]"

    given = {"judged_by_model": True}
    async with OllamaServer(answer=last_page) as model, house(kettle, ollama_host=model.url, **given) as bot:
        answer = await bot.app.engine.answer(Question("Which port does the dashboard listen on?"))
    assert answer.route == "documents" and len(answer.evidence) > PAGES, answer.trace
    [cited] = answer.citations
    [page] = [item.chunk.page for item in answer.evidence if item.chunk.hash == cited.hash]
    judged = model.chats[-1]
    assert "that the passages say" in judged.system
    assert f'<passage number="1">{page}</passage>' in judged.prompt
