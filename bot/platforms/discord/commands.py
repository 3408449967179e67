"""The slash commands `/ask` and `/threadlore`, and "Answer this" in the menu of a message."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import discord
from discord import app_commands
from discord.app_commands import TranslationContextLocation as Place

from bot.commands.slash.table import Option, Subcommand
from bot.commands.slash.words import quoted
from bot.platforms.discord import reading
from bot.platforms.discord.chat import DiscordChat
from bot.platforms.discord.places import ASKED_SECONDS, LAST_WAIT, MALFORMED, TROUBLE, passes
from bot.platforms.discord.responding import DiscordResponder
from bot.ports.chat import Command
from core.domain import MessageRef
from core.languages import N_, _, available, plain, speaking

log = logging.getLogger(__name__)

QUESTION = 2000
"""Characters of a question; more than people type and less than a model takes."""
ANSWER_THIS = N_("Answer this")
ASK = N_("Ask the documentation; only you see the answer")
QUESTION_HELP = N_("What you want to know; name the release you use if it matters")
RELEASE_HELP = N_("The release you use, where it is not the latest")
CHOICES = 25
"""Lines that Discord shows under a field."""
DESCRIPTION = 100
"""Characters of a description."""
GROUPS = {"memory": "Look into what the community has taught the bot"}
"""What groups of commands are about."""

HandOver = Callable[[Command, DiscordResponder], Awaitable[None]]
Take = Callable[[Literal["command", "press"], discord.Interaction, DiscordResponder], Awaitable[bool]]
"""Notes an interaction before it is acknowledged; returns True if it is to be dealt with."""
Like = Callable[[discord.Interaction[Any], str], Coroutine[Any, Any, list[app_commands.Choice[str]]]]
RELEASE = "release"
"""The field of a command that takes a release."""
Releases = Callable[[], Awaitable[list[dict[str, Any]]]]
"""Returns the releases and how ready they are."""
Short = app_commands.Range[str, 1, 100]
_UNINVITED = (
    "Discord did not take the slash commands (%s): invite the bot with the scope applications.commands and "
    "start again. Mentions still work."
)
_REFUSED = (
    "Discord refuses the slash commands (%s): that is an error of this version; please report it. "
    "Mentions still work."
)
_LATER = "Discord does not take the slash commands now (%s); trying again in %.0f s. Mentions work meanwhile."
_READ = (Place.command_description, Place.parameter_description)
"""What is read only. Names are typed, so they are the same for everybody but in the menu of a message."""


class Commands:
    """Turns commands into those of `bot.ports.chat` and hands them over."""

    def __init__(
        self, chat: DiscordChat, standing: reading.Standing, hand_over: HandOver, take: Take
    ) -> None:
        self._chat, self._standing, self._hand_over, self._take = chat, standing, hand_over, take

    async def called(self, interaction: discord.Interaction, name: str, text: str, release: str = "") -> None:
        """Hand a slash command over; what it says to all stands in the channel, or in this thread."""
        responder = DiscordResponder(self._chat, interaction)
        if await self._take("command", interaction, responder) and await responder.think():
            channel = await self._channel(interaction)
            where = reading.place(channel, interaction.id)
            command = self._command(interaction, channel, where, name, text)
            await self._give(replace(command, release=release), responder)

    async def answer_this(self, interaction: discord.Interaction, message: discord.Message) -> None:
        """Ask with the words of a message; what is said in the channel stands in a thread on it."""
        responder = DiscordResponder(self._chat, interaction)
        if await self._take("command", interaction, responder) and await responder.think():
            message.channel = channel = await self._channel(interaction)
            read = await reading.whole(self._standing, message, self._chat.me)
            self._chat.heard(message, read.text)
            command = self._command(interaction, channel, read.ref, "ask", read.text)
            await self._give(replace(command, author=read.author.id), responder)

    async def _channel(self, interaction: discord.Interaction) -> Any:
        place, guild = interaction.channel_id or 0, interaction.guild_id
        return await self._chat.places.channel(place, guild, ASKED_SECONDS)

    def _command(
        self, interaction: discord.Interaction, channel: Any, where: MessageRef, name: str, text: str
    ) -> Command:
        person = self._standing.person(interaction.user, interaction.permissions)
        roles = getattr(interaction.user, "roles", ())
        person = replace(
            person,
            roles=tuple(f"{reading.NAME}:role:{role.id}" for role in roles),
            locale=reading.locale(interaction),
        )
        return Command(name, text, person, where, reading.scope(channel), str(interaction.id))

    async def _give(self, command: Command, responder: DiscordResponder) -> None:
        responder.where = command.where
        await self._hand_over(command, responder)


class Tree(app_commands.CommandTree[Any]):
    """Leaves a command that is none of the bot's, or cannot be read, at a line in the log."""

    async def _call(self, interaction: discord.Interaction[Any]) -> None:
        try:
            if reading.is_complete(interaction):
                await super()._call(interaction)
        except MALFORMED as error:  # its words may be a person's
            log.warning("Discord: a command cannot be read and is left out (%s)", type(error).__name__)

    async def on_error(
        self, interaction: discord.Interaction[Any], error: app_commands.AppCommandError, /
    ) -> None:
        """Log a command of another version, as Discord may still show, in a line; a failure with more."""
        if isinstance(error, app_commands.CommandInvokeError):
            log.error("Discord: a command could not be dealt with", exc_info=error)
        else:
            log.warning("Discord: a command is none of mine (%s)", type(error).__name__)


