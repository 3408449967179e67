"""What `corpora.toml` says of one release: its sources, with the options of their kind."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.catalogue.tables import (
    USUAL,
    AskTable,
    FileTable,
    Mode,
    Schedule,
    SourceOptions,
    SourceTable,
    without_password,
)
from core.catalogue.toml_file import Place, TomlFile, keys_of, label
from core.domain import Product
from core.errors import SourceError


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
    """What tells this source's name from a twin's in the same release: other files, or other options."""
    by_admin: bool = False
    """Added while the bot runs, by somebody who may not see the machine's network: public addresses alone."""

    def resolve(self, path: str) -> Path:
        """Return a path of the options as an absolute one; relative ones start at `root`."""
        return (self.root / Path(path).expanduser()).absolute()

    def error(self, problem: str, kind: type[SourceError] = SourceError) -> SourceError:
        """Word a problem of this source, with the place in the file where it is described."""
        return kind(f"{problem} ({self.where})." if self.where else f"{problem}.")


@dataclass(frozen=True, slots=True)
class Targets:
    """Who is asked where the documentation does not help, by account or channel with platform (`slack:U1`).

    `people` are asked in direct messages, `channels` by a message there, in which `calls` (people, and
    roles or user groups: `discord:role:5`, `slack:S1`) are called by sound.
    """

    people: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: AskTable) -> Targets:
        """Return who a table of `corpora.toml` names, each once."""
        return cls(*(tuple(dict.fromkeys(named)) for named in (table.people, table.channels, table.call)))

    def __bool__(self) -> bool:
        """Return True if there is anybody to ask."""
        return bool(self.people or self.channels)

    def on(self, platform: str) -> Targets:
        """Return those of one platform: nobody is asked across platforms, where the link may lead nowhere."""
        prefix = f"{platform}:"
        kept = (
            tuple(one for one in named if one.startswith(prefix))
            for named in (self.people, self.channels, self.calls)
        )
        return Targets(*kept)


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
    """Whether what is learned in public on one platform is told on the others."""
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


def sources_of(file: TomlFile, tables: FileTable, kinds: SourceKinds, root: Path) -> tuple[SourceSpec, ...]:
    """Return all sources, those of every release last; raises ConfigurationError.

    `kinds` gives the options model of each kind of source, `root` is the folder that paths start at.
    """
    groups: list[tuple[str, Place, list[dict[str, Any]]]] = [
        (table.name, ("release", index, "source"), table.source) for index, table in enumerate(tables.release)
    ]
    groups.append(("", ("unversioned", "source"), tables.unversioned.source))
    specs = {
        (*place, n): _source(file, (*place, n), written, release, kinds, root)
        for release, place, tables_of_release in groups
        for n, written in enumerate(tables_of_release)
    }
    return tuple(_told_apart(file, place, specs) for place in specs)


def _source(
    file: TomlFile,
    place: Place,
    written: Mapping[str, Any],
    release: str,
    kinds: SourceKinds,
    root: Path,
) -> SourceSpec:
    kind = _kind_of(file, place, written, kinds)
    model = kinds[kind]
    keys = keys_of(SourceTable, model)
    for key in written:
        if key not in keys:
            raise file.unknown(
                (*place, key), f'unknown key "{key}" in {label(place)} of kind "{kind}"', key, keys
            )
    common = keys_of(SourceTable)
    try:
        table = SourceTable.model_validate({key: value for key, value in written.items() if key in common})
        options = model.model_validate({key: value for key, value in written.items() if key not in common})
    except ValidationError as error:
        raise file.invalid(error, place, keys) from None
    if table.format and table.format not in kinds.formats:
        what = f'"format" in {label(place)}: "{table.format}" is no format'
        raise file.unknown((*place, "format"), what, table.format, kinds.formats)
    return SourceSpec(
        kind=kind,
        options=options,
        release=release,
        include=tuple(table.include),
        exclude=tuple(table.exclude),
        url=table.url or "",
        format=table.format or "",
        schedule=table.interval,
        root=root,
        where=f"{file.path}, line {file.line(place)}",
    )


def _kind_of(file: TomlFile, place: Place, written: Mapping[str, Any], kinds: SourceKinds) -> str:
    kind = written.get("kind")
    if kind is None:
        raise file.mistake(place, f'key "kind" is missing in {label(place)}', ", ".join(sorted(kinds)))
    if not isinstance(kind, str) or kind not in kinds:
        raise file.unknown(
            (*place, "kind"),
            f'"kind" in {label(place)}: "{kind}" is no kind of source',
            str(kind),
            sorted(kinds),
        )
    return kind


def _told_apart(file: TomlFile, place: Place, specs: Mapping[Place, SourceSpec]) -> SourceSpec:
    """Give a source a suffix where another one of the same corpus is called the same."""
    spec = specs[place]
    twins = {
        other: _apart(spec.options, twin.options)
        for other, twin in specs.items()
        if other != place
        and (twin.kind, twin.options.called) == (spec.kind, spec.options.called)
        and (twin.release == spec.release or "" in (twin.release, spec.release))
    }
    if not twins:
        return spec
    for twin, options in twins.items():
        if (specs[twin].include, specs[twin].exclude, *options) == (spec.include, spec.exclude):
            line = file.line(min(place, twin, key=file.line))
            raise file.mistake(
                max(place, twin, key=file.line),
                f"the same source stands on line {line} already",
                "each source once",
            )
    told = [*spec.include, *(f"!{pattern}" for pattern in spec.exclude)]
    told += [f"{key} = {_told(spec.options, key)}" for key in sorted(set().union(*twins.values()))]
    return replace(spec, suffix=f" [{', '.join(told)}]")


def _apart(one: SourceOptions, other: SourceOptions) -> list[str]:
    """Return the keys in which two sources that are called the same differ."""
    return [key for key in one.apart if _told(one, key) != _told(other, key)]


def _told(options: SourceOptions, key: str) -> str:
    """Return an option as a name may have it: people read names, so without passwords."""
    return without_password(json.dumps(options.model_dump(mode="json")[key]))
