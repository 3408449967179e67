"""How often a language model is called."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from core.ports import LanguageModel, ModelHealth, Prompt


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
