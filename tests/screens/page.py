"""Pictures of the dashboard for the documentation: a part of `make pictures`.

    python -m tests.screens.page HOME [FOLDER]

HOME is a home that holds Flask's index, such as `.threadlore/bench` after `make bench`; it is copied, not
changed. The pictures go to FOLDER, `docs` where none is named. Needs chromium and chromedriver.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from tests.platforms.browser import Page, start
from tests.screens.page_use import DATABASE, use
from tests.screens.pictures import keep, served


def main(home: Path, folder: Path) -> None:
    """Take the pictures."""
    binary, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (binary and driver):
        sys.exit("Chromium is missing: apt-get install chromium chromium-driver")
    if not (home / DATABASE).is_file():
        sys.exit(f"{home} holds no index of Flask; make one with `threadlore index --home {home}`.")
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "home"
        shutil.copytree(home, copy, ignore=shutil.ignore_patterns("*.lock", "*.sock", "playground.jsonl"))
        asyncio.run(use(copy))
        browser = start(binary, driver, Path(temporary) / "profile")
        try:
            with served(copy, has_model=True) as url:
                _dashboard(Page(browser, url), folder)
        finally:
            browser.quit()


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
        keep(page, folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs"))
