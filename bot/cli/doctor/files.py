"""Examines who else on this machine may read the home, `.env`, and a `corpora.toml` with secrets in it."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from bot.home.configuration import find_catalogue
from bot.home.findings import Finding, bad, good
from bot.home.home import inside, parts_of
from core.errors import ThreadloreError
from core.settings import Settings, secrets_in
from core.system.private_files import is_loose

NAMED = 3
"""Files that are named; of the others the number is told."""
_SECRETS = re.compile(
    r"""://[^/\s:@"']+:[^/\s@"'$]+@"""  # a password in an address
    r"""|(?i:token|password|secret|api_?key)[\w-]{0,80}+["']?\s{0,80}+=\s{0,80}+["'](?!\$\{)[^"'\s]+["']"""
)


async def files(settings: Settings) -> list[Finding]:
    """Look for files that others on this machine may read and should not."""
    return await asyncio.to_thread(_loose, settings)


def _loose(settings: Settings) -> list[Finding]:
    found = [*_home(settings.home), *_env(Path(".env")), *_catalogue(settings)]
    return found or [good("Files", "nobody else on this machine may read the home or a secret")]


def _home(home: Path) -> list[Finding]:
    parts = parts_of(home)
    if is_loose(home):
        return [bad("Files", f"others on this machine may enter {home}", f"chmod -R go-rwx {home}")]
    loose = [place for place in (*parts, *(p for part in parts for p in inside(part))) if is_loose(place)]
    if not loose:
        return []
    named = ", ".join(str(place.relative_to(home)) for place in loose[:NAMED])
    more = f" and {len(loose) - NAMED} more" if len(loose) > NAMED else ""
    said = f"{named}{more} in {home} would be open to others if the folder were"
    return [bad("Files", said, f"chmod -R go-rwx {home}")]


def _env(file: Path) -> list[Finding]:
    told = secrets_in(file) if is_loose(file) else []
    if not told:
        return []
    said = f"others on this machine may read {', '.join(told)} in {file.absolute()}"
    return [bad("Files", said, f"chmod 600 {file.absolute()}")]


def _catalogue(settings: Settings) -> list[Finding]:
    try:
        file = find_catalogue(settings)
        held = file.read_text(encoding="utf-8", errors="replace") if is_loose(file) else ""
    except (ThreadloreError, OSError):  # told by another examination
        return []
    if not _SECRETS.search(held):
        return []
    said = f"others on this machine may read a secret in {file}"
    return [bad("Files", said, f"chmod 600 {file}, or write it as ${{NAME}} and put NAME=… into .env")]
