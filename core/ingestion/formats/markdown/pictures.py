"""Pictures of a page that are no text of it: badges; and what a heading is called that is a logo."""

from __future__ import annotations

import re

from markdown_it.tree import SyntaxTreeNode

from core.text.words import one_line

_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|avif)(?:[?#]|$)", re.I)
_LOGO = re.compile(r"(?<!\w)(?:(?:project|our|the)[ _-])?(?:logo|banner|header|icon|image|img)$", re.I)


def are_badges(node: SyntaxTreeNode) -> bool:
    """Return True for a paragraph of several pictures and nothing else that leads to another site.

    What leads to a picture shows it large: it is no badge.
    """
    shown = _pictures(node) if node.type == "paragraph" else []
    targets = [str(one.attrs.get("href", "")) for one in shown if one.type == "link"]
    leads = any("://" in target for target in targets) and not any(map(_PICTURE.search, targets))
    return len(shown) > 1 and leads


def _pictures(node: SyntaxTreeNode) -> list[SyntaxTreeNode]:
    """Return the pictures, with or without a link, of which a node consists; none where it says more."""
    line = node.children[0].children if node.children else []
    shown = [one for one in line if "break" not in one.type and (one.type != "text" or one.content.strip())]
    linked = [one for one in shown if one.type == "link" and [c.type for c in one.children] == ["image"]]
    return shown if all(one in linked or one.type == "image" for one in shown) else []


def pictured(node: SyntaxTreeNode) -> str | None:
    """Return what is named by the pictures that a heading consists of; None for one that has words.

    "Kettle logo" names Kettle, "logo" nothing.
    """
    if not (shown := _pictures(node)):
        return None
    pictures = (one for node in shown for one in node.walk() if one.type == "image")
    named = (_LOGO.sub("", one_line(one.content)) for one in pictures)
    return next((said for said in named if any(map(str.isalnum, said))), "")
