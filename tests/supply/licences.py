"""List the licences of the installed packages, and name those that nobody has allowed.

python -m tests.supply.licences
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distributions

from tests.supply.audit import plain

ALLOWED = (
    r"0BSD|MIT(-0|-CMU)?|ISC|BSD(-[23]-Clause)?|Apache-2\.0( WITH LLVM-exception)?|BSL-1\.0|Zlib|CC0-1\.0",
    r"PSF-2\.0|CNRI-Python|MPL-2\.0|Unlicense|HPND",
    r"LGPL-(2\.1|3\.0)(-only|-or-later)?",  # libraries that are imported, not changed
    r"MIT License|BSD License|3-Clause BSD License|ISC License( \(ISCL\))?|Apache Software License",
    r"Apache 2\.0 License|Apache License, Version 2\.0|Mozilla Public License 2\.0 \(MPL 2\.0\)",
    r"Python Software Foundation License|Public Domain|The Unlicense \(Unlicense\)",
    r"GNU Library or Lesser General Public License \(LGPL\)|Academic Free License \(AFL\)",
    r"dependency licenses",
)
"""What a part of a licence may be."""
CHOSEN = {
    "docutils": "Public Domain / BSD License",  # the GPL is for Emacs files, not installed
    "pytest-timeout": "MIT",  # a classifier of it names no licence
    "tld": "LGPL-2.1-or-later",
    "pyrage": "MIT",  # its wheel names none; its repository has the text
    "threadlore": "Apache-2.0",
}
"""Licences of packages that offer several or name none in what is installed, as their repositories say."""
_ALLOWED = re.compile("|".join(f"(?:{one})" for one in ALLOWED))
_PARTS = re.compile(r"\s+(?:AND|OR|/)\s+|,\s+(?!Version)")


def licence_of(package: Distribution) -> str:
    """Return what a package says of its licence: the expression, the classifiers, or the first line."""
    told = package.metadata
    if chosen := CHOSEN.get(plain(told["Name"])):
        return chosen
    if expression := told.get("License-Expression"):
        return str(expression)
    classifiers = [one for one in told.get_all("Classifier") or () if one.startswith("License")]
    classified = [one.split("::")[-1].strip() for one in classifiers]
    classified = [name for name in classified if name != "OSI Approved"]
    first = (str(told.get("License") or "").strip().splitlines() or [""])[0]
    return " / ".join(classified) or first


def is_allowed(licence: str) -> bool:
    """Return True if every part of a licence is allowed."""
    parts = _PARTS.split(licence)
    # a bracket of an expression belongs to no part
    whole = [part if part.count("(") == part.count(")") else part.strip("()") for part in parts]
    return bool(licence) and all(_ALLOWED.fullmatch(part.strip()) for part in whole)


def listed(packages: Iterable[Distribution]) -> list[tuple[str, str, str]]:
    """Return name, version and licence of each package, by name."""
    return sorted({(plain(one.metadata["Name"]), one.version, licence_of(one)) for one in packages})


def main() -> None:
    """Print the list; exit status 1 where a licence is not allowed."""
    wrong = []
    for name, version, licence in listed(distributions()):
        print(f"{name} {version}: {licence or 'not told'}")
        wrong += [] if is_allowed(licence) else [name]
    if wrong:
        print(f"Nobody has allowed the licences of: {', '.join(wrong)}.", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
