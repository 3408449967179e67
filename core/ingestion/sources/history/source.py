"""What a community has worked out before: channels of its Slack or Discord, live or from an export."""

from __future__ import annotations

import re
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime
from datetime import time as midnight
from functools import partial
from typing import Annotated, ClassVar, Literal, Self, cast

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from core.catalogue import SourceOptions, SourceSpec, Text
from core.domain import RawDocument
from core.errors import PlatformError, SourceClosed, TooCostly
from core.ingestion.live.channels import ChannelRead, LiveChannels
from core.ingestion.live.reading import Reach
from core.ingestion.sources._conversations import Told, document, threads, told
from core.ingestion.sources._files import Patterns
from core.ingestion.sources.history.exports import NoExport, platform_of, reader_of
from core.ports import LeftOut, Workers
from core.ports.history import Post
from core.privacy.names import never, no_name, nobody
from core.settings import Settings

HOUR = 3_600.0


def _channel(value: str) -> str:
    if not re.fullmatch(r"[a-z]+:[\w-]+", value):
        raise ValueError('a channel as platform and id, "slack:C0123" or "discord:123", or a list of them')
    return value


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


class Options(SourceOptions):
    """`channel` is read live, by platform and id (`slack:C0123`); several stand in a list. `path` is an
    export: of Slack a zip or a folder, of Discord a JSON file or a folder of them.

    (DiscordChatExporter writes those.) `channels` chooses in an export by name, `workspace` is the address
    that Slack's links start with. `answers` is "settled" for conversations whose answer was accepted, voted
    for or thanked for, "any" for all that were answered. `without` names accounts that are left out, such
    as "U012AB3CD". Of a live channel the `newest` messages are read, none before the day `since`; `minutes`
    bounds one reading, and what is unsettled waits until nobody has written for `quiet_hours`.
    """

    path: Text | None = None
    channel: Annotated[list[Annotated[str, AfterValidator(_channel)]], BeforeValidator(_listed)] = Field(
        default_factory=list
    )
    channels: list[Text] = Field(default_factory=list)
    workspace: str = ""
    answers: Literal["settled", "any"] = "settled"
    without: list[Text] = Field(default_factory=list)
    newest: Annotated[int, Field(ge=1, le=100_000)] = 5_000
    since: date | None = None
    minutes: Annotated[float, Field(gt=0, le=24 * 60, strict=False)] = 30.0
    quiet_hours: Annotated[float, Field(ge=0, le=24 * 30, strict=False)] = 6.0
    apart: ClassVar[tuple[str, ...]] = (
        "channel", "channels", "workspace", "answers", "newest", "since", "minutes", "quiet_hours"
    )  # fmt: skip

    @property
    def called(self) -> str:
        """Return the export, or the first channel and how many more there are."""
        keys = tuple(dict.fromkeys(self.channel))
        more = f"+{len(keys) - 1}" if len(keys) > 1 else ""
        return self.path or keys[0] + more

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if bool(self.path) == bool(self.channel):
            raise ValueError('one of channel = "slack:C0123" (live) and path = "export.zip"')
        return self

    @property
    def extent(self) -> Reach:
        """Return how far back a live channel is read."""
        start = datetime.combine(self.since, midnight(), UTC).timestamp() if self.since else 0.0
        return Reach(self.newest, start)


