"""How the loopback Ollama answers /api/pull: JSON lines, one file after the other, failures as a line."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, Literal

from aiohttp import web

Ends = Literal["success", "cut", "unfinished", "stall"]
LAYERS = {"sha256:" + "a" * 64: 5_200_000_000, "sha256:" + "b" * 64: 11_000}


class Pulls:
    """Pulls models: what is in the library, or what fails."""

    def __init__(self, arrived: Callable[[str], None], released: asyncio.Event) -> None:
        self._arrived = arrived
        self._released = released
        self.library: set[str] | None = None
        """Models that can be pulled; None for every one."""
        self.error = ""
        """What fails once half of the first file is there."""
        self.refused: tuple[int, str] | None = None
        """The status and the words of a pull that does not begin."""
        self.ends: Ends = "success"
        """How a pull without an error ends; all others but `success` come after half of the first file."""
        self.seconds = 0.0
        """Time between two lines."""

    async def answer(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        """Stream one pull."""
        if self.refused:
            return web.json_response({"error": self.refused[1]}, status=self.refused[0])
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        response.enable_chunked_encoding()
        await response.prepare(request)

        async def line(**values: Any) -> None:
            await response.write(json.dumps(values).encode() + b"\n")
            await asyncio.sleep(self.seconds)

        await line(status="pulling manifest")
        if self.library is not None and body["model"] not in self.library:
            await line(error="pull model manifest: file does not exist")
            return response
        for digest, total in LAYERS.items():
            of_file = {"status": f"pulling {digest[7:19]}", "digest": digest, "total": total}
            await line(**of_file)  # `completed` is left out while it is 0
            await line(**of_file, completed=total // 2)
            if self.error:
                await line(error=self.error)
            elif self.ends == "cut":
                assert request.transport is not None
                request.transport.close()
            elif self.ends == "stall":
                await self._released.wait()
            if self.error or self.ends != "success":
                return response
            await line(**of_file, completed=total)
        for status in ("verifying sha256 digest", "writing manifest"):
            await line(status=status)
        self._arrived(body["model"])
        await line(status="success")
        return response
