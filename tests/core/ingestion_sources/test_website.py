from __future__ import annotations

import gzip
import json
import time
from pathlib import Path

import pytest

from core.catalogue import SourceSpec
from core.errors import SourceError, TooCostly
from core.ingestion.parsing import parse
from core.ingestion.sources._public import is_public
from core.ingestion.sources.website.links import is_trap, links_of, sitemap_of, tidy
from core.ingestion.sources.website.page_cache import Copy
from core.ingestion.sources.website.source import Options, WebsiteSource, _as_utf8, _folder
from tests.core.ingestion_sources.site_server import (
    Site,
    bomb,
    calendar,
    drip,
    flood,
    page,
    redirect,
    status,
)
from tests.fake_workers import FakeWorkers
from tests.patience import PATIENCE


def website(site: Site, home: Path, start: str = "/docs/", **keys) -> WebsiteSource:
    spec_keys = {key: keys.pop(key) for key in ("include", "exclude", "format") if key in keys}
    max_bytes, seconds = keys.pop("max_bytes", 200_000), keys.pop("page_seconds", 5.0)
    starts = [start] if isinstance(start, str) else start
    options = {"private": True, "delay": 0.0, **keys}
    spec = SourceSpec(
        "website",
        Options(start=[s if "://" in s else site.url + s for s in starts], **options),
        where="corpora.toml, line 8",
        **spec_keys,
    )
    return WebsiteSource(spec, home, FakeWorkers(), max_bytes, seconds)


def read(source: WebsiteSource) -> list[str]:
    return [document.path for document in source.documents()]


DOCS = {
    "/docs/": page(
        "Start", "Welcome to the kettle.", "guide.html", "/docs/faq.html#top", "/blog/", "mailto:x@y.z"
    ),
    "/docs/guide.html": page("Guide", "Fill the kettle first.", "./", "deep/er.html"),
    "/docs/faq.html": page("FAQ", "It whistles when it boils."),
    "/docs/deep/er.html": page("Deeper", "Descale it every month."),
    "/blog/": page("Blog", "Not documentation."),
}


def test_what_lies_below_the_start_is_read_once(tmp_path):
    with Site(DOCS) as site:
        source = website(site, tmp_path)
        documents = list(source.documents())
        assert [d.path for d in documents] == [
            "docs",
            "docs/guide.html",
            "docs/faq.html",
            "docs/deep/er.html",
        ]
        assert [d.url for d in documents] == [
            f"{site.url}/docs/",
            f"{site.url}/docs/guide.html",
            f"{site.url}/docs/faq.html",
            f"{site.url}/docs/deep/er.html",
        ]
        assert all(count == 1 for count in site.asked.values())
        assert parse(documents[1]).title == "Guide"
        assert not source.skipped
        assert source.name == f"website:{site.url[7:]}/docs"


def test_patterns_choose_pages_anywhere_on_the_host(tmp_path):
    with Site(DOCS) as site:
        source = website(site, tmp_path, include=("docs/", "blog/"), exclude=("docs/deep/",))
        assert read(source) == ["docs", "docs/guide.html", "docs/faq.html", "blog"]


def test_an_unchanged_page_sends_no_body_again(tmp_path):
    with Site(DOCS) as site:
        first = read(website(site, tmp_path))
        assert read(website(site, tmp_path)) == first
        assert max(site.bodies.values()) == 1
        site.pages["/docs/faq.html"] = page("FAQ", "It sings when it boils.")
        documents = {d.path: d for d in website(site, tmp_path).documents()}
        assert site.bodies["/docs/faq.html"] == 2
        assert b"sings" in documents["docs/faq.html"].content


