"""`python -m evaluation.papers`: what it counts; every row of a paper stands beside ours or says why not."""

from __future__ import annotations

import bz2
import json
from pathlib import Path

import pytest

from core.domain import Section as Part
from core.errors import UsageError
from core.ingestion.blocks import pieces
from core.ingestion.chunking import Page
from evaluation.gold import read_gold
from evaluation.papers import comrag, crag, graph
from evaluation.papers.by_round import METRICS, curves
from evaluation.papers.community import Community, Words
from evaluation.papers.releases import STEPS, even, judged, precision, stages
from evaluation.papers.tables import MODEL, Section, keep, kept, markdown
from evaluation.pipeline import AsItStands
from evaluation.simulation.data import read_topics
from evaluation.simulation.stores import Texts
from tests.core.evaluation.questions import written
from tests.core.evaluation.small import parts, write
from tests.fakes import FakeEncoder

PLAYED = ("the paper's thresholds", "fitted thresholds", "Threadlore")


async def of_comrag(folder: Path) -> Section:
    topics = read_topics(written(folder / "questions.jsonl"))
    return await comrag.measure(topics, Texts(FakeEncoder()), "A run of a test.")


async def test_comrags_rows_are_all_there_and_say_what_needs_a_model(tmp_path: Path) -> None:
    section = await of_comrag(tmp_path)
    first, rounds, ablations, thresholds, *by_round = section.tables
    drawn = curves(section.tables)
    assert len(drawn) == len(by_round) == len(METRICS)
    assert set(drawn["SIM"]) == {"BM25", "DPR", "Vanilla RAG", "RAG+BM25", "RAG+DPR", *PLAYED}
    assert set(drawn[METRICS["calls"]]) == set(PLAYED), "what has no memory always calls"
    assert all(len(values) == 10 for systems in drawn.values() for values in systems.values())
    told = {row[0]: row[1:] for row in rounds.rows}
    assert f"{drawn['SIM']['Threadlore'][0]:.1f}" in told["1"], "the same figure in both tables"
    names = [row[0] for row in first.rows]
    assert names[:7] == [name for name, *_ in comrag.TABLE_1[:-1]]
    assert names[7:] == ["ComRAG, the paper's thresholds", "ComRAG, fitted thresholds", "Threadlore"]
    unmeasured = [row for row in first.rows if row[-1] == MODEL]
    assert [row[0] for row in unmeasured] == ["Raw LLM", "LLM+EXP"]
    assert all(set(row[6:-1]) == {"–"} for row in unmeasured), "nothing is invented for them"
    assert len(rounds.rows) == 10 and len(ablations.rows) == 5 and len(thresholds.rows) == 9
    for table in section.tables:
        assert all(len(row) == len(table.columns) for row in table.rows), table.title
    keep(tmp_path, section)
    assert kept(tmp_path, "comrag") == section and kept(tmp_path, "qamr") is None
    assert markdown(section).count("\n| ") == sum(len(t.rows) + 2 for t in section.tables)


async def test_a_community_answers_from_what_it_reads_and_memory_saves_calls(tmp_path: Path) -> None:
    topics = read_topics(written(tmp_path / "questions.jsonl"))
    community = Community(topics, Texts(FakeEncoder()))
    await community.ready()
    told = await community.baselines()
    known = {topic.name for topic in community.known}
    lines = community.lines[0]
    for line, one in zip(lines, told["DPR"], strict=True):
        assert set(one.read) <= known, "what nobody knows yet is found in no pair"
        if one.topic == line.topic:
            assert one.text == community.reference[line.topic]
    with_both = sum(line.topic in one.read for line, one in zip(lines, told["RAG+DPR"], strict=True))
    assert with_both >= sum(line.topic in one.read for line, one in zip(lines, told["DPR"], strict=True))


async def test_graph_variants_are_measured_and_models_are_not_guessed(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    lines = [json.loads(line) for line in written(questions).read_text("utf-8").splitlines()]
    lines += [
        {"topic": line["topic"], "question": "", "answer": "Or ask."} for line in lines if "answer" in line
    ]
    for line in lines:
        line["question"] = line["question"] or f"Anything else on {line['topic']}?"
    questions.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    section = await graph.measure(read_topics(questions), Texts(FakeEncoder()), "A run of a test.")
    rows = {row[0]: row for row in section.tables[0].rows}
    assert float(rows["TextGen"][4]) > 0.5 and rows["TextGen"][4:9] == rows["TextContextGen"][4:9]
    assert [name for name, row in rows.items() if row[-1] == MODEL] == [name for name, *_ in graph.OTHERS]


def test_words_rank_by_rare_terms() -> None:
    words = Words(["kettle lid kettle", "kettle pump", "kettle lamp bulb"])
    assert words.best("where is the pump")[0] == 1 and words.best("violin") == []


@pytest.mark.parametrize(
    ("relevant", "value"),
    [
        ([], 0.0),
        ([False], 0.0),
        ([True, False], 1.0),
        ([False, True], 0.5),
        ([True, False, True], (1 + 2 / 3) / 2),
    ],
)
def test_contextual_precision_rewards_what_stands_higher(relevant: list[bool], value: float) -> None:
    assert precision(relevant) == pytest.approx(value)


def test_a_page_is_cut_into_k_pieces_and_loses_nothing() -> None:
    text = "\n\n".join(f"Paragraph {number} about kettles." for number in range(9))
    page = Page(Part((), "", text), tuple(pieces(text)))
    for k in (1, 2, 4):
        cut = even(page, k)
        assert len(cut) == k and "".join("".join(cut).split()) == "".join(text.split())


async def test_qamrs_steps_are_switched_one_by_one_and_rules_take_them(tmp_path: Path) -> None:
    built = (await parts()).parts
    base, rewrite, _, reduce, select, whole = (stages(built, step) for step in STEPS)
    assert isinstance(base[0], AsItStands) and not isinstance(rewrite[0], AsItStands)
    assert len(reduce) == len(select) == len(base) + 1 and len(whole) == len(base) + 2
    line = next(one for one in read_gold(write(tmp_path)) if one.id == "new")
    read = [(await judged(some, line))[3] for some in (base, reduce, select)]
    assert read[1] < read[0] and read[2] < read[0], "less is read where pages are reduced or selected"


def test_crags_pages_are_laid_out_as_releases_and_scored_as_crag_does(tmp_path: Path) -> None:
    keys = [next(iter(crag.HOLDS)), "another"]
    file = tmp_path / "dev.jsonl.bz2"
    with bz2.open(file, "wt") as out:
        for key in keys:
            page = {"page_result": f"<p>About {key}</p>"}
            out.write(
                json.dumps({"interaction_id": key, "query": "Who?", "search_results": [page, page]}) + "\n"
            )
    asked = crag.read(file)
    assert [len(one.pages) for one in asked] == [1, 1], "the same page twice is one page"
    config = crag.lay_out(asked, tmp_path / "pages")
    assert config.read_text("utf-8").count("[[release]]") == 2
    assert (tmp_path / "pages" / crag.release_of(1) / "page0.html").is_file()
    good = crag.HOLDS[keys[0]].split("||")[0]
    assert crag.scores(asked, [f"It is {good}.", ""]) == ("50.0", "50.0", "0.0", "50.0")
    assert crag.scores(asked, ["Something else.", "Something."]) == ("0.0", "0.0", "100.0", "-100.0")
    (tmp_path / "other.jsonl").write_text("{}", "utf-8")
    with pytest.raises(UsageError, match="dev_data_10"):
        crag.read(tmp_path / "other.jsonl")
