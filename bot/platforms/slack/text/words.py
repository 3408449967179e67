"""What a Slack message says: its text, else its blocks, and the beginning of text files that it has attached.

Slack fills `text` for what people type. It may be empty where only blocks were sent, and what is pasted and
too long becomes a snippet: a file, of which the event has a `preview` (docs.slack.dev, file object) that
needs no further scope.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.platforms.slack.text.mrkdwn import escape

ATTACHED = 20_000
"""Characters of attached text that are read as part of a message."""
_MARKS = (("code", "`"), ("strike", "~"), ("italic", "_"), ("bold", "*"))


def written(message: Mapping[str, Any]) -> str:
    """Return what somebody wrote, as mrkdwn: text, or blocks where there is none."""
    return str(message.get("text") or "") or _blocks(message.get("blocks") or ())


def attached(message: Mapping[str, Any]) -> str:
    """Return what text files begin with, each as a block of code in Markdown; empty for pictures."""
    texts = []
    for file in message.get("files") or ():
        text = str(file.get("preview") or file.get("plain_text") or "").strip("\n")
        kind, mode = str(file.get("mimetype") or ""), str(file.get("mode") or "")
        if text and (mode == "snippet" or kind.startswith("text/")):
            fence = "````" if "```" in text else "```"
            texts.append(f"{fence}\n{text[:ATTACHED]}\n{fence}")
    return "\n\n".join(texts)


def _blocks(blocks: Iterable[Mapping[str, Any]]) -> str:
    """Return the words of rich text, sections, headers and Markdown blocks."""
    parts: list[str] = []
    for block in blocks:
        match block.get("type"):
            case "rich_text":
                parts += [_wide(element) for element in block.get("elements") or ()]
            case "section" | "header":
                texts = [block.get("text"), *(block.get("fields") or ())]
                parts += [str(one.get("text") or "") for one in texts if one]
            case "markdown":
                parts.append(escape(str(block.get("text") or "")))
    return "\n".join(part for part in parts if part.strip())


def _wide(element: Mapping[str, Any]) -> str:
    """Write a section, a quote, a list or a block of code."""
    kind, inner = str(element.get("type") or ""), element.get("elements") or ()
    if kind == "rich_text_list":
        first, ordered = int(element.get("offset") or 0) + 1, element.get("style") == "ordered"
        lead = "    " * int(element.get("indent") or 0)
        signs = (f"{number}. " if ordered else "• " for number in range(first, first + len(inner)))
        return "\n".join(f"{lead}{sign}{_wide(item)}" for sign, item in zip(signs, inner, strict=True))
    text = "".join(_inline(one, plain=kind == "rich_text_preformatted") for one in inner)
    if kind == "rich_text_preformatted":
        return f"```\n{text}\n```"
    if kind == "rich_text_quote":
        return "\n".join(f"&gt; {line}" for line in text.split("\n"))
    return text.rstrip("\n")


def _inline(element: Mapping[str, Any], plain: bool) -> str:
    """Write one element of a line as Slack's own `text` has it."""
    match element.get("type"):
        case "text":
            text = escape(str(element.get("text") or ""))
            return text if plain else _styled(text, element.get("style") or {})
        case "link":
            url, label = str(element.get("url") or ""), escape(str(element.get("text") or ""))
            return f"<{url}|{label}>" if label else f"<{url}>"
        case "user":
            return f"<@{element.get('user_id')}>"
        case "channel":
            return f"<#{element.get('channel_id')}>"
        case "usergroup":
            return f"<!subteam^{element.get('usergroup_id')}>"
        case "broadcast":
            return f"<!{element.get('range')}>"
        case "emoji":
            return f":{element.get('name')}:"
        case "date":
            return str(element.get("fallback") or "")
    return ""


def _styled(text: str, style: Mapping[str, Any]) -> str:
    for name, mark in _MARKS:
        if style.get(name) and text.strip():
            inner = text.strip(" ")
            before, after = text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]
            text = f"{before}{mark}{inner}{mark}{after}"
    return text