@pytest.mark.parametrize("code", [503, 522, 408])
def test_a_page_that_is_gone_is_gone_and_one_that_fails_stays(code, tmp_path):
    with Site(DOCS) as site:
        read(website(site, tmp_path))
        site.pages["/docs/deep/er.html"] = status(code)
        del site.pages["/docs/faq.html"]
        source = website(site, tmp_path)
        assert read(source) == ["docs", "docs/guide.html", "docs/deep/er.html"]
        assert dict(source.skipped) == {
            f"{site.url}/docs/faq.html": "HTTP 404",
            f"{site.url}/docs/deep/er.html": f"HTTP {code}; its earlier copy stays",
        }


def test_a_site_that_is_down_is_an_error_so_that_the_old_pages_stay(tmp_path):
    with Site({}) as site:
        url = site.url
    source = website(site, tmp_path, f"{url}/docs/")
    with pytest.raises(SourceError, match=r"cannot be read: .*docs/.*corpora\.toml, line 8"):
        read(source)


def test_robots_are_honoured(tmp_path):
    rules = (
        b"User-agent: *\nDisallow: /docs/deep\n\n"
        b"User-agent: threadlore\nDisallow: /docs/faq*\nCrawl-delay: 0.5"
    )
    with Site(DOCS | {"/robots.txt": (rules, "text/plain")}) as site:
        source = website(site, tmp_path)
        assert read(source) == ["docs", "docs/guide.html", "docs/deep/er.html"]
        assert dict(source.skipped) == {f"{site.url}/docs/faq.html": "robots.txt forbids it"}
        times = [at for path, at in site.at if path != "/robots.txt"]
        assert times[-1] - times[0] > 0.5, "two waits of half a second, however late one is heard"


def test_robots_that_cannot_be_had_forbid_everything(tmp_path):
    with Site(DOCS | {"/robots.txt": status(500)}) as site, pytest.raises(SourceError, match="HTTP 500"):
        read(website(site, tmp_path))


def test_a_sitemap_names_the_pages(tmp_path):
    with Site(DOCS) as site:
        inner = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{site.url}/docs/faq.html</loc></url><url><loc>http://elsewhere.example/</loc></url></urlset>"
        outer = f"<sitemapindex><sitemap><loc>{site.url}/pages.xml.gz</loc></sitemap></sitemapindex>"
        site.pages["/sitemap.xml"] = (outer.encode(), "application/xml")
        site.pages["/pages.xml.gz"] = (gzip.compress(inner.encode()), "application/gzip")
        assert read(website(site, tmp_path, "/sitemap.xml", max_depth=0)) == ["docs/faq.html"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html></html>", "outer element is <html>"),
        (b"<urlset>", "no sitemap"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]><urlset>&b;</urlset>', "no sitemap"),
        (gzip.compress(b" " * 60_000_000), "unpacks to more"),
    ],
)
def test_what_is_no_sitemap_is_told(content, said):
    with pytest.raises(ValueError, match=said):
        sitemap_of(content, "http://x.example/sitemap.xml")


def _index(site: Site, *names: str) -> tuple[bytes, str]:
    listed = "".join(f"<sitemap><loc>{site.url}/{name}</loc></sitemap>" for name in names)
    return f"<sitemapindex>{listed}</sitemapindex>".encode(), "application/xml"


@pytest.mark.parametrize("fails", [status(503), drip, (b"<html>Back soon</html>", "text/html")])
def test_a_sitemap_of_an_index_that_fails_loses_no_page(tmp_path, fails):
    with Site(DOCS) as site:
        site.pages["/sitemap.xml"] = _index(site, "a.xml", "b.xml")
        for name, path in (("a", "docs/faq.html"), ("b", "docs/guide.html")):
            listed = f"<urlset><url><loc>{site.url}/{path}</loc></url></urlset>"
            site.pages[f"/{name}.xml"] = (listed.encode(), "application/xml")
        source = website(site, tmp_path, "/sitemap.xml", max_depth=0, page_seconds=0.5)
        assert read(source) == ["docs/faq.html", "docs/guide.html"] and not source.skipped[1:]
        for _ in range(2):
            site.pages["/b.xml"] = fails
            assert read(source) == ["docs/faq.html", "docs/guide.html"]
            said = dict(source.skipped)[f"{site.url}/b.xml"]
            assert said.endswith("; what it named before stays")
        site.pages["/b.xml"] = status(404)
        assert read(source) == ["docs/faq.html"]
        assert dict(source.skipped)[f"{site.url}/b.xml"] == "HTTP 404"


