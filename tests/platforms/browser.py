"""Headless Chromium at the playground, and the playground in a thread of its own."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    contextmanager,
    nullcontext,
    suppress,
)
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import (
    JavascriptException,
    NoSuchElementException,
    StaleElementReferenceException,
    TimeoutException,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from tests.patience import PATIENCE
from tests.platforms.web_client import Client, serving, settings
from tests.platforms.web_dispatch import FakeDispatch

FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync --window-size=1440,900
--disable-extensions --disable-component-extensions-with-background-pages --disable-default-apps
--disable-breakpad --metrics-recording-only --password-store=basic --disable-domain-reliability
--disable-site-isolation-trials --renderer-process-limit=1 --process-per-site
--disable-features=SpareRendererForSitePerProcess,OptimizationHints,OptimizationGuideModelDownloading,\
OptimizationTargetPrediction,OptimizationGuideOnDeviceModel,Translate,MediaRouter,AutofillServerCommunication,\
InterestFeedContentSuggestions,CertificateTransparencyComponentUpdater"""
"""What a browser of a person does beside showing pages takes a fifth of its processor time."""
LOOK = """
const [selector, text] = arguments;
const isShown = (e) => {
  const seen = e.closest("select") ?? e;
  return seen.getClientRects().length && seen.checkVisibility({ visibilityProperty: true });
};
const said = (e) =>
  (e.innerText ?? e.textContent).replaceAll("\\u00a0", " ").replace(/\\s*\\n\\s*/g, "\\n").trim();
const fits = (e) => isShown(e) && (!text || said(e).includes(text));
const within = typeof root === "undefined" ? document : root;
const shown = [...(within?.querySelectorAll(selector) ?? [])].filter(fits);
"""
"""Finds the elements that are shown and hold a text, in `root` if the script before it names one.

One script does it: the driver would make two calls for each element. An option is shown if its list is."""


SHELL = "chromium-headless-shell"
"""Chromium without what a person sees of it, a Debian package of its own: a quarter less processor time."""


def start(binary: str, driver: str, profile: Path, debugger: str = "") -> webdriver.Chrome:
    """Start Chromium with a fresh profile, or look through one that runs, by its debugger's address."""
    options = webdriver.ChromeOptions()
    if debugger:
        options.debugger_address = debugger
    else:
        options.binary_location = binary
        for flag in (*FLAGS.split(), f"--user-data-dir={profile}"):
            options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    # a window that nobody looks at has no focus, and tells its page of none
    chrome.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
    return chrome


def chromium(profile: Path) -> Iterator[webdriver.Chrome]:
    """Yield a Chromium, or skip where there is none; in CI that fails."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (binary and driver):
        how = "Chromium is missing: apt-get install chromium chromium-driver"
        if os.environ.get("THREADLORE_CI") == "1":
            pytest.fail(how)
        pytest.skip(how)
    with shell(profile) if shutil.which(SHELL) else nullcontext("") as debugger:
        browser = start(binary, driver, profile, debugger)
        yield browser
        browser.quit()


@contextmanager
def shell(profile: Path) -> Iterator[str]:
    """Run Chromium's shell; yields the address of its debugger.

    The driver cannot start it itself: the shell opens no page unless it is told to.
    """
    flags = (*FLAGS.split(), f"--user-data-dir={profile}", "--remote-debugging-port=0", "about:blank")
    with (
        TemporaryFile("w+") as said,
        subprocess.Popen(
            [SHELL, *flags], stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
        ) as process,
    ):
        until = time.monotonic() + PATIENCE
        try:
            while not (
                at := re.search(r"^DevTools listening on ws://([\d.]+:\d+)/", _all(said), re.MULTILINE)
            ):
                assert process.poll() is None and time.monotonic() < until, _all(said)
                time.sleep(0.05)
            yield at[1]
        finally:
            os.killpg(process.pid, signal.SIGTERM)  # what begins it is a script


def _all(file: IO[str]) -> str:
    file.seek(0)
    return file.read()


@contextmanager
def in_a_thread(serving: Callable[[], AbstractAsyncContextManager[Client]]) -> Iterator[str]:
    """Serve a playground from a loop in another thread, for selenium blocks; yields its address."""
    ready: list[Any] = []
    begun = threading.Event()

    async def serve() -> None:
        stop = asyncio.Event()
        async with serving() as client:
            ready[:] = [client.playground.url, asyncio.get_running_loop(), stop]
            begun.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert begun.wait(PATIENCE), "the playground did not start"
    url, loop, stop = ready
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)


def playground(
    home: Path, dispatch: FakeDispatch, port: int = 0, **more: object
) -> AbstractContextManager[str]:
    """Serve a playground with a dispatch of the test's own; yields its address."""
    return in_a_thread(lambda: serving(settings(home, port=port, **more), dispatch))


