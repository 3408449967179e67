"""Pictures of the playground and the dashboard for the documentation: `make screens`.

    python -m tests.screens.page HOME [FOLDER]

HOME is a home that holds Flask's index, such as `.threadlore/bench` after `make bench`; it is copied, not
changed. The pictures go to FOLDER, `docs` where none is named. Needs chromium and chromedriver.
"""

from __future__ import annotations

import asyncio
import io
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from selenium.webdriver.common.keys import Keys

from bot.app.bootstrap import build
from bot.app.overview import Overview
from bot.dispatch.dispatch import dispatch_of
from core.settings import load_settings
from tests.ollama_server import OllamaServer
from tests.platforms.browser import Page, start
from tests.platforms.web_client import serving
from tests.screens.page_talk import ADVICE, BEFORE, FOLLOW_UP, PROXY, REWORDED, UPLOADS, write
from tests.screens.page_use import use

COLOURS = 256
LARGEST = 300 * 1024
"""Bytes of a picture at most."""
ANSWER_SECONDS = 30.0


def main(home: Path, folder: Path) -> None:
    """Take every picture."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (binary and driver):
        sys.exit("Chromium is missing: apt-get install chromium chromium-driver")
    if not (home / "threadlore.sqlite3").is_file():
        sys.exit(f"{home} holds no index of Flask; make one with `threadlore index --home {home}`.")
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "home"
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("*.lock", "*.sock", "playground.jsonl"))
        asyncio.run(use(copy))
        browser = start(binary, driver, Path(temporary) / "profile")
        try:
            with served(copy) as url:
                page = Page(browser, url)
                _dashboard(page, folder)
                _playground(page, folder)
        finally:
            browser.quit()


@contextmanager
def served(home: Path) -> Iterator[str]:
    """Serve the playground on a home from another thread, with the loopback model; yields its address."""
    ready: list[Any] = []
    begun = threading.Event()

    async def serve() -> None:
        stop = asyncio.Event()
        async with OllamaServer(answer=write, tokens_per_second=80, first_token_delay=0.3) as model:
            settings = load_settings(None, home=home, ollama_host=model.url, port=0, playground=True)
            async with build(settings, "screens") as app:
                dispatch: Any = dispatch_of(app)
                dispatch.overview = Overview(app)
                async with serving(settings, dispatch) as client:
                    ready[:] = [client.playground.url, asyncio.get_running_loop(), stop]
                    begun.set()
                    await stop.wait()
                await dispatch.stop()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    if not begun.wait(600):
        sys.exit("the bot did not start")
    url, loop, stop = ready
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)


def _dashboard(page: Page, folder: Path) -> None:
    for name, width, height, scheme in (
        ("dashboard", 1360, 1720, "light"),
        ("dashboard-dark", 1360, 1720, "dark"),
        ("dashboard-phone", 390, 1200, "light"),
    ):
        page.size(width, height)
        page.prefer(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
        page.driver.get(f"{page.url}/dashboard")
        page.find("#topics .chart")
        _keep(page, folder / f"{name}.png")


def _playground(page: Page, folder: Path) -> None:
    page.size(1440, 900)
    page.prefer(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    page.open("ada")
    _ask(page, UPLOADS)
    page.click("#thread .from-bot:last-child .vote.up")
    page.find("#thread .vote.up[aria-pressed=true]", "1")
    _as(page, "hana", UPLOADS)
    page.click("#thread .from-bot:last-child .vote.up")
    page.find("#thread .vote.up", "2")
    page.play("ben")
    _ask(page, PROXY)
    _as(page, "hana", PROXY)
    page.write(ADVICE, where="thread")
    page.find("#thread .message", ADVICE.split("`")[0])
    page.play("chloe")
    _ask(page, BEFORE)
    page.play("noor")
    _ask(page, REWORDED)
    page.write(FOLLOW_UP, where="thread")
    _answered(page, 2)
    _keep(page, folder / "playground.png", _to_start)
    page.prefer(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    page.click("#thread .from-bot:nth-of-type(2) .control-why")
    page.find(".panel-why", "Pages that were read") if page.all(".panel-why .pages") else page.find(
        ".panel-why .near"
    )
    _keep(page, folder / "playground-dark.png")
    page.prefer(prefers_color_scheme="light", prefers_reduced_motion="reduce")
    page.keys(Keys.ESCAPE)
    page.size(390, 844)
    _keep(page, folder / "playground-phone.png", _to_start)


def _ask(page: Page, text: str) -> None:
    page.write(text)
    _answered(page, 1)


def _answered(page: Page, count: int) -> None:
    finished = "#thread .from-bot:not(.growing):has(.footer)"
    page.until(lambda: len(page.driver.find_elements("css selector", finished)) == count, ANSWER_SECONDS)


def _as(page: Page, person: str, text: str) -> None:
    """Open the thread of a message as somebody."""
    page.play(person)
    page.click("#messages .message", text.replace("`", ""))
    page.click("#messages .message:focus .thread-link")
    page.find("#thread .message", text.replace("`", ""))


def _to_start(page: Page) -> None:
    page.js("document.querySelector('#thread').scrollTop = 0")


def _keep(page: Page, path: Path, before: Callable[[Page], None] = lambda _: None) -> None:
    page.js("document.activeElement.blur()")
    page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": 0, "y": 0})
    before(page)
    page.driver.execute_async_script("setTimeout(arguments[0], 300)")
    picture = Image.open(io.BytesIO(page.driver.get_screenshot_as_png())).convert("RGB")
    picture.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(
        path, optimize=True
    )
    size = path.stat().st_size
    print(f"{path}: {size / 1024:.0f} KiB")
    if size > LARGEST:
        sys.exit(f"{path} is larger than {LARGEST // 1024} KiB")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs"))
