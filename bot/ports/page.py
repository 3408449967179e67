"""A page of one's own, such as Slack's Home tab: parts from top to bottom, which a platform lays out."""

from __future__ import annotations

from dataclasses import dataclass

from bot.ports.chat import Control


@dataclass(frozen=True, slots=True)
class Open:
    """A button that leads to a page."""

    label: str
    link: str


@dataclass(frozen=True, slots=True)
class ChannelMenu:
    """A menu of the channels that a person sees; what is chosen comes back as `Press` with its id."""

    name: str
    label: str
    chosen: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A title, or Markdown with one control beside it, small print under it, and controls in a row below."""

    markdown: str = ""
    title: str = ""
    small: str = ""
    beside: Control | Open | ChannelMenu | None = None
    controls: tuple[Control | ChannelMenu, ...] = ()


Page = tuple[Part, ...]
