"""`make bench`: time a question with a model that writes 50 tokens/s, against QAMR's one call a chunk."""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aiohttp import web

from bot.app.bootstrap import build
from bot.operations.application import Application
from core import prompts
from core.domain import Question, Turn
from core.generation.answer import OnText, write
from core.generation.context.fitting import Request
from core.generation.context.reduction import cut
from core.generation.quotes.titles import headings
from core.models.ollama.client import Ollama
from core.pipeline.context import QueryContext
from core.pipeline.resources import ModelBudget
from core.pipeline.stage import Stage
from core.pipeline.stages.retrieve import Reduce, Select
from core.pipeline.stages.write import Temper, request_of
from core.ports import LanguageModel, ModelHealth, Prompt
from core.retrieval.found import Found
from core.settings import load_settings
from core.text.words import one_line, query_terms, sentences
from tests.ollama_answers import Recorded, evidence_of, question_of, tokens_of
from tests.ollama_server import Behaviour, OllamaServer


class Counted:
    """A language model whose calls are counted."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.name = model.name
        self.context_tokens = model.context_tokens
        self.calls = 0

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return self._model.count_tokens(text)

    def stream(self, prompts: Sequence[Prompt], *, temperature: float, max_tokens: int) -> AsyncIterator[str]:
        """Yield the answer piece by piece."""
        self.calls += 1
        return self._model.stream(prompts, temperature=temperature, max_tokens=max_tokens)

    async def structured(
        self, prompts: Sequence[Prompt], schema: dict[str, Any], *, max_tokens: int
    ) -> dict[str, Any]:
        """Return output that fits the schema."""
        self.calls += 1
        return await self._model.structured(prompts, schema, max_tokens=max_tokens)

    async def health(self) -> ModelHealth:
        """Ask the server whether the model could answer now."""
        return await self._model.health()


WRITTEN = 50.0
"""Tokens the model writes a second."""
READ = 1000.0
"""Tokens of a prompt it reads a second: on graphics cards about twenty times what it writes."""
FASTER = 2.5
"""How much faster than that the bench runs, to be done in a minute; the times it tells are multiplied."""
ANSWER_SENTENCES = 6
REASONING = (
    "The question asks how this is done, so the statements that name the setting and its value are needed, "
    "and the code that shows where it goes."
)
"""Two clauses of thought, with which the output of every step begins, ours and QAMR's."""
QUESTIONS: dict[str, tuple[Turn, ...]] = {
    "How do I register a function that runs before each request?": (),
    "How can I limit the size of uploaded files?": (),
    "How do I show my own page when an upload is too large?": (
        Turn("user", "What happens when an upload is too large in 2.3?"),
        Turn("assistant", "The request is refused with status 413. [1]"),
        Turn("user", "and how do I show my own page for it?"),
    ),
    "What is the default lifetime of a permanent session?": (
        Turn("user", "How long does a permanent session live?"),
        Turn("assistant", "As long as PERMANENT_SESSION_LIFETIME says. [1]"),
        Turn("user", "what is its default?"),
    ),
}
"""Questions in their stand-alone form; where they are asked in a thread, the thread that ends in them."""
TEXT_SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "text": {"type": "string"}},
    "required": ["reasoning", "text"],
}
SCORE_SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "score": {"type": "integer"}},
    "required": ["reasoning", "score"],
}

