"""How well follow-ups are completed: does retrieval find what it finds with a person's rewrite?

Every message of a conversation but the first is asked in several forms of a pool of passages, the answers
of all conversations. The retriever is the product's mix: cosine of the topic (weight .3) and BM25 of
Base and Filtered (.35 each), scores stretched to 0..1 and added, 40 candidates each.

- `found@k`: its own answer is among the first k passages.
- `kept@k`: the same, of those messages whose own answer is among the first k with the person's rewrite.
- `agreed@k`: the first passage with the person's rewrite is among the first k.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.domain import Hit, Product, Queries, Question, Turn
from core.errors import ModelError
from core.ports import Encoder, LanguageModel, Matrix, WordIndex, for_questions
from core.query import understand
from core.query.forms import filtered, topic
from core.query.releases.resolve import resolve
from core.query.understand import queries
from core.retrieval.fusion import Weights, weighted
from core.retrieval.look import CANDIDATES
from core.text.words import query_terms
from evaluation import report
from evaluation.followups.data import Conversations, FollowUp, Half
from evaluation.tables import grid

KS = (1, 3, 8)
"""Ranks at which is counted."""
COLLECTION = "followups"
NO_PRODUCT = Product("")
"""The conversations are about no product of ours, and about no releases."""
_BATCH = 256
PERSON = "person's rewrite"


def questions_of(history: Sequence[Turn]) -> list[str]:
    """Return what the person said before."""
    return [turn.text for turn in history if turn.role == "user"]


def _alone(text: str) -> Queries:
    return Queries(text, filtered(text), topic=topic(text, NO_PRODUCT), parts=(text,))


def _ruled(followup: FollowUp) -> Queries:
    question = Question(followup.text, history=followup.history)
    return queries(question, NO_PRODUCT, resolve(question, NO_PRODUCT))


FORMS: dict[str, Callable[[FollowUp], Queries]] = {
    "message alone": lambda f: _alone(f.text),
    "last question + message": lambda f: _alone(f"{questions_of(f.history)[-1]} {f.text}"),
    "all questions + message": lambda f: _alone(" ".join([*questions_of(f.history), f.text])),
    "message + whole thread": lambda f: _alone(" ".join([f.text, *(turn.text for turn in f.history)])),
    "rules": _ruled,
    PERSON: lambda f: _alone(f.person),
}
"""Ways to ask a follow-up. The whole thread stands behind the message, as encoders cut long texts off."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The ids of the passages that one form of one message found, best first, and its Base."""

    base: str
    passages: tuple[str, ...]


class Pool:
    """The passages of all conversations, to be searched; to be opened first."""

    def __init__(self, conversations: Conversations, encoder: Encoder, words: WordIndex) -> None:
        self._passages = conversations.passages
        self._encoder = encoder
        self._words = words
        self._vectors: Matrix = np.zeros((0, 0), np.float32)
        self._weights = Weights()

    async def open(self) -> None:
        """Embed and index the passages."""
        told = [f"{p.title}\n{p.text}" if p.title else p.text for p in self._passages]
        self._vectors = await _encoded(self._encoder, told)
        await self._words.upsert(COLLECTION, [(p.id, p.title, p.text) for p in self._passages])

    async def search(self, asked: Sequence[Queries]) -> list[Ranked]:
        """Return what each query finds, up to the largest of KS."""
        vectors = await _encoded(for_questions(self._encoder), [forms.topic or forms.base for forms in asked])
        return [
            Ranked(forms.base, await self._one(forms, vector))
            for forms, vector in zip(asked, vectors, strict=True)
        ]

    async def _one(self, forms: Queries, vector: Matrix) -> tuple[str, ...]:
        cosines = self._vectors @ vector
        nearest = np.argsort(-cosines, kind="stable")[:CANDIDATES]
        dense = [Hit(self._passages[at].id, float(cosines[at])) for at in nearest]
        texts = list(dict.fromkeys([forms.base, " ".join([forms.filtered, *forms.carried])]))
        lexical = await asyncio.gather(
            *(self._words.search(COLLECTION, query_terms(text), CANDIDATES) for text in texts)
        )
        lists: list[tuple[float, Sequence[Hit]]] = [(self._weights.dense, dense)]
        lists += [(self._weights.lexical / len(lexical), hits) for hits in lexical]
        return tuple(hit.chunk_id for hit in weighted(lists)[: max(KS)])


async def _encoded(encoder: Encoder, texts: Sequence[str]) -> Matrix:
    batches = [texts[at : at + _BATCH] for at in range(0, len(texts), _BATCH)]
    return np.concatenate([await encoder.encode(batch) for batch in batches])


