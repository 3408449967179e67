"""A person's page in words: as parts for a platform that has such pages, as Markdown for `me`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bot.ports.chat import Choice, Control, Field, Form
from bot.ports.page import ChannelMenu, Open, Page, Part
from bot.privacy.my_data import OwnPage
from core.community.overrides import DEFAULT, LATEST, MODES
from core.insights.given import GivenAnswer
from core.languages import N_, _
from core.text.markup import inert
from core.text.times import minute_of, since_epoch
from core.text.words import one_line, shortened

ASK, RELEASE = "own-ask", "own-release"
CHANNEL, MODE, ABOUT = "own-channel", "own-mode", "own-about"
"""Controls of the page: ask in a form, one's release; a channel, its mode, its release."""
CONTROLS = frozenset({ASK, RELEASE, CHANNEL, MODE, ABOUT})
QUESTION = "question"
"""The field of the form."""
SHOWN = 150
"""Characters of a question in a list."""
RELEASES = 10
"""Releases that are listed with their pages, and that a menu can have beside the latest."""
_CHOICES = 24
_EMOJI = {1: "👍", 0: "👎"}
YOURS = N_("Your questions")
VOTES = N_("Your votes")
NONE_YET = N_("You have not asked anything yet.")
NOT_KEPT = N_("You have opted out, so I keep no list of your questions and votes.")
NOTHING_KEPT = N_("You have opted out, so I keep no default release. `/threadlore opt-in` changes that.")
DEFAULT_RELEASE = N_("Default release")
USED = N_("Your default release: **{release}**. I use it where your question names none.")
UNSET = N_("Where your question names no release, I answer for the latest, **{release}**.")


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around a person's own: links to answers by their ids, names of channels by their keys."""

    product: str
    releases: Sequence[Mapping[str, Any]]
    links: Mapping[str, str] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)

    @property
    def latest(self) -> str:
        """Return the name of the latest release; empty where the product has none."""
        return next((str(one["name"]) for one in self.releases if one["latest"]), "")


@dataclass(frozen=True, slots=True)
class Managed:
    """What an admin looks after: a channel that was chosen, how sources are, and what is wrong."""

    channel: str = ""
    mode: str = ""
    configured_mode: str = ""
    release: str = ""
    configured_release: str = ""
    sources: Sequence[str] = ()
    problems: Sequence[str] = ()


def home(page: OwnPage, around: Around, managed: Managed | None, note: str = "") -> Page:
    """Lay a person's page out; `managed` is for admins, `note` is what came of what they did last."""
    said = _("I answer from the {product} documentation. Mention me in a channel, write to me, or ask here.")
    parts = [
        Part(
            said.format(product=around.product),
            controls=(Control(ASK, _("Ask a question")),),
        )
    ]
    parts += [Part(small=note)] if note else []
    parts += _default(page, around)
    parts.append(Part(title=_(YOURS)))
    nothing = NOT_KEPT if page.is_out else NONE_YET
    parts += [_entry(one, around) for one in page.asked] or [Part(small=_(nothing))]
    if page.voted:
        parts += [Part(title=_(VOTES)), *(_entry(one, around) for one in page.voted)]
    if page.recent:
        parts += [Part(title=_("Lately in your channels")), *(_entry(one, around) for one in page.recent)]
    parts += [Part(title=_("Releases")), Part("\n".join(_releases(around)))] if around.releases else []
    return (*parts, *(_managed(managed, around) if managed else ()))


def ask_form() -> Form:
    """Return the form in which somebody asks."""
    return Form(ASK, _("Ask a question"), "", (Field(QUESTION, _("Your question"), required=True),))


def release_menu(page: OwnPage, around: Around) -> Control | None:
    """Return the menu by which somebody chooses their release; None where there is nothing to choose."""
    names = [str(one["name"]) for one in reversed(around.releases)][:_CHOICES]
    if len(names) < 2 or page.is_out:
        return None
    latest = Choice(LATEST, _("Latest ({release})").format(release=around.latest))
    choices = (latest, *(Choice(name, name) for name in names))
    return Control(RELEASE, _(DEFAULT_RELEASE), choices=choices, chosen=page.release or LATEST)


def me(page: OwnPage, around: Around) -> str:
    """Say in Markdown what is somebody's own."""
    lines = [_line(one, around) for one in page.asked] or [_(NOT_KEPT if page.is_out else NONE_YET)]
    parts = ["\n".join([f"**{_(YOURS)}**", *lines])]
    if page.voted:
        parts.append("\n".join([f"**{_(VOTES)}**", *(_line(one, around) for one in page.voted)]))
    return "\n\n".join([*parts, *([own_release(page, around)] if len(around.releases) > 1 else [])])


