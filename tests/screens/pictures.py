"""A home served to a browser, and pictures of its pages: small, and with nothing under the pointer."""

from __future__ import annotations

import io
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from bot.app.bootstrap import build
from bot.app.overview import Overview
from bot.dispatch.dispatch import dispatch_of
from core.settings import load_settings
from tests.ollama_server import OllamaServer
from tests.platforms.browser import Page, in_a_thread
from tests.platforms.web_client import Client, serving

COLOURS = 256
LARGEST = 300 * 1024
"""Bytes of a picture at most."""


def served(home: Path, has_model: bool = False) -> AbstractContextManager[str]:
    """Serve the playground of a home from another thread, without a model or with the loopback one."""

    @asynccontextmanager
    async def whole() -> AsyncIterator[Client]:
        async with AsyncExitStack() as stack:
            model = (await stack.enter_async_context(OllamaServer())).url if has_model else "off"
            settings = load_settings(None, home=home, ollama_host=model, port=0, playground=True)
            app = await stack.enter_async_context(build(settings, "screens"))
            dispatch: Any = dispatch_of(app)
            dispatch.overview = Overview(app)
            stack.push_async_callback(dispatch.stop)
            yield await stack.enter_async_context(serving(settings, dispatch))

    return in_a_thread(whole)


def keep(page: Page, path: Path, before: Callable[[Page], object] = lambda _: None) -> None:
    """Save what the page shows; exits where the picture is too large."""
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