def test_a_sitemap_that_is_too_costly_each_time_ends_no_crawl(tmp_path):
    class Weak(FakeWorkers):
        fails = False

        def run(self, work, *given, **more):
            if self.fails and work is sitemap_of and given[1].endswith("b.xml"):
                raise TooCostly("it takes too much memory")
            return super().run(work, *given, **more)

    with Site(DOCS) as site:
        site.pages["/sitemap.xml"] = _index(site, "a.xml", "b.xml")
        for name, path in (("a", "docs/faq.html"), ("b", "docs/guide.html")):
            listed = f"<urlset><url><loc>{site.url}/{path}</loc></url></urlset>"
            site.pages[f"/{name}.xml"] = (listed.encode(), "application/xml")
        source = website(site, tmp_path, "/sitemap.xml", max_depth=0)
        source._workers = weak = Weak()
        assert read(source) == ["docs/faq.html", "docs/guide.html"]
        weak.fails = True
        assert read(source) == ["docs/faq.html"]
        assert dict(source.skipped)[f"{site.url}/b.xml"] == "it takes too much memory"


def test_a_sitemap_that_is_none_is_an_error(tmp_path):
    with (
        Site({"/sitemap.xml": (b"nonsense", "text/xml")}) as site,
        pytest.raises(SourceError, match=r"the sitemap .* cannot be read"),
    ):
        read(website(site, tmp_path, "/sitemap.xml"))


def test_canonical_links_join_two_addresses_of_a_page(tmp_path):
    canonical = '<link rel="canonical" href="/docs/guide/">'
    other = '<link rel="canonical" href="/docs/original.html">'
    pages = {
        "/docs/": page("Start", "Hello.", "guide/index.html", "guide/", "copy.html"),
        "/docs/guide/index.html": page("Guide", "Fill it.", head=canonical),
        "/docs/guide/": page("Guide", "Fill it.", head=canonical),
        "/docs/copy.html": page("Copy", "Other words.", head=other),
        "/docs/original.html": page("Original", "The real words."),
    }
    with Site(pages) as site:
        source = website(site, tmp_path)
        assert read(source) == ["docs", "docs/guide", "docs/original.html"]
        assert f"{site.url}/docs/copy.html" in dict(source.skipped)


def test_an_old_release_that_names_the_newest_one_is_kept(tmp_path):
    head = '<link rel="canonical" href="/docs/stable/a.html">'
    pages = {
        "/docs/2.0/": page("Old", "Old words.", "a.html"),
        "/docs/2.0/a.html": page("A", "Old a.", head=head),
    }
    with Site(pages) as site:
        documents = list(website(site, tmp_path, "/docs/2.0/").documents())
        assert [d.url for d in documents] == [f"{site.url}/docs/2.0/", f"{site.url}/docs/2.0/a.html"]


def test_pages_that_ask_for_it_are_left_out(tmp_path):
    pages = DOCS | {
        "/docs/faq.html": page("FAQ", "Secret.", head='<meta name="robots" content="noindex">'),
        "/docs/guide.html": page(
            "Guide", "No further.", "deep/er.html", head='<meta name="ROBOTS" content="NoFollow">'
        ),
    }
    with Site(pages) as site:
        assert read(website(site, tmp_path)) == ["docs", "docs/guide.html"]


