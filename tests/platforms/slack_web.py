"""The Web API half of the loopback Slack: one method per API method, strict about what is sent."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from tests.platforms import slack_interactive as interactive
from tests.platforms import slack_past as past
from tests.platforms.slack_blocks import SlackError, check_blocks
from tests.platforms.slack_limits import check_arguments
from tests.platforms.slack_scopes import KINDS, check_scope

__all__ = ["SlackError", "WebApi"]

if TYPE_CHECKING:
    from tests.platforms.slack_server import SlackServer

Arguments = dict[str, Any]
FEW = 2
"""People whom `reactions.get` names under an emoji where not all of them are asked for."""
LONGEST = 40_000
"""Characters of a message's text."""


class WebApi:
    """Every method gets the arguments as sent and returns what stands beside `"ok": true`."""

    def __init__(self, server: SlackServer) -> None:
        self.server = server

    def call(self, method: str, given: Arguments) -> dict[str, Any]:
        function = getattr(
            self, "_" + re.sub(r"(?<!^)([A-Z])", r"_\1", method).replace(".", "_").lower(), None
        )
        missing = "Stream" in method and not self.server.streaming.there
        if function is None or missing:
            raise SlackError("unknown_method")
        check_arguments(method, given)
        check_scope(method, self.server.channels.get(str(given.get("channel"))), self.server.scopes)
        return function(given)

    # --- who and where ------------------------------------------------------------------------

    def _auth_test(self, given: Arguments) -> dict[str, Any]:
        server = self.server
        return {
            "url": "https://fake.slack.com/",
            "team": "Fake",
            "user": "threadlore",
            "team_id": server.team,
            "user_id": server.bot_user,
            "bot_id": server.bot_id,
            "is_enterprise_install": False,
            **({"enterprise_id": server.enterprise} if server.enterprise else {}),
        }

    def _apps_connections_open(self, given: Arguments) -> dict[str, Any]:
        return {"url": self.server.new_ticket()}

    def _users_conversations(self, given: Arguments) -> dict[str, Any]:
        kinds = {"public_channel": "channel", "private_channel": "group", "mpim": "mpim", "im": "im"}
        wanted = {kinds[kind] for kind in str(given.get("types") or "public_channel").split(",")}
        for kind in sorted(wanted):
            if (needed := f"{KINDS[kind]}:read") not in self.server.scopes.split(","):
                raise SlackError("missing_scope", needed=needed, provided=self.server.scopes)
        user = str(given.get("user") or self.server.bot_user)
        both = {user, self.server.bot_user}  # in public channels the bot need not be to see who is
        mine = [
            {
                "id": channel["id"],
                "name": channel["name"],
                "is_private": channel["kind"] != "channel",
                "is_ext_shared": channel["shared"],
            }
            for channel in self.server.channels.values()
            if channel["kind"] in wanted
            if ({user} if channel["kind"] == "channel" else both) <= channel["members"]
            if not (channel["archived"] and _is_true(given.get("exclude_archived")))
        ]
        most, begin = int(given.get("limit") or 100), int(given.get("cursor") or 0)
        following = str(begin + most) if len(mine) > begin + most else ""
        return {"channels": mine[begin : begin + most], "response_metadata": {"next_cursor": following}}

    def _users_info(self, given: Arguments) -> dict[str, Any]:
        if (user := self.server.users.get(str(given.get("user")))) is None:
            raise SlackError("user_not_found")
        if user["id"] in self.server.invisible:
            raise SlackError("user_not_visible")
        return {"user": user}

    def _conversations_info(self, given: Arguments) -> dict[str, Any]:
        channel = self._channel(given)
        kind = channel["kind"]
        return {
            "channel": {
                "id": channel["id"],
                "name": channel["name"],
                "is_channel": kind == "channel",
                "is_group": kind == "group",
                "is_im": kind == "im",
                "is_mpim": kind == "mpim",
                "is_private": kind != "channel",
                "is_shared": channel["shared"],
                "is_ext_shared": channel["shared"],
                "shared_team_ids": [self.server.team] + ["T2"] * channel["shared"],
                "is_member": self.server.bot_user in channel["members"],
                "is_archived": channel["archived"],
            }
        }

    def _conversations_open(self, given: Arguments) -> dict[str, Any]:
        user = str(given.get("users") or "")
        if user not in self.server.users:
            raise SlackError("user_not_found")
        if self.server.users[user]["is_bot"]:
            raise SlackError("cannot_dm_bot")
        if user in self.server.invisible:
            raise SlackError("user_not_visible")
        if self.server.users[user]["deleted"]:
            raise SlackError("user_disabled")
        both = {user, self.server.bot_user}
        found = [c["id"] for c in self.server.channels.values() if c["kind"] == "im" and c["members"] == both]
        if not found:
            found = [f"D{user}"]
            self.server.add_channel(found[0], "im", *both)
        return {"channel": {"id": found[0]}}

    def _channel(self, given: Arguments) -> dict[str, Any]:
        """Return a channel that the bot can see: a public one, or one that it is in."""
        channel = self.server.channels.get(str(given.get("channel")))
        if channel is None or not (channel["kind"] == "channel" or self._inside(channel)):
            raise SlackError("channel_not_found")
        return channel

    def _inside(self, channel: dict[str, Any]) -> bool:
        return self.server.bot_user in channel["members"]

    def _mine(self, given: Arguments, writes: bool = True) -> dict[str, Any]:
        """Return a channel that the bot is in; what is archived can still be read."""
        channel = self._channel(given)
        if not self._inside(channel):
            raise SlackError("not_in_channel")
        if writes and channel["archived"]:
            raise SlackError("is_archived")
        return channel

    # --- reading ------------------------------------------------------------------------------

    def _conversations_replies(self, given: Arguments) -> dict[str, Any]:
        messages = self.server.messages[self._mine(given, writes=False)["id"]]
        return past.replies(messages, given, self.server.page_size)

    def _conversations_history(self, given: Arguments) -> dict[str, Any]:
        messages = self.server.messages[self._mine(given, writes=False)["id"]]
        return past.history(messages, given, self.server.page_size)

    def _reactions_get(self, given: Arguments) -> dict[str, Any]:
        channel = self._mine(given, writes=False)["id"]
        return past.reactions(self.server.messages[channel], given, FEW) | {"channel": channel}

    def _files_info(self, given: Arguments) -> dict[str, Any]:
        if (file := self.server.shown_files.get(str(given.get("file")))) is None:
            raise SlackError("file_not_found")
        return {"file": file, "comments": []}

    # --- writing ------------------------------------------------------------------------------

    def _writable(self, given: Arguments) -> dict[str, Any]:
        """Return a channel where the bot may post, in a thread if it wants to."""
        channel = self._mine(given)
        refused = {"read_only": True, "thread_only": not given.get("thread_ts")}
        refused["non_threadable"] = bool(given.get("thread_ts"))
        if refused.get(channel["posting"]):
            raise SlackError(f"restricted_action_{channel['posting']}_channel")
        return channel

    def _chat_post_message(self, given: Arguments) -> dict[str, Any]:
        channel = self._writable(given)
        text, blocks = self.content(given)
        thread = given.get("thread_ts")
        if thread:
            root = self.server.messages[channel["id"]].get(str(thread))
            if root is None:
                raise SlackError("thread_not_found")
            if root.get("thread_ts", root["ts"]) != root["ts"]:
                raise SlackError("cannot_reply_to_message")
        message = self.server.store(
            channel["id"],
            self.server.bot_user,
            text,
            thread,
            blocks=blocks,
            bot_id=self.server.bot_id,
            app_id=self.server.app,
        )
        self.server.emit({**message, "channel": channel["id"], "channel_type": channel["kind"]})
        return {"channel": channel["id"], "ts": message["ts"], "message": message}

    def _chat_post_ephemeral(self, given: Arguments) -> dict[str, Any]:
        channel = self._mine(given)
        text, blocks = self.content(given)
        if given.get("user") not in channel["members"]:
            raise SlackError("user_not_in_channel")
        thread = str(given.get("thread_ts") or "")
        kept = self.server.ephemeral.keep(channel["id"], str(given["user"]), text, blocks, thread)
        return {"message_ts": kept["ts"]}

    def _chat_get_permalink(self, given: Arguments) -> dict[str, Any]:
        channel, ts = self._channel(given)["id"], str(given.get("message_ts"))
        message = self.server.messages[channel].get(ts)
        if message is None:
            raise SlackError("message_not_found")
        thread = message.get("thread_ts", ts)
        inside = f"?thread_ts={thread}&cid={channel}" if thread != ts else ""
        link = f"https://fake.slack.com/archives/{channel}/p{ts.replace('.', '')}{inside}"
        return {"channel": channel, "permalink": link}

    def _views_open(self, given: Arguments) -> dict[str, Any]:
        user = interactive.exchange(self.server, str(given.get("trigger_id") or ""))
        view = json.loads(given["view"]) if isinstance(given.get("view"), str) else given.get("view")
        kept = interactive.checked_view(view) | {"id": f"V{self.server.tick()}", "team_id": self.server.team}
        self.server.views[user] = kept
        return {"view": kept}

    def _views_publish(self, given: Arguments) -> dict[str, Any]:
        view = json.loads(given["view"]) if isinstance(given.get("view"), str) else given.get("view")
        return {"view": self.server.home.publish(str(given["user_id"]), view, str(given.get("hash") or ""))}

    def _chat_start_stream(self, given: Arguments) -> dict[str, Any]:
        return self.server.streaming.start(self._writable(given), given)

    def _chat_append_stream(self, given: Arguments) -> dict[str, Any]:
        return self.server.streaming.append(*self._own(given, "message_not_owned_by_app"), given)

    def _chat_stop_stream(self, given: Arguments) -> dict[str, Any]:
        return self.server.streaming.stop(*self._own(given, "message_not_owned_by_app"), given)

    def _chat_update(self, given: Arguments) -> dict[str, Any]:
        channel, message = self._own(given, "cant_update_message", "is_inactive", "channel_not_found")
        if self.server.streaming.streams(channel["id"], message["ts"]):
            raise SlackError("streaming_state_conflict")
        text, blocks = self.content(given)
        if len(text.encode()) > self.server.update_bytes:
            raise SlackError("msg_too_long")
        before = dict(message)
        message |= {"text": text, "blocks": blocks}
        if not blocks:  # what is changed by blocks is not shown as edited
            message["edited"] = {"user": self.server.bot_user, "ts": self.server.tick()}
        self.server.changed(channel["id"], message, before)
        return {"channel": channel["id"], "ts": message["ts"], "text": text, "message": message}

    def _chat_delete(self, given: Arguments) -> dict[str, Any]:
        channel, message = self._own(given, "cant_delete_message", "cant_delete_message", "channel_not_found")
        if self.server.streaming.streams(channel["id"], message["ts"]):
            raise SlackError("cant_delete_message")
        self.server.delete(channel["id"], message["ts"])
        return {"channel": channel["id"], "ts": message["ts"]}

    def _own(
        self, given: Arguments, refusal: str, archived: str = "is_archived", outside: str = "not_in_channel"
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a channel and a message of the bot in it, or raise the codes that the method's page has."""
        channel = self._channel(given)
        if not self._inside(channel):
            raise SlackError(outside)
        if channel["archived"]:
            raise SlackError(archived)
        message = self.server.messages[channel["id"]].get(str(given.get("ts")))
        if message is None or message.get("subtype") == "tombstone":
            raise SlackError("message_not_found")
        if message.get("bot_id") != self.server.bot_id:
            raise SlackError(refusal)
        return channel, message

    def _reactions_add(self, given: Arguments) -> dict[str, Any]:
        channel = self._mine(given)
        name = str(given.get("name") or "")
        if not re.fullmatch(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?", name):
            raise SlackError("invalid_name")
        if str(given.get("timestamp")) not in self.server.messages[channel["id"]]:
            raise SlackError("message_not_found")
        if not self.server.react(self.server.bot_user, channel["id"], str(given["timestamp"]), name):
            raise SlackError("already_reacted")
        return {}

    def content(self, given: Arguments) -> tuple[str, list[dict[str, Any]]]:
        """Check text and blocks as Slack does."""
        text = str(given.get("text") or "")
        blocks = check_blocks(given.get("blocks") or [], self.server.refuses_markdown)
        if not text and not blocks:
            raise SlackError("no_text")
        if len(text) > LONGEST:  # cut without a word (docs.slack.dev, changelog 2018-04)
            self.server.problems.append(f"Slack cuts this text: {text[:60]}")
        return text[:LONGEST], blocks


def _is_true(given: Any) -> bool:
    return given in (True, 1, "1", "true", "True")
