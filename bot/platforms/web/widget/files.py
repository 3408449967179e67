"""What the widget is made of: its own files, and the playground's Markdown, which never reads HTML."""

from __future__ import annotations

import hashlib
from pathlib import Path

from aiohttp import web

SCRIPT_FILE = "widget.js"
SHARED = ("code.js", "dom.js", "inline.js", "markdown.js")
_TYPES = {".js": "text/javascript", ".css": "text/css"}


class Files:
    """Hands out the files by name; a browser that has one already is told so."""

    def __init__(self) -> None:
        own = [file for file in (Path(__file__).parent / "page").iterdir() if file.suffix in _TYPES]
        shared = [Path(__file__).parents[1] / "playground" / name for name in SHARED]
        self._files = {file.name: file.read_bytes() for file in (*own, *shared)}
        self._marks = {name: hashlib.sha256(body).hexdigest()[:20] for name, body in self._files.items()}

    async def script(self, request: web.Request) -> web.Response:
        """Hand out the script that a site includes."""
        return self._served(request, SCRIPT_FILE)

    async def part(self, request: web.Request) -> web.Response:
        """Hand out one of its parts."""
        return self._served(request, request.match_info["name"])

    def _served(self, request: web.Request, name: str) -> web.Response:
        if name not in self._files:
            raise web.HTTPNotFound
        mark = self._marks[name]
        if any(known.value == mark for known in request.if_none_match or ()):
            response = web.Response(status=304)
        else:
            kind = _TYPES[Path(name).suffix]
            response = web.Response(body=self._files[name], content_type=kind, charset="utf-8")
        response.etag = mark
        return response
