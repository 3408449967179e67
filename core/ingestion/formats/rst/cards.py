"""Cards (sphinx-design) and panels (sphinx-panels): titles, texts and feet, told apart by lines of signs."""

from __future__ import annotations

import re
from typing import Any

from core.ingestion.formats.rst.call import Call
from core.text.words import one_line

_HEAD = re.compile(r"\^{3,}\s*")
_FOOT = re.compile(r"\+{3,}\s*")
_PANEL = re.compile(r"-{3,}\s*")
_OPTION = re.compile(r"\s*:[\w-]+:(?:\s|$)")


def card(call: Call) -> list[Any]:
    """Return the text of a card, its title in bold."""
    title = "".join(node.astext() for node in call.inline(call.argument))
    return _card(call, call.content, title)


def panels(call: Call) -> list[Any]:
    """Return the texts of panels, one after another."""
    made: list[Any] = []
    begin = 0
    for number, line in enumerate([*call.content, "---"]):
        if _PANEL.fullmatch(line):
            part = call.content[begin:number]
            while part and (not part[0].strip() or _OPTION.match(part[0])):
                part.trim_start()
            made += _card(call, part, "") if len(part) else []
            begin = number + 1
    return made


def button(call: Call) -> list[Any]:
    """Return what a link that looks like a button says."""
    said = call.options.get("text", "")
    return [call.nodes.paragraph("", "", *call.inline(said))] if said else []


def _card(call: Call, lines: Any, title: str) -> list[Any]:
    head = next((at for at, line in enumerate(lines) if _HEAD.fullmatch(line)), -1)
    foot = next((at for at, line in enumerate(lines) if at > head and _FOOT.fullmatch(line)), len(lines))
    above = call.parsed(lines[:head]) if head > 0 else []
    told = [*call.parsed(lines[head + 1 : foot]), *call.parsed(lines[foot + 1 :])]
    if not title and len(above) == 1:
        title, above = above[0].astext(), []
    title = one_line(title).rstrip(":")
    if not title:
        return [*above, *told]
    return [call.make("labelled", *above, *told, label=f"**{title}:**" if above or told else f"**{title}**")]