def test_redirects_are_followed_inside_and_told_outside(tmp_path):
    pages = {
        "/docs/": page("Start", "Hello.", "old.html", "away.html", "circle.html", "many/0", "nowhere.html"),
        "/docs/old.html": redirect("/docs/new.html", 301),
        "/docs/new.html": page("New", "Here now."),
        "/docs/away.html": redirect("/blog/"),
        "/blog/": page("Blog", "Elsewhere."),
        "/docs/circle.html": redirect("/docs/circle.html"),
        "/docs/nowhere.html": status(302),
    } | {f"/docs/many/{n}": redirect(f"/docs/many/{n + 1}") for n in range(20)}
    with Site(pages) as site:
        source = website(site, tmp_path)
        documents = list(source.documents())
        assert [d.url for d in documents] == [f"{site.url}/docs/", f"{site.url}/docs/new.html"]
        said = {url.rpartition("/docs/")[2]: reason for url, reason in source.skipped}
        assert "not part of the source" in said["away.html"]
        assert "in a circle" in said["circle.html"]
        assert "more than 5 times" in said["many/0"]
        assert "to nowhere" in said["nowhere.html"]


def test_a_hostile_site_ends_within_its_limits_and_the_rest_is_read(tmp_path):
    nested = b"<div>" * 1_900_000
    bad = ["bomb", "drip", "flood", "huge", "nested", "endless", "file:///etc/passwd", "good.html"]
    pages = {
        "/docs/": page("Start", "Hello.", *bad, "http://169.254.169.254/latest/meta-data/", "calendar"),
        "/docs/bomb": bomb,
        "/docs/drip": drip,
        "/docs/flood": flood,
        "/docs/huge": (b"x" * 300_000, "text/html"),
        "/docs/nested": (nested, "text/html"),
        "/docs/endless": page("Endless", "Again.", "endless/endless/endless/endless/endless/"),
        "/docs/calendar": calendar,
        "/docs/good.html": page("Good", "Still read."),
    }
    with Site(pages) as site:
        began = time.monotonic()
        source = website(site, tmp_path, page_seconds=3.0, max_pages=25, max_depth=100)
        paths = read(source)
        assert time.monotonic() - began < PATIENCE
        assert "docs/good.html" in paths and "docs/endless" in paths
        said = {url.rpartition("/docs/")[2]: reason for url, reason in source.skipped}
        assert "too large" in said["bomb"] and "too large" in said["flood"] and "too large" in said["huge"]
        assert "too large" in said["nested"]
        assert "longer than 3 s" in said["drip"]
        assert "endlessly many" in said["endless/endless/endless/endless/endless/"]
        assert any("beyond `max_pages`" in reason for _, reason in source.skipped)
        assert sum(path.startswith("docs/calendar") for path in paths) < 25


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("/gone/", r"/gone/: HTTP 404; correct `start` \(corpora.toml, line 8\)"),
        ("/moved/", r"it leads to \S+/docs/, which is not part of the source; write that into `start` if"),
        ("/robots/", r"/robots/: robots.txt forbids it; correct `start`"),
        ("http://127.0.0.1:9/", r"nothing answers at 127.0.0.1:9"),
        ("https://kettle.invalid/", r"no host kettle.invalid is known here"),
    ],
)
def test_a_start_that_shows_no_page_is_told_with_what_to_write(tmp_path, start, said):
    robots = (b"User-agent: *\nDisallow: /robots/", "text/plain")
    pages = {**DOCS, "/gone/": status(404), "/moved/": redirect("/docs/"), "/robots.txt": robots}
    with Site(pages) as site, pytest.raises(SourceError, match=said):
        read(website(site, tmp_path, start))


def test_private_addresses_are_refused_unless_allowed(tmp_path):
    with Site(DOCS) as site:
        source = website(site, tmp_path, private=False)
        with pytest.raises(SourceError, match="no public address; set `private = true`"):
            read(source)
        assert not site.asked


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("2606:4700::1111", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("192.168.1.1", False),
        ("172.16.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
    ],
)
def test_which_addresses_are_public(address, public):
    assert is_public(address) is public