def build_tree(
    client: discord.Client, commands: Commands, table: Sequence[Subcommand], releases: Releases
) -> app_commands.CommandTree[Any]:
    """Make the commands that `setup_hook` registers with Discord.

    `/threadlore` is there for everybody, for some of it is: `SlashCommands` says what only admins may do.
    """
    tree = Tree(
        client,
        allowed_installs=app_commands.AppInstallationType(guild=True, user=False),
        allowed_contexts=app_commands.AppCommandContext(guild=True, dm_channel=True, private_channel=False),
    )

    @tree.command(name="ask", description=ASK)
    @app_commands.describe(question=QUESTION_HELP, release=RELEASE_HELP)
    async def ask(
        interaction: discord.Interaction,
        question: app_commands.Range[str, 1, QUESTION],
        release: Short | None = None,
    ) -> None:
        known = await _names(releases) if release else []
        if release and release not in known:  # the bot says that it has none of that name
            question, release = f"{question} ({release})", None
        await commands.called(interaction, "ask", question, release or "")

    like = _offering(releases)
    ask.autocomplete("release")(like)

    @tree.context_menu(name=ANSWER_THIS)
    async def answer_this(interaction: discord.Interaction, message: discord.Message) -> None:
        await commands.answer_this(interaction, message)

    tree.add_command(_threadlore(commands, table, like))
    return tree


def _offering(releases: Releases) -> Like:
    """Return what offers the releases that answer while one types."""

    async def like(interaction: discord.Interaction[Any], current: str) -> list[app_commands.Choice[str]]:
        found = [name for name in await _names(releases) if current.casefold() in name.casefold()]
        choices = [app_commands.Choice(name=name, value=name) for name in found[:CHOICES]]
        try:
            await interaction.response.autocomplete(choices)
        except TROUBLE as error:  # who typed on has asked again; discord.py would answer once more, and fail
            log.debug("releases are offered too late: %s", error)
            interaction.response._response_type = discord.InteractionResponseType.autocomplete_result
        return choices

    return like


async def _names(releases: Releases) -> list[str]:
    """Return the names of the releases that answer, the newest first."""
    return [str(release["name"]) for release in reversed(await releases()) if release["ready"]]


def _threadlore(commands: Commands, table: Sequence[Subcommand], like: Like) -> app_commands.Group:
    """Make `/threadlore` of the table: a command of two words is in a group of its own.

    A field for a release offers those that `like` finds.
    """
    top = app_commands.Group(
        name="threadlore", description="Look after the documentation and the memory that answers come from"
    )
    groups: dict[str, app_commands.Group] = {}
    for subcommand in table:
        first, _, second = subcommand.name.partition(" ")
        parent = top
        if second:
            if first not in groups:
                described = GROUPS.get(first, first)
                groups[first] = app_commands.Group(name=first, parent=top, description=described)
            parent = groups[first]
        made = _command(commands, subcommand, second or first)
        if any(option.name == RELEASE and not option.choices for option in subcommand.options):
            made.autocomplete(RELEASE)(like)
        parent.add_command(made)
    return top