async def measure(
    conversations: Conversations,
    encoder: Encoder,
    words: WordIndex,
    half: Half = "all",
    model: LanguageModel | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Ask every follow-up in every form; return the figures, and how each message went.

    Raises the ModelErrors of a model that is not there; where it only fails once, rules take over as in
    the product.
    """
    pool = Pool(conversations, encoder, words)
    await pool.open()
    followups = conversations.of(half)
    asked = {name: [form(f) for f in followups] for name, form in FORMS.items()}
    if model is not None:
        asked["model"] = [await _by_model(model, f) for f in followups]
    found: dict[str, list[Ranked]] = {}
    for name, forms in asked.items():
        found[name] = await pool.search(forms)
        tell(f"{conversations.name}: {name}")
    changed = [at for at, f in enumerate(followups) if f.rewritten]
    same = [at for at, f in enumerate(followups) if not f.rewritten]
    result = {
        "conversations": conversations.name,
        "half": half,
        "passages": len(conversations.passages),
        "follow-ups": {"n": len(changed), "forms": _figures(followups, found, changed)},
        "stand-alone": {
            "n": len(same),
            "untouched": sum(found["rules"][at].base == followups[at].text for at in same)
            / max(1, len(same)),
            "forms": _figures(followups, found, same),
        },
    }
    return result, _lines(followups, found)


async def _by_model(model: LanguageModel, followup: FollowUp) -> Queries:
    """Understand a message as the product does: by the model where the rules are in doubt."""
    question = Question(followup.text, history=followup.history)
    resolution, ruled = resolve(question, NO_PRODUCT), _ruled(followup)
    if not understand.doubt(question, resolution, ruled):
        return ruled
    try:
        return (await understand.understand(model, question, NO_PRODUCT, resolution, ruled))[1]
    except ModelError:
        return ruled


def _figures(
    followups: Sequence[FollowUp], found: Mapping[str, Sequence[Ranked]], places: Sequence[int]
) -> dict[str, dict[str, float]]:
    figures: dict[str, dict[str, float]] = {}
    for name, ranked in found.items():
        row: dict[str, float] = {}
        for k in KS:
            hit = {at for at in places if followups[at].passage in ranked[at].passages[:k]}
            best = {at for at in places if followups[at].passage in found[PERSON][at].passages[:k]}
            agreed = [
                at
                for at in places
                if found[PERSON][at].passages[:1] and found[PERSON][at].passages[0] in ranked[at].passages[:k]
            ]
            row[f"found@{k}"] = len(hit) / max(1, len(places))
            row[f"kept@{k}"] = len(hit & best) / max(1, len(best))
            row[f"agreed@{k}"] = len(agreed) / max(1, len(places))
        figures[name] = {key: round(value, 4) for key, value in row.items()}
    return figures


def _lines(followups: Sequence[FollowUp], found: Mapping[str, Sequence[Ranked]]) -> list[dict[str, Any]]:
    def rank(at: int, name: str) -> int:
        passages = found[name][at].passages
        return passages.index(followups[at].passage) + 1 if followups[at].passage in passages else 0

    return [
        {
            "id": f.id,
            "half": f.half,
            "asked": questions_of(f.history),
            "message": f.text,
            "person": f.person,
            "rules": found["rules"][at].base,
            "ranks": {name: rank(at, name) for name in found},
        }
        for at, f in enumerate(followups)
    ]


_HOW = """\
Every message of a conversation but the first is asked in each form of one pool: the answers of all \
conversations of the set, of both halves. Retriever: cosine of the topic (weight .3), BM25 of Base and of \
Filtered (.35 each), 40 candidates each, scores stretched to 0..1 and added. Encoder: {encoder}.

- found@k: the message's own answer is among the first k.
- kept@k: the same, of those messages whose answer is among the first k with the person's rewrite.
- agreed@k: what the person's rewrite finds first is among the first k.
"""


def write(folder: Path, results: Sequence[Mapping[str, Any]], told: Sequence[Mapping[str, Any]]) -> None:
    """Write `followups.json`, `followups.md` and `followups.jsonl` to a folder."""
    report.write(folder, "followups", results, markdown(results))
    lines = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in told)
    (folder / "followups.jsonl").write_text(lines, "utf-8")


def markdown(results: Sequence[Mapping[str, Any]]) -> str:
    """Write the figures of every set of conversations as Markdown."""
    parts = ["# Follow-ups", _HOW.format(encoder=results[0]["encoder"] if results else "").strip()]
    for result in results:
        head = f"## {result['conversations']}, half `{result['half']}`, {result['passages']} passages"
        changed, same = result["follow-ups"], result["stand-alone"]
        parts += [head, f"{changed['n']} follow-ups, which the person rewrote:", _table(changed["forms"])]
        untouched = f"{same['untouched']:.3f}" if same["n"] else "–"
        parts.append(
            f"{same['n']} messages that the person left as they are; the rules leave {untouched} of them:"
        )
        parts.append(_table(same["forms"]) if same["n"] else "(none)")
    return "\n\n".join(parts) + "\n"


def _table(forms: Mapping[str, Mapping[str, float]]) -> str:
    names = list(next(iter(forms.values())))
    rows = [[form, *(f"{row[name]:.3f}" for name in names)] for form, row in forms.items()]
    return grid(["asked as", *names], rows)