def test_a_servers_charset_beats_the_pages_own(tmp_path):
    content = page("Größe", "Über Kessel.", head='<meta charset="utf-8">').encode("iso-8859-1")
    with Site({"/docs/": (content, "text/html; charset=iso-8859-1")}) as site:
        (document,) = website(site, tmp_path).documents()
        assert parse(document).title == "Größe"


def test_a_charset_that_does_not_exist_is_no_end(tmp_path):
    with Site({"/docs/": (page("Größe", "Kessel.").encode(), "text/html; charset=x-klingon")}) as site:
        (document,) = website(site, tmp_path).documents()
        assert parse(document).title == "Größe"


def test_what_is_no_text_is_told(tmp_path):
    pages = {
        "/docs/": page("Start", "Hello.", "a.png", "b.md", "c.txt", "empty.html"),
        "/docs/a.png": (b"\x89PNG", "image/png"),
        "/docs/b.md": (b"# B", "text/plain; charset=utf-8"),
        "/docs/c.txt": (b"words", "text/plain"),
        "/docs/empty.html": (b"  ", "text/html"),
    }
    with Site(pages) as site:
        source = website(site, tmp_path)
        assert [(d.path, d.format) for d in source.documents()] == [
            ("docs", "html"),
            ("docs/b.md", "markdown"),
            ("docs/c.txt", "text"),
        ]
        assert [reason for _, reason in source.skipped] == ["image/png is no text", "empty"]


def test_a_notebook_and_text_of_tools_are_read_by_their_format(tmp_path):
    cell = {"cell_type": "markdown", "metadata": {}, "source": ["# Brewing\n", "Pour slowly."]}
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()
    served = {
        "/docs/typed": (notebook, "application/x-ipynb+json"),
        "/docs/json.ipynb": (notebook + b" ", "application/json"),
        "/docs/raw.ipynb": (notebook + b"  ", "application/octet-stream"),
        "/docs/plain.ipynb": (notebook + b"   ", "text/plain"),
        "/docs/typed-md": (b"# Pour\n\nSlowly, *please*.", "text/markdown; charset=utf-8"),
        "/docs/raw.md": (b"# Lid\n\nKeep it *closed*.", "binary/octet-stream"),
        "/docs/typed-rst": (b"Steam\n=====\n\n``Hot``.\n", "text/x-rst"),
        "/docs/raw.rst": (b"Scale\n=====\n\n``White``.\n", "application/octet-stream"),
        "/docs/config.json": (b"{}", "application/json"),
        "/docs/tool.exe": (b"MZ" * 9, "application/octet-stream"),
        "/docs/broken.ipynb": (b"{", "application/octet-stream"),
    }
    links = [path.removeprefix("/docs/") for path in served]
    with Site({"/docs/": page("Start", "Hello.", *links)} | served) as site:
        source = website(site, tmp_path)
        documents = {d.path.removeprefix("docs/"): d for d in source.documents()}
        assert {path: d.format for path, d in documents.items() if path != "docs"} == {
            "typed": "notebook",
            "json.ipynb": "notebook",
            "raw.ipynb": "notebook",
            "plain.ipynb": "notebook",
            "broken.ipynb": "notebook",
            "typed-md": "markdown",
            "raw.md": "markdown",
            "typed-rst": "rst",
            "raw.rst": "rst",
        }
        assert source.skipped == [
            (f"{site.url}/docs/config.json", "application/json is no text"),
            (f"{site.url}/docs/tool.exe", "application/octet-stream is no text"),
        ]
        titles = {path: parse(d).title for path, d in documents.items() if path != "broken.ipynb"}
        assert titles == {
            "docs": "Start",
            **dict.fromkeys(("typed", "json.ipynb", "raw.ipynb", "plain.ipynb"), "Brewing"),
            "typed-md": "Pour",
            "raw.md": "Lid",
            "typed-rst": "Steam",
            "raw.rst": "Scale",
        }
        with pytest.raises(SourceError):
            parse(documents["broken.ipynb"])


