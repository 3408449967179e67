"""Record the files and functions that one question, one vote and one reindex run through.

It runs in a process of its own, on the product code and the test home of the tree that it is told, so that
another commit can be measured by the same rules. That tree comes first on PYTHONPATH:

    PYTHONPATH=/another/tree python -P tests/architecture_journeys.py /another/tree /folder/of/the/encoder
"""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOMS = ("bot", "core", "storage", "evaluation")
WARM = "Where is the dashboard, and on which port does it listen?"
ASKED = "How often is a failed job tried again by default?"
"""Asked once before, so that what is loaded with the first question is not counted, then asked."""


class Recorder:
    """Note which functions of the product are called, in every thread."""

    def __init__(self, root: Path) -> None:
        self._rooms = tuple(f"{root}/{room}/" for room in ROOMS)
        self._root = root
        self._called: set[CodeType] | None = None
        threading.setprofile(self._note)
        sys.setprofile(self._note)

    def _note(self, frame: FrameType, event: str, _: Any) -> None:
        # the body of a class is run where a file is first imported, and is no function
        if event == "call" and self._called is not None and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            self._called.add(frame.f_code)

    @contextmanager
    def recording(self) -> Iterator[dict[str, Any]]:
        """Record what is called inside; the yielded figures are there at its end."""
        figures: dict[str, Any] = {}
        self._called = called = set()
        yield figures
        self._called = None
        ours = [
            code for code in called if code.co_filename.startswith(self._rooms) and code.co_name[0] != "<"
        ]
        files = sorted({Path(code.co_filename).relative_to(self._root).as_posix() for code in ours})
        figures.update(files=len(files), functions=len(ours), through=files)


async def journeys(recorder: Recorder, kettle: Any) -> dict[str, dict[str, Any]]:
    """Play a question, its 👎 and a reindex on the test home; return the figures of each."""
    from tests.journeys import house as home
    from tests.journeys.fake_stage import FakeStage
    from tests.journeys.stage import ask
    from tests.ollama_server import OllamaServer

    async with OllamaServer() as model, home.house(kettle, ollama_host=model.url) as bot:
        stage = FakeStage(bot)
        await stage.react("bob", await ask(stage, WARM), "👎")
        await asyncio.sleep(0.2)
        with recorder.recording() as question:
            seen = await ask(stage, ASKED)
            await asyncio.sleep(0.2)
        with recorder.recording() as vote:
            await stage.react("bob", seen, "👎")
            await asyncio.sleep(0.2)
    return {"question": question, "vote": vote, "reindex": await reindex(recorder, kettle)}


async def reindex(recorder: Recorder, kettle: Any) -> dict[str, Any]:
    """Index a release of which one page changed; documents are parsed in this process, to be counted."""
    from tests.fake_workers import FakeWorkers
    from tests.journeys.house import build
    from tests.shared_processes import SharedProcesses
    from tests.shared_vectors import one_for_all

    class InThisProcess(SharedProcesses):
        def pool(self, settings: Any) -> Any:
            return FakeWorkers()

    page = kettle.folder / "docs" / "2.0" / "jobs.md"
    async with build(kettle.settings(), "index", one_for_all, InThisProcess()) as app:
        page.write_text(page.read_text() + "\nA job may be named.\n")
        with recorder.recording() as figures:
            await app.corpus_manager.reindex("2.0")
    return figures


def main() -> None:
    """Print the figures of a tree as JSON."""
    root, encoder = (Path(given).resolve() for given in sys.argv[1:3])
    encoder.mkdir(parents=True, exist_ok=True)
    from tests.journeys.house import new_kettle

    with tempfile.TemporaryDirectory() as folder:
        kettle = asyncio.run(new_kettle(Path(folder) / "kettle", encoder))
        # not earlier: with a recorder everything takes twice as long; threads have it that begin from here on
        print(json.dumps(asyncio.run(journeys(Recorder(root), kettle))))


if __name__ == "__main__":
    main()
