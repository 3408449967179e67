"""Documentation that admins add while the bot runs: what an address means, and the file that keeps it.

The file has the form of `corpora.toml`, so that its tables can be copied there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from core.catalogue.loading import load_catalogue
from core.catalogue.sources import SourceKinds, SourceSpec
from core.catalogue.toml_file import quoted
from core.domain import Release
from core.errors import UsageError
from core.system.private_files import set_aside, write_whole

FILE = "added.toml"
"""Where it is kept, in the home."""
WANTED = (
    "Write the address of a website (https://docs.example.org/), of a git repository "
    "(https://github.com/owner/project, also with @branch:folder), or a package with its version "
    "(flask==3.1.0)."
)
PAGES, MINUTES = 500, 20
"""Limits of a website that is added; `corpora.toml` may set others."""
_PACKAGE = re.compile(
    r"(?P<package>[A-Za-z0-9][\w.-]*)==(?P<version>[A-Za-z0-9][^\s:/]*)(?::(?P<path>[^\s]+))?"
)
_PROJECT = re.compile(r"https?://pypi\.org/project/(?P<package>[\w.-]++)(?:/(?P<version>[\w.!+-]++))?/?")
_HOSTED = re.compile(
    r"(?P<host>https://(?:github\.com|gitlab\.com|codeberg\.org))/(?P<name>[\w.-]+/[\w.-]+?)(?:\.git)?"
    r"(?:/(?:-/)?(?:tree|src/branch)/(?P<tree>[^/\s@:]+)(?:/(?P<below>[^\s@:]+?))?)?/?"
    r"(?:@(?P<ref>[\w./-]+))?(?::(?P<path>[^\s:]+))?"
)
_GIT = re.compile(r"(?P<repository>https?://[^\s@]+?\.git)(?:@(?P<ref>[\w./-]+))?(?::(?P<path>[^\s:]+))?")


@dataclass(frozen=True, slots=True)
class Address:
    """What an address means: a name for its release, and the keys of its source."""

    name: str
    source: Mapping[str, Any]

    @property
    def link(self) -> str:
        """Return the link that is read; empty for a package."""
        start = self.source.get("start")
        return str(start[0] if start else self.source.get("repository", ""))


def address_of(text: str) -> Address:
    """Read what somebody pasted; raises UsageError that says what may stand there."""
    text = text.strip().strip("<>")
    if package := _PACKAGE.fullmatch(text) or _PROJECT.fullmatch(text):
        given = package.groupdict()
        if not given["version"]:
            raise UsageError(f"Which version? Write it behind the name: {given['package']}==1.0.")
        return Address(f"{given['package']}=={given['version']}", {"kind": "sdist", **_filled(given)})
    if hosted := _HOSTED.fullmatch(text):
        ref, path = hosted["ref"] or hosted["tree"], hosted["path"] or hosted["below"]
        keys = {"repository": f"{hosted['host']}/{hosted['name']}.git", "ref": ref, "path": path}
        return Address(_at(hosted["name"], ref), {"kind": "git", **_filled(keys)})
    if git := _GIT.fullmatch(text):
        parts = _parts(git["repository"])
        name = _at(f"{parts.hostname}{parts.path.removesuffix('.git')}", git["ref"])
        return Address(name, {"kind": "git", **_filled(git.groupdict())})
    parts = _parts(text)
    if parts.scheme in ("http", "https") and parts.hostname and "." in parts.hostname and " " not in text:
        if parts.username or parts.password:
            raise UsageError(
                "The address has a password in it; who runs the bot can put it into corpora.toml."
            )
        name = (parts.netloc.removeprefix("www.") + parts.path).rstrip("/")
        limits = {"max_pages": PAGES, "minutes": MINUTES}
        return Address(name, {"kind": "website", "start": [text], **limits})
    raise _unread(text)


def _parts(text: str) -> SplitResult:
    try:
        parts = urlsplit(text)
        _ = parts.port  # which is read when it is asked for
    except ValueError:
        raise _unread(text) from None
    return parts


def _unread(text: str) -> UsageError:
    return UsageError(f"I cannot read “{text[:80]}”. {WANTED}")


def _filled(keys: Mapping[str, str | None]) -> dict[str, str]:
    return {key: value for key, value in keys.items() if value}


def _at(name: str, ref: str | None) -> str:
    return f"{name}@{ref}" if ref else name


class AddedFile:
    """The file that keeps what was added; where there is none, nothing was."""

    def __init__(self, path: Path, kinds: SourceKinds) -> None:
        self._path = path
        self._kinds = kinds

    def read(self) -> tuple[tuple[Release, SourceSpec], ...]:
        """Return each release that was added, with its source; raises ConfigurationError."""
        if not self._path.is_file():
            return ()
        found = load_catalogue(self._path, self._kinds)
        return tuple(
            (Release(spec.release), replace(spec, by_admin=True, where=f"added: {spec.release}"))
            for spec in found.sources
        )

    def set_aside(self) -> Path | None:
        """Rename a file that cannot be read; return its new name."""
        return set_aside(self._path)

    def write(self, added: Mapping[str, Mapping[str, Any]]) -> None:
        """Keep exactly these sources, by the name of their release."""
        if not added:
            self._path.unlink(missing_ok=True)
            return
        lines = ["# What admins added while the bot ran (`threadlore sources`). Its tables may stand in", ""]
        lines[0] += " corpora.toml, too."
        lines += ["[product]", 'name = "Added"']
        for name, source in added.items():
            lines += ["", "[[release]]", f"name = {quoted(name)}", "", "[[release.source]]"]
            lines += [f"{key} = {quoted(value)}" for key, value in source.items()]
        write_whole(self._path, "\n".join(lines) + "\n", durable=True)
