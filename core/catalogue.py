"""What `corpora.toml` says: the product, its releases, where their documents lie, channels, people.

Every mistake is a ConfigurationError that names file, line, key and what is allowed there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from core.catalogue_tables import ACCOUNT, MODELS, FileTable, Mode, SourceOptions, SourceTable, keys_at
from core.domain import Format, Product, Release
from core.errors import SourceError
from core.escalations import Targets
from core.glossary import load_glossary
from core.schedule import USUAL, Schedule
from core.toml_file import Place, TomlFile, keys_of, label
from core.versions import normalised, oldest_first, preliminary


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
    format: Format | Literal[""] = ""
    schedule: Schedule = USUAL
    root: Path = Path()
    where: str = ""
    suffix: str = ""
    """What tells this source's name from a twin in the same release that includes other files."""

    def resolve(self, path: str) -> Path:
        """Return a path of the options as an absolute one; relative ones start at `root`."""
        return (self.root / Path(path).expanduser()).absolute()

    def error(self, problem: str) -> SourceError:
        """Word a problem of this source, with the place in the file where it is described."""
        return SourceError(f"{problem} ({self.where})." if self.where else f"{problem}.")


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
        """Return the sources that make up a release's corpus, the unversioned ones last."""
        own = tuple(source for source in self.sources if source.release == release)
        return own + tuple(source for source in self.sources if not source.release)


def load_catalogue(path: Path, kinds: Mapping[str, type[BaseModel]]) -> Catalogue:
    """Read `corpora.toml`; `kinds` gives the options model of each kind of source by its name.

    Releases are put oldest first, and exactly one is the latest: the one that says so, or the
    newest that is no pre-release. Raises ConfigurationError.
    """
    file = TomlFile(
        path, "with [product], a [[release]] and its [[release.source]], or name another with --config"
    )
    tables = _tables(file)
    releases = _releases(file, tables)
    known = {normalised(alias): r.name for r in releases for alias in (r.name, *r.aliases)}
    root = path.absolute().parent
    glossary = {}
    if tables.product.glossary is not None:
        glossary_path = root / Path(tables.product.glossary).expanduser()
        if not glossary_path.is_file():
            raise file.mistake(
                ("product", "glossary"),
                f'"glossary" in [product]: {glossary_path} is no file',
                "a file that exists",
            )
        glossary = load_glossary(glossary_path)
    about = tables.product
    product = Product(about.name, tuple(about.aliases), releases, glossary, about.language)
    return Catalogue(
        product=product,
        sources=_sources(file, tables, kinds, root),
        channels=_channels(file, tables, known),
        people=_people(file, tables),
        root=root,
        share_platforms=tables.memory.share_platforms,
        ask=tables.ask.targets,
        permissions={
            name: Grant(tuple(who), f"{file.path}, line {file.line(('permissions', name))}")
            for name, who in tables.permissions.items()
        },
    )


def _tables(file: TomlFile) -> FileTable:
    try:
        tables = FileTable.model_validate(file.data)
    except ValidationError as error:
        first = next((e for e in error.errors() if e["type"] == "extra_forbidden"), error.errors()[0])
        raise _elsewhere(file, first["loc"], first["type"]) or file.invalid(
            error, (), keys_at(first["loc"][:-1])
        ) from None
    if not tables.release:
        raise file.mistake(("release",), "there is no release", '[[release]] with name = "…"')
    return tables


def _elsewhere(file: TomlFile, place: Place, kind: str) -> Exception | None:
    """Say where an unknown key belongs, when it is the key of another table."""
    if kind != "extra_forbidden":
        return None
    homes = [label(home) for home, model in MODELS.items() if place[-1] in keys_of(model)]
    allowed = keys_at(place[:-1])
    if not homes:
        return None
    what = f'unknown key "{place[-1]}" in {label(place[:-1])}; it belongs in {" or ".join(homes)}'
    return file.mistake(place, what, ", ".join(allowed))


