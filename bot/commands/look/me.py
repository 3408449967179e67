"""`me`: one's own questions, votes and default release; `default-release`: that of a channel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bot.commands.command import Command, Given, Option, Result

if TYPE_CHECKING:
    from bot.commands.slash.table import Call
    from bot.operations.application import Application
    from bot.ports.chat import Chat, Person
    from bot.privacy.my_data import OwnPage, OwnPages
    from bot.rendering.own_page import Around


def pages_of(app: Application) -> OwnPages:
    """Return what collects people's pages."""
    from bot.privacy.my_data import OwnPages

    return OwnPages(app.given, app.releases, app.privacy, app.vote_weighting.voter)


async def around(app: Application, page: OwnPage, chat: Chat | None, links: Mapping[str, str]) -> Around:
    """Return what stands around a page: links that are known, those that the platform gives, and names."""
    from bot.rendering.own_page import Around

    platform = chat.name if chat else ""
    found, places = dict(links), {}
    for one in page.all:
        if chat and one.parts and one.id not in found and one.parts[0].platform == platform:
            found[one.id] = await chat.permalink(one.parts[0])
        if chat and one.channel not in places and one.channel.startswith(f"{platform}:"):
            places[one.channel] = await chat.name_of(one.channel.partition(":")[2])
    return Around(app.engine.product.name, await app.corpus_manager.releases(), found, places)


async def choose(app: Application, person: Person, release: str) -> None:
    """Set somebody's release. Raises UsageError for those who opted out, and for one that there is not."""
    from bot.rendering.own_page import NOTHING_KEPT
    from core.errors import UsageError
    from core.languages import _

    if app.privacy.is_out(person.id):
        raise UsageError(_(NOTHING_KEPT))
    await app.releases.choose(person.id, release)


async def dialogue(app: Application, call: Call) -> None:
    """Show somebody what is their own, with a menu of their release; set that where one is named."""
    from bot.commands.privacy_texts import within
    from bot.ports.chat import Reply
    from bot.rendering.own_page import me, own_release, release_menu

    within(app, call, call.person.id)
    if release := call.given.get("release", ""):
        await choose(app, call.person, release)
    page = await pages_of(app).of(call.person.id)
    told = await around(app, page, call.chat, {})
    if release:
        await call.tell(own_release(page, told))
        return
    menu = release_menu(page, told)
    await call.reply(Reply(me(page, told), controls=(menu,) if menu else ()))


COMMAND = Command(
    "me",
    "look",
    "show your questions, votes and default release, or set that",
    options=(Option("release", "Where your questions name none; `latest` takes it back"),),
    who="everybody",
    where="chat",
    dialogue=dialogue,
    logged=False,
    rank=12,
)


async def give(app: Application, given: Given) -> Result:
    """Say which release a channel is about, or set it. Raises UsageError."""
    from bot.commands.pausing import channel_of
    from core.errors import UsageError

    said, here = [given[key] for key in ("channel", "release") if given.get(key)], given.channel
    alone = given.is_chat and len(said) == 1 and not said[0].startswith(("#", "<#"))
    if alone and said[0].lower() != "here" and ":" not in said[0]:
        said = ["here", *said]
    channel = channel_of(said[0] if said else "here", here)
    if not channel:
        raise UsageError("Name a channel, such as slack:C0123.")
    if len(said) > 1:
        await app.releases.give(channel, said[1], given.who)
    release = await app.releases.of_channel(channel)
    outcome = f"{channel} is {release or 'latest'}" if len(said) > 1 else "shown"
    own = (await app.releases.given()).get(channel)
    return Result(
        {"channel": channel, "release": release, "by": own.by if own else ""},
        outcome=outcome,
    )


def given_text(result: Result) -> Sequence[str]:
    """Say it, and who set it."""
    told = result.data
    release = told["release"] or "the latest release"
    why = f"set by `{told['by']}`; `default` takes it back" if told["by"] else "as in `corpora.toml`"
    if not (told["by"] or told["release"]):
        why = "nobody set another one"
    return [f"`{told['channel']}`: questions that name no release are about {release} ({why})."]


DEFAULT = Command(
    "default-release",
    "admin",
    "show or set the release for a channel's questions that name none",
    give,
    given_text,
    options=(
        Option("channel", "Which channel; this one when left out", kind="channel"),
        Option("release", "Its release from now on; `default` is what `corpora.toml` says"),
    ),
    changes=True,
    audit=lambda given: (given.get("channel"), given.get("release")),
    is_audited=lambda given: bool(given.get("release")),
    rank=23,
)