Way = Callable[[Application, Counted, Question, QueryContext, Found, OnText], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Timed:
    """Seconds to the first words and to the end of an answer, and the model calls it took."""

    first: float
    whole: float
    calls: int


class Words:
    """A listener that notes when the first words came."""

    def __init__(self) -> None:
        self.at = 0.0

    async def sources(self, release: str, evidence: object) -> None:
        """Hear nothing: pages are there at once."""

    async def text(self, markdown: str) -> None:
        """Note the time."""
        self.at = self.at or time.perf_counter()


async def main(home: Path) -> None:
    """Ask the questions in three ways at once, each on a server of its own; print times and the ratio."""
    async with Simulated() as ours, Simulated() as fast, Simulated() as theirs:
        settings = load_settings(
            home=home,
            ollama_host=ours.url,
            fast=False,
            model_steps="understand,reduce,select",
            steps_seconds=60.0,
        )
        async with build(settings, "bench") as app:
            found = await asyncio.gather(
                by_engine(app, ours), by_hand(app, fast, rules), by_hand(app, theirs, call_a_chunk)
            )
    print(f"seconds a question, with a model that writes {WRITTEN:.0f} and reads {READ:.0f} tokens/s:")
    for name, timed in zip(
        ("understand, reduce, select", "FAST", "QAMR, a call a chunk"), found, strict=True
    ):
        calls = [t.calls for t in timed]
        first = statistics.mean(t.first for t in timed) * FASTER
        whole = statistics.mean(t.whole for t in timed) * FASTER
        print(
            f"  {name:<27} first words {first:5.1f}   whole {whole:5.1f}   calls {min(calls)} to {max(calls)}"
        )
    ratio = statistics.mean(a.whole / b.whole for a, b in zip(found[0], found[2], strict=True))
    print(f"  ratio of the first to QAMR: {ratio:.2f} (aim: at most .4)")


# --- the three ways -----------------------------------------------------------------------------


async def by_engine(app: Application, server: OllamaServer) -> list[Timed]:
    """Ask the engine itself, one question after the other."""
    timed = []
    for alone in QUESTIONS:
        before, began, words = server.calls, time.perf_counter(), Words()
        await app.engine.answer(_asked(alone), words)
        timed.append(Timed(words.at - began, time.perf_counter() - began, server.calls - before))
    return timed


async def by_hand(app: Application, server: OllamaServer, way: Way) -> list[Timed]:
    """Take all questions at once in a way of one's own."""
    model = Ollama(server.url, server.model)

    async def one(alone: str) -> Timed:
        counted, began, words = Counted(model), time.perf_counter(), Words()
        asked = await app.research.understand(Question(alone))  # no model is asked about a stand-alone form
        await way(app, counted, _asked(alone), asked, await app.research.search(asked), words.text)
        return Timed(words.at - began, time.perf_counter() - began, counted.calls)

    try:
        return list(await asyncio.gather(*map(one, QUESTIONS)))
    finally:
        await model.close()


async def rules(
    app: Application, model: Counted, question: Question, asked: QueryContext, found: Found, on_text: OnText
) -> None:
    """Only write the answer with the model, as `FAST` does."""
    await write(model, await _by_rule(app, asked), on_text)


async def _by_rule(app: Application, asked: QueryContext) -> Request:
    """Reduce and select by rule, and say what an answer is to be written from."""
    parts = replace(app.research.parts, budget=ModelBudget())
    stages: tuple[Stage, ...] = (Reduce(parts), Select(parts), Temper())
    for stage in stages:
        await stage(asked)
    return request_of(asked, parts.product.name)


async def call_a_chunk(
    app: Application, model: Counted, question: Question, asked: QueryContext, found: Found, on_text: OnText
) -> None:
    """Rewrite, reduce every chunk in a call, judge every chunk in a call, answer: QAMR as it is published."""
    product = app.catalogue.product
    about = prompts.releases_of(product.name, asked.releases)
    turns = [(turn.role, turn.text) for turn in question.history]
    await _call(model, prompts.understand(product, question.text, turns), prompts.UNDERSTAND_SCHEMA)
    texts: dict[int, str] = {}
    scores: dict[int, int] = {}
    for item in found.evidence:
        units = list(enumerate(cut(item.chunk.text), 1))
        passage = (item.number, headings(item.chunk.title, item.chunk.heading), units)
        prompt = prompts.reduce(about, asked.queries.base, [passage])
        texts[item.number] = (await _call(model, prompt, TEXT_SCHEMA))["text"]
    for item in found.evidence:
        if texts[item.number]:
            told = (item.number, headings(item.chunk.title, item.chunk.heading), texts[item.number])
            prompt = prompts.select(about, asked.queries.base, [told])
            scores[item.number] = (await _call(model, prompt, SCORE_SCHEMA))["score"]
    best = sorted(scores, key=lambda number: -scores[number])[:3]
    request = await _by_rule(app, asked)
    evidence = tuple(item for item in found.evidence if item.number in best)
    await write(model, replace(request, evidence=evidence, texts=texts), on_text)


async def _call(model: Counted, prompt: tuple[str, str], schema: dict[str, Any]) -> dict[str, Any]:
    system, user = prompt
    return await model.structured((Prompt("system", system), Prompt("user", user)), schema, max_tokens=900)


def _asked(alone: str) -> Question:
    *history, last = QUESTIONS[alone] or (Turn("user", alone),)
    return Question(last.text, history=tuple(history))


# --- the model ----------------------------------------------------------------------------------


class Simulated(OllamaServer):
    """A server that takes its time to read a prompt too, and whose outputs are as long as real ones."""

    def __init__(self) -> None:
        super().__init__(answer=_answer, structured=_output, tokens_per_second=WRITTEN * FASTER)

    async def _answer(
        self, request: web.Request, recorded: Recorded, behaviour: Behaviour
    ) -> web.StreamResponse:
        await asyncio.sleep(tokens_of(recorded.prompt) / (READ * FASTER))
        return await super()._answer(request, recorded, behaviour)


def _answer(recorded: Recorded) -> str:
    told = [
        f"{sentence} [{number}]"
        for number, text in evidence_of(recorded).items()
        for sentence in sentences(one_line(text))[:2]
        if "```" not in sentence
    ]
    return " ".join(told[:ANSWER_SENTENCES]) or "I don't know."


def _output(recorded: Recorded, schema: Mapping[str, Any]) -> dict[str, Any]:
    fields = schema["properties"]
    if "base" in fields:
        asked = question_of(recorded)
        base = next((q for q, thread in QUESTIONS.items() if thread and thread[-1].text == asked), asked)
        words = " ".join(query_terms(base))
        return {"release": "", "base": base, "filtered": words, "versionless": "", "parts": [base]}
    told = recorded.messages[-1]["content"]
    units = _helpful(told, question_of(recorded))
    if "keep" in fields:
        return {"reasoning": REASONING, "keep": [int(label) for label in units]}
    if "text" in fields:
        return {"reasoning": REASONING, "text": "\n\n".join(units.values())}
    numbers = [int(part.split('"')[0]) for part in told.split('<passage number="')[1:]]
    return {"reasoning": REASONING, **({"ranking": numbers} if "ranking" in fields else {"score": 3})}


def _helpful(told: str, question: str) -> dict[str, str]:
    """Return the units that share two terms with the question, by label."""
    wanted, found = set(query_terms(question)), {}
    for part in told.split('<unit label="')[1:]:
        label, _, text = part.partition('">')
        text = text.partition("</unit>")[0]
        if len(wanted & set(query_terms(text))) >= 2:
            found[label] = text
    return found


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".threadlore/bench")))
