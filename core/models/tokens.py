"""Estimate how many tokens a text has, without the model's tokenizer."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from core.ports import Prompt

MESSAGE_TOKENS = 8
"""What a chat template adds to each message; 4 to 7 in the Llama, Qwen and Gemma templates."""
_LARGEST_SCALE = 3.0

# One match stands for one token, rather too many than what a vocabulary of 100k to 150k makes: pieces of
# four letters, single digits (as Qwen and Gemma have them), single signs, one per line break or
# indentation. Beyond ASCII a two-byte letter counts one, a three-byte one two, an emoji three.
_PIECE = re.compile(r"[A-Za-z]{1,4}|[^\sA-Za-z]|\n+| {2,}|\t+")


def raw_tokens(text: str) -> int:
    """Count the pieces of a text that are no longer than a token usually is."""
    pieces = len(_PIECE.findall(text))
    if text.isascii():
        return pieces
    return pieces + sum((c > "\u07ff") + (c > "\uffff") for c in text)


class TokenCount:
    """An estimate that what a server counts in real prompts corrects upwards."""

    def __init__(self) -> None:
        self._scale = 1.0

    def of(self, text: str) -> int:
        """Estimate the tokens of a text."""
        return math.ceil(raw_tokens(text) * self._scale)

    def learn(self, prompts: Sequence[Prompt], counted: int) -> None:
        """Take note of the tokens that a server counted in prompts.

        Never downwards: servers leave cached tokens out of the count, and cut prompts short.
        """
        estimate = sum(raw_tokens(p.content) + MESSAGE_TOKENS for p in prompts)
        self._scale = min(max(self._scale, counted / max(estimate, 1)), _LARGEST_SCALE)
