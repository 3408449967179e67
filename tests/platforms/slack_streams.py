"""Streamed messages of the loopback Slack.

As docs.slack.dev says of `chat.startStream`, `chat.appendStream` and `chat.stopStream`, and as those who
measured it say of what happens meanwhile: a message that streams can neither be updated nor deleted; a stream
ends by itself after some minutes, or half a minute without a word (python-slack-sdk, issue 1859).
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.platforms.slack_blocks import SlackError, check_blocks

if TYPE_CHECKING:
    from tests.platforms.slack_server import SlackServer

LONGEST = 12_000
"""Characters of `markdown_text` in one call."""


@dataclass
class Stream:
    """A stream that goes on: when it began, and when something was added last."""

    began: float
    fed: float
    pieces: int = 1


class Streaming:
    """What a server knows of its streams."""

    def __init__(self, server: SlackServer) -> None:
        self.server = server
        self.there = True
        """Whether this workspace has streams at all."""
        self.kinds = {"channel", "group", "im", "mpim"}
        """Kinds of channels that take streams."""
        self.lasts, self.idles = 300.0, 30.0
        """Seconds that a stream lasts at most, and without a word."""
        self.stuck = False
        """Whether no stream can be stopped."""
        self.running: dict[tuple[str, str], Stream] = {}

    def move(self, channel: str, to: str) -> None:
        """Let the streams of a channel go on where it has another id."""
        self.running = {(to if at == channel else at, ts): one for (at, ts), one in self.running.items()}

    def start(self, channel: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        """Answer `chat.startStream`."""
        if channel["kind"] not in self.kinds:
            raise SlackError("channel_type_not_supported")
        thread = str(given.get("thread_ts") or "")
        if thread not in self.server.messages[channel["id"]]:
            raise SlackError("thread_not_found")
        if channel["kind"] != "im":
            for name in ("recipient_team_id", "recipient_user_id"):
                if not given.get(name):
                    raise SlackError(f"missing_{name}")
        elif given.get("recipient_team_id") or given.get("recipient_user_id"):
            raise SlackError("invalid_arguments")
        user = given.get("recipient_user_id")
        if user and user not in channel["members"]:
            raise SlackError("user_not_found")
        if given.get("recipient_team_id") not in (None, self.server.team):
            raise SlackError("team_not_found")
        text = _text(given)
        message = self.server.store(
            channel["id"],
            self.server.bot_user,
            text,
            thread,
            blocks=[],
            bot_id=self.server.bot_id,
            app_id=self.server.app,
            streaming_state="in_progress",
        )
        now = asyncio.get_running_loop().time()
        self.running[channel["id"], message["ts"]] = Stream(now, now)
        self.server.emit({**message, "channel": channel["id"], "channel_type": channel["kind"]})
        return {"channel": channel["id"], "ts": message["ts"]}

    def append(
        self, channel: dict[str, Any], message: dict[str, Any], given: dict[str, Any]
    ) -> dict[str, Any]:
        """Answer `chat.appendStream`."""
        stream = self._stream(channel["id"], message["ts"])
        text = _text(given)
        if not text:
            raise SlackError("no_text")
        before = dict(message)
        message["text"] += text
        stream.fed = asyncio.get_running_loop().time()
        stream.pieces += 1
        self.server.changed(channel["id"], message, before)
        return {"channel": channel["id"], "ts": message["ts"]}

    def stop(self, channel: dict[str, Any], message: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        """Answer `chat.stopStream`."""
        if self.stuck:
            raise SlackError("internal_error")
        self._stream(channel["id"], message["ts"])
        blocks = check_blocks(given.get("blocks") or [], self.server.refuses_markdown)
        before = dict(message)
        message |= {"text": message["text"] + _text(given), "blocks": blocks}
        self.end(channel["id"], message["ts"])
        self.server.changed(channel["id"], message, before)
        return {"channel": channel["id"], "ts": message["ts"], "message": message}

    def streams(self, channel: str, ts: str) -> bool:
        """Return True if a message streams now."""
        now, stream = asyncio.get_running_loop().time(), self.running.get((channel, ts))
        if stream and (now - stream.began > self.lasts or now - stream.fed > self.idles):
            self.end(channel, ts)
        return (channel, ts) in self.running

    def end(self, channel: str, ts: str) -> None:
        """End a stream, as Slack does by itself as well."""
        self.running.pop((channel, ts), None)
        self.server.messages[channel][ts]["streaming_state"] = "completed"

    def _stream(self, channel: str, ts: str) -> Stream:
        if not self.streams(channel, ts):
            raise SlackError("message_not_in_streaming_state")
        return self.running[channel, ts]


def _text(given: dict[str, Any]) -> str:
    text = str(given.get("markdown_text") or "")
    if len(text) > LONGEST:
        raise SlackError("msg_too_long")
    return text
