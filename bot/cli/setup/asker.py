"""Somebody at a terminal who is asked, and asked again where an answer cannot be."""

from __future__ import annotations

import sys
from collections.abc import Callable

Ask = Callable[[str], str]


class Asker:
    """Asks at the terminal, and again where an answer cannot be."""

    def __init__(self, ask: Ask, secret: Ask) -> None:
        self.ask = ask
        self._secret = secret

    def needed(self, question: str) -> str:
        """Ask until there is an answer."""
        while not (answer := self.ask(question).strip()):
            print("Please answer this one.", file=sys.stderr)
        return answer

    def token(self, question: str, prefix: str) -> str:
        """Ask unseen for a token that begins with `prefix`; empty for not now."""
        while (token := self._secret(question).strip()) and not token.startswith(prefix):
            print(
                f"That one begins with {token[:5]}…, the one that is asked for with {prefix}", file=sys.stderr
            )
        return token

    def accounts(self, question: str) -> str:
        """Ask for accounts until they have their platform; empty for none."""
        while (said := self.ask(question).strip()) and ":" not in said:
            print("Write each with its platform, such as slack:U0123456.", file=sys.stderr)
        return said

    def agrees(self, question: str) -> bool:
        """Return True if the answer is yes."""
        return self.ask(question).strip().lower() in ("y", "yes")