def _releases(file: TomlFile, tables: FileTable) -> tuple[Release, ...]:
    taken: dict[str, tuple[int, str]] = {}
    for index, table in enumerate(tables.release):
        for place, name in (
            (("release", index, "name"), table.name),
            *((("release", index, "aliases", n), alias) for n, alias in enumerate(table.aliases)),
        ):
            owner, _ = taken.setdefault(normalised(name), (index, name))
            if owner != index:
                line = file.line(("release", owner))
                raise file.mistake(
                    place,
                    f'"{name}" names the release "{tables.release[owner].name}" of line {line} already',
                    "a name or alias of one release only",
                )
    marked = [index for index, table in enumerate(tables.release) if table.latest]
    if len(marked) > 1:
        line = file.line(("release", marked[0], "latest"))
        raise file.mistake(
            ("release", marked[1], "latest"),
            f'"latest" is true on line {line} already',
            "true in one release only",
        )
    by_name = {table.name: table for table in tables.release}
    names = oldest_first(by_name)
    released = [name for name in names if not preliminary(name)] or names
    latest = tables.release[marked[0]].name if marked else released[-1]
    return tuple(
        Release(
            name=name,
            aliases=tuple(alias for alias in dict.fromkeys(by_name[name].aliases) if alias != name),
            latest=name == latest,
            order=order,
            lts=by_name[name].lts,
        )
        for order, name in enumerate(names)
    )


def _sources(
    file: TomlFile, tables: FileTable, kinds: Mapping[str, type[BaseModel]], root: Path
) -> tuple[SourceSpec, ...]:
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
    kinds: Mapping[str, type[BaseModel]],
    root: Path,
) -> SourceSpec:
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
    return SourceSpec(
        kind=kind,
        options=options,  # type: ignore[arg-type]
        release=release,
        include=tuple(table.include),
        exclude=tuple(table.exclude),
        url=table.url or "",
        format=table.format or "",
        schedule=table.interval,
        root=root,
        where=f"{file.path}, line {file.line(place)}",
    )


def _told_apart(file: TomlFile, place: Place, specs: Mapping[Place, SourceSpec]) -> SourceSpec:
    """Give a source a suffix where another one of the same corpus reads the same place."""
    spec = specs[place]
    twins = [
        other
        for other, twin in specs.items()
        if other != place
        and (twin.kind, twin.options) == (spec.kind, spec.options)
        and (twin.release == spec.release or "" in (twin.release, spec.release))
    ]
    if not twins:
        return spec
    for twin in twins:
        if (specs[twin].include, specs[twin].exclude) == (spec.include, spec.exclude):
            line = file.line(min(place, twin, key=file.line))
            raise file.mistake(
                max(place, twin, key=file.line),
                f"the same source stands on line {line} already",
                "each source once",
            )
    patterns = [*spec.include, *(f"!{pattern}" for pattern in spec.exclude)]
    return replace(spec, suffix=f" [{', '.join(patterns)}]")


def _channels(file: TomlFile, tables: FileTable, known: Mapping[str, str]) -> dict[str, ChannelSettings]:
    channels = {}
    for key, table in tables.channels.items():
        if not ACCOUNT.fullmatch(key):
            raise file.mistake(
                ("channels", key),
                f'"{key}" in [channels] is no channel',
                'platform and id, [channels."slack:C0123"]',
            )
        release = ""
        if table.release is not None:
            release = known.get(normalised(table.release), "")
            if not release:
                raise file.unknown(
                    ("channels", key, "release"),
                    f'"release" in [channels."{key}"]: there is no release "{table.release}"',
                    table.release,
                    dict.fromkeys(known.values()),
                )
        channels[key] = ChannelSettings(release, table.mode, table.ask.targets if table.ask else None)
    return channels


def _people(file: TomlFile, tables: FileTable) -> dict[str, tuple[str, ...]]:
    owners: dict[str, str] = {}
    for name, accounts in tables.people.items():
        for n, account in enumerate(accounts):
            owner = owners.setdefault(account, name)
            if owner != name:
                raise file.mistake(
                    ("people", name, n),
                    f'"{account}" belongs to {owner} already',
                    "an account of one person only",
                )
    return {name: tuple(dict.fromkeys(accounts)) for name, accounts in tables.people.items()}
