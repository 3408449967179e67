"""What is kept out of the words that a model reads and writes: control tokens, and thinking.

Servers look for the tokens of a model's chat template in everything they are sent, so that words of a page
or a question could end their message and begin one of the system (ollama/ollama, issue 15931). A space
behind the first sign and before the last keeps a token readable and leaves it nothing but text:
`< |im_end| >`. All models' tokens are treated alike, whichever model is served.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from core.ports import Prompt
from core.text.invisible import visible

_BARRED = r"<[|｜][^\s<>]{1,80}>|<[^\s<>]{1,80}[|｜]>"
_SWITCH = re.compile(r"(?<![\w/.~-])/(?:no_?)?think(?![\w/-]|\.\w)")
"""What turns the thinking of Qwen3 and SmolLM3 on or off wherever it stands in a message."""


@cache
def named() -> tuple[str, ...]:
    """Return the tokens of the list; a `*` stands for digits."""
    text = (resources.files(__package__) / "control_tokens.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(" ".join(lines).split())


@cache
def _tokens() -> tuple[re.Pattern[str], ...]:
    """Return what finds tokens: those in angle brackets first, for others may stand inside of them."""
    written = {token: re.escape(token).replace(r"\*", r"\d{1,6}") for token in named()}
    angled = "|".join(pattern for token, pattern in written.items() if token[0] == "<")
    others = "|".join(pattern for token, pattern in written.items() if token[0] != "<")
    return re.compile(f"{_BARRED}|(?i:{angled})"), re.compile(others), _SWITCH


@cache
def turns() -> re.Pattern[str]:
    """Return what finds tokens around a turn, no part of an answer: in square brackets, with a closing one.

    Others may be words of a page, such as [MASK]; those in angle brackets are tags.
    """
    known = set(named())
    twins = sorted(re.escape(one[1:]) for one in known if one[0] == "[" and f"[/{one[1:]}" in known)
    return re.compile(rf"(?:\[/?(?:{'|'.join(twins)})|<</?SYS>>)\s?")


class Inert:
    """Makes texts inert, and remembers which tokens stood in them."""

    def __init__(self) -> None:
        self.met: set[str] = set()

    def __call__(self, text: str) -> str:
        """Return a text without a token in it that a server could take for one."""
        for pattern in _tokens():
            text = pattern.sub(self._apart, text)
        return text

    def _apart(self, found: re.Match[str]) -> str:
        token = found[0]
        self.met.add(token)
        return f"/ {token[1:]}" if found.re is _SWITCH else f"{token[0]} {token[1:-1]} {token[-1]}"


def inert(prompts: Sequence[Prompt]) -> tuple[tuple[Prompt, ...], set[str]]:
    """Return prompts as a server may see them, without invisible characters, and the tokens met in them."""
    make = Inert()
    return tuple(Prompt(p.role, make(visible(p.content))) for p in prompts), make.met


class TurnedBack:
    """Takes the pieces of an answer, and gives them back with the tokens of its prompts as they were."""

    def __init__(self, met: set[str]) -> None:
        make = Inert()
        self._written = {make(token): token for token in met}
        forms = sorted(self._written, key=len, reverse=True)
        self._forms = re.compile("|".join(map(re.escape, forms)) or r"(?!)")
        self._begun = {form[:length] for form in forms for length in range(1, len(form))}
        self._longest = max(map(len, forms), default=1) - 1
        self._buffer = ""

    def feed(self, piece: str) -> str:
        """Return what can be given on now; the beginning of a form waits for its end."""
        text, told, at = self._buffer + piece, "", 0
        first = max(0, len(text) - self._longest)
        begun = [start for start in range(first, len(text)) if text[start:] in self._begun]
        while True:
            held = next((start for start in begun if start >= at), len(text))
            found = self._forms.search(text, at)
            if found is None or found.start() >= held:
                break
            told += text[at : found.start()] + self._written[found[0]]
            at = found.end()
        self._buffer = text[held:]
        return told + text[at:held]

    def close(self) -> str:
        """Return what waited in vain."""
        rest, self._buffer = self._buffer, ""
        return self._forms.sub(lambda found: self._written[found[0]], rest)


_CLOSE = "</think>"
_BLOCKS = {
    "<think>": _CLOSE,
    "[THINK]": "[/THINK]",
    "<|channel>thought": "<channel|>",
    "<|channel|>analysis<|message|>": "<|end|>",
    "<|start|>assistant<|channel|>final": "<|message|>",
    "<|channel|>final": "<|message|>",
}
"""How thinking begins and ends where a server does not take it out: as most models have it, Mistral's,
Gemma's, and gpt-oss's, in which the answer has a head as well."""


class Unthought:
    """Take the pieces of an answer and give back those that are not thinking.

    Leading blocks such as `<think>…</think>` are dropped wherever the pieces are cut. Some models
    leave the opening tag out (their template writes it): with `held`, everything is kept back until
    the closing tag comes, or the end.
    """

    def __init__(self, held: bool = False) -> None:
        self.leaked = False
        """Whether thinking without an opening tag was met."""
        self._buffer = ""
        self._state = "held" if held else "start"
        self._close = _CLOSE

    def feed(self, piece: str) -> str:
        """Return what can be shown now."""
        if self._state == "open":
            return self._watch(piece)
        self._buffer += piece
        if self._state == "start":
            head = self._buffer.lstrip()
            if opened := next((tag for tag in _BLOCKS if head.startswith(tag)), ""):
                self._state, self._close = "thinking", _BLOCKS[opened]
            elif any(tag.startswith(head) for tag in _BLOCKS):
                return ""
            else:
                self._state = "open"
                self._buffer = ""
                return self._watch(head)
        _, tag, rest = self._buffer.partition(self._close)
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
        return "" if rest.startswith(tuple(_BLOCKS)) else rest

    def _watch(self, piece: str) -> str:
        """Show text, but notice a closing tag that nothing opened; it may be cut by pieces."""
        text = self._buffer + piece
        if _CLOSE in text:
            self.leaked = True
        tail = next((n for n in range(len(_CLOSE) - 1, 0, -1) if text.endswith(_CLOSE[:n])), 0)
        self._buffer = text[len(text) - tail :]
        return text[: len(text) - tail]


class Shown:
    """Takes the pieces of an answer, and gives back what people see: no thinking, tokens as they were.

    `met` are the tokens that stood in its prompts; with `held`, all waits for the end of thinking.
    """

    def __init__(self, met: set[str], held: bool) -> None:
        self.is_written = False
        """Whether there was anything but space in it."""
        self._visible = Unthought(held)
        self._turned_back = TurnedBack(met)

    @property
    def leaked(self) -> bool:
        """Return True if thinking without an opening tag was met."""
        return self._visible.leaked

    def feed(self, piece: str) -> str:
        """Return what can be shown now."""
        return self._noted(self._turned_back.feed(self._visible.feed(piece)))

    def close(self) -> str:
        """Return what was kept back and is to be shown after all."""
        return self._noted(self._turned_back.feed(self._visible.close()) + self._turned_back.close())

    def _noted(self, piece: str) -> str:
        self.is_written = self.is_written or bool(piece.strip())
        return piece
