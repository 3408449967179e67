"""The playground's page where it wants a token: opened by its link, and left when the token is another."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.platforms.browser import Page, playground
from tests.platforms.web_dispatch import FakeDispatch


def test_the_link_opens_the_page_until_the_token_changes(chromium: webdriver.Chrome, tmp_path: Path) -> None:
    with playground(tmp_path, FakeDispatch(), playground_token="first") as url:
        port = urlsplit(url).port or 0
        page = Page(chromium, url)
        page.driver.get(url)
        assert "wants its token" in chromium.find_element(By.TAG_NAME, "body").text
        page.driver.get(f"{url}/?token=first")
        page.find("#title")
        page.until(lambda: "first" not in chromium.current_url)
        page.open()
        page.write("How do I test a view that redirects?")
        page.find("#thread .footer")
        page.write("half a thought", where="thread", send=False)
        there = chromium.current_url
    with playground(tmp_path, FakeDispatch(), port, playground_token="second"):
        # the page loads itself anew meanwhile, so that an element found may be gone already
        text = "return document.body ? document.body.innerText : ''"
        page.until(lambda: "wants its token" in str(chromium.execute_script(text)))
        assert chromium.title == "Threadlore", "a page for people, not what programs read"
        page.driver.get(f"{url}/?token=second{urlsplit(there).fragment and '#' + urlsplit(there).fragment}")
        page.find("#thread .footer")
        page.becomes(
            lambda: page.js("return document.querySelector('#composer-thread').value"), "half a thought"
        )
    chromium.delete_all_cookies()
    chromium.get("about:blank")


def test_a_link_on_another_site_opens_the_page(chromium: webdriver.Chrome, tmp_path: Path) -> None:
    with playground(tmp_path, FakeDispatch(), playground_token="a+b&c") as url:
        page = Page(chromium, url)
        for path in ("/?token=a%2Bb%26c", "/"):  # with the token, and later with the cookie alone
            chromium.get(f"data:text/html,<a href='{url}{path.replace('%', '%25')}'>the playground</a>")
            chromium.find_element(By.TAG_NAME, "a").click()
            page.find("#title")
        assert chromium.current_url.startswith(url)
    chromium.delete_all_cookies()
    chromium.get("about:blank")
