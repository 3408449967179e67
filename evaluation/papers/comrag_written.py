"""ComRAG's rows that need a model, on the first questions of the first round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import ContextChunk, Evidence, Recall, Scope
from core.generation.citations import uncited
from core.generation.temperature import LOWEST, adaptive
from core.memory.decision import PAPER
from core.memory.guard import guard
from core.pipeline.stages.pairs import page_of
from core.prompts import DONT_KNOW
from evaluation.papers.community import CONTEXT, SEED, Community, Extracting
from evaluation.papers.comrag import FITTED, TABLE_1
from evaluation.papers.kept_model import KeptModel, all_of, by_itself, from_evidence
from evaluation.papers.tables import NONE, Section, Table, printed, share
from evaluation.simulation.data import Line, Topic
from evaluation.simulation.stores import Texts, in_memory
from evaluation.simulation.world import Memory, Model, People

_PRINTED = printed("comrag")
COLUMNS = (
    "system", "paper s", "paper BERT-Score", "paper SIM", "paper BLEU", "paper ROUGE-L",
    "answered", "SIM", "BLEU", "ROUGE-L", "calls a question", "temperature",
)  # fmt: skip
FEWER = "fewer direct answers"


@dataclass(frozen=True, slots=True)
class Way:
    """What of ComRAG is on: the pages, and the temperature by the pairs' scores."""

    pages: bool = True
    adaptive: bool = True


@dataclass(frozen=True, slots=True)
class Said:
    """An answer, whether a model wrote it, and how freely."""

    text: str
    called: bool
    temperature: float = LOWEST


async def measure(topics: Sequence[Topic], texts: Texts, model: KeptModel, count: int, told: str) -> Section:
    """Ask `count` questions of every system, by the memory that there is at the start."""
    community = Community(topics, texts)
    await community.ready()
    lines = community.lines[0][:count]
    recalls = await _recalls(community, texts, lines)
    asked = list(zip(lines, recalls, strict=True))
    experts = await _experts(community, texts, lines)
    ways = {"ComRAG": Way(), "without static knowledge": Way(pages=False)}
    ways["without adaptive temperature"] = Way(adaptive=False)
    systems = {
        "Raw LLM": [_alone(model, line.question) for line in lines],
        "LLM+EXP": [_alone(model, line.question, said) for line, said in zip(lines, experts, strict=True)],
        **{
            name: [_by_memory(community, model, line, recall, way) for line, recall in asked]
            for name, way in ways.items()
        },
    }
    answers = await all_of(model, list(systems.values()))
    paper = {name: figures for name, *figures in TABLE_1}
    rows = []
    for name, said in zip(systems, answers, strict=True):
        rows.append((name, *paper.get(name, [FEWER, *[NONE] * 4]), *await _figures(community, lines, said)))
    reused = sum(recall.route == "reuse" for recall in recalls)
    title = (
        f"Table 1 and figure 2, written ({model.name}, n = {len(lines)}, of which memory answers {reused})"
    )
    return Section(
        "comrag-written", "", told, (Table(title, COLUMNS, tuple(rows)),), _PRINTED["written_differs"]
    )


async def _recalls(community: Community, texts: Texts, lines: Sequence[Line]) -> list[Recall]:
    """Return what ComRAG's memory, with thresholds that fit the encoder, says to each question."""
    async with in_memory() as opened:
        memory = Memory(FITTED, PAPER, guard, by_paper=True)
        world = Extracting(opened, texts, memory, Model(seconds=0.0), People(), SEED, pages={})
        await world.found(community.topics, community.known)
        return [
            await world.memory.recall(
                await texts.one(line.question), line.question, line.release, Scope(), by_paper=True
            )
            for line in lines
        ]


async def _experts(community: Community, texts: Texts, lines: Sequence[Line]) -> list[str]:
    """Return the answer of the nearest known pair, which stands for the paper's fine-tuned expert."""
    table = await texts.encode([topic.question for topic in community.known])
    vectors = await texts.encode([line.question for line in lines])
    return [community.known[int(at)].answers[0] for at in (vectors @ table.T).argmax(axis=1)]


async def _alone(model: KeptModel, question: str, expert: str = "") -> Said:
    return Said(await by_itself(model, question, expert), True)


async def _by_memory(community: Community, model: KeptModel, line: Line, recall: Recall, way: Way) -> Said:
    """Answer by algorithm 1: by a pair's answer, else from good pairs, else from pages and bad pairs."""
    if recall.route == "reuse":
        return Said(recall.high[0][0].answer, False)
    pairs = recall.high or recall.low
    temperature = adaptive([pair.score for pair, _ in pairs]) if way.adaptive else LOWEST
    if recall.high:
        chunks = [page_of(pair) for pair, _ in recall.high]
    elif way.pages:
        pages = community.ranked(line.question)[:CONTEXT]
        chunks = [ContextChunk(name, name, name, "", "", text) for name, text in pages]
    else:
        return Said(await by_itself(model, line.question), True, temperature)
    evidence = [Evidence(number, chunk, 1.0) for number, chunk in enumerate(chunks, start=1)]
    said = await from_evidence(model, line.question, evidence, temperature=temperature)
    return Said(said, True, temperature)


async def _figures(community: Community, lines: Sequence[Line], said: Sequence[Said]) -> tuple[str, ...]:
    answers = [uncited(one.text) for one in said]
    quality = await community.quality(lines, answers)
    called = [one for one in said if one.called]
    told = sorted({f"{one.temperature:.1f}" for one in called})
    return (
        share(sum(bool(text) and text != DONT_KNOW for text in answers) / len(answers)),
        *(f"{quality[name]:.2f}" for name in ("SIM", "BLEU", "ROUGE-L")),
        share(len(called) / len(said)),
        " to ".join(dict.fromkeys((told[0], told[-1]))) if told else NONE,
    )
