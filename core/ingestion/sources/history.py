"""What a community has worked out before: an export of its Slack or Discord."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, cast

from pydantic import Field

from core.catalogue import SourceSpec
from core.catalogue_tables import SourceOptions, Text
from core.domain import RawDocument
from core.ingestion.sources._conversations import Post, document, threads, told
from core.ingestion.sources._discord_posts import read_channel
from core.ingestion.sources._patterns import Patterns
from core.ingestion.sources._slack_posts import NoExport, SlackExport
from core.privacy import nobody
from core.settings import Settings


class Options(SourceOptions):
    """`path` is an export: of Slack a zip or a folder, of Discord a JSON file or a folder of them.

    (DiscordChatExporter writes those.) `channels` chooses by name, `workspace` is the address that Slack's
    links start with. `answers` is "settled" for conversations whose answer was accepted, voted for or
    thanked for, "any" for all that were answered. `without` names accounts that are left out, such
    as "U012AB3CD".
    """

    path: Text
    channels: list[Text] = Field(default_factory=list)
    workspace: str = ""
    answers: Literal["settled", "any"] = "settled"
    without: list[Text] = Field(default_factory=list)


class HistorySource:
    """Read questions with their answers from an export; private channels and bots are left out.

    So is what people said who opted out or are named in `without`, and whole conversations that they began.
    """

    def __init__(self, spec: SourceSpec) -> None:
        self.is_out: Callable[[str], bool] = nobody
        self.withheld = 0
        self._options = cast(Options, spec.options)
        self.name = f"history:{self._options.path}{spec.suffix}"
        self._spec = spec
        self._place = spec.resolve(self._options.path)
        self._channels = Patterns(self._options.channels or ["**"])
        self._skipped: list[tuple[str, str]] = []

    @property
    def skipped(self) -> Sequence[tuple[str, str]]:
        """Return (path, reason) of what the last run passed over."""
        return tuple(self._skipped)

    def documents(self) -> Iterator[RawDocument]:
        """Yield each conversation that has an answer; raises SourceError where there is no export."""
        self._skipped, self.withheld = [], 0
        if not self._place.exists():
            raise self._spec.error(f"There is no {self._place}; correct `path`")
        files = self._discord_files()
        try:
            yield from self._discord(files) if files else self._slack()
        except NoExport as error:
            raise self._spec.error(f"{self._place} is no export of Slack or Discord: {error}") from None
        except zipfile.BadZipFile:
            raise self._spec.error(f"{self._place} is no zip that can be read; export it again") from None
        except OSError as error:
            raise self._spec.error(f"{error.filename} cannot be read: {error.strerror}") from None

    def _discord_files(self) -> list[Path]:
        if self._place.is_file():
            return [self._place] if self._place.suffix.lower() == ".json" else []
        if any(self._place.glob("*/*.json")) or (self._place / "channels.json").exists():
            return []
        return sorted(self._place.glob("*.json"))

    def _slack(self) -> Iterator[RawDocument]:
        export = SlackExport(self._place)
        try:
            public, others = export.channels()
            self._skipped += [(name, "it is not public") for name in others]
            for name, channel_id in public.items():
                if self._channels.match(name):
                    posts = export.posts(name, channel_id, self._options.workspace)
                    yield from self._conversations("slack", name, posts, {})
        finally:
            export.close()

    def _discord(self, files: Sequence[Path]) -> Iterator[RawDocument]:
        for file in files:
            channel = read_channel(file)
            if channel is None:
                self._skipped.append((file.name, "it is no channel"))
            elif not channel.public:
                self._skipped.append((channel.name, "it is not public"))
            elif self._channels.match(channel.name):
                titles = {channel.posts[0].thread: channel.title} if channel.posts else {}
                yield from self._conversations("discord", channel.name, channel.posts, titles)

    def _conversations(
        self, platform: str, channel: str, posts: Iterable[Post], titles: dict[str, str]
    ) -> Iterator[RawDocument]:
        without = frozenset(self._options.without)
        for whole in threads(posts):
            out = {p.author for p in whole if p.author in without or self.is_out(f"{platform}:{p.author}")}
            conversation = [p for p in whole if p.author not in out] if whole[0].author not in out else []
            self.withheld += len(whole) - len(conversation)
            if not conversation:
                continue
            first = conversation[0]
            path = f"{channel}/{first.id}"
            found = told(conversation, titled=bool(titles.get(first.thread)))
            if isinstance(found, str):
                self._skipped.append((path, found))
            elif self._options.answers == "settled" and not found.settled:
                self._skipped.append((path, "no answer was accepted, voted for or thanked for"))
            else:
                yield document(path, found, titles.get(first.thread, ""))


def open_source(spec: SourceSpec, settings: Settings) -> HistorySource:
    """Build the source of an export."""
    return HistorySource(spec)
