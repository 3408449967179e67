"""What the file says, as values: sources, channels, grants, and all of it together."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.catalogue.tables import USUAL, Mode, Schedule, SourceOptions
from core.domain import Product
from core.errors import SourceError
from core.ports.escalations import Targets


class SourceKinds(Mapping[str, type[SourceOptions]]):
    """The options of each kind of source by its name, and which formats they can hand over."""

    @property
    @abstractmethod
    def formats(self) -> tuple[str, ...]:
        """Return the names that `format` may have."""


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """Where documents lie, as the file says it.

    An empty `release` means that they belong to every release; an empty `format` that the ending
    of each file decides; an empty `include` that the kind's default holds. `schedule`
    tells how often it is read. `root` is the folder of the file, `where` the file and line, for errors.
    """

    kind: str
    options: SourceOptions
    release: str = ""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    url: str = ""
    format: str = ""
    schedule: Schedule = USUAL
    root: Path = Path()
    where: str = ""
    suffix: str = ""
    """What tells this source's name from a twin in the same release that includes other files."""
    by_admin: bool = False
    """Added while the bot runs, by somebody who may not see the machine's network: public addresses alone."""

    def resolve(self, path: str) -> Path:
        """Return a path of the options as an absolute one; relative ones start at `root`."""
        return (self.root / Path(path).expanduser()).absolute()

    def error(self, problem: str, kind: type[SourceError] = SourceError) -> SourceError:
        """Word a problem of this source, with the place in the file where it is described."""
        return kind(f"{problem} ({self.where})." if self.where else f"{problem}.")


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """How a channel is served; an empty release leaves it to the question and the latest one."""

    release: str = ""
    mode: Mode = "mentions"
    ask: Targets | None = None
    """Who is asked for help in this channel, where that is not who is asked everywhere."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Who may give a command, and the file and line where that is said, for errors."""

    who: tuple[str, ...]
    where: str = ""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All of `corpora.toml`; channels by `slack:C0123`, people's accounts (`slack:U1`) by name."""

    product: Product
    sources: tuple[SourceSpec, ...] = ()
    channels: dict[str, ChannelSettings] = field(default_factory=dict)
    people: dict[str, tuple[str, ...]] = field(default_factory=dict)
    root: Path = Path()
    share_platforms: bool = True
    """Whether what is learnt in public on one platform is told on the others."""
    permissions: dict[str, Grant] = field(default_factory=dict)
    """Who may give which command, by its name or its first word; admins where nothing is said."""

    added: dict[str, SourceSpec] = field(default_factory=dict)
    """What admins added, by its release; it grows and shrinks while the bot runs."""
    ask: Targets = field(default_factory=Targets)
    """Who is asked where the documentation does not help."""

    @property
    def asked(self) -> tuple[Targets, ...]:
        """Return everybody who is asked somewhere."""
        return (self.ask, *(own.ask for own in self.channels.values() if own.ask is not None))

    def asked_in(self, channel: str) -> Targets:
        """Return who is asked for help in a channel (`slack:C0123`), on its own platform."""
        own = self.channels.get(channel, ChannelSettings()).ask
        return (self.ask if own is None else own).on(channel.partition(":")[0])

    def sources_of(self, release: str) -> tuple[SourceSpec, ...]:
        """Return the sources that make up a release's corpus, the unversioned ones last.

        What was added stands alone: what belongs to every release is the product's own.
        """
        if release in self.added:
            return (self.added[release],)
        own = tuple(source for source in self.sources if source.release == release)
        return own + tuple(source for source in self.sources if not source.release)
