"""The log of answers: what was said, to whom, for which release, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from core.domain import Answer, Citation, Product, Scope, Trace
from core.feedback.accepted_answers import AcceptedAnswers
from core.generation import phrases
from core.languages import DEFAULT
from core.memory.community import CommunityMemory
from core.memory.import_export import tally
from core.ports import MemoryStore
from core.query.releases.resolve import for_release


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asked for an answer (`slack:U1`), and the key of the scope that heard it."""

    asker: str
    scope: str


class AnswerLog:
    """Reads answers back from the store; what a forgotten person asked is not there any more."""

    def __init__(
        self, store: MemoryStore, accepted: AcceptedAnswers, product: Product, memory: CommunityMemory
    ) -> None:
        self._store = store
        self._accepted = accepted
        self._product = product
        self._memory = memory  # asked for its thresholds each time: a reindex may change them

    async def why(self, answer_id: str) -> dict[str, Any]:
        """Explain an answer; raises KeyError for an unknown one, and for one whose words are gone."""
        row = await self._row(answer_id)
        if not row["question"]:
            raise KeyError(answer_id)
        known = {key: row[key] for key in ("release", "route", "question", "pair_id", "similarity")}
        heard = Scope.parse(row["scope"]).hears
        every = await self._accepted.corrections(answer_id)
        said = phrases.corrected([c if heard(c.scope) else replace(c, better="", pair_id="") for c in every])
        pair = await self._store.pair(row["pair_id"]) if row["pair_id"] else None
        known["votes"] = tally(pair, self._memory.thresholds) if pair else {}
        told = {"sentences": phrases.why(row) + said, "corrections": said, "trace": row["trace"]}
        return {"answer_id": answer_id, **known, **told}

    async def answer(self, answer_id: str) -> tuple[Answer, str]:
        """Return an answer as it was given, and its question; raises KeyError for an unknown one."""
        row = await self._row(answer_id)
        cited = tuple(Citation(**entry) for entry in row["citations"])
        offers = tuple(Trace.of(row["trace"]).offers or ())
        known = {
            key: row[key] for key in ("id", "text", "route", "release", "confidence", "trace", "pair_id")
        }
        return Answer(**known, citations=cited, offers=offers), row["question"]

    async def asked_by(self, answer_id: str) -> Asking:
        """Return who asked for an answer and who heard it; raises KeyError for an unknown one."""
        row = await self._row(answer_id)
        return Asking(row["asker"], row["scope"])

    async def authors(self, answer_id: str) -> frozenset[str]:
        """Return the accounts whose words the stand-alone question of an answer holds."""
        return await self._store.whose([answer_id], text=False)

    async def withdraw(self, answer_id: str, replaced: bool) -> None:
        """Empty an answer and its question, which was deleted, or `replaced` by an edit."""
        await self._store.withdraw(answer_id, replaced)

    async def emptied(self, answer_ids: Sequence[str]) -> frozenset[str]:
        """Return which of these answers say nothing any more, because somebody was forgotten."""
        return await self._store.emptied(answer_ids)

    async def whose(self, answer_ids: Sequence[str]) -> frozenset[str]:
        """Return the accounts whose words answers and their questions hold."""
        return await self._store.whose(answer_ids)

    async def releases_of(self, answer_ids: Sequence[str]) -> dict[str, str]:
        """Return the releases that answers spoke for, empty for none; unknown ones are left out."""
        return await self._store.releases_of(answer_ids)

    async def release_of(self, answer_id: str) -> str:
        """Return the release an answer spoke for; empty for none."""
        return (await self.releases_of([answer_id])).get(answer_id, "")

    async def language_of(self, answer_id: str) -> str:
        """Return the language of an answer, as `de`; empty for one that is not kept."""
        row = await self._store.answer(answer_id)
        return Trace.of(row["trace"]).language or DEFAULT if row else ""

    async def question(self, answer_id: str, release: str = "") -> str:
        """Return the stand-alone question of an answer, for another release where one is named.

        Empty for an answer that is not kept.
        """
        row = await self._store.answer(answer_id)
        if row is None:
            return ""
        base = Trace.of(row["trace"]).queries.base or str(row["question"])
        return for_release(base, self._product, release) if release else base

    async def _row(self, answer_id: str) -> dict[str, Any]:
        row = await self._store.answer(answer_id)
        if row is None:
            raise KeyError(answer_id)
        return row
