"""The sources of each release, with the options of their kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from core.catalogue.entries import SourceKinds, SourceSpec
from core.catalogue.tables import FileTable, SourceTable
from core.catalogue.toml_file import Place, TomlFile, keys_of, label


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
