"""Pairs by a language model, each checked against the document that it is made of (QA pre-generation)."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from core.domain import ContextChunk
from core.errors import ModelMalformed
from core.ingestion.pregeneration.pairs import Made, unfounded
from core.ingestion.pregeneration.prompt import PAIRS_PER_PAGE, PAIRS_SCHEMA, PAIRS_VERSION, pairs
from core.ingestion.pregeneration.rules import pairs_by_rule
from core.ports import LanguageModel, Prompt

log = logging.getLogger(__name__)

PAIR_TOKENS = 220
"""Tokens that a pair takes in the output: question, answer, the text it is from, summary."""
SYSTEM_TOKENS = 900
"""Tokens of the instructions, amply."""
MOST_PAGES = 4
"""Pages in one call; small models lose the numbers of more."""


class ModelPairs:
    """The `Maker` that asks a model; pages that it makes nothing valid of get what rules make."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self.by = f"{model.name} {PAIRS_VERSION}"

    def redoes(self, by: str) -> bool:
        """Do what rules, another model, or an older prompt did."""
        return by != self.by

    async def make(self, pages: Sequence[ContextChunk]) -> list[Made]:
        """Make the pairs of one document of its pages; raises where the model cannot be asked."""
        found: list[Made] = []
        document = "\n\n".join(f"{page.title}\n{page.heading}\n{page.page}" for page in pages)
        for batch in self._batches(pages):
            found += await self._of(batch, document)
        return found

    async def _of(self, batch: Sequence[ContextChunk], document: str) -> list[Made]:
        system, user = pairs(batch[0].title, [(page.heading, page.page) for page in batch])
        try:
            said = await self._model.structured(
                [Prompt("system", system), Prompt("user", user)],
                PAIRS_SCHEMA,
                max_tokens=PAIR_TOKENS * PAIRS_PER_PAGE * len(batch),
            )
        except ModelMalformed as error:
            if len(batch) > 1:  # cut off, or too much at once
                return [made for page in batch for made in await self._of([page], document)]
            log.info("no pairs by the model for %s: %s", batch[0].heading, error)
            return pairs_by_rule(batch)
        found: dict[int, list[Made]] = {number: [] for number in range(1, len(batch) + 1)}
        for pair in said["pairs"]:
            number = pair["page"]
            if number not in found or len(found[number]) == PAIRS_PER_PAGE:
                continue
            made = Made(
                batch[number - 1].id,
                pair["question"].strip(),
                pair["answer"].strip(),
                pair["full_answer"].strip() or pair["answer"].strip(),
                pair["summary"].strip(),
            )
            if problem := unfounded(made, document):
                log.debug("a pair is dropped: %s", problem)
            else:
                found[number].append(made)
        return [made for number, some in found.items() for made in some or pairs_by_rule([batch[number - 1]])]

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