class HistorySource:
    """Read questions with their answers; private channels and bots are left out.

    So is what people said who opted out, asked to be forgotten or are named in `without`, and whole
    conversations that they began.
    """

    def __init__(self, spec: SourceSpec, workers: Workers, now: Callable[[], float] = time.time) -> None:
        self.is_out: Callable[[str], bool] = nobody
        self.forgotten: Callable[[str], float] = never
        self.one_way: Callable[[str], str] = no_name
        self.withheld = 0
        self.may_be_empty = bool(cast(Options, spec.options).channel)
        self.live: LiveChannels | None = None
        """Reads live channels, where there is a bot that does."""
        self.asks = True
        """Whether the next reading asks the platforms; without it, it goes by what was read before."""
        self._options = cast(Options, spec.options)
        self.channels = tuple(dict.fromkeys(self._options.channel))
        """The keys of the channels that are read live."""
        self.name = f"history:{self._options.called}{spec.suffix}"
        self._spec, self._workers, self._now = spec, workers, now
        self._place = spec.resolve(self._options.path or ".")
        self._channels = Patterns(self._options.channels or ["**"])
        self.skipped: list[tuple[str, str]] = []

    def heed(self, people: LeftOut) -> None:
        """Leave these people out of every reading from now on."""
        self.is_out, self.forgotten, self.one_way = people.is_out, people.forgotten, people.one_way

    def read_by(self, live: LiveChannels) -> None:
        """Have live channels read by what all sources of the home share; called before the first reading."""
        self.live = live

    @property
    def extent(self) -> Reach:
        """Return how far back live channels are read."""
        return self._options.extent

    def documents(self) -> Iterator[RawDocument]:
        """Yield each conversation that has an answer; raises SourceError where nothing can be read."""
        self.skipped, self.withheld = [], 0
        yield from self._read_live() if self.channels else self._exported()

    def leaves_out(self, account: str, at: float) -> bool:
        """Return True if nothing is kept of what an account (`slack:U1`) wrote at a time."""
        left_out = account.partition(":")[2] in self._options.without or self.is_out(account)
        return left_out or at <= self.forgotten(account)

    def withhold(self) -> None:
        """Take what these people wrote out of the copies of channels; blocking. Raises OSError."""
        if self.live is not None:
            self.live.withhold(self.channels, self.extent, self.leaves_out)

    def _author(self, platform: str, author: str) -> str:
        return self.one_way(f"{platform}:{author}")

    # --- live ---------------------------------------------------------------------------------

    def _read_live(self) -> Iterator[RawDocument]:
        if self.live is None:
            raise self._spec.error("Live channels are read by `threadlore index` and `threadlore serve` only")
        asks, self.asks = self.asks, True
        options = self._options
        bounds = (options.extent, options.minutes)
        try:
            found = self.live.read(self.channels, *bounds, self.leaves_out, self, asks)
        except PlatformError as error:
            raise self._spec.error(str(error).rstrip(".")) from None
        except OSError as error:
            raise self._spec.error(f"{error.filename} cannot be used: {error.strerror}; make room") from None
        if all(channel.refused for channel in found):
            raise SourceClosed(str(self._spec.error("; ".join(channel.refused for channel in found))))
        for channel in found:
            if channel.refused:
                self.skipped.append((channel.name, channel.refused))
            else:
                yield from self._live_channel(channel)

    def _live_channel(self, channel: ChannelRead) -> Iterator[RawDocument]:
        options, platform = self._options, channel.key.partition(":")[0]
        if not channel.all_read:
            self.skipped.append((channel.name, "not all of it is read yet; the next reading goes on"))
        if len(channel.posts) >= options.newest:
            self.skipped.append((channel.name, f"only its newest {options.newest} messages are read"))
        if options.since:
            self.skipped.append((channel.name, f"nothing before {options.since} is read"))
        yield from self._conversations(
            platform, channel.name, channel.posts, channel.titles, channel.settled, live=True
        )

    def _goes_on(self, conversation: Sequence[Post], found: Told) -> bool:
        """Return True if people are at it still: unsettled or with the bot, and somebody wrote just now."""
        last = max(post.at for post in conversation)
        waits = not found.settled or any(post.bot for post in conversation)
        return waits and self._now() - last < self._options.quiet_hours * HOUR

    # --- exports ------------------------------------------------------------------------------

    def _exported(self) -> Iterator[RawDocument]:
        with self._explained():
            yield from self._export(self._platform())

    def reach(self, seconds: float) -> None:
        """Look for the export; raises SourceError. Live channels are not asked for here."""
        if not self.channels:
            with self._explained():
                self._platform()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Say what is wrong with an export, and where it is named."""
        try:
            yield
        except NoExport as error:
            raise self._spec.error(f"{self._place} is no export that can be read: {error}") from None
        except TooCostly as error:
            raise self._spec.error(f"{self._place} cannot be read: {error}") from None
        except zipfile.BadZipFile:
            raise self._spec.error(f"{self._place} is no zip that can be read; export it again") from None
        except OSError as error:
            raise self._spec.error(f"{error.filename} cannot be read: {error.strerror}") from None

    def _platform(self) -> str:
        if not self._place.exists():
            raise self._spec.error(f"There is no {self._place}; correct `path`")
        return platform_of(self._place)

    def _export(self, platform: str) -> Iterator[RawDocument]:
        given = (self._place, self._options.workspace, self._channels.match, self._workers.run)
        for channel in reader_of(platform).channels(*given):
            if channel.refused:
                self.skipped.append((channel.name, channel.refused))
            else:
                yield from self._conversations(platform, channel.name, channel.posts, channel.titles)

    # --- conversations ------------------------------------------------------------------------

    def _conversations(
        self,
        platform: str,
        channel: str,
        posts: Iterable[Post],
        titles: Mapping[str, str],
        closed: frozenset[str] = frozenset(),
        live: bool = False,
    ) -> Iterator[RawDocument]:
        before = self.withheld
        # what a bot says beside threads belongs to no conversation of people
        for whole in threads(post for post in posts if post.thread or post.reply_to or not post.bot):
            heard = [p for p in whole if not (p.withheld or self.leaves_out(f"{platform}:{p.author}", p.at))]
            conversation = heard if heard[:1] == whole[:1] else []
            self.withheld += len(whole) - len(conversation)
            if not conversation:
                continue
            first = conversation[0]
            path = f"{channel}/{first.id}"
            found = told(conversation, bool(titles.get(first.thread)), first.thread in closed)
            if isinstance(found, str):
                self.skipped.append((path, found))
            elif live and self._goes_on(whole, found):
                self.skipped.append((path, "people are at it still; it is read when they have done"))
            elif self._options.answers == "settled" and not found.settled:
                self.skipped.append((path, "no answer was accepted, voted for or thanked for"))
            else:
                name = partial(self._author, platform)
                yield document(path, found, titles.get(first.thread, ""), name)
        if left_out := self.withheld - before:
            self.skipped.append(
                (channel, f"{left_out} messages are left out: deleted, or of people who opted out")
            )


def open_source(spec: SourceSpec, settings: Settings, workers: Workers) -> HistorySource:
    """Build the source of an export or of live channels."""
    return HistorySource(spec, workers)
