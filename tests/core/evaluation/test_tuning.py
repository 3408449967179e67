"""`threadlore tune`: learns where the shipped ranking is wrong, and is never worse on the held-out half."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain import Document, Product, Release, Section
from core.errors import UsageError
from core.learning.fit import fit_weights
from core.pipeline.research import Research
from core.retrieval.features import FEATURES
from core.retrieval.pregenerated import FIELDS
from core.retrieval.ranking import DEFAULT_RANKING, DEFAULT_WEIGHTS, Ranking, load_ranking, save_ranking
from core.retrieval.search import Searcher
from evaluation.gold import read_gold
from evaluation.tuning.examples import examples_of, quality
from evaluation.tuning.learn import halves, tune
from tests.core.evaluation.small import house, line

NAMES = [
    f"{a}{b}"
    for a in ("mur", "tel", "kos", "vin", "dar", "pol", "sab")
    for b in ("ga", "ni", "lo", "re", "tu", "zi")
]


async def corpus(pairs: bool = False) -> tuple[Research, Searcher]:
    """Index a product whose questions are answered by its reference, beside guides of the same words."""
    guides = [
        Document(
            f"{name}.md", name, "", (Section((name,), "", f"The {name} lever moves. Set the {name} lever."),)
        )
        for name in NAMES
    ]
    entries = tuple(
        Section(("Reference", f"Kettle.{name}()"), name, f"The {name} lever moves. It is {n + 20} mm long.")
        for n, name in enumerate(NAMES)
    )
    product = Product("Kettle", (), (Release("2.0", latest=True),))
    reference = Document("reference.md", "Reference", "", entries)
    return await house(product, {"2.0": [*guides, reference]}, pairs=pairs)


def gold(folder: Path, *, of_guides: str = "", silent: int = 0) -> Path:
    """Write a question for each lever; those of the half `of_guides` are answered by the guides."""
    lines: list[dict[str, Any]] = []
    for n, name in enumerate(NAMES):
        split = ("tune", "report")[n % 2]
        place: dict[str, Any] = {"gold_file": "reference.md", "evidence": [f"{n + 20} mm"]}
        if split == of_guides:
            place = {"gold_file": f"{name}.md", "evidence": [f"Set the {name} lever"]}
        lines.append(line(f"q{n}", f"which way does the {name} lever move?", split=split, **place))
    for n in range(silent):
        split = ("tune", "report")[n % 2]
        lines.append(
            line(f"s{n}", f"who won the chess cup of {1950 + n}?", "", type="out_of_scope", split=split)
        )
    path = folder / "gold.jsonl"
    path.write_text("\n".join(json.dumps(entry) for entry in lines), "utf-8")
    return path


async def held_out(research: Research, searcher: Searcher, path: Path, ranking: Ranking) -> float:
    """Return the MRR of the held-out half by a ranking."""
    examples = await examples_of(research, searcher.by(ranking), read_gold(path, "report"))
    row = np.array([ranking.weights[name] for name in FEATURES])
    return quality(examples, [row] * len(examples)).mrr


async def test_it_learns_where_the_shipped_ranking_is_wrong(tmp_path: Path) -> None:
    research, searcher = await corpus()
    path = gold(tmp_path)
    told: list[str] = []
    tuned = await tune(research, searcher, path, told.append)
    assert tuned.ranking is not None and "gold.jsonl" in tuned.ranking.tuned
    assert tuned.ranking.weights["reference"] > DEFAULT_WEIGHTS["reference"]
    before, after = (
        await held_out(research, searcher, path, DEFAULT_RANKING),
        await held_out(research, searcher, path, tuned.ranking),
    )
    assert after > before
    assert searcher.ranking == DEFAULT_RANKING  # trying is not using
    assert len(told) == 12 and "confidence is left as it is" in tuned.told[1]


async def test_what_is_worse_on_the_held_out_half_is_not_kept(tmp_path: Path) -> None:
    research, searcher = await corpus()
    tuned = await tune(research, searcher, gold(tmp_path, of_guides="report"))
    assert tuned.ranking is None
    assert "the shipped ranking is kept: on the held-out half" in tuned.told[0]


async def test_where_nothing_is_better_the_shipped_one_stays(tmp_path: Path) -> None:
    research, searcher = await corpus()
    path = gold(tmp_path)
    entries = [json.loads(entry) for entry in path.read_text().splitlines()]
    for n, entry in enumerate(entries):
        entry |= {"gold_file": f"{NAMES[n]}.md", "evidence": [f"Set the {NAMES[n]} lever"]}
    path.write_text("\n".join(json.dumps(entry) for entry in entries))
    tuned = await tune(research, searcher, path)
    assert tuned.ranking is None and "nothing learnt does better" in tuned.told[0]


async def test_confidence_is_learnt_only_if_no_worse(tmp_path: Path) -> None:
    research, searcher = await corpus()
    tuned = await tune(research, searcher, gold(tmp_path, silent=40))
    assert "lost" in tuned.told[1] and "abstained" in tuned.told[1]
    if tuned.ranking and tuned.ranking.judgement != DEFAULT_RANKING.judgement:
        assert tuned.told[1].startswith("confidence learnt")
    else:
        assert tuned.told[1].startswith("the shipped confidence is kept")


async def test_where_there_are_pairs_their_fields_are_weighed_too(tmp_path: Path) -> None:
    research, searcher = await corpus(pairs=True)
    tuned = await tune(research, searcher, gold(tmp_path))
    assert "fields of pairs weigh" in tuned.told[0] and tuned.ranking is not None
    assert set(tuned.ranking.fields) == set(FIELDS)
    path = tmp_path / "ranking.json"
    save_ranking(path, tuned.ranking, "e")
    assert load_ranking(path, "e")[0] == tuned.ranking


async def test_too_few_questions_are_refused(tmp_path: Path) -> None:
    research, searcher = await corpus()
    path = tmp_path / "few.jsonl"
    path.write_text("\n".join(gold(tmp_path).read_text().splitlines()[:10]))
    with pytest.raises(UsageError, match=r"few\.jsonl has 5 .*needs 20"):
        await tune(research, searcher, path)


def test_lines_without_a_split_are_halved_by_place(tmp_path: Path) -> None:
    entries = [line(f"q{n}", "what?", gold_file=f"{n // 2}.md") | {"split": ""} for n in range(60)]
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(json.dumps(entry) for entry in entries), "utf-8")
    learnt, held = halves(read_gold(path))
    assert len(learnt) + len(held) == 60 and min(len(learnt), len(held)) > 10
    pages = [
        {file for one in half for place in one.places.values() for file in place.files}
        for half in (learnt, held)
    ]
    assert not pages[0] & pages[1]


def test_fitting_finds_what_tells_right_pages_and_a_strong_pull_keeps_it_near() -> None:
    lot = np.random.default_rng(1)
    tables = [lot.normal(size=(10, 3)) for _ in range(40)]
    right = [table[:, 1] == table[:, 1].max() for table in tables]
    start = np.array([1.0, 0.0, 0.0])
    free = fit_weights(tables, right, start, 0.01)
    held = fit_weights(tables, right, start, 100.0)
    assert free[1] > 3 * abs(free[0]) and free[1] > 3 * abs(free[2])
    assert np.allclose(held, start, atol=0.05)
    assert np.array_equal(fit_weights(tables, [np.zeros(10, bool)] * 40, start, 0.1), start)
