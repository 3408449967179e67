"""The platforms that are connected."""

from __future__ import annotations

from bot.ports.chat import Chat


class Chats:
    """Knows the chat of each platform that is connected."""

    def __init__(self) -> None:
        self._chats: dict[str, Chat] = {}

    def meet(self, chat: Chat) -> None:
        """Know a platform that is connected."""
        self._chats[chat.name] = chat

    def of(self, platform: str) -> Chat | None:
        """Return the chat of a platform, `slack`; None for one that is not connected."""
        return self._chats.get(platform)

    def all(self) -> tuple[Chat, ...]:
        """Return the chats of all platforms that are connected."""
        return tuple(self._chats.values())

    def clear(self) -> None:
        """Say nothing anywhere any more."""
        self._chats.clear()
