"""Draws what the bot sent to Slack and Discord as a page, near enough to judge an answer by."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

_MARKDOWN = MarkdownIt("commonmark", {"breaks": True, "html": False}).enable(["table", "strikethrough"])
_STYLE = Path(__file__).with_name("chats.css")
BOT = "Threadlore"


@dataclass(frozen=True)
class Piece:
    """One control as it is drawn: a button, or a menu where `menu` is true."""

    label: str
    menu: bool = False


@dataclass(frozen=True)
class Spoken:
    """One message as a platform shows it; `body` is HTML, `only` a line above what one person alone sees."""

    who: str
    body: str
    rows: tuple[tuple[Piece, ...], ...] = ()
    votes: bool = False
    only: str = ""


@dataclass(frozen=True)
class Window:
    """A form: its title, its fields with whether they are menus, and its buttons."""

    title: str
    fields: tuple[tuple[str, bool], ...]
    buttons: tuple[str, ...]


@dataclass(frozen=True)
class Scene:
    """What one picture shows: a title, and messages or a form below each other."""

    title: str
    shown: Sequence[Spoken | Window] = field(default_factory=tuple)


# --- Slack ------------------------------------------------------------------------------------


def of_slack(message: dict[str, Any], only: str = "") -> Spoken:
    """Draw a message of the loopback Slack from its blocks, or from its text while it streams."""
    parts: list[str] = []
    rows: list[tuple[Piece, ...]] = []
    for block in message.get("blocks") or []:
        if block["type"] == "markdown":
            parts.append(_MARKDOWN.render(block["text"]))
        elif block["type"] == "section":
            parts.append(f"<p>{mrkdwn(block['text']['text'])}</p>")
        elif block["type"] == "context":
            said = " ".join(mrkdwn(element["text"]) for element in block["elements"])
            parts.append(f'<p class="small">{said}</p>')
        elif block["type"] == "actions":
            rows.append(tuple(_slack_piece(element) for element in block["elements"]))
    body = "".join(parts) or _MARKDOWN.render(message["text"])
    votes = bool(message.get("reactions"))
    return Spoken(BOT, body, _one_row_of_votes(rows, votes), votes, only)


def _one_row_of_votes(rows: Sequence[tuple[Piece, ...]], votes: bool) -> tuple[tuple[Piece, ...], ...]:
    """Leave out the buttons of 👍 and 👎 where they are reactions: only tests have both."""
    return tuple(tuple(one for one in row if not (votes and one.label in ("👍", "👎"))) for row in rows)


def _slack_piece(element: dict[str, Any]) -> Piece:
    text = element.get("text") or element["placeholder"]
    return Piece(text["text"], menu="options" in element)


def mrkdwn(text: str) -> str:
    """Turn Slack's own notation into HTML."""
    text = re.sub(r"<([^<>|]+)\|([^<>]+)>", r'<a href="\1">\2</a>', text)
    text = re.sub(r"<@(\w+)>", r"<a>@\1</a>", text)
    text = re.sub(r"(?<![\w*])\*([^*\n]+)\*(?![\w*])", r"<b>\1</b>", text)
    text = re.sub(r"(?<!\w)_([^_\n]+)_(?!\w)", r"<i>\1</i>", text)
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", text).replace("\n", "<br>")


def slack_window(view: dict[str, Any]) -> Window:
    """Draw a modal view."""
    fields = [(b["label"]["text"], b["element"]["type"] == "static_select") for b in view["blocks"]]
    return Window(view["title"]["text"], tuple(fields), (view["close"]["text"], view["submit"]["text"]))


# --- Discord ----------------------------------------------------------------------------------


def of_discord(content: str, rows: Sequence[Sequence[dict[str, Any]]], votes: bool, only: str = "") -> Spoken:
    """Draw a message of Discord from its content and its rows of components."""
    drawn = tuple(
        tuple(
            Piece(part.get("label") or part.get("placeholder") or "", menu="options" in part) for part in row
        )
        for row in rows
    )
    lines = content.split("\n")
    small = [at for at, line in enumerate(lines) if line.startswith("-# ")]
    notes = "".join(
        f'<p class="small">{_MARKDOWN.renderInline(lines[at].removeprefix("-# "))}</p>' for at in small
    )
    rest = "\n".join(line for at, line in enumerate(lines) if at not in small)
    return Spoken(BOT, _MARKDOWN.render(rest) + notes, _one_row_of_votes(drawn, votes), votes, only)


# --- the page ---------------------------------------------------------------------------------


def page(platform: str, columns: Sequence[tuple[str, Sequence[Scene]]]) -> str:
    """Return a page of scenes in columns, each `light` or `dark`."""
    drawn = "".join(
        f'<div class="column">{"".join(_scene(platform, shade, scene) for scene in scenes)}</div>'
        for shade, scenes in columns
    )
    style = _STYLE.read_text(encoding="utf-8")
    return f'<!doctype html><meta charset="utf-8"><title>Answers</title><style>{style}</style>{drawn}'


def _scene(platform: str, shade: str, scene: Scene) -> str:
    shown = "".join(_window(one) if isinstance(one, Window) else _message(one) for one in scene.shown)
    return f'<section class="chat {platform} {shade}"><h2>{html.escape(scene.title)}</h2>{shown}</section>'


def _message(one: Spoken) -> str:
    bot = one.who == BOT
    rows = "".join(f'<div class="controls">{"".join(map(_piece, row))}</div>' for row in one.rows)
    votes = '<div class="votes"><span>👍 1</span><span>👎 1</span></div>' if one.votes else ""
    app = '<span class="app">APP</span>' if bot else ""
    only = f'<div class="only">{html.escape(one.only)}</div>' if one.only else ""
    return (
        f'<div class="message"><div class="face {"bot" if bot else ""}">{one.who[0].upper()}</div><div>{only}'
        f'<span class="name">{one.who}</span>{app}<span class="time">10:42 AM</span>'
        f'<div class="body">{one.body}</div>{rows}{votes}</div></div>'
    )


def _piece(piece: Piece) -> str:
    return f'<span class="{"menu" if piece.menu else "button"}">{html.escape(piece.label)}</span>'


def _window(window: Window) -> str:
    fields = "".join(
        f'<label>{html.escape(label)}</label><div class="field {"" if menu else "tall"}">'
        f"{'Choose …' if menu else ''}</div>"
        for label, menu in window.fields
    )
    *others, last = window.buttons
    buttons = "".join(f'<span class="button">{html.escape(label)}</span>' for label in others)
    buttons += f'<span class="button primary">{html.escape(last)}</span>'
    title = html.escape(window.title)
    return f'<div class="modal"><h3>{title}</h3>{fields}<div class="controls">{buttons}</div></div>'
