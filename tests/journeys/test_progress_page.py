"""The dashboard in headless Chromium while a release is indexed: a bar that moves, and how it ended."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from selenium import webdriver

from bot.app.overview import Overview
from core.errors import OverQuota
from tests.journeys.house import Kettle, house
from tests.platforms.browser import Page
from tests.platforms.web_client import serving

SECONDS = 60.0


@contextmanager
def indexing(kettle: Kettle, go_on: threading.Event) -> Iterator[str]:
    """Serve a playground whose release 2.0 is being embedded, until `go_on` lets its disk be full."""
    ready: list[Any] = []
    begun = threading.Event()

    async def serve() -> None:
        stop = asyncio.Event()
        async with house(kettle) as bot:
            bot.dispatch.overview = Overview(bot.app)

            async def full(encoder: str, vectors: Any, tokens: Any) -> None:
                await asyncio.to_thread(go_on.wait, SECONDS)
                raise OverQuota("The disk is nearly full.")

            bot.app.corpora.put_vectors = full  # type: ignore[method-assign]
            settings = bot.settings.model_copy(update={"playground": True, "port": 0})
            given: Any = bot.dispatch
            async with serving(settings, given) as client:
                work = asyncio.create_task(bot.app.corpus_manager.reindex("2.0"))
                ready[:] = [client.playground.url, asyncio.get_running_loop(), stop]
                begun.set()
                await stop.wait()
                with suppress(OverQuota):
                    await work

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert begun.wait(SECONDS), "the bot did not start"
    url, loop, stop = ready
    try:
        yield url
    finally:
        go_on.set()
        loop.call_soon_threadsafe(stop.set)
        thread.join(SECONDS)


def test_the_page_follows_a_reindex_and_says_how_it_ended(chromium: webdriver.Chrome, kettle: Kettle) -> None:
    (kettle.folder / "docs" / "2.0" / "new.md").write_text("# Zeppelins\n\nA zeppelin job flies.\n")
    go_on = threading.Event()
    with indexing(kettle, go_on) as url:
        page = Page(chromium, url)
        chromium.get_log("browser")
        chromium.get(f"{url}/dashboard")
        page.find("#releases .working[role=progressbar]", "indexing, 0 of 1 passages")
        assert page.attribute("#releases .working", "aria-valuenow") == "0"
        page.find("#lights", "indexing 2.0")
        go_on.set()
        page.find("#releases .failed", "The disk is nearly full.")
        page.gone("#releases .working")
        page.find("#problems", "index of 2.0 failed")
        severe = [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"]
        chromium.get("about:blank")
    assert severe == []
