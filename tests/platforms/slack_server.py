"""A Slack of one's own on 127.0.0.1: Web API, Socket Mode, and people who write.

    async with SlackServer() as slack:
        settings = load_settings(None, slack_bot_token=slack.bot_token, …, slack_api_url=slack.url)
        …
        ts = slack.say("U1", "C1", f"<@{slack.bot_user}> how do I stream?")
        await slack.until(lambda: slack.said("C1", ts))

Channels: C1 public, C2 public without the bot, G1 private, D1 the direct channel of U1, M1 a group
conversation of U1, U2 and the bot. People: U1, U2, U3, UHAL; UADMIN is a workspace admin. As in Slack, a
mention makes two events, what the bot does comes back as events, events wait for an acknowledgement, and a
connection that comes anew gets those still waiting. It is as strict as Slack's documents: what they allow
"only if" is refused otherwise, and what they say nobody sees no test gets to see.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

from tests.platforms import slack_interactive as interactive
from tests.platforms.slack_home import HomeTabs
from tests.platforms.slack_scopes import hears
from tests.platforms.slack_streams import Streaming
from tests.platforms.slack_web import WebApi
from tests.platforms.slack_whispers import Whispers
from tests.platforms.slack_wire import Wire


class SlackServer(Wire):
    """The server; use it as an async context manager."""

    def __init__(self) -> None:
        super().__init__()
        self.ephemeral = Whispers(self)
        self.home = HomeTabs(self)
        self.views: dict[str, dict[str, Any]] = {}
        """The modal that is open for each person."""
        self.triggers: dict[str, tuple[str, float]] = {}
        """Trigger ids that are not exchanged yet: whose they are, and until when they are good."""
        self.exchanged: set[str] = set()
        self.trigger_seconds = 3.0
        self.refuses_markdown = False
        """Whether the `markdown` block is unknown here."""
        self.streaming = Streaming(self)
        self.page_size = 200
        self.epoch = 1_700_000_000
        """When the first message is written, in seconds; each later one some seconds after."""
        self.update_bytes = 4_000
        self.invisible: set[str] = set()
        """People whom the bot may not see."""
        self.users: dict[str, dict[str, Any]] = {}
        self.channels: dict[str, dict[str, Any]] = {}
        self.messages: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        """Messages by channel and ts, in order of posting."""
        for user in ("U1", "U2", "U3"):
            self.add_user(user)
        self.add_user("UHAL")
        self.add_user("UADMIN", is_admin=True)
        self.add_user(self.bot_user, is_bot=True)
        self.add_channel("C1", "channel", "U1", "U2", "U3", "UHAL", "UADMIN", self.bot_user)
        self.add_channel("C2", "channel", "U1", "UADMIN")
        self.add_channel("G1", "group", "U1", "U2", "UHAL", self.bot_user)
        self.add_channel("D1", "im", "U1", self.bot_user)
        self.add_channel("M1", "mpim", "U1", "U2", self.bot_user)
        self.api = WebApi(self)

    # --- what people do -----------------------------------------------------------------------

    def add_user(self, user: str, **more: Any) -> None:
        """Add a person; `is_admin=True`, `is_bot=True` …"""
        name = user.lower()
        self.users[user] = {
            "id": user,
            "team_id": self.team,
            "name": name,
            "deleted": False,
            "is_admin": False,
            "is_owner": False,
            "is_bot": False,
            "profile": {"display_name": name},
        } | more

    def add_channel(self, channel: str, kind: str, *members: str) -> None:
        """Add a channel of a kind: channel, group, im, mpim.

        Who may post is for admins to say (`posting`): `read_only`, `thread_only`, `non_threadable`.
        """
        self.channels[channel] = {
            "id": channel,
            "kind": kind,
            "name": channel.lower(),
            "members": set(members),
            "archived": False,
            "shared": False,
            "posting": "",
        }

    def convert(self, user: str, channel: str, kind: str) -> None:
        """Make a public channel private (`group`), or a private one public (`channel`)."""
        self.channels[channel]["kind"] = kind
        now = "private" if kind == "group" else "public"
        self.say(user, channel, f"made this channel *{now}*.", subtype=f"channel_convert_to_{now}")

    def close(self, channel: str, delete: bool = False) -> None:
        """Archive a channel, or delete it with all that was said there."""
        there, what = self.channels[channel], "deleted" if delete else "archive"
        kind = "group" if there["kind"] == "group" else "channel"
        self.emit({"type": f"{kind}_{what}", "channel": channel, "user": "UADMIN", "event_ts": self.tick()})
        there["archived"] = True
        if delete:
            del self.channels[channel], self.messages[channel]

    def share(self, channel: str, shared: bool = True, tell: bool = True) -> None:
        """Let another organization into a channel, or out of it; without `tell` no event says so."""
        self.channels[channel]["shared"] = shared
        if tell and shared:
            self.emit({"type": "channel_shared", "connected_team_id": "T2", "channel": channel})
        elif tell:
            gone = {"previously_connected_team_id": "T2", "is_ext_shared": False}
            self.emit({"type": "channel_unshared", "channel": channel, **gone})

    def move(self, channel: str, to: str) -> None:
        """Begin to let another organization into a private channel, which so gets another id for good."""
        assert self.channels[channel]["kind"] == "group", "others keep theirs"
        self.channels[to] = self.channels.pop(channel) | {"id": to, "shared": True}
        self.messages[to] = self.messages.pop(channel, {})
        self.streaming.move(channel, to)
        told = {"old_channel_id": channel, "new_channel_id": to, "event_ts": self.tick()}
        self.emit({"type": "channel_id_changed", **told})

    def say(self, user: str, channel: str, text: str, thread: str | None = None, **more: Any) -> str:
        """Write a message (Slack's escaped text) and return its ts."""
        self.shown_files |= {str(file["id"]): file for file in more.get("files") or ()}
        message = self.store(channel, user, text, thread, **more)
        kind = self.channels[channel]["kind"]
        self.emit({**message, "channel": channel, "channel_type": kind})
        self._mentioned(channel, message)
        return str(message["ts"])

    def forward(self, user: str, channel: str, ts: str, to: str, text: str = "", **more: Any) -> str:
        """Forward a message to another channel, with a comment or without; return the new one's ts."""
        message = self.messages[channel][ts]
        share = {
            "id": 1,
            "is_share": True,
            "is_msg_unfurl": True,
            "ts": ts,
            "channel_id": channel,
            "from_url": f"https://fake.slack.com/archives/{channel}/p{ts.replace('.', '')}",
            "text": message["text"],
            "fallback": f"[{ts}] {message['user']}: {message['text']}",
            "message_blocks": [{"channel": channel, "ts": ts, "message": {"blocks": []}}],
            "mrkdwn_in": ["text"],
        }
        share |= {"bot_id": message["bot_id"]} if "bot_id" in message else {"author_id": message["user"]}
        share |= {"files": message["files"]} if "files" in message else {}
        return self.say(user, to, text, attachments=[share | more])

    def edit(self, channel: str, ts: str, text: str | None = None, **more: Any) -> None:
        """Change a person's message; without a text, only what is around it (an unfurled link)."""
        message = self.messages[channel][ts]
        before = dict(message)
        message |= more
        if text is not None:
            message |= {"text": text, "edited": {"user": message["user"], "ts": self.tick()}}
        self.changed(channel, message, before)
        if text is not None:
            self._mentioned(channel, message)

    def _mentioned(self, channel: str, message: dict[str, Any]) -> None:
        """Tell of a mention by itself, as of a message; one that is edited is told so again."""
        if f"<@{self.bot_user}" in message["text"] and self.channels[channel]["kind"] != "im":
            mention = {k: v for k, v in message.items() if k not in ("type", "subtype")}
            self.emit({**mention, "type": "app_mention", "channel": channel})

    def delete(self, channel: str, ts: str) -> None:
        """Delete a message; one with replies leaves a tombstone."""
        message = self.messages[channel][ts]
        if any(m.get("thread_ts") == ts != m["ts"] for m in self.messages[channel].values()):
            gone = {
                "type": "message",
                "subtype": "tombstone",
                "text": "This message was deleted.",
                "hidden": True,
                "user": "USLACKBOT",
                "ts": ts,
                "thread_ts": ts,
            }
            self.messages[channel][ts] = gone
            self.changed(channel, gone, message)
            return
        del self.messages[channel][ts]
        now = self.tick()
        self.emit(
            {
                "type": "message",
                "subtype": "message_deleted",
                "hidden": True,
                "deleted_ts": ts,
                "ts": now,
                "event_ts": now,
                "channel": channel,
                "channel_type": self.channels[channel]["kind"],
                "previous_message": message,
            }
        )

    def react(self, user: str, channel: str, ts: str, name: str) -> bool:
        """Put an emoji on a message; False when that person has put it there before."""
        return self._reaction("reaction_added", user, channel, ts, name)

    def unreact(self, user: str, channel: str, ts: str, name: str) -> bool:
        """Take an emoji off a message."""
        return self._reaction("reaction_removed", user, channel, ts, name)

    def slash(self, user: str, channel: str, command: str, text: str = "") -> str:
        """Use a slash command and return the id of its response URL."""
        key, trigger = self.ephemeral.new_url(channel, user), self.trigger(user)
        self._push(
            "slash_commands",
            {
                "token": "t",
                "team_id": self.team,
                "team_domain": "fake",
                "channel_id": channel,
                "channel_name": self.channels[channel]["name"],
                "user_id": user,
                "user_name": user.lower(),
                "command": command,
                "text": text,
                "api_app_id": self.app,
                "is_enterprise_install": "false",
                "response_url": f"http://127.0.0.1:{self.port}/commands/{key}",
                "trigger_id": trigger,
            },
            accepts=True,
        )
        return key

    def press(self, user: str, message: dict[str, Any], action: str, value: str = "") -> None:
        """Use the control of that action id under a message or a whisper; a menu's line by its value."""
        blocks = [b for b in message["blocks"] if b["type"] == "actions"]
        block, element = next((b, e) for b in blocks for e in b["elements"] if e["action_id"] == action)
        interactive.press(self, user, message, block, element, value)

    def submit(self, user: str, **fields: str) -> None:
        """Send the modal that is open for a person; it closes once it is acknowledged."""
        interactive.submit(self, user, self.views.pop(user), fields)

    # --- what can be seen ---------------------------------------------------------------------

    @property
    def whispers(self) -> list[dict[str, Any]]:
        """Return the ephemeral messages that somebody saw."""
        return self.ephemeral.shown

    def said(self, channel: str, thread: str | None = None) -> list[dict[str, Any]]:
        """Return the bot's messages, those of one thread if given."""
        return [
            m
            for m in self.messages[channel].values()
            if m.get("bot_id") == self.bot_id and (thread is None or m.get("thread_ts") == thread)
        ]

    def called(self, method: str) -> list[dict[str, Any]]:
        """Return the arguments of the calls of one method that went well."""
        return [call.arguments for call in self.calls if call.method == method and not call.error]

    def reactions(self, channel: str, ts: str) -> dict[str, list[str]]:
        """Return who put which emoji on a message."""
        return dict(self.messages[channel][ts].get("reactions", {}))

    # --- the works ----------------------------------------------------------------------------

    def tick(self) -> str:
        """Return a timestamp later than all before."""
        return f"{self.epoch + next(self._numbers)}.{next(self._numbers):06d}"

    def store(self, channel: str, user: str, text: str, thread: str | None, **more: Any) -> dict[str, Any]:
        """Keep a message and return it as events and history show it."""
        ts = self.tick()
        message = {
            "type": "message",
            "user": user,
            "text": text,
            "ts": ts,
            "team": self.team,
            "event_ts": ts,
        } | more
        if thread:
            message["thread_ts"] = thread
            self.messages[channel][thread].setdefault("thread_ts", thread)
        self.messages[channel][ts] = message
        self._news.set()
        return message

    def interact(self, payload: dict[str, Any]) -> None:
        """Send what a person did to a control or a modal."""
        self._push("interactive", payload, accepts=True)

    def trigger(self, user: str) -> str:
        """Return a trigger id for what a person did just now; it opens one view within three seconds."""
        trigger = f"{next(self._numbers)}.{next(self._numbers)}.abcdef"
        self.triggers[trigger] = (user, asyncio.get_running_loop().time() + self.trigger_seconds)
        return trigger

    def changed(self, channel: str, message: dict[str, Any], before: dict[str, Any]) -> None:
        """Tell of a message that is another than before."""
        now = self.tick()
        self.emit(
            {
                "type": "message",
                "subtype": "message_changed",
                "hidden": True,
                "channel": channel,
                "channel_type": self.channels[channel]["kind"],
                "ts": now,
                "event_ts": now,
                "message": dict(message),
                "previous_message": before,
            }
        )

    def emit(self, event: dict[str, Any]) -> None:
        """Send an event to the bot if it is in that channel, and its app is subscribed and may hear it."""
        channel = event.get("channel") or event.get("item", {}).get("channel") or event.get("new_channel_id")
        there = self.channels[channel]
        if self.bot_user in there["members"] and hears(event, there, self.scopes, self.events):
            self._push(
                "events_api",
                {
                    "token": "t",
                    "team_id": self.team,
                    "api_app_id": self.app,
                    "event": self._stubbed(event) if there["shared"] else event,
                    "type": "event_callback",
                    "event_id": f"Ev{next(self._numbers):08d}",
                    "event_time": 1_700_000_000,
                    "is_ext_shared_channel": self.channels[channel]["shared"],
                    "authorizations": [
                        {
                            "enterprise_id": None,
                            "team_id": self.team,
                            "user_id": self.bot_user,
                            "is_bot": True,
                            "is_enterprise_install": False,
                        }
                    ],
                },
            )

    def _stubbed(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return an event as apps get it from a channel shared by Slack Connect: of files the ids alone."""
        stub = {"mode": "file_access", "file_access": "check_file_info", "created": 0, "timestamp": 0}
        told = dict(event)
        if "files" in told:
            told["files"] = [{"id": file["id"], **stub, "user": ""} for file in told["files"]]
        for inner in ("message", "previous_message"):
            if inner in told:
                told[inner] = self._stubbed(told[inner])
        return told

    def _reaction(self, kind: str, user: str, channel: str, ts: str, name: str) -> bool:
        people = self.messages[channel][ts].setdefault("reactions", {}).setdefault(name, [])
        if (user in people) == (kind == "reaction_added"):
            return False
        (people.append if kind == "reaction_added" else people.remove)(user)
        self.emit(
            {
                "type": kind,
                "user": user,
                "reaction": name,
                "item_user": self.messages[channel][ts]["user"],
                "item": {"type": "message", "channel": channel, "ts": ts},
                "event_ts": self.tick(),
            }
        )
        return True
