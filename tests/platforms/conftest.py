"""The playground's page in Chromium, with a dispatch of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from tests.platforms.browser import Page, looking, playground
from tests.platforms.web_dispatch import FakeDispatch


@pytest.fixture
def dispatch() -> FakeDispatch:
    return FakeDispatch()


@pytest.fixture
def page(chromium: webdriver.Chrome, tmp_path: Path, dispatch: FakeDispatch) -> Iterator[Page]:
    """The page in a wide window, light; at the end its console must have told of no error."""
    with (
        playground(tmp_path, dispatch) as url,
        looking(chromium, url, (1440, 900), prefers_color_scheme="light") as page,
    ):
        page.open()
        yield page
