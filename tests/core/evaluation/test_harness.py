"""Whole runs over a small product: each configuration really switches its step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from core.domain import Document, Product, Question, Release, Section
from core.errors import ConfigurationError, ModelInterrupted, ModelMalformed, ModelUnavailable, UsageError
from core.pipeline.research import Research
from core.pipeline.resources import ModelBudget
from core.ports import Prompt
from core.recipes import DEFAULT
from core.retrieval.found import Found
from core.retrieval.fusion import Weights
from evaluation.configurations import CONFIGURATIONS, OF_PAIRS, Baseline, Configuration, Mix
from evaluation.gold import read_gold
from evaluation.harness import Options, evaluate
from evaluation.metrics import likeness
from evaluation.pipeline import ask as ask_line
from evaluation.pipeline import stages_of
from evaluation.plots import draw
from evaluation.recipes import compare
from evaluation.report import markdown
from tests.core.evaluation.small import GOLD, PAGES, house, line, parts, write
from tests.fakes import FakeModel, Reply

KEYS = {"name", "n", "hit@1", "hit@3", "hit@8", "mrr", "wrong_release_top3", "abstain_precision"} | {
    "abstain_recall",
    "must_contain",
    "by_type",
    "by_release",
    "ms_p50",
    "model_calls",
}


async def ask(
    configuration: Configuration,
    key: str,
    tmp_path: Path,
    enough: float = 0.0,
    model: FakeModel | None = None,
) -> Any:
    gold = {g.id: g for g in read_gold(write(tmp_path))}
    made = await parts(model)
    made = Research(replace(made.parts, budget=ModelBudget(model)))
    stages = stages_of(made, DEFAULT, configuration, enough)
    return (await ask_line(stages, gold[key], configuration.standalone))[1]


def named(name: str) -> Configuration:
    return next(c for c in CONFIGURATIONS if c.name == name)


async def test_a_run_writes_every_figure_of_every_configuration(tmp_path: Path) -> None:
    told: list[str] = []
    report = tmp_path / "deep" / "report"
    found = await evaluate(await parts(), write(tmp_path), report, Options(plots=False), told.append)
    kept = json.loads((report / "evaluation.json").read_text("utf-8"))
    assert kept == json.loads(json.dumps(found))
    names = [c.name for c in CONFIGURATIONS if c.name not in ("+reduce", "+select")]  # only with a model
    assert [row["name"] for row in kept["configurations"]] == names
    assert all(row.keys() >= KEYS and row["n"] == len(GOLD) for row in kept["configurations"])
    assert len((report / "questions.jsonl").read_text("utf-8").splitlines()) == len(GOLD) * len(names)
    table = (report / "evaluation.md").read_text("utf-8")
    assert all(f"| {name} |" in table for name in names)
    assert len(told) == len(names)
    whole = next(row for row in kept["configurations"] if row["name"] == "all")
    assert whole["hit@1"] == 1.0 and whole["refused"] == 1.0 and whole["wrong_release_top3"] == 0.0
    assert kept["confidence"]["reliability"]["bins"] and kept["confidence"]["fitted"]["coefficients"]


async def test_pairs_have_rows_of_their_own_where_there_are_any(tmp_path: Path) -> None:
    product = Product("Kettle", (), (Release("2.0", latest=True),))
    page = Document("timer.md", "Timer", "", (Section(("Timer",), "", PAGES["timer.md"].format(minutes=45)),))
    with_pairs, _ = await house(product, {"2.0": [page]}, pairs=True)
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(GOLD[0]), "utf-8")
    found = await evaluate(with_pairs, path, tmp_path / "r", Options(plots=False, answers=False))
    rows = {row["name"]: row for row in found["configurations"]}
    of_steps = {"+reduce", "+select"}
    assert [*rows] == [c.name for c in (*CONFIGURATIONS, *OF_PAIRS) if c.name not in of_steps]
    assert rows["pairs alone"]["hit@1"] == 1.0 and rows["pairs: question by words"]["hit@1"] == 1.0
    without, _ = await house(product, {"2.0": [page]})
    options = Options(plots=False, answers=False, names=("pairs alone",))
    [row] = (await evaluate(without, path, tmp_path / "r", options))["configurations"]
    assert row["hit@8"] == 0.0


async def test_halves_and_names_choose_what_is_asked(tmp_path: Path) -> None:
    options = Options(half="report", names=("BM25 only", "base"), answers=False)
    found = await evaluate(await parts(), write(tmp_path), tmp_path, options)
    assert [row["name"] for row in found["configurations"]] == ["BM25 only", "base"]
    assert found["questions"] == 1
    assert found["configurations"][0]["must_contain"] is None
    assert found["confidence"] is None


async def test_without_rewriting_a_follow_up_is_asked_raw(tmp_path: Path) -> None:
    raw = await ask(named("base"), "again", tmp_path)
    assert raw.queries["base"] == "and in 1.0?" and raw.release == "1.0"
    rewritten = await ask(named("+rewrite"), "again", tmp_path)
    assert "timer" in rewritten.queries["base"] and rewritten.rank == 1
    alone = await ask(named("stand-alone"), "again", tmp_path)
    assert alone.queries["base"] == "what is the default of the timer in Kettle 1.0?"


async def test_without_dual_chunks_the_passage_alone_is_handed_over(tmp_path: Path) -> None:
    off = await ask(named("+rewrite"), "new", tmp_path)
    on = await ask(Configuration("x"), "new", tmp_path)
    assert off.rank == on.rank == 1
    assert "wash your hands" in on.contexts[0]  # from the page after it
    assert "wash your hands" not in off.contexts[0]


async def test_reducing_and_selecting_change_what_the_answer_is_written_from(tmp_path: Path) -> None:
    def of(**on: bool) -> Configuration:
        return Configuration("x", **({"reduce": False, "select": False} | on))

    def chosen(prompts: Sequence[Prompt]) -> Reply:
        if "You rank" in prompts[0].content:
            return {"reasoning": "", "ranking": [2, 1]}
        return ModelMalformed("That is no JSON.") if "keep" in prompts[0].content else "45 minutes [1]."

    model = FakeModel(chosen)
    plain = await ask(of(), "new", tmp_path, model=model)
    reduced = await ask(of(reduce=True), "new", tmp_path, model=model)
    selected = await ask(of(select=True), "new", tmp_path, model=model)
    assert reduced.characters < plain.characters and reduced.handed_rank
    assert 0 < len(selected.contexts) < len(plain.contexts)
    assert plain.rank == reduced.rank == selected.rank


async def test_one_corpus_brings_the_wrong_release(tmp_path: Path) -> None:
    mixed = await ask(named("one corpus"), "old", tmp_path)
    assert mixed.wrong_release
    assert {release for release, _ in mixed.retrieved} == {"1.0", "2.0"}
    apart = await ask(named("all"), "old", tmp_path)
    assert not apart.wrong_release


async def test_a_comparison_is_answered_from_both_releases(tmp_path: Path) -> None:
    for configuration in ("all", "BM25 only"):
        found = await ask(named(configuration), "both", tmp_path)
        assert found.rank == 1 and found.release == "1.0+2.0" and not found.wrong_release


async def test_unknown_releases_are_refused_and_weak_evidence_is_silent(tmp_path: Path) -> None:
    refused = await ask(named("all"), "missing", tmp_path)
    assert refused.refused and not refused.abstained and not refused.retrieved
    silent = await ask(named("all"), "nothing", tmp_path, enough=0.5)
    assert silent.abstained and silent.answer == ""


async def test_whether_an_answer_is_right_needs_something_that_it_must_contain(tmp_path: Path) -> None:
    timer, chess = "what is the default of the timer?", "who won the chess olympiad in 1972?"
    gold = [line("told", timer), line("open", timer, must_contain=[])]
    gold += [line("silent", chess), line("silent, open", chess, must_contain=[])]
    (tmp_path / "gold.jsonl").write_text("\n".join(map(json.dumps, gold)), "utf-8")
    stages = stages_of(await parts(), DEFAULT, named("all"), 0.5)
    found = [(await ask_line(stages, asked))[1] for asked in read_gold(tmp_path / "gold.jsonl")]
    assert [outcome.abstained for outcome in found] == [False, False, True, True]
    assert [outcome.right for outcome in found] == [True, None, False, None]


async def test_single_retrievers_leave_the_other_one_out() -> None:
    made = await parts()
    asked = await made.understand(Question("limescale filter spout"))
    found: dict[str, Found] = {}
    for name, mix in (
        ("dense", Mix(Weights(1.0, 0.0))),
        ("words", Mix(Weights(0.0, 1.0))),
        ("rank", Mix(Weights(0.5, 0.5), "rank")),
        ("union", Mix(fusion="union")),
    ):
        searcher = made.parts.searcher.by(retriever=Baseline(mix))
        found[name] = await searcher.search(asked.queries, asked.vectors, "2.0")
    assert {name: f.evidence[0].chunk.path for name, f in found.items()} == dict.fromkeys(found, "filter.md")
    # Only the pages with a word of the question are found by words; all of them by meaning.
    assert len(found["words"].evidence) < len(found["dense"].evidence)
    assert found["rank"].evidence[0].score < 0.05 < found["dense"].evidence[0].score
    assert len(found["union"].evidence) == 4


async def test_model_answers_are_written_from_what_was_handed_over_and_counted(tmp_path: Path) -> None:
    def script(prompts: Sequence[Prompt]) -> str:
        shown = prompts[-1].content
        return "It is 45 minutes [1]." if "45 minutes" in shown else "I don't know."

    model = FakeModel(script)
    made = await parts(model)
    found = await evaluate(made, write(tmp_path), tmp_path, Options(names=("all",), enough=0.0))
    row = found["configurations"][0]
    assert found["model"] == model.name
    assert row["model_calls"] == pytest.approx(len(model.calls) / len(GOLD), abs=1e-3)
    answers = {
        entry["id"]: entry
        for entry in map(json.loads, (tmp_path / "questions.jsonl").read_text().splitlines())
    }
    assert answers["new"]["right"] is True and answers["new"]["answer"] == "It is 45 minutes."
    assert answers["old"]["abstained"] is True  # the model said that it does not know


async def test_one_broken_answer_is_quoted_instead(tmp_path: Path) -> None:
    model = FakeModel(lambda prompts: ModelInterrupted("The answer broke off."))
    found = await evaluate(await parts(model), write(tmp_path), tmp_path, Options(names=("all",), enough=0.0))
    assert found["configurations"][0]["must_contain"] > 0
    gone = FakeModel(lambda prompts: ModelUnavailable("No server; start it."))
    found = await evaluate(await parts(gone), write(tmp_path), tmp_path, Options(names=("all",), enough=0.0))
    assert found["configurations"][0]["written"] == 0 < found["configurations"][0]["quoted"]


async def test_any_serving_recipe_is_measured_by_its_own_stages(tmp_path: Path) -> None:
    made = await parts()
    [row] = (
        await evaluate(
            made, write(tmp_path), tmp_path, Options(names=("all",), recipe="qamr", plots=False, enough=0.0)
        )
    )["configurations"]
    [same] = await compare(made, write(tmp_path), ["qamr"])
    assert (row["hit@1"], row["hit@8"], row["mrr"]) == (same["hit@1"], same["hit@8"], same["mrr"])
    with pytest.raises(ConfigurationError, match="no recipe 'stew'"):
        await evaluate(made, write(tmp_path), tmp_path, Options(recipe="stew"))


async def test_what_cannot_be_measured_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    made = await parts()
    with pytest.raises(UsageError, match=r"no configuration 'al'.*base"):
        await evaluate(made, write(tmp_path), tmp_path, Options(names=("al",)))
    with pytest.raises(UsageError, match="OLLAMA_HOST"):
        await evaluate(made, write(tmp_path), tmp_path, Options(judged=("all",)))
    with pytest.raises(UsageError, match=r"5\.0.*--config"):
        await evaluate(made, write(tmp_path, [line("a", "q?") | {"release": "5.0"}]), tmp_path)


def test_likeness_leaves_out_what_is_not_installed() -> None:
    scores = likeness(["the same words", "other"], ["the same words", "words"])
    assert scores.keys() <= {"bleu", "chrf", "rouge1", "rougeL", "bertscore"}
    assert likeness([], []) == {}


@pytest.mark.parametrize("there", [None, "/models/config.json"])
def test_the_model_of_bertscore_is_not_looked_for_on_the_network(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, there: str | None
) -> None:
    asked: list[str] = []

    def score(*given: object, **options: object) -> tuple[None, None, np.ndarray]:
        asked.append("score")
        return None, None, np.array([0.5])

    packages = {
        "bert_score": SimpleNamespace(score=score, utils=SimpleNamespace(lang2model={"en": "some-large"})),
        "huggingface_hub": SimpleNamespace(try_to_load_from_cache=lambda model, file: there),
    }
    monkeypatch.setattr("evaluation.metrics._module", packages.get)
    assert likeness(["a"], ["b"]) == ({"bertscore": 0.5} if there else {})
    assert asked == ["score"] * bool(there)
    assert ("some-large is not on this machine. To fetch it once" in caplog.text) == (there is None)


async def test_plots_are_drawn_or_left_out(tmp_path: Path) -> None:
    found = await evaluate(await parts(), write(tmp_path), tmp_path, Options(names=("all",), plots=False))
    drawn = draw(found, tmp_path)
    assert drawn in ((), ("hits.png", "reliability.png", "abstention.png"))
    assert all((tmp_path / name).stat().st_size > 1000 for name in drawn)
    assert "![hits](hits.png)" in markdown(found, ("hits.png",))


async def test_a_folder_that_cannot_be_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    model = FakeModel(lambda prompts: "It is 45 minutes [1].")
    for folder in (tmp_path / "file", tmp_path / "file" / "report"):
        with pytest.raises(UsageError, match="cannot hold a report"):
            await evaluate(await parts(model), write(tmp_path), folder, Options(names=("all",)))
    assert not model.calls
