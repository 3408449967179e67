"""Pairs by a language model, each checked against the page that it is made of (QA pre-generation)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from core.domain import ContextChunk
from core.errors import ModelMalformed
from core.ingestion.pregeneration.groundedness import Ground, Kind
from core.ingestion.pregeneration.pairs import Made
from core.ingestion.pregeneration.prompt import PAIRS_PER_PAGE, PAIRS_SCHEMA, PAIRS_VERSION, pairs
from core.ingestion.pregeneration.rules import pairs_by_rule
from core.ingestion.pregeneration.said import as_asked, pairs_in
from core.ports import LanguageModel, Prompt

log = logging.getLogger(__name__)

PAIR_TOKENS = 220
"""Tokens that a pair takes in the output: question, answer, the text it is from, summary."""
SYSTEM_TOKENS = 900
"""Tokens of the instructions, amply."""
MOST_PAGES = 4
"""Pages in one call; small models lose the numbers of more."""


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
    """The `Maker` that asks a model; pages that it makes nothing valid of get what rules make."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.by = f"{model.name} {PAIRS_VERSION}"
        self.tally = Tally()

    def redoes(self, by: str) -> bool:
        """Do what rules, another model, or an older prompt did."""
        return by != self.by

    async def make(self, pages: Sequence[ContextChunk]) -> list[Made]:
        """Make the pairs of one document of its pages; raises where the model cannot be asked."""
        found: dict[str, list[Made]] = {page.id: [] for page in pages}
        for batch in self._batches(pages):
            await self._ask(batch, found)
        for page in pages:
            if not found[page.id]:
                self.tally.by_rule += 1
                found[page.id] = pairs_by_rule([page])
        return [made for some in found.values() for made in some]

    async def _ask(self, batch: Sequence[ContextChunk], found: dict[str, list[Made]]) -> None:
        """Ask for the pairs of some pages; where the output is broken, again for those that got none."""
        system, user = pairs(batch[0].title, [(page.heading, page.page) for page in batch])
        try:
            said = await self._model.structured(
                [Prompt("system", system), Prompt("user", user)],
                PAIRS_SCHEMA,
                max_tokens=PAIR_TOKENS * PAIRS_PER_PAGE * len(batch),
            )
        except ModelMalformed as error:
            mended = pairs_in(error.said)
            self.tally.repaired += bool(mended)
            self._keep(mended, batch, found)
            again = [page for page in batch if not found[page.id]]
            if len(batch) > 1:  # cut off, or too much at once
                for page in again:
                    await self._ask([page], found)
            elif again:
                log.info("no pairs by the model for %s: %s", batch[0].path, error)
        else:
            self._keep(filter(None, map(as_asked, said["pairs"])), batch, found)

    def _keep(
        self, said: Iterable[Mapping[str, Any]], batch: Sequence[ContextChunk], found: dict[str, list[Made]]
    ) -> None:
        """Keep what the page says that it is said to be of, or else another page of the same call."""
        grounds = [Ground.of_page(page) for page in batch]
        for pair in said:
            made = Made(
                "",
                pair["question"].strip(),
                pair["answer"].strip(),
                pair["full_answer"].strip() or pair["answer"].strip(),
                pair["summary"].strip(),
            )
            order = sorted(range(len(batch)), key=lambda at: at != pair["page"] - 1)
            problems = [grounds[at].unfounded(made) for at in order]
            right = next((at for at, problem in zip(order, problems, strict=True) if not problem), None)
            if right is None:
                first = problems[0]
                assert first is not None
                self.tally.dropped[first.kind] += 1
                log.debug("a pair is dropped: %s", first.text)
                continue
            kept = found[batch[right].id]
            if len(kept) == PAIRS_PER_PAGE or made.question in [one.question for one in kept]:
                self.tally.surplus += 1
                continue
            self.tally.kept += 1
            kept.append(replace(made, context_id=batch[right].id))

    def _batches(self, pages: Sequence[ContextChunk]) -> list[list[ContextChunk]]:
        """Group pages to calls whose prompt and output fit into the model's context together."""
        room = self._model.context_tokens - SYSTEM_TOKENS
        batches: list[list[ContextChunk]] = []
        used = 0
        for page in pages:
            needs = self._model.count_tokens(page.page) + PAIR_TOKENS * PAIRS_PER_PAGE
            if batches and used + needs <= room and len(batches[-1]) < MOST_PAGES:
                batches[-1].append(page)
                used += needs
            else:
                batches.append([page])
                used = needs
        return batches
