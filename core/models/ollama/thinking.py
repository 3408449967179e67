"""Keep a model's thinking out of what people read."""

from __future__ import annotations

_OPEN = "<think>"
_CLOSE = "</think>"


class Unthought:
    """Take the pieces of an answer and give back those that are not thinking.

    A leading `<think>…</think>` block is dropped wherever the pieces are cut. Some models leave
    the opening tag out (their template writes it): with `held`, everything is kept back until the
    closing tag comes, or the end.
    """

    def __init__(self, held: bool = False) -> None:
        self.leaked = False
        """Whether thinking without an opening tag was met."""
        self._buffer = ""
        self._state = "held" if held else "start"

    def feed(self, piece: str) -> str:
        """Return what can be shown now."""
        if self._state == "open":
            return self._watch(piece)
        self._buffer += piece
        if self._state == "start":
            head = self._buffer.lstrip()
            if head.startswith(_OPEN):
                self._state = "thinking"
            elif _OPEN.startswith(head):
                return ""
            else:
                self._state = "open"
                self._buffer = ""
                return self._watch(head)
        _, tag, rest = self._buffer.partition(_CLOSE)
        if not tag:
            return ""
        self._state, self._buffer = "start", ""
        return self.feed(rest) if rest.strip() else ""

    def close(self) -> str:
        """Return what was kept back and is no thinking after all."""
        rest, self._buffer = self._buffer, ""
        if self._state == "open":
            return rest
        rest = rest.lstrip()
        return "" if rest.startswith(_OPEN) else rest

    def _watch(self, piece: str) -> str:
        """Show text, but notice a closing tag that nothing opened; it may be cut by pieces."""
        text = self._buffer + piece
        if _CLOSE in text:
            self.leaked = True
        tail = next((n for n in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:n])), 0)
        self._buffer = text[len(text) - tail :]
        return text[: len(text) - tail]