def _command(commands: Commands, subcommand: Subcommand, name: str) -> app_commands.Command[Any, ..., None]:
    """Make a command whose fields are the options; what is filled in becomes words as they are typed."""
    fields = {option.name.replace("-", "_"): option for option in subcommand.options}

    async def callback(interaction: discord.Interaction, **given: Any) -> None:
        text = " ".join([subcommand.name, *_words(subcommand.options, given)])
        await commands.called(interaction, "threadlore", text)

    kind = inspect.Parameter.KEYWORD_ONLY
    callback.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter("interaction", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *(
                inspect.Parameter(
                    field,
                    kind,
                    annotation=_annotation(option),
                    default=inspect.Parameter.empty if option.required else _left_out(option),
                )
                for field, option in fields.items()
            ),
        ]
    )
    made: app_commands.Command[Any, ..., None] = app_commands.Command(
        name=name, description=subcommand.help[:DESCRIPTION], callback=callback
    )
    for parameter in made._params.values():
        parameter.description = fields[parameter.name].help[:DESCRIPTION]
    return made


def _annotation(option: Option) -> Any:
    """Return what Discord is told a field takes."""
    kinds: dict[str, Any] = {
        "text": Short,
        "person": discord.User,
        "channel": discord.abc.GuildChannel,
        "flag": bool,
    }
    kind = Literal[option.choices] if option.choices else kinds[option.kind]
    return kind if option.required or option.kind == "flag" else kind | None


def _left_out(option: Option) -> Any:
    return False if option.kind == "flag" else None


def _words(options: Sequence[Option], given: Mapping[str, Any]) -> list[str]:
    """Write the fields that are filled in as people type them; by name after a place that is left empty."""
    said: list[str] = []
    is_gap = False
    for option in options:
        value = given.get(option.name.replace("-", "_"))
        if value is None or value is False:
            is_gap = is_gap or not (option.named or option.kind == "flag")
            continue
        by_name = option.named or (is_gap and option.kind != "flag")
        said += [f"--{option.name}", _word(option, value)] if by_name else [_word(option, value)]
    return said


def _word(option: Option, value: Any) -> str:
    """Write the value of a field as people type it."""
    if option.kind == "flag":
        return f"--{option.name}"
    if option.kind == "person":
        return f"<@{value.id}>"
    if option.kind == "channel":
        return f"<#{value.id}>"
    return quoted(str(value))


async def register(
    tree: app_commands.CommandTree[Any], pause: Callable[[float], Awaitable[bool]], wait: float
) -> None:
    """Tell Discord about the commands; without them the bot still answers mentions.

    It is told again after pauses, first of so many seconds, while it cannot be reached; `pause` returns False
    where the bot stops meanwhile.
    """
    await tree.set_translator(Translations())
    while True:
        try:
            await tree.sync()
            return
        except (discord.DiscordException, *TROUBLE) as error:
            if not passes(error):
                log.warning(_UNINVITED if isinstance(error, discord.Forbidden) else _REFUSED, error)
                return
            log.warning(_LATER, error, wait)
        if not await pause(wait):
            return
        wait = min(2 * wait, LAST_WAIT)


class Translations(app_commands.Translator):
    """Looks descriptions and names in menus up in the message catalogues; what is not there stays English."""

    async def translate(
        self,
        string: app_commands.locale_str,
        locale: discord.Locale,
        context: app_commands.TranslationContextTypes,
    ) -> str | None:
        """Return a text of a command in a language, None where it has none of its own."""
        in_menu = context.location is Place.command_name and isinstance(
            context.data, app_commands.ContextMenu
        )
        if not (in_menu or context.location in _READ) or plain(locale.value) not in available():
            return None
        with speaking(locale.value):
            said = _(string.message)
        return said if said != string.message else None
