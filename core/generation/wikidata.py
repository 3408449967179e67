"""What Wikidata says of a few names: one hop, as triplets (GraphContextGen, section 4.3).

Off unless a URL is set. A name goes to the endpoint once in a month; there is one request a second at most,
and none for a while after the endpoint was slow, busy or broken. What fails gives nothing and says nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.generation.triplets import LONGEST, Triplet, plain
from core.system.private_files import write_whole

log = logging.getLogger(__name__)

FILE = "wikidata.json"
"""Name of the file in the home that keeps what was answered."""
SECONDS = 3.0
"""Longest wait of a question for Wikidata: half of it in line, half for the answer."""
PAUSE = 1.0
"""Seconds between two requests; nothing is asked side by side."""
REST = 60.0
"""Seconds without a request after one that failed; Wikidata's own `Retry-After` counts where it is longer."""
LONGEST_REST = 86_400.0
"""Seconds after which it is asked again whatever `Retry-After` said: a ban lasts a day."""
KEPT = 30 * 86_400.0
"""Seconds for which an answer is kept, also one that says nothing."""
NAMES = 8
"""Names of one request."""
ROWS = 400
"""Rows of one answer."""
MOST = 2_000
"""Names that are kept."""
AGENT = "Threadlore/0.1 ({contact}) httpx/{version}"
Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Known:
    """What Wikidata said of a name, and when."""

    at: float
    said: tuple[Triplet, ...]


class Wikidata:
    """Asks a SPARQL endpoint for the statements about names; keeps them in a file of the home."""

    def __init__(
        self,
        url: str,
        contact: str,
        file: Path,
        language: str = "en",
        *,
        seconds: float = SECONDS,
        pause: float = PAUSE,
        clock: Clock = time.time,
    ) -> None:
        """`contact` is a page or an address at which its users are reached, as Wikimedia's policy wants."""
        import httpx  # takes a while, and few ask Wikidata

        self._url = url
        self._agent = AGENT.format(contact=contact, version=httpx.__version__)
        self._file = file
        self._language = language
        self._seconds = seconds
        self._pause = pause
        self._clock = clock
        self._asking = asyncio.Lock()
        self._next = self._rested = 0.0
        self._kept: dict[str, Known] | None = None

    async def about(self, names: Sequence[str]) -> list[Triplet]:
        """Return what is stated about names, of those that are not known yet only what comes in time."""
        wanted = list(dict.fromkeys(filter(None, map(plain, names))))[:NAMES]
        if not wanted:
            return []
        kept = await self._read()
        missing = [name for name in wanted if self._is_old(kept.get(name))]
        if missing and self._clock() >= self._rested:
            with suppress(TimeoutError):  # in line; others are being answered
                async with asyncio.timeout(self._seconds / 2):
                    await self._asking.acquire()
                try:
                    await self._ask([name for name in missing if self._is_old(kept.get(name))])
                finally:
                    self._asking.release()
        return [one for name in wanted if name in kept for one in kept[name].said]

    def _is_old(self, known: Known | None) -> bool:
        return known is None or self._clock() - known.at > KEPT

    async def _ask(self, names: Sequence[str]) -> None:
        """Ask for names, and keep the answer; a failure rests."""
        import httpx

        now = self._clock()
        if not names or now < self._rested:  # another question has just asked, or failed
            return
        await asyncio.sleep(min(max(0.0, self._next - now), self._pause))
        self._next = self._clock() + self._pause
        most = self._seconds / 2
        headers = {"User-Agent": self._agent, "Accept": "application/sparql-results+json"}
        try:
            async with asyncio.timeout(most), httpx.AsyncClient(headers=headers, timeout=most) as client:
                reply = await client.get(self._url, params={"query": query(names, self._language)})
            found = read(reply.json(), names) if reply.status_code == httpx.codes.OK else None
        except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            log.info("Wikidata did not answer: %r", error)
            self._rest(REST)
            return
        if found is None:
            log.info("Wikidata did not answer: status %s", reply.status_code)
            self._rest(_wanted(reply.headers.get("Retry-After", "")))
            return
        kept = await self._read()
        for name in names:
            kept.pop(name, None)
            kept[name] = Known(self._clock(), tuple(found.get(name, ())))
        for name in list(kept)[: max(0, len(kept) - MOST)]:
            del kept[name]
        await asyncio.to_thread(_write, self._file, kept)

    def _rest(self, seconds: float) -> None:
        self._rested = self._clock() + seconds

    async def _read(self) -> dict[str, Known]:
        if self._kept is None:
            known = await asyncio.to_thread(_known, self._file)
            self._kept = known if self._kept is None else self._kept  # two may have read it at once
        return self._kept


def query(names: Sequence[str], language: str) -> str:
    """Return the SPARQL query for the labelled statements whose subject has one of these labels."""
    quoted = " ".join(f"{_literal(name)}@{language}" for name in names)
    return (
        "SELECT ?name ?relation ?value WHERE { "
        f"VALUES ?name {{ {quoted} }} "
        "?item rdfs:label ?name ; ?claim ?object . "
        "?property wikibase:directClaim ?claim ; rdfs:label ?relation . "
        "?object rdfs:label ?value . "
        f'FILTER(LANG(?relation) = "{language}" && LANG(?value) = "{language}") '
        f"}} LIMIT {ROWS}"
    )


def read(told: Any, names: Sequence[str]) -> dict[str, list[Triplet]] | None:
    """Return the triplets of an answer by name, None where it is none (SPARQL 1.1 results in JSON)."""
    rows = told.get("results", {}).get("bindings") if isinstance(told, dict) and "error" not in told else None
    if not isinstance(rows, list):
        return None
    found: dict[str, list[Triplet]] = {}
    for row in rows[:ROWS]:
        texts = [_text(row, key) for key in ("name", "relation", "value")]
        if texts[0] in names and all(0 < len(text) <= LONGEST for text in texts):
            found.setdefault(texts[0], []).append(Triplet(*texts))
    return found


def _text(row: Any, key: str) -> str:
    cell = row.get(key) if isinstance(row, dict) else None
    value = cell.get("value") if isinstance(cell, dict) else None
    return plain(value) if isinstance(value, str) else ""


def _literal(text: str) -> str:
    """Write a text as a string of SPARQL."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _wanted(retry_after: str) -> float:
    """Return how long to rest; a date is not read, and counts as none."""
    return min(max(REST, float(retry_after)), LONGEST_REST) if retry_after.isdecimal() else REST


def _known(file: Path) -> dict[str, Known]:
    """Read what was kept; a file that is broken counts as none."""
    try:
        entries = json.loads(file.read_text("utf-8"))
        return {
            str(name): Known(float(entry["at"]), tuple(Triplet(*map(str, one)) for one in entry["said"]))
            for name, entry in entries.items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _write(file: Path, kept: dict[str, Known]) -> None:
    entries = {name: {"at": known.at, "said": known.said} for name, known in kept.items()}
    try:
        write_whole(file, json.dumps(entries, ensure_ascii=False))
    except OSError as error:  # a full disk: it is asked again after the next start
        log.info("what Wikidata said is not kept: %s", error)
