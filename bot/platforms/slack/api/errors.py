"""What Slack's error codes mean here (docs.slack.dev lists them by method), and how often it may be asked."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from core.errors import PlatformError, PlatformRejected
from core.languages import N_

# fmt: off
REFUSED_TOKENS = frozenset({
    "access_denied", "account_inactive", "ekm_access_denied", "invalid_auth", "missing_scope",
    "no_permission", "not_allowed_token_type", "not_authed", "org_login_required", "token_expired",
    "token_revoked", "two_factor_setup_required",
})
"""The same token will not work again."""
NOT_DONE = frozenset({
    "external_channel_migrating", "message_limit_exceeded", "rate_limited", "ratelimited",
    "team_added_to_org",
})
"""The call was not carried out, and may be later."""
TRANSIENT = NOT_DONE | {
    "fatal_error", "internal_error", "messaging_processing_failed", "request_timeout", "service_unavailable",
    "timeout", "update_failed",
}
"""The same call may work later; of what is not among `NOT_DONE` nobody knows whether it was carried out."""
NO_STREAMS = frozenset({
    "deprecated_endpoint", "enterprise_is_restricted", "feature_not_enabled", "is_bot", "method_deprecated",
    "missing_scope", "not_allowed_token_type", "unknown_method",
})
"""A workspace where no answer can be streamed."""
STREAMS_YET = frozenset({"streaming_state_conflict"})
"""The message streams, so that it can only be added to."""
UNTHREADED = frozenset({"cannot_reply_to_message", "restricted_action_non_threadable_channel"})
"""There can be no thread, so that a reply stands in the channel."""
UNDELETABLE = STREAMS_YET | {"cant_delete_message"}
"""What the bot wrote cannot be deleted: it streams."""
REVOKED = frozenset({"account_inactive", "invalid_auth", "not_authed", "token_expired", "token_revoked"})
"""The token is good for nothing any more, whatever is asked with it."""
GONE = frozenset({"message_not_found", "thread_not_found"})
"""What is to be changed, or written under, was deleted."""
TOO_LONG = frozenset({"msg_blocks_too_long", "msg_blocks_too_many", "msg_too_long", "text_too_long"})
BAD_BLOCKS = frozenset({
    "blocks_too_long", "invalid_attachments", "invalid_blocks", "invalid_blocks_format",
    "only_one_table_allowed", "unsupported_block",
})
NO_ENTRY = frozenset({
    "cannot_reply_to_message", "channel_not_found", "ekm_access_denied", "is_archived",
    "method_not_supported_for_channel_type", "no_permission", "not_in_channel", "restricted_action",
    "restricted_action_non_threadable_channel", "restricted_action_read_only_channel",
    "restricted_action_thread_locked", "restricted_action_thread_only_channel",
})
"""The bot cannot write in this channel, or this thread."""
BARRED = NO_ENTRY | {"is_inactive"}
"""What the bot said there can be neither changed nor said again."""
NOT_THERE = frozenset({"channel_not_found", "not_in_channel"})
"""The bot is no member of this channel."""
UNREADABLE = NO_ENTRY | {"message_not_found", "missing_scope", "thread_not_found"}
"""There is no such message, or the bot may not read it."""
# fmt: on


UNINVITED = N_(
    "I am not in this channel, so I cannot post or delete here. Type `/invite` and my name, then try again."
)
ARCHIVED = N_("This channel is archived, so I cannot post or delete here.")


class SlackRefused(PlatformError):
    """Report a call that Slack did not carry out; `code` is Slack's, `status` that of HTTP.

    `retry_after` is the time in seconds that Slack wants to be left alone for; 0 where it names none.
    What is no trouble of the moment is refused the next time as well. `in_doubt` says that Slack may have
    carried it out all the same.
    """

    def __init__(
        self, method: str, code: str, status: int = 200, detail: str = "", retry_after: float = 0.0
    ) -> None:
        hint = f" ({detail})" if detail else ""
        super().__init__(f"Slack did not carry out {method}: {code}{hint}.")
        self.method, self.code, self.status = method, code, status
        self.detail, self.retry_after = detail, retry_after
        if method.startswith("chat.") and code in NOT_THERE:
            self.told = UNINVITED
        elif code in ("is_archived", "is_inactive"):
            self.told = ARCHIVED
        self.retryable = status >= 500 or status == 429 or code in TRANSIENT
        self.in_doubt = self.retryable and status != 429 and code not in NOT_DONE


def rejected(variable: str, refusal: SlackRefused) -> PlatformRejected:
    """Name the variable to correct for a refusal at start."""
    wanted = {
        "SLACK_BOT_TOKEN": "the Bot User OAuth Token (xoxb-…) of your app",
        "SLACK_APP_TOKEN": "an app-level token (xapp-…) with the scope connections:write, and Socket Mode on",
    }[variable]
    return PlatformRejected(
        f"Slack rejects {variable} ({refusal.code}): put {wanted} there, see docs/slack-manifest.yaml."
    )


@dataclass(frozen=True, slots=True)
class Allowance:
    """Seconds between two changes of one reply; changes of all replies at once, and a minute beyond that."""

    interval: float
    burst: int
    a_minute: float


_KNOWN = 500
"""Replies whose last change is remembered."""
EDITS = Allowance(1.25, 15, 30.0)
"""For `chat.update`: at most 45 in any minute."""
APPENDS = Allowance(0.7, 25, 75.0)
"""For `chat.appendStream`: at most 100 in any minute."""


@dataclass(frozen=True, slots=True)
class Pacing:
    """How often replies that grow are changed, for how many seconds not after a change was refused, and how
    often messages are posted.
    """

    edits: Allowance = EDITS
    appends: Allowance = APPENDS
    refused: float = 6.0
    posts: float = 1.1
    """Seconds between two messages in a channel, after the first four."""


PACING = Pacing()


class Pace:
    """Counts the changes of one kind.

    The first change of a reply, which shows the pages, is never held back; it is borrowed from later ones.
    """

    def __init__(self, allowance: Allowance, clock: Callable[[], float]) -> None:
        self._allowance, self._clock = allowance, clock
        self._left, self._at = float(allowance.burst), clock()
        self._changed: OrderedDict[str, float] = OrderedDict()

    def may(self, key: str) -> bool:
        """Take one change of a reply; False where it was changed just now, or too many were of late."""
        now, allowance = self._clock(), self._allowance
        self._left = min(allowance.burst, self._left + (now - self._at) * allowance.a_minute / 60)
        self._at = now
        before = self._changed.get(key)
        if before is not None and (self._left < 1 or now - before < allowance.interval):
            return False
        self._left = max(-allowance.burst, self._left - 1)
        self._changed[key] = now
        self._changed.move_to_end(key)
        while len(self._changed) > _KNOWN:
            self._changed.popitem(last=False)
        return True
