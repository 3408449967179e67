"""Looks at everything that a working bot needs, its files included, and says for each what to do."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import sys
from argparse import Namespace
from collections.abc import Awaitable, Callable
from difflib import get_close_matches
from pathlib import Path

from bot.app.builders.storage import (
    check_database,
    check_database_server,
    count_collections,
    database_file,
)
from bot.cli.backups.copies import PASSPHRASE
from bot.cli.doctor.models import embedder, model
from bot.cli.doctor.pulling import Ask, pull_missing
from bot.cli.doctor.sources import history, sources
from bot.home.control_socket import call
from bot.home.exposure import exposed
from bot.home.findings import Finding, bad, find_catalogue, good, unsure
from bot.home.home import SERVE, inside, owner_of, parts_of
from bot.ports import platforms
from core.catalogue import load_catalogue
from core.env_file import entries
from core.errors import ThreadloreError, UsageError
from core.ingestion.sources import Kinds
from core.settings import VARIABLES, Settings, secrets_in
from core.system.private_files import is_loose, tighten

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
    found = [*_home_files(settings.home), *_env(Path(".env")), *_catalogue(settings)]
    return found or [good("Files", "nobody else on this machine may read the home or a secret")]


def _home_files(home: Path) -> list[Finding]:
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


LIKENESS = 0.85
"""How alike a name is to a setting's from which one is taken for the other, 0 to 1."""
LEAST_DISK = 2_000_000_000
"""Free bytes below which a reindex may not fit; a product with three releases takes about 0.2 GB."""
SECONDS = 60.0
"""Longest time that one examination may take."""
LONGER = {"Embedder": 600.0}
"""The embedder is made ready for this machine when it is first used, and may have to be fetched."""
_MARKS = {"good": "✓", "unsure": "?", "bad": "✗"}
Examination = Callable[[Settings], Awaitable[list[Finding]]]


async def doctor(settings: Settings, options: Namespace, ask: Ask | None = None) -> int:
    """Look, and say what to do; return 1 where something is wrong.

    With `fix` close what others may read, and have Ollama pull what it lacks: with `yes`, or if the person at
    the terminal agrees (`ask`). Raises UsageError for `yes` alone.
    """
    if options.yes and not options.fix:
        raise UsageError("--yes goes with --fix: write `threadlore doctor --fix --yes`.")
    if options.fix:
        for place in await asyncio.to_thread(closed, settings):
            print(f"Fixed: nobody else on this machine may read {place} any more.")
        await pull_missing(settings, ask or (input if sys.stdin.isatty() else None), options.yes)
    print("Checking your setup (the first run takes 1–2 min) …", file=sys.stderr)
    found = await examine(settings)
    print(told(found))
    return 1 if any(finding.state == "bad" for finding in found) else 0


async def examine(settings: Settings) -> list[Finding]:
    """Look at home, configuration, corpora, models and platforms; never raises."""
    found: list[Finding] = []
    for name, examination in examinations():
        try:
            async with asyncio.timeout(LONGER.get(name, SECONDS)):
                found += await examination(settings)
        except ThreadloreError as error:
            found.append(bad(name, str(error), ""))
        except TimeoutError:
            waited = LONGER.get(name, SECONDS)
            found.append(bad(name, f"no answer for {waited:.0f} s", "check the network, and try again"))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            how = "let the user that runs the bot read and write it, and see that its disk has room"
            said = f"{where}{error.strerror or error}"
            found.append(bad(name, said, how if where else "check the network, and try again"))
        except Exception as error:  # noqa: BLE001 - the other examinations go on
            found.append(bad(name, f"{type(error).__name__}: {error}", "this is a bug: please report it"))
    return found


def examinations() -> list[tuple[str, Examination]]:
    """Return what is looked at, in order; each platform brings its own."""
    found: list[tuple[str, Examination]] = [
        ("Home", _home),
        ("Files", files),
        ("Reach", _reach),
        ("Database", _database),
        ("Settings", _unknown),
        ("Configuration", _configuration),
        ("Corpora", _corpora),
        ("Embedder", embedder),
        ("Chroma", _chroma),
        ("Model", model),
        ("Platforms", _platforms),
        ("Addresses", sources),
        ("History", history),
    ]
    examined = (name for name in platforms.names() if platforms.has(name, "doctor"))
    return found + [(name.capitalize(), platforms.part(name, "doctor").examine) for name in examined]


def told(found: list[Finding]) -> str:
    """Write findings as lines, with what to do under those that are not good; each thing is said once."""
    lines = []
    well: dict[str, list[str]] = {}
    for finding in found:
        if finding.state == "good" and not finding.advice:
            well.setdefault(finding.what, []).append(finding.said)
    for finding in dict.fromkeys(found):
        is_well = finding.state == "good" and not finding.advice
        said = "; ".join(dict.fromkeys(well.pop(finding.what, ()))) if is_well else finding.said
        if said:
            lines.append(f"{_MARKS[finding.state]} {finding.what}: {said}")
        if finding.advice:
            lines.append(f"    → {finding.advice}")
    bad_ones = sum(finding.state == "bad" for finding in dict.fromkeys(found))
    lines.append(f"{bad_ones} problem{'s' * (bad_ones > 1)} to fix." if bad_ones else "No problems found.")
    return "\n".join(lines)


