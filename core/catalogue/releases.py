"""The releases of the product: each name once, oldest first, and exactly one the latest."""

from __future__ import annotations

from core.catalogue.tables import FileTable
from core.catalogue.toml_file import TomlFile
from core.domain import Release
from core.text.version_order import normalised, oldest_first, preliminary


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
