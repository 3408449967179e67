"""The report of load: fresh questions, the other bot on a tiny corpus, aims, history, what got worse."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.benchmarks.fresh import Questions
from tests.benchmarks.load_report import FINDING, OURS, RIVAL, draw, figures_of, text_of
from tests.benchmarks.reports import Figure, compare, machine, worse, write
from tests.benchmarks.side import asked
from tests.soak.plot import draw_soak

PAGES = [
    ("Kettle > Backups", "Every night the archive is copied to another folder."),
    ("Kettle > Dashboard", "The dashboard listens on port 8420 and shows the queue."),
]


def test_no_question_is_made_twice() -> None:
    made = Questions(PAGES, ["How do I start Kettle?"], random.Random(1))
    some = [made.fresh() for _ in range(300)]
    assert len(set(some)) == 300 == len(made)
    assert any("How do I start Kettle?" in text for text in some)


async def test_everybody_asks_one_question_after_the_other() -> None:
    heard: list[str] = []

    async def ask(release: str, text: str) -> None:
        heard.append(text)

    told = await asked([("1.0", str(number)) for number in range(7)], 3, ask)
    assert sorted(heard) == list("0123456") and len(told["ms"]) == 7 and told["seconds"] > 0


def test_the_other_bot_finds_pages_of_the_release_only(tmp_path: Path) -> None:
    pytest.importorskip("llama_index.vector_stores.chroma", reason="pip install -e '.[test]' brings it")
    from llama_index.core.embeddings import MockEmbedding

    from tests.benchmarks.rival import Rival

    pages, rows = {}, []
    for release in ("1.0", "2.0"):
        for number, (_, text) in enumerate(PAGES):
            key = f"{release} {number}"
            pages[key] = {"path": f"{number}.md", "text": text}
            vector = [0.6, 0.8] if number else [1.0, 0.0]
            rows.append({"id": f"{key} a", "release": release, "page": key, "text": text, "vector": vector})
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "pages.json").write_text(json.dumps(pages))
    found = Rival(tmp_path, MockEmbedding(embed_dim=2)).find("2.0", "Which port does the dashboard use?")
    assert {release for release, _, _ in found} == {"2.0"} and len(found) == 2
    assert {path for _, path, _ in found} == {"0.md", "1.md"}


def _found() -> dict[str, object]:
    rows = {1: {"rate": 40.0, "p50": 20.0, "p95": 30.0}}
    return {
        "sides": {OURS: rows, FINDING: rows, RIVAL: {1: {"rate": 8.0, "p50": 100.0, "p95": 200.0}}},
        "starts": [2.0, 2.5, 9.0],
        "reuse": {"reuse": [6.0, 8.0], "embedding": [5.0, 4.0]},
        "memory_mb": {OURS: 500.0, RIVAL: 900.0},
        "hit@3": {OURS: 0.9, RIVAL: 0.7},
        "golden": 3,
        "passages": 4,
        "machine": machine(),
        "at": "2026-01-01",
        "load_after": 0.5,
    }


def test_the_report_says_which_aims_are_met(tmp_path: Path) -> None:
    found = _found()
    figures = {figure.name: figure for figure in figures_of(found)}
    assert figures["answers beside llama-index's finding, 1 at once"].value == 5.0
    assert figures["start to first answer"].met and figures["start to first answer"].value == 2.5
    assert figures["reuse beside embedding alone"].met is False
    drawn = draw(found, tmp_path)
    text = text_of(found, list(figures.values()), [], drawn)
    assert "| 1 | 40.0 | 40.0 | 8.0 |" in text and "**missed**" in text and "Nothing." in text
    write(tmp_path, "load", found, text)
    assert {path.name for path in tmp_path.iterdir()} >= {"load.json", "load.md", *drawn}


def test_what_got_worse_by_over_a_fifth_on_such_a_machine_is_named(tmp_path: Path) -> None:
    known = machine()
    first = [Figure("p95", 100.0, "ms"), Figure("answers", 50.0, "a second", lower=False)]
    assert compare(tmp_path, "load", known, first) == []
    second = [Figure("p95", 121.0, "ms"), Figure("answers", 45.0, "a second", lower=False)]
    assert compare(tmp_path, "load", known, second) == ["p95 is 21% worse: 121 ms, it was 100"]
    assert compare(tmp_path, "load", known | {"cores": 64}, first) == []
    assert worse([Figure("answers", 40.0, "", lower=False)], {"answers": 50.0}) == [
        "answers is 25% worse: 40, it was 50"
    ]
    assert len((tmp_path / "history.jsonl").read_text().splitlines()) == 3


def test_a_soak_is_drawn(tmp_path: Path) -> None:
    keys = ("rss_mb", "own_rss_mb", "handles", "threads", "p95_ms", "p50_ms", "load", "cores")
    samples = [dict.fromkeys(keys, 1.0) | {"seconds": float(at)} for at in (0, 60)]
    assert all((tmp_path / name).stat().st_size for name in draw_soak({"samples": samples}, tmp_path))