def own_release(page: OwnPage, around: Around) -> str:
    """Say which release somebody's questions are about where they name none."""
    return _(USED if page.release else UNSET).format(release=page.release or around.latest)


def _default(page: OwnPage, around: Around) -> list[Part]:
    menu = release_menu(page, around)
    return [Part(own_release(page, around), beside=menu)] if menu else []


def _entry(one: GivenAnswer, around: Around) -> Part:
    link = around.links.get(one.id, "")
    return Part(
        f"**{_asked(one)}**",
        small=" · ".join(_about(one, around)),
        beside=Open(_("Open"), link) if link else None,
    )


def _line(one: GivenAnswer, around: Around) -> str:
    link = around.links.get(one.id, "")
    asked = f"[{_asked(one)}]({link})" if link else _asked(one)
    return f"- {asked} ({' · '.join(_about(one, around))})"


def _asked(one: GivenAnswer) -> str:
    return inert(shortened(one_line(one.question), SHOWN)).replace("[", "\\[").replace("]", "\\]")


def _about(one: GivenAnswer, around: Around) -> list[str]:
    """Return of an answer its release, channel and time, that it gave none, and the reader's vote."""
    said = [
        one.release.replace("+", " ↔ "),
        around.places.get(one.channel, ""),
        f"{minute_of(one.at)} UTC",
        _("no answer") if one.route == "abstain" else "",
        _EMOJI[one.opinion] if one.opinion is not None else "",
    ]
    return [part for part in said if part]


def _releases(around: Around) -> list[str]:
    lines = []
    for entry in list(reversed(around.releases))[:RELEASES]:
        name = f"**{entry['name']}**"
        if not entry["ready"]:
            lines.append(_("{release}: not read yet").format(release=name))
            continue
        read = f"{minute_of(since_epoch(entry['built_at']))} UTC"
        said = _("{release}: {pages} pages, indexed {time}")
        lines.append(said.format(release=name, pages=entry["documents"], time=read))
    more = len(around.releases) - RELEASES
    return [f"- {line}" for line in lines] + (
        [_("… and {count} more").format(count=more)] if more > 0 else []
    )


def _managed(managed: Managed, around: Around) -> list[Part]:
    """Lay out what only admins see, in English."""
    menu = ChannelMenu(CHANNEL, "Choose a channel", managed.channel.partition(":")[2])
    parts = [
        Part(title="Settings of a channel"),
        Part("Choose a channel to see what I answer there, and for which release.", controls=(menu,)),
    ]
    if managed.channel:
        parts += [_mode(managed), *([_about_release(managed, around)] if len(around.releases) > 1 else [])]
    if managed.sources:
        parts += [Part(title="Sources (UTC)"), Part("\n".join(managed.sources))]
    parts += [Part("\n".join(f"⚠ {problem}" for problem in managed.problems))] if managed.problems else []
    return parts


MEANT = {
    "mentions": "I answer when mentioned",
    "questions": "I answer every question",
    "forum": "I answer every forum post",
    "off": "I answer nothing",
}
"""What each mode means."""


def _mode(managed: Managed) -> Part:
    default = Choice(f"{managed.channel} {DEFAULT}", f"As in corpora.toml ({managed.configured_mode})")
    choices = [Choice(f"{managed.channel} {mode}", f"{mode}: {MEANT.get(mode, mode)}") for mode in MODES]
    menu = Control(MODE, "Mode", choices=(*choices, default), chosen=f"{managed.channel} {managed.mode}")
    return Part(f"**Mode**: {managed.mode}. {MEANT.get(managed.mode, managed.mode)} there.", beside=menu)


def _about_release(managed: Managed, around: Around) -> Part:
    names = [str(one["name"]) for one in reversed(around.releases)][:_CHOICES]
    configured = managed.configured_release or f"latest, {around.latest}"
    choices = [Choice(f"{managed.channel} {DEFAULT}", f"As in corpora.toml ({configured})")]
    choices += [Choice(f"{managed.channel} {name}", name) for name in names]
    chosen = managed.release or DEFAULT
    menu = Control(ABOUT, "Release", choices=tuple(choices), chosen=f"{managed.channel} {chosen}")
    said = f"**Release**: {managed.release or around.latest}, where a question names none."
    return Part(said, beside=menu)