@contextmanager
def looking(
    chromium: webdriver.Chrome, url: str, size: tuple[int, int], network: bool = False, **features: str
) -> Iterator[Page]:
    """Look at a page in a window; at the end the console must have told of no error.

    What a request was refused counts only with `network`.
    """
    page = Page(chromium, url)
    page.size(*size)
    page.prefer(prefers_reduced_motion="reduce", **features)
    chromium.get_log("browser")
    yield page
    severe = [entry for entry in chromium.get_log("browser") if entry["level"] == "SEVERE"]
    chromium.get("about:blank")
    assert [entry for entry in severe if network or entry["source"] != "network"] == []


class Page:
    """The page as somebody uses it; every look waits for what it looks for."""

    def __init__(self, driver: webdriver.Chrome, url: str) -> None:
        self.driver = driver
        self.url = url

    def open(self, person: str = "ada", channel: str = "help") -> None:
        self.driver.get("about:blank")
        self.driver.get(f"{self.url}/#/{person}/{channel}")
        self.find("#title")
        self.until(lambda: self.person() == person)

    def until(self, condition: Callable[[], Any], seconds: float = PATIENCE) -> Any:
        wait = WebDriverWait(
            self.driver,
            seconds,
            0.04,
            # a script is lost where another page comes meanwhile
            ignored_exceptions=(JavascriptException, NoSuchElementException, StaleElementReferenceException),
        )
        return wait.until(lambda _: condition())

    def becomes(self, look: Callable[[], Any], wanted: Any) -> None:
        """Wait until what is looked at is what is wanted; at the end both are shown."""
        with suppress(TimeoutException):
            self.until(lambda: look() == wanted)
        assert look() == wanted

    def find(self, selector: str, text: str = "") -> WebElement:
        """Return the first element that is shown and holds the text; it may be replaced at any time."""
        return self.until(lambda: self.js(f"{LOOK} return shown[0]", selector, text))

    def text(self, selector: str, text: str = "") -> str:
        """Return what the first such element says."""
        script = f"{LOOK} return shown.length ? [said(shown[0])] : null"
        return str(self.until(lambda: self.js(script, selector, text))[0])

    def attribute(self, selector: str, name: str) -> str:
        """Return an attribute of the first such element."""
        return str(self.until(lambda: (self.find(selector).get_attribute(name),))[0])

    def all(self, selector: str) -> list[WebElement]:
        return list(self.js(f"{LOOK} return shown", selector))

    def texts(self, selector: str) -> list[str]:
        """Return what each such element says that is shown now; for `becomes`."""
        return list(self.js(f"{LOOK} return shown.map(said)", selector))

    def gone(self, selector: str, text: str = "") -> None:
        self.until(lambda: self.js(f"{LOOK} return !shown.length", selector, text))

    def click(self, selector: str, text: str = "") -> None:
        self.until(lambda: self.find(selector, text).click() or True)

    def write(self, text: str, *, where: str = "main", send: bool = True) -> None:
        self.until(lambda: self.find(f"#composer-{where}").is_enabled())
        self.driver.find_element(By.ID, f"composer-{where}").send_keys(text, *([Keys.ENTER] if send else []))

    def keys(self, *keys: str) -> None:
        self.driver.switch_to.active_element.send_keys(*keys)

    def play(self, person: str) -> None:
        self.click(f"#people label:has([value={person}])")
        self.until(lambda: self.person() == person)
        self.find(f"#people[data-person={person}]")

    def person(self) -> str:
        return str(self.js("return document.querySelector('#people :checked')?.value"))

    def js(self, script: str, *arguments: object) -> Any:
        return self.driver.execute_script(script, *arguments)

    def rendered(self, text: str, **options: object) -> str:
        """Return what the page's Markdown makes of a text, as HTML."""
        return str(
            self.driver.execute_async_script(
                """const [text, options, done] = arguments;
                import("/markdown.js").then(({ markdown }) => {
                  const box = document.createElement("div");
                  box.append(markdown(text, options));
                  done(box.innerHTML);
                }, (error) => done(`failed: ${error}`));""",
                text,
                options,
            )
        )

    def size(self, width: int, height: int = 800) -> None:
        self.driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )

    def prefer(self, **features: str) -> None:
        told = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": told})
