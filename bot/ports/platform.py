"""The port of a running platform: built from settings, serves until it is stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from bot.conversation.dispatch import Dispatch
    from core.settings import Settings


class Platform(Protocol):
    """A running connection to a chat platform.

    Each module of `bot/platforms/` has `def connect(settings: Settings, dispatch: Dispatch) ->
    Platform | None`, which returns None where its token is not configured, and does no I/O.
    """

    name: str

    async def run(self) -> None:
        """Serve until `stop`; raises `PlatformRejected` when the token is refused."""

    async def stop(self) -> None:
        """Close the connection."""


class Connect(Protocol):
    """The one function a platform's module must have."""

    def __call__(self, settings: Settings, dispatch: Dispatch) -> Platform | None:
        """Build the platform, or return None where it is not configured."""
