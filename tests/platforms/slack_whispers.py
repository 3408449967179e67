"""What the loopback Slack shows to one person alone, and the URLs through which it is said.

docs.slack.dev, `chat.postEphemeral`: in a thread they are shown only if it is active already, and only to
members of the channel. Handling user interaction: a `response_url` takes five messages within 30 minutes, is
bound to a place and a person and asks for no membership; what it replaces is the message that the interaction
came from. A command came from none, and what is to replace something there is one more message
(slackapi/bolt-python, issue 1268; slackapi/bolt-js, issue 2287).
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.platforms.slack_blocks import SlackError

if TYPE_CHECKING:
    from tests.platforms.slack_server import SlackServer

_BODY = {
    "text": str,
    "blocks": list,
    "response_type": str,
    "replace_original": bool,
    "delete_original": bool,
    "thread_ts": str,
}
"""What a body for a response URL may hold."""


@dataclass
class ResponseUrl:
    """One URL: whose it is, when it was made, what it was made for and what was said through it."""

    channel: str
    user: str
    made: float
    source: dict[str, Any] | None = None
    uses: int = 0
    said: list[dict[str, Any]] = field(default_factory=list)


class Whispers:
    """Ephemeral messages of a server."""

    def __init__(self, server: SlackServer) -> None:
        self._server = server
        self.shown: list[dict[str, Any]] = []
        """Those that somebody saw; one that replaces another takes its place."""
        self.unseen: list[dict[str, Any]] = []
        """Those in threads without replies, which Slack takes and shows to nobody."""
        self.urls: dict[str, ResponseUrl] = {}

    def active(self, channel: str, thread: str) -> bool:
        """Return True if a thread has replies."""
        return any(m.get("thread_ts") == thread != m["ts"] for m in self._server.messages[channel].values())

    def keep(
        self, channel: str, user: str, text: str, blocks: list[dict[str, Any]], thread: str
    ) -> dict[str, Any]:
        """Show a message to one person, if it can be seen where it stands."""
        kept = {"channel": channel, "user": user, "text": text, "blocks": blocks, "ts": self._server.tick()}
        if thread:
            kept["thread_ts"] = thread
        if not thread or self.active(channel, thread):
            self.shown.append(kept)
        else:
            self.unseen.append(kept)
            self._server.problems.append(f"nobody sees this, as the thread has no replies: {text[:60]}")
        self._server.noticed()
        return kept

    # --- response URLs ------------------------------------------------------------------------

    def new_url(self, channel: str, user: str, source: dict[str, Any] | None = None) -> str:
        """Return the id of a new response URL; `source` is the message with the control that was used."""
        key = f"r{self._server.tick()}"
        self.urls[key] = ResponseUrl(channel, user, asyncio.get_running_loop().time(), source)
        return key

    def respond(self, key: str, sent: str) -> tuple[int, str]:
        """Take what is sent to a response URL; return the status and the body of the answer."""
        url, server = self.urls.get(key), self._server
        if url and asyncio.get_running_loop().time() - url.made > server.response_seconds:
            return 404, _refusal("expired_url")
        if url is None or url.uses >= server.response_uses:
            return 404, _refusal("used_url")
        url.uses += 1
        try:
            body = _checked(sent)
            text, blocks = server.api.content(body)
        except SlackError as error:
            return 400, _refusal(error.error)
        if body.get("response_type", "ephemeral") != "ephemeral":
            server.problems.append(f"said to everyone through a response URL: {text[:60]}")
        elif body.get("replace_original") or body.get("delete_original"):
            self._replace(url, text, blocks)
        else:
            thread = str(body.get("thread_ts") or "")
            url.said.append(self.keep(url.channel, url.user, text, blocks, thread))
        return 200, "ok"

    def _replace(self, url: ResponseUrl, text: str, blocks: list[dict[str, Any]]) -> None:
        """Replace the message that a URL came with; one of a command came with none."""
        if url.source is not None:
            self._server.problems.append(f"the message with the control is replaced: {text[:60]}")
        url.said.append(self.keep(url.channel, url.user, text, blocks, ""))


def _refusal(code: str) -> str:
    return json.dumps({"ok": False, "error": code})


def _checked(sent: str) -> dict[str, Any]:
    """Read a body; raises SlackError for what is none."""
    try:
        body = json.loads(sent)
    except ValueError:
        raise SlackError("invalid_payload") from None
    if not isinstance(body, dict):
        raise SlackError("invalid_payload")
    if wrong := [key for key, value in body.items() if not isinstance(value, _BODY.get(key, ()))]:
        raise SlackError("invalid_arguments", f"[ERROR] unsupported or of another type: {wrong}")
    return body
