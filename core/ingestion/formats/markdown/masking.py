"""Code put out of the way of what rewrites Markdown: a fence or a span becomes one sign, and comes back."""

from __future__ import annotations

import re
from collections.abc import Callable

from core.text.words import closes_fence

_FENCE = re.compile(
    r"^(?P<before>[ \t]*(?:(?:>|[-*+]|\d+[.)])[ \t]+)*)(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$"
)
_SPAN = re.compile(
    r"(?<![`\\])(?P<mark>`+)(?!`)(?P<code>(?:[^`]|(?!(?<!`)(?P=mark)(?!`))`){1,600}?)(?P=mark)(?!`)"
)
_SIGN = re.compile("\ue000(\\d+)\ue001")
_SIGNS = re.compile("[\ue000\ue001]")


class Masked:
    """A Markdown text whose code is hidden; `text` may be changed, then `restored` brings the code back.

    A fence stands on its line as one sign, without the spaces that it is indented by, so that it can be
    moved in or out; a code span stands where it stood. A span that runs over a blank
    line or is longer than 600 characters is none.
    """

    def __init__(self, text: str) -> None:
        self._kept: list[str] = []
        self.text = self._spans_out(self._fences_out(_SIGNS.sub("", text)))

    def sign(self, code: str) -> str:
        """Hide one more piece of code, and return the sign that stands for it."""
        self._kept.append(code)
        return f"\ue000{len(self._kept) - 1}\ue001"

    def shown(self, text: str) -> str:
        """Return a part of the text with its code, without changing anything."""

        def bring(found: re.Match[str]) -> str:
            code = self.shown(self._kept[int(found[1])])
            if "\n" not in code:
                return code
            line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
            return code.replace("\n", "\n" + re.sub(r"[^\s>]", " ", line))

        return _SIGN.sub(bring, text)

    def restored(self) -> str:
        """Return the text with its code.

        Two blank lines end an admonition, also where they stand in its code: those of code are as wide as
        the code is indented, and text keeps one.
        """
        return self.shown(re.sub(r"\n(?:[ \t]*\n){2,}", "\n\n", self.text))

    def change_code(self, change: Callable[[str], str]) -> None:
        """Rewrite each fence that was hidden."""
        self._kept = [change(code) if code[:3] in ("```", "~~~") else code for code in self._kept]

    def _fences_out(self, text: str) -> str:
        lines = text.split("\n")
        out: list[str] = []
        position = 0
        while position < len(lines):
            found = _FENCE.match(lines[position])
            if not found or (found["mark"][0] == "`" and "`" in found["info"]):
                out.append(lines[position])
                position += 1
                continue
            mark = found["mark"]
            end = position + 1
            while end < len(lines) and not closes_fence(lines[end], mark, " \t>"):
                end += 1
            before = found["before"]
            width = len(before.expandtabs(4))
            inner = [_without(line, before, width) for line in lines[position + 1 : end]]
            code = "\n".join([mark + found["info"], *inner, mark])
            out.append(before + self.sign(code))
            position = end + 1
        return "\n".join(out)

    def _spans_out(self, text: str) -> str:
        def hide(found: re.Match[str]) -> str:
            return (
                found[0] if re.search(r"\n\s*\n", found[0]) or "\ue000" in found[0] else self.sign(found[0])
            )

        return _SPAN.sub(hide, text)


def _without(line: str, before: str, width: int) -> str:
    """Take what stands before a fence off a line inside of it."""
    quoted = re.match(r"[ \t]*(?:>[ \t]?)*", line) if ">" in before else None
    taken = quoted.end() if quoted else 0
    line = line[taken:]
    spaces = len(line) - len(line.lstrip(" \t"))
    return line[min(spaces, max(width - taken, 0)) :]


def cut_out(text: str, opening: str, closing: str, kept: str = "\0") -> str:
    """Take out every passage from `opening` to `closing`, but those that go on with `kept`."""
    out: list[str] = []
    position = 0
    while (start := text.find(opening, position)) >= 0 and (end := text.find(closing, start)) >= 0:
        end += len(closing)
        hidden = not text[start + len(opening) : end].lstrip().startswith(kept)
        out.append(text[position : start if hidden else end])
        position = end
    return "".join([*out, text[position:]])
