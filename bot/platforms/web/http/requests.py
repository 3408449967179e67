"""What the playground's requests hold: who asks, the text, and what is said about a mistake."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from bot.platforms.web.people import CHANNELS, PLAYERS, Player
from bot.platforms.web.post import Post
from bot.platforms.web.state import Posts

MAX_CHARACTERS = 12_000
"""Longest message; what Slack's Markdown block takes."""
# Control characters and lone surrogates: legal in JSON, but no database takes them.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class ApiError(Exception):
    """Say in one sentence what a request got wrong; `status` is HTTP's."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


def body_of(raw: bytes) -> dict[str, Any]:
    """Return the JSON object of a request; raises ApiError for anything else."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        raise ApiError(400, "The body is not JSON.") from None
    if not isinstance(body, dict):
        raise ApiError(400, "The body must be a JSON object.")
    return body


def player_of(name: object) -> Player:
    """Return the person of that name; raises ApiError for nobody."""
    player = PLAYERS.get(name) if isinstance(name, str) else None
    if player is None:
        raise ApiError(422, f"`person` must be one of {', '.join(PLAYERS)}.")
    return player


def text_of(body: Mapping[str, Any]) -> str:
    """Return the text of a request, cleaned; raises ApiError where it is empty or too long."""
    text = cleaned(body.get("text"))
    if not text:
        raise ApiError(422, "`text` must say something.")
    return text


def cleaned(text: object) -> str:
    """Return a text as it can be kept, empty for what is no text; raises ApiError where it is too long."""
    if not isinstance(text, str):
        return ""
    text = _UNWRITABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    if len(text) > MAX_CHARACTERS:
        raise ApiError(413, f"The message is too long: {len(text)} of {MAX_CHARACTERS} characters.")
    return text


def visible(posts: Posts, post_id: object, player: Player, *, whispers: bool = False) -> Post:
    """Return a message that a player may read; raises ApiError where there is none.

    `whispers` admits what the bot said to that player alone.
    """
    post = posts.get(post_id) if isinstance(post_id, str) else None
    hidden = post is None or post.gone or not CHANNELS[post.channel].seen_by(player.id)
    if post is None or hidden or (post.only and not (whispers and post.only == player.id)):
        raise ApiError(404, "There is no such message any more.")
    return post