def test_reading_can_be_given_up(tmp_path):
    pages = {"/docs/": page("Start", "Hi.", *(f"p{n}.html" for n in range(200)))}
    pages |= {f"/docs/p{n}.html": page(f"P{n}", f"Text {n}.") for n in range(200)}
    with Site(pages) as site:
        documents = website(site, tmp_path).documents()
        next(documents)
        documents.close()
        assert sum(site.asked.values()) < 200


def test_reading_is_given_up_at_once_also_in_the_middle_of_a_slow_page(tmp_path):
    pages = {"/docs/": page("Start", "Hi.", "slow"), "/docs/slow": drip}
    with Site(pages) as site:
        documents = website(site, tmp_path, page_seconds=20.0).documents()
        next(documents)
        time.sleep(0.5)
        began = time.monotonic()
        documents.close()
        assert time.monotonic() - began < 15, "the page would take 20"


def test_retry_after_is_waited_for(tmp_path):
    seen = []

    async def busy(request):
        seen.append(time.monotonic())
        return await (status(429, **{"Retry-After": "1"}) if len(seen) == 1 else good)(request)

    async def good(request):
        from aiohttp import web

        return web.Response(text=page("Start", "Hello."), content_type="text/html")

    with Site({"/docs/": busy}) as site:
        assert read(website(site, tmp_path)) == ["docs"]
        assert seen[1] - seen[0] >= 1


@pytest.mark.parametrize(
    ("given", "tidied"),
    [
        ("HTTPS://Docs.Example.com:443/a/b.html?utm_source=x#part", "https://docs.example.com/a/b.html"),
        ("../c.html", "https://docs.example.com/c.html"),
        ("?page=2", "https://docs.example.com/d/e.html?page=2"),
        ("https://docs.example.com", "https://docs.example.com/"),
        ("mailto:a@b.c", ""),
        ("javascript:void(0)", ""),
        ("http://[::1", ""),
        ("https://docs.example.com/" + "a" * 600, ""),
    ],
)
def test_addresses_have_one_form(given, tidied):
    assert tidy(given, "https://docs.example.com/d/e.html") == tidied


def test_traps():
    assert is_trap("https://x.example/a/b/a/b/a/b/a/")
    assert is_trap("https://x.example/s?a=1&b=2&c=3&d=")
    assert not is_trap("https://x.example/a/b/a/b?v=3")


def test_base_and_areas_are_read():
    html = '<base href="/other/"><map><area href="a.html"></map><a href="#x">x</a><a>none</a>'
    assert links_of(html, "https://x.example/docs/").links == (
        "https://x.example/other/a.html",
        "https://x.example/other/",
    )


@pytest.mark.parametrize(
    ("start", "folder"),
    [
        ("https://x.example/3.1", "x.example/3.1/"),
        ("https://x.example/en/latest", "x.example/en/latest/"),
        ("https://x.example/v2", "x.example/v2/"),
        ("https://x.example/guide/intro", "x.example/guide/"),
        ("https://x.example/guide/intro.html", "x.example/guide/"),
        ("https://x.example/3.1/sitemap.xml", "x.example/"),
    ],
)
def test_a_version_at_the_end_of_a_start_is_a_folder(start, folder):
    assert _folder(start) == folder


def test_what_says_latin_1_is_read_as_browsers_do():
    text = "Don’t use “smart” quotes – ever, costs €5."
    page = Copy("https://x.example/", text.encode("cp1252"), "text/html", "iso-8859-1")
    assert _as_utf8(page).decode("utf-8-sig") == text


@pytest.mark.parametrize("start", ["ftp://x.example/", "docs", ""])
def test_a_start_that_is_no_address_is_told(start):
    with pytest.raises(ValueError, match="the address of a page or a sitemap"):
        Options(start=[start])
