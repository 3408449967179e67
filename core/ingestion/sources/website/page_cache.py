"""Pages of a site as they were fetched last, so that an unchanged one costs a request and no body."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass, field
from pathlib import Path

from core.domain import content_hash
from core.system.private_files import private_folder, write_whole


@dataclass(frozen=True, slots=True)
class Copy:
    """An earlier copy of a page: where it was in the end, and what the server said of its version."""

    url: str
    content: bytes
    media: str
    charset: str
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def conditions(self) -> dict[str, str]:
        """Return the request headers that ask for the page only if it has changed."""
        names = {"ETag": "If-None-Match", "Last-Modified": "If-Modified-Since"}
        return {names[name]: value for name, value in self.headers.items() if name in names}


class PageCache:
    """The copies of one site, a file each; one that cannot be read counts as not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._used: set[str] = set()

    def get(self, url: str) -> Copy | None:
        """Return the last copy of a page."""
        try:
            head, _, body = self._file(url).read_bytes().partition(b"\n")
            known = json.loads(head)
            if known.pop("of") != url:
                return None
            return Copy(content=zlib.decompress(body), **known)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, zlib.error):
            return None

    def put(self, url: str, copy: Copy) -> None:
        """Keep a copy, whole or not at all; raises OSError."""
        private_folder(self._folder)
        known = {key: value for key, value in asdict(copy).items() if key != "content"} | {"of": url}
        write_whole(self._file(url), [json.dumps(known), b"\n", zlib.compress(copy.content, 6)])

    def use(self, url: str) -> None:
        """Note that a page is still part of the site."""
        self._used.add(self._file(url).name)

    def sweep(self) -> None:
        """Remove the copies of pages that are no longer part of the site."""
        for file in self._folder.glob("*"):
            if file.name not in self._used:
                file.unlink(missing_ok=True)

    def _file(self, url: str) -> Path:
        return self._folder / f"{content_hash(url)[:32]}.page"
