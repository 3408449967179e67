"""The order of release names, which are numbers more or less: `R17.2`, `v3`, `2024.1`, `4.0rc1`, `noble`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

VersionKey = tuple[tuple[int, ...], int, int]

_VERSION = re.compile(r"(?P<prefix>[^\W\d]\D*+)?[ ._-]*+(?P<numbers>\d+(?:[._-]\d+)*)(?P<rest>.*)", re.DOTALL)
_STAGE = re.compile(
    r"[ ._-]*(dev|snapshot|nightly|alpha|beta|preview|pre|rc|a|b|c|m)[ ._-]*(\d*)(?![a-z])", re.I
)
_STAGES = {"dev": -4, "snapshot": -4, "nightly": -4, "a": -3, "alpha": -3, "m": -3, "b": -2, "beta": -2}
_NUMBERED = {"", "v", "ver", "version", "release", "rel"}
_UNRELEASED = {"main", "master", "trunk", "develop", "dev", "devel", "nightly", "next", "head", "unreleased"}


def normalised(name: str) -> str:
    """Reduce a release name to what tells it from others: `V3.1 ` and `3.1` are one name."""
    name = " ".join(name.casefold().split())
    return re.sub(r"^v\.?\s*(?=\d)", "", name)


def version_key(name: str) -> VersionKey:
    """Return what orders names of one kind: numbers, then pre-releases before the release itself."""
    found = _VERSION.fullmatch(name)
    if found is None:
        return (), 0, 0
    numbers = [int(number) for number in re.split(r"[._-]", found["numbers"])]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    stage = _STAGE.match(found["rest"])
    if stage is None:
        return tuple(numbers), 0, 0
    return tuple(numbers), _STAGES.get(stage[1].lower(), -1), int(stage[2] or 0)


def preliminary(name: str) -> bool:
    """Return True if a name is that of something not released yet: `4.0rc1`, `main`."""
    return name.casefold() in _UNRELEASED or version_key(name)[1] < 0


def oldest_first(names: Iterable[str]) -> list[str]:
    """Order release names by version.

    Names of different kinds (`17.2` and `R17`, or code names) do not compare: each kind is sorted
    among the places it has, and code names keep theirs. `main` and its like come last.
    """
    ordered = sorted(names, key=lambda name: name.casefold() in _UNRELEASED)
    places: dict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(ordered):
        if found := _VERSION.fullmatch(name):
            kind = (found["prefix"] or "").strip(" ._-").casefold()
            places["" if kind in _NUMBERED else kind].append(place)
    for kind in places.values():
        for place, name in zip(kind, sorted((ordered[p] for p in kind), key=version_key), strict=True):
            ordered[place] = name
    return ordered
