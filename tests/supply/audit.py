"""Compare the pinned packages with advisories that are kept in a file, so that it works without a network.

    python -m tests.supply.audit                    # exit status 1 where a pinned version is affected
    python -m tests.supply.audit --refresh all.zip  # keep what concerns our packages, with today's date

`all.zip` is what OSV (https://osv.dev) publishes of PyPI: https://osv-vulnerabilities.storage.googleapis.com/PyPI/all.zip
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "supply" / "advisories.json"
CONSTRAINTS = ROOT / "constraints.txt"


@dataclass(frozen=True)
class Finding:
    """A pinned package that an advisory is about."""

    package: str
    version: str
    advisory: str
    summary: str
    fixed: tuple[str, ...]

    def __str__(self) -> str:
        """Say it, and what to do."""
        to = f"; fixed in {', '.join(self.fixed)}" if self.fixed else "; no version fixes it yet"
        return f"{self.package} {self.version}: {self.advisory} ({self.summary}){to}."


def plain(name: str) -> str:
    """Return a package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(file: Path = CONSTRAINTS) -> dict[str, str]:
    """Return the version of each pinned package."""
    lines = (line.partition("#")[0].strip() for line in file.read_text("utf-8").splitlines())
    parts = (line.partition(";")[0].partition("==") for line in lines if "==" in line)
    return {plain(name): version.strip() for name, _, version in parts}


def concerning(advisory: Mapping[str, Any], package: str) -> list[Mapping[str, Any]]:
    """Return what an advisory says of a package."""
    return [
        one
        for one in advisory.get("affected", ())
        if one["package"]["ecosystem"] == "PyPI" and plain(one["package"]["name"]) == package
    ]


def is_affected(said: Mapping[str, Any], version: str) -> bool:
    """Return True if a version is named, or lies in a range (introduced, until fixed or last affected)."""
    if version in said.get("versions", ()):
        return True
    own = Version(version)
    for span in said.get("ranges", ()):
        if span["type"] != "ECOSYSTEM":
            continue
        inside = False
        for kind, at in sorted(_events(span["events"]), key=lambda event: event[1]):
            if kind == "introduced" and own >= at:
                inside = True
            elif (kind == "fixed" and own >= at) or (kind == "last_affected" and own > at):
                inside = False
        if inside:
            return True
    return False


def _events(events: Sequence[Mapping[str, str]]) -> Iterator[tuple[str, Version]]:
    for event in events:
        for kind, at in event.items():
            try:
                yield kind, Version("0a0" if at == "0" else at)
            except InvalidVersion:
                continue


def findings(advisories: Sequence[Mapping[str, Any]], versions: Mapping[str, str]) -> list[Finding]:
    """Return every pinned package that an advisory is about; one that was withdrawn is about none."""
    found = []
    for advisory in advisories:
        if advisory.get("withdrawn"):
            continue
        for name, version in versions.items():
            said = concerning(advisory, name)
            if any(is_affected(one, version) for one in said):
                events = [event for one in said for span in one.get("ranges", ()) for event in span["events"]]
                fixed = {event["fixed"] for event in events if "fixed" in event}
                summary = str(advisory.get("summary") or advisory.get("details", ""))[:120]
                found.append(Finding(name, version, advisory["id"], summary, tuple(sorted(fixed))))
    return found


def refreshed(archive: Path, versions: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the advisories of an OSV archive that are about pinned packages, whatever their version."""
    kept = []
    with zipfile.ZipFile(archive) as opened:
        for name in sorted(opened.namelist()):
            if name.endswith(".json"):
                advisory = json.loads(opened.read(name))
                if any(concerning(advisory, package) for package in versions):
                    kept.append(advisory)
    return kept


def main() -> None:
    """Run as the command line says."""
    options = argparse.ArgumentParser(prog="python -m tests.supply.audit", description=__doc__)
    options.add_argument("--refresh", type=Path, help="all.zip of OSV's PyPI folder")
    options.add_argument("--kept", type=Path, default=KEPT)
    given = options.parse_args()
    if given.refresh:
        advisories = refreshed(given.refresh, pinned())
        held = {"date": time.strftime("%Y-%m-%d"), "source": "OSV, PyPI", "advisories": advisories}
        given.kept.write_text(json.dumps(held, indent=1) + "\n", "utf-8")
    held = json.loads(given.kept.read_text("utf-8"))
    found = findings(held["advisories"], pinned())
    for one in found:
        print(one)
    print(
        f"{len(pinned())} packages, {len(held['advisories'])} advisories on them, kept on "
        f"{held['date'] or 'no day'} from {held['source']}; {len(found)} apply."
    )
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
