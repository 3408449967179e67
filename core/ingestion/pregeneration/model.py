"""Pairs by a language model, each checked against the page that it is made of (QA pre-generation)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.domain import ContextChunk
from core.errors import ModelMalformed
from core.ingestion.pregeneration.groundedness import Ground, Kind
from core.ingestion.pregeneration.pairs import Made
from core.ingestion.pregeneration.prompt import PAIRS_PER_PAGE, PAIRS_SCHEMA, PAIRS_VERSION, pairs
from core.ingestion.pregeneration.rules import pairs_by_rule
from core.ingestion.pregeneration.said import as_asked, pairs_in
from core.ports import UNHURRIED, LanguageModel, Prompt

log = logging.getLogger(__name__)

PAIR_TOKENS = 220
"""Tokens that a pair takes in the output: question, answer, the text it is from, summary."""


@dataclass(slots=True)
class Tally:
    """What came of what a model said: pairs kept, pairs dropped and why, pages left to the rules.

    `repaired` counts calls with malformed output; their complete pairs are kept.
    """

    kept: int = 0
    dropped: Counter[Kind] = field(default_factory=Counter)
    surplus: int = 0
    repaired: int = 0
    by_rule: int = 0

    def __str__(self) -> str:
        lost = self.dropped.total()
        why = ", ".join(f"{count} {kind}" for kind, count in self.dropped.most_common())
        told = [f"the model made {self.kept + lost + self.surplus} pairs: {self.kept} kept"]
        told.append(f"{lost} dropped for what the page does not say ({why})" if lost else "none dropped")
        told += [f"{self.surplus} too many or twice"] if self.surplus else []
        told += [f"{self.repaired} answers of it were mended"] if self.repaired else []
        told += [f"{self.by_rule} pages left to the rules"] if self.by_rule else []
        return ", ".join(told)


class ModelPairs:
    """The `Maker` that asks a model; pages that it makes nothing valid of get what rules make.

    It asks for one page at a time, so that a run that is stopped loses no other, and lets people's calls go
    first.
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.by = f"{model.name} {PAIRS_VERSION}"
        self.tally = Tally()

    def redoes(self, by: str) -> bool:
        """Do what rules, another model, or an older prompt did."""
        return by != self.by

    async def make(
        self, pages: Sequence[ContextChunk], done: int = 0
    ) -> AsyncGenerator[tuple[int, list[Made]], None]:
        """Yield the pairs of each page of a document; raises where the model cannot be asked."""
        for number, page in enumerate(pages[done:], start=done + 1):
            made = await self._ask(page)
            if not made:
                self.tally.by_rule += 1
                made = pairs_by_rule([page])
            yield number, made

    async def _ask(self, page: ContextChunk) -> list[Made]:
        """Ask for the pairs of a page; of output that is broken the whole ones are kept."""
        system, user = pairs(page.title, [(page.heading, page.page)])
        token = UNHURRIED.set(True)
        try:
            said = await self._model.structured(
                [Prompt("system", system), Prompt("user", user)],
                PAIRS_SCHEMA,
                max_tokens=PAIR_TOKENS * PAIRS_PER_PAGE,
            )
        except ModelMalformed as error:
            mended = pairs_in(error.said)
            self.tally.repaired += bool(mended)
            if not mended:
                log.info("no pairs by the model for %s: %s", page.path, error)
            return self._kept(mended, page)
        finally:
            UNHURRIED.reset(token)
        return self._kept(filter(None, map(as_asked, said["pairs"])), page)

    def _kept(self, said: Iterable[Mapping[str, Any]], page: ContextChunk) -> list[Made]:
        """Return what of the pairs the page says."""
        ground = Ground.of_page(page)
        kept: list[Made] = []
        for pair in said:
            made = Made(
                page.id,
                pair["question"].strip(),
                pair["answer"].strip(),
                pair["full_answer"].strip() or pair["answer"].strip(),
                pair["summary"].strip(),
            )
            if problem := ground.unfounded(made):
                self.tally.dropped[problem.kind] += 1
                log.debug("a pair is dropped: %s", problem.text)
            elif len(kept) == PAIRS_PER_PAGE or made.question in [one.question for one in kept]:
                self.tally.surplus += 1
            else:
                self.tally.kept += 1
                kept.append(made)
        return kept