def closed(settings: Settings) -> list[Path]:
    """Take from others on this machine what they should not read; return what was open to them."""
    home, env = settings.home, Path(".env")
    places = [home, *(place for part in parts_of(home) for place in (part, *inside(part)))]
    places += [env] if is_loose(env) and secrets_in(env) else []
    return [place for place in places if is_loose(place) and tighten(place)]


async def _home(settings: Settings, least_disk: int = LEAST_DISK) -> list[Finding]:
    home = settings.home
    place = next(p for p in (home, *home.parents) if p.exists())
    if not place.is_dir() or not os.access(place, os.W_OK):
        return [
            bad("Home", f"{home} cannot be written", "set THREADLORE_HOME to a folder that you may write to")
        ]
    found = [good("Home", f"{home}" + ("" if home.exists() else " (created at the first start)"))]
    free = shutil.disk_usage(place).free
    said = f"{free / 1e9:.1f} GB free"
    if free < least_disk:
        found.append(unsure("Disk", said, "make room: a reindex builds beside the old corpus"))
    else:
        found.append(good("Disk", said))
    return found


async def _reach(settings: Settings) -> list[Finding]:
    return exposed(settings)


async def _database(settings: Settings) -> list[Finding]:
    """Read the whole database, unless somebody serves it; of a server's, ask what it can hold."""
    try:
        if await asyncio.to_thread(check_database_server, settings):
            return [good("Database", "PostgreSQL answers, and holds text as UTF-8")]
    except ThreadloreError as error:
        return [bad("Database", str(error), "")]
    file = database_file(settings)
    if file is None or owner_of(settings.home).get("what") == SERVE:
        return []
    try:
        await asyncio.to_thread(check_database, file)
    except ThreadloreError as error:
        return [bad("Database", str(error), "")]
    return [good("Database", f"{file.name} is whole, {file.stat().st_size / 1e6:.0f} MB")]


async def _unknown(settings: Settings, file: Path = Path(".env")) -> list[Finding]:
    """Look for names in `.env` that are no setting's and look like one, as a slip of the keyboard does."""
    known = [*VARIABLES, PASSPHRASE, "PIP_INDEX_URL", "LANGUAGE"]
    held = entries(file)
    used = " ".join(value or "" for value in held.values())  # a key that a line of llama-index names
    with contextlib.suppress(ThreadloreError, OSError):
        used += find_catalogue(settings).read_text(encoding="utf-8", errors="replace")
    found = []
    for name in held:
        ours = name.startswith("THREADLORE_")
        near = get_close_matches(name.upper(), known, 1, LIKENESS)
        if name not in known and (near or ours) and name not in used:
            advice = f"did you mean {near[0]}?" if near else ".env.example in Threadlore's folder has them"
            found.append(unsure("Settings", f".env sets {name}, which is no setting", advice))
    return found


async def _configuration(settings: Settings) -> list[Finding]:
    place = find_catalogue(settings)
    catalogue = load_catalogue(place, Kinds())
    names = ", ".join(release.name for release in catalogue.product.releases)
    found = [good("Configuration", f"{place}: {catalogue.product.name} {names}")]
    empty = [r.name for r in catalogue.product.releases if not catalogue.sources_of(r.name)]
    if empty:
        found.append(bad("Sources", f"{', '.join(empty)} has none", f"add a [[release.source]] to {place}"))
    if not settings.model_fields_set and not await asyncio.to_thread(os.path.exists, ".env"):
        found.append(
            unsure("Settings", "there is no .env here", "`threadlore init` writes one; all is default now")
        )
    return found


async def _corpora(settings: Settings) -> list[Finding]:
    """Ask the serving process how the corpora are; without one nothing is opened for it."""
    if owner_of(settings.home).get("what") != SERVE:
        return [unsure("Bot", "it is not running", "start it with `threadlore serve`")]
    problems = [
        str(problem)
        async for message in call(settings.home, {"command": "status", "json": True})
        if "line" in message
        for problem in json.loads(message["line"])["problems"]
    ]
    found = [good("Bot", f"process {owner_of(settings.home).get('pid')} serves")]
    return found + [unsure("Bot", problem, "`threadlore status` shows all of it") for problem in problems]


async def _chroma(settings: Settings) -> list[Finding]:
    if not settings.chroma_url:
        return []
    count = await count_collections(settings)
    return [good("Chroma", f"{settings.chroma_url} answers, {count} collections")]


async def _platforms(settings: Settings) -> list[Finding]:
    """Look whether people reach the bot anywhere; each platform's own examination follows."""
    if platforms.configured(settings):
        return []
    setups = platforms.setups().values()
    tokens = ", or ".join(" and ".join(setup.TOKENS) for setup in setups)
    said = f"neither {' nor '.join(setup.NAME for setup in setups)} is connected"
    return [unsure("Platforms", said, f"put {tokens} into .env (docs/setup.md says how)")]
