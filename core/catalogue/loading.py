"""From the file to the catalogue: each release once, oldest first, and exactly one the latest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from core.catalogue.sources import Catalogue, ChannelSettings, Grant, SourceKinds, Targets, sources_of
from core.catalogue.tables import ACCOUNT, MODELS, FileTable, keys_at
from core.catalogue.toml_file import Place, TomlFile, keys_of, label
from core.domain import Product, Release
from core.text.version_order import normalised, oldest_first, preliminary


class _Glossary(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    acronyms: dict[str, str | list[str]] = {}
    synonyms: dict[str, str | list[str]] = {}


def load_glossary(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a glossary: each word, spelt as in the file, with all that may stand for it.

    It works in every direction: `PM` leads to "performance monitoring" and back.
    Raises ConfigurationError with line, key and what is allowed there.
    """
    file = TomlFile(path, "or take `glossary` out of [product]")
    try:
        tables = _Glossary.model_validate(file.data)
    except ValidationError as error:
        first = error.errors()[0]
        place: Place = first["loc"][:2]
        if first["type"] == "extra_forbidden" or len(place) < 2:
            raise file.invalid(error, (), keys_of(_Glossary)) from None
        raise file.mistake(
            place, f'"{place[1]}" in [{place[0]}] is neither text nor a list', '"…" or ["…", "…"]'
        ) from None
    words: dict[str, dict[str, None]] = {}
    for table, rows in (("acronyms", tables.acronyms), ("synonyms", tables.synonyms)):
        for key, given in rows.items():
            others = [given] if isinstance(given, str) else given
            row = [" ".join(word.split()) for word in (key, *others)]
            if len(row) < 2 or not all(row):
                raise file.mistake(
                    (table, key), f'"{key}" in [{table}] has an empty text', '"…" or ["…", "…"]'
                )
            # two meanings of one acronym are no synonyms of each other
            pairs = (
                ((row[0], word) for word in row[1:])
                if table == "acronyms"
                else ((a, b) for a in row for b in row)
            )
            for one, other in pairs:
                if one != other:
                    words.setdefault(one, {})[other] = None
                    words.setdefault(other, {})[one] = None
    return {word: tuple(others) for word, others in words.items()}


def load_catalogue(path: Path, kinds: SourceKinds) -> Catalogue:
    """Read `corpora.toml`; `kinds` gives the options model of each kind of source by its name.

    Releases are put oldest first, and exactly one is the latest: the one that says so, or the
    newest that is no pre-release. Raises ConfigurationError.
    """
    file = TomlFile(
        path, "with [product], a [[release]] and its [[release.source]], or name another with --config"
    )
    tables = _tables(file)
    releases = releases_of(file, tables)
    known = {normalised(alias): r.name for r in releases for alias in (r.name, *r.aliases)}
    root = path.absolute().parent
    about, glossary = tables.product, _glossary(file, tables, root)
    product = Product(
        about.name, tuple(about.aliases), releases, glossary, about.language, tuple(about.questions)
    )
    return Catalogue(
        product=product,
        sources=sources_of(file, tables, kinds, root),
        channels=_channels(file, tables, known),
        people=_people(file, tables),
        root=root,
        share_platforms=tables.memory.share_platforms,
        ask=Targets.of(tables.ask),
        permissions=_permissions(file, tables),
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


def _glossary(file: TomlFile, tables: FileTable, root: Path) -> dict[str, tuple[str, ...]]:
    if tables.product.glossary is None:
        return {}
    path = root / Path(tables.product.glossary).expanduser()
    if not path.is_file():
        raise file.mistake(
            ("product", "glossary"),
            f'"glossary" in [product]: {path} is no file',
            "a file that exists",
        )
    return load_glossary(path)


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
        channels[key] = ChannelSettings(release, table.mode, Targets.of(table.ask) if table.ask else None)
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


def _permissions(file: TomlFile, tables: FileTable) -> dict[str, Grant]:
    return {
        name: Grant(tuple(who), f"{file.path}, line {file.line(('permissions', name))}")
        for name, who in tables.permissions.items()
    }


def releases_of(file: TomlFile, tables: FileTable) -> tuple[Release, ...]:
    """Return the releases, oldest first; raises ConfigurationError where names or marks collide."""
    _check_names(file, tables)
    marked = _marked(file, tables)
    by_name = {table.name: table for table in tables.release}
    names = oldest_first(by_name)
    released = [name for name in names if not preliminary(name)] or names
    latest = marked or released[-1]
    return tuple(
        Release(
            name=name,
            aliases=tuple(alias for alias in dict.fromkeys(by_name[name].aliases) if alias != name),
            latest=name == latest,
            lts=by_name[name].lts,
        )
        for name in names
    )


def _check_names(file: TomlFile, tables: FileTable) -> None:
    """Raise where a name or alias belongs to two releases."""
    owners: dict[str, int] = {}
    for index, table in enumerate(tables.release):
        for place, name in (
            (("release", index, "name"), table.name),
            *((("release", index, "aliases", n), alias) for n, alias in enumerate(table.aliases)),
        ):
            owner = owners.setdefault(normalised(name), index)
            if owner != index:
                line = file.line(("release", owner))
                raise file.mistake(
                    place,
                    f'"{name}" names the release "{tables.release[owner].name}" of line {line} already',
                    "a name or alias of one release only",
                )


def _marked(file: TomlFile, tables: FileTable) -> str:
    """Return the name of the release that says it is the latest; empty where none does."""
    marked = [index for index, table in enumerate(tables.release) if table.latest]
    if len(marked) > 1:
        line = file.line(("release", marked[0], "latest"))
        raise file.mistake(
            ("release", marked[1], "latest"),
            f'"latest" is true on line {line} already',
            "true in one release only",
        )
    return tables.release[marked[0]].name if marked else ""
