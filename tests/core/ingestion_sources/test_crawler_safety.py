"""A hostile site on loopback, one trick a test: each ends within its limits, and the crawl goes on.

Each test has one bad thing beside a good page, says which limit ends it and in how many seconds of the
clock at most, and finds the good page read and the bad one named with the reason.
"""

from __future__ import annotations

import asyncio
import gzip
import os
import socket
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.abc import AbstractResolver

from core.domain import RawDocument
from core.errors import SourceError
from core.ingestion.parsing import parse
from core.ingestion.sources._public import is_public
from core.ingestion.sources.website import crawl as _crawl
from core.ingestion.sources.website.fetch import Fetcher, host_of
from core.ingestion.sources.website.links import MAX_LINKS, Gate, Refused, links_of, sitemap_of
from tests.core.ingestion_sources.site_server import (
    Handler,
    Site,
    bomb,
    calendar,
    drip,
    flood,
    page,
    redirect,
)
from tests.core.ingestion_sources.test_website import website
from tests.patience import PATIENCE, SOON
from tests.processor import at_most

PAGE_SECONDS = 2.0
"""What one page may take in these tests; 30 in the bot."""
GOOD = page("Good", "Still read.")


def crawl(
    tmp_path: Path, bad: object, links: tuple[str, ...] = ("bad",), seconds: float = PATIENCE, **keys: object
):
    """Crawl a site of a start page, a good page and bad ones; return paths, reasons by name, and the site."""
    pages: dict[str, object] = {
        "/docs/": page("Start", "Hello.", *links, "good"),
        "/docs/good": GOOD,
    }
    pages |= bad if isinstance(bad, dict) else {"/docs/bad": bad}
    with Site(pages) as site:  # type: ignore[arg-type]
        began = time.monotonic()
        source = website(site, tmp_path, page_seconds=keys.pop("page_seconds", PAGE_SECONDS), **keys)
        paths = [document.path for document in source.documents()]
        took = time.monotonic() - began
        assert took < seconds, f"{took:.1f} s"
        assert "docs/good" in paths, source.skipped
        return paths, {url.rpartition("/docs/")[2]: reason for url, reason in source.skipped}, site


def packed(body: bytes, encoding: str) -> Handler:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.Response(body=body, headers={"Content-Encoding": encoding, "Content-Type": "text/html"})

    return answer


# --- redirects and endless pages --------------------------------------------------------------


def test_a_redirect_loop_and_a_chain_end_after_five(tmp_path):
    bad = {"/docs/bad": redirect("/docs/worse"), "/docs/worse": redirect("/docs/bad")}
    bad |= {f"/docs/{n}": redirect(f"/docs/{n + 1}") for n in range(50)}
    _, said, site = crawl(tmp_path, bad, ("bad", "0"))
    assert "in a circle" in said["bad"] and "more than 5 times" in said["0"]
    assert site.asked["/docs/7"] == 0


@pytest.mark.parametrize(
    "to",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/x",
        "gopher://127.0.0.1:70/_x",
        "javascript:alert(1)",
        "http://",
        "http://[::1",
        "//",
        "http://" + "a" * 5000,
        "http://a..b/",
        "http://x.example:99999/",
    ],
)
def test_a_redirect_to_what_is_no_page_is_refused(tmp_path, to):
    _, said, _ = crawl(tmp_path, redirect(to))
    assert said["bad"]


def test_endless_pages_end_with_max_pages(tmp_path):
    paths, said, _ = crawl(tmp_path, {"/docs/calendar": calendar}, ("calendar",), max_pages=12, max_depth=100)
    assert len(paths) <= 12 and any("beyond `max_pages`" in reason for reason in said.values())


def test_a_page_with_a_hundred_thousand_links_takes_no_more_room_than_is_allowed(tmp_path):
    links = "".join(f'<a href="p{n}">x</a>' for n in range(100_000))
    paths, said, site = crawl(
        tmp_path, f"<title>x</title><p>Many.</p>{links}", max_pages=5, max_bytes=5_000_000
    )
    assert len(paths) <= 5 and sum(site.asked.values()) <= 6
    assert any(" or more addresses are beyond `max_pages`" in reason for reason in said.values())


def test_what_is_passed_over_is_kept_up_to_a_number(tmp_path):
    traps = "".join(f'<a href="a/a/a/a/a/{n}">x</a>' for n in range(8_000))
    with Site({"/docs/": f"<title>x</title><p>Traps.</p>{traps}"}) as site:
        source = website(site, tmp_path, max_bytes=5_000_000, max_pages=20_000)
        assert [document.path for document in source.documents()] == ["docs"]
        assert len(source.skipped) == _crawl.MAX_SKIPPED + 1


def test_a_crawl_ends_with_its_minutes_and_keeps_what_it_has(tmp_path):
    async def slow(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(0.5)
        number = int(request.query.get("n", "0"))
        links = [f"?n={number * 3 + more}" for more in (1, 2, 3)]
        return web.Response(text=page(f"N {number}", f"Words {number}.", *links), content_type="text/html")

    _, said, _ = crawl(tmp_path, slow, max_depth=100, minutes=2 / 60)
    assert any("took too long" in reason for reason in said.values())


# --- sizes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_a_bomb_is_refused_when_it_has_unpacked_to_the_limit(tmp_path, encoding):
    big = b"<p>boom</p>" * 1_900_000
    body = gzip.compress(big) if encoding == "gzip" else zlib.compress(big)
    assert len(body) < 70_000
    _, said, _ = crawl(tmp_path, packed(body, encoding), page_seconds=10.0)
    assert said["bad"] == "too large: more than 200,000 bytes unpacked"


def test_a_bomb_of_a_thousand_members_is_one_bomb(tmp_path):
    body = gzip.compress(b"<p>boom</p>" * 1_000) * 1_000
    _, said, _ = crawl(tmp_path, packed(body, "gzip"), page_seconds=10.0)
    assert "too large" in said["bad"]


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, gzip"])
def test_what_was_not_asked_for_is_not_unpacked(tmp_path, encoding):
    _, said, _ = crawl(tmp_path, packed(b"\x1b\x00\x00", encoding))
    assert "which was not asked for" in said["bad"]


def test_a_page_that_is_packed_wrongly_is_one_page(tmp_path):
    bad = {
        "/docs/a": packed(b"no gzip at all", "gzip"),
        "/docs/b": packed(gzip.compress(GOOD.encode())[:-20], "gzip"),
    }
    _, said, _ = crawl(tmp_path, bad, ("a", "b"))
    assert "a" in said and "in the middle" in said["b"]


def test_packed_pages_are_read_whole(tmp_path):
    text = page("Packed", "Fill the kettle. " * 2_000).encode()
    bare = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    bodies = {
        "gzip": gzip.compress(text),
        "two": gzip.compress(text[:5_000]) + gzip.compress(text[5_000:]) + b"\0" * 300,
        "deflate": zlib.compress(text),
        "bare": bare.compress(text) + bare.flush(),
    }
    pages = {"/docs/": page("Start", "Hello.", *bodies)}
    pages |= {
        f"/docs/{name}": packed(body, "deflate" if name in ("deflate", "bare") else "gzip")
        for name, body in bodies.items()
    }
    with Site(pages) as site:
        fetched = [d.content for d in website(site, tmp_path).documents() if d.path != "docs"]
        assert [content.removeprefix(b"\xef\xbb\xbf") for content in fetched] == [
            text
        ]  # the others are its twins


def test_a_body_without_an_end_and_one_that_is_announced_too_large_are_cut_off(tmp_path):
    async def announced(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/html", "Content-Length": "10000000000"})
        await response.prepare(request)
        return response

    _, said, _ = crawl(tmp_path, {"/docs/a": flood, "/docs/b": announced}, ("a", "b"), page_seconds=10.0)
    assert "too large: more than" in said["a"] and "too large: 10,000,000,000 bytes" in said["b"]


def test_bombs_in_robots_cost_their_first_500_kb(tmp_path):
    rules = b"User-agent: *\nDisallow: /docs/secret\n" + b"Disallow: /x*y*z$\n" * 1_000_000
    bad = {"/robots.txt": (rules, "text/plain"), "/docs/secret": page("Secret", "No.")}
    _paths, said, site = crawl(tmp_path, bad, ("secret",), page_seconds=10.0)
    assert said["secret"] == "robots.txt forbids it" and site.asked["/robots.txt"] == 1


def test_robots_that_redirect_without_an_end_are_none_and_are_asked_for_once(tmp_path):
    paths, _, site = crawl(
        tmp_path, {"/robots.txt": redirect("/robots.txt"), "/docs/bad": page("Bad", "It is not.")}
    )
    assert "docs/bad" in paths and site.asked["/robots.txt"] == 1


def test_robots_that_drip_make_the_site_count_as_down_in_time(tmp_path):
    with Site({"/docs/": page("Start", "Hello.", "good"), "/robots.txt": drip}) as site:
        began = time.monotonic()
        with pytest.raises(SourceError, match=r"robots\.txt: it takes longer than 2 s"):
            list(website(site, tmp_path, page_seconds=PAGE_SECONDS).documents())
        assert time.monotonic() - began < SOON


# --- time -------------------------------------------------------------------------------------


def test_slow_drips_are_cut_off_and_ten_of_them_are_not_the_end_of_the_crawl(tmp_path):
    names = [f"drip{n}" for n in range(10)]
    _paths, said, _ = crawl(
        tmp_path,
        {f"/docs/{name}": drip for name in names},
        (*names,),
        parallel=8,
        page_seconds=1.5,
    )
    assert all(said[name] == "it takes longer than 2 s" for name in names)


def test_a_head_that_never_comes_is_cut_off(tmp_path):
    async def silent(request: web.Request) -> web.StreamResponse:
        await asyncio.sleep(6)
        return web.Response()

    _, said, _ = crawl(tmp_path, silent)
    assert "takes longer than 2 s" in said["bad"]


# --- what pages hold --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tags",
    [
        "<div>" * 2_000_000,
        "<b>" * 3_000_000,
        ("<div>" * 150 + "x" + "</div>" * 150) * 2_900,
        "<table><tr><td>" * 600_000,
        "<p>x" * 1_200_000,
    ],
    ids=["ten MB of nested tags", "unclosed", "waves", "tables", "side by side"],
)
def test_tags_without_an_end_are_refused_before_a_tree_is_made(tags):
    with at_most(15.0):
        links = links_of(tags + '<a href="/docs/late">x</a>', "https://x.example/docs/")
        assert links.links in ((), ("https://x.example/docs/late",))
        for content in (tags[:4_900_000], tags):  # below the size of a page, and beyond
            with pytest.raises(SourceError, match=r"nested too deeply|100,000 elements|MB, more than"):
                parse(RawDocument("bad", "https://x.example/bad", content.encode(), "html"))


def test_ten_mb_of_nested_tags_are_one_page_that_is_passed_over(tmp_path):
    bad = {"/docs/bad": (b"<div>" * 2_000_000, "text/html"), "/docs/less": (b"<div>" * 30_000, "text/html")}
    paths, said, _ = crawl(tmp_path, bad, ("bad", "less"), page_seconds=10.0)
    assert "too large" in said["bad"] and "docs/less" in paths, "what parsing refuses is told when it is read"


@pytest.mark.parametrize(
    "charset", ["punycode", "idna", "unicode_escape", "undefined", "hex", "utf-7", "klingon"]
)
def test_charsets_that_are_none_are_left_aside(tmp_path, charset):
    content = page("Größe", "Kessel. " + "-a" * 40_000).encode()
    paths, _, _ = crawl(tmp_path, (content, f"text/html; charset={charset}"))
    assert "docs/bad" in paths


def test_links_of_one_page_have_a_limit():
    html = "".join(f'<a href="/{n}">x</a>' for n in range(MAX_LINKS + 5_000))
    assert len(links_of(html, "https://x.example/").links) == MAX_LINKS


# --- sitemaps ---------------------------------------------------------------------------------


def listing(kind: str, places: list[str]) -> tuple[bytes, str]:
    item = "url" if kind == "urlset" else "sitemap"
    inner = "".join(f"<{item}><loc>{place}</loc></{item}>" for place in places)
    return f"<{kind}>{inner}</{kind}>".encode(), "application/xml"


def test_indexes_of_indexes_end_after_a_number_of_sitemaps(tmp_path):
    with Site({"/docs/good": GOOD}) as site:

        async def endless(request: web.Request) -> web.StreamResponse:
            number = int(request.path.strip("/s.xml") or 0)
            more = [f"{site.url}/s{number * 9 + n}.xml" for n in range(1, 10)]
            return web.Response(body=listing("sitemapindex", more)[0], content_type="application/xml")

        site.pages |= {f"/s{n}.xml": endless for n in range(2_000)}
        pages = [f"{site.url}/docs/good", "http://10.0.0.1/", "file:///etc/passwd"]
        site.pages["/pages.xml"] = listing("urlset", pages)
        site.pages["/sitemap.xml"] = listing(
            "sitemapindex", [f"{site.url}/pages.xml", f"{site.url}/s0.xml", "http://elsewhere.example/s.xml"]
        )
        source = website(site, tmp_path, "/sitemap.xml", max_sitemaps=20)
        assert [document.path for document in source.documents()] == ["docs/good"]
        said = dict(source.skipped)
        assert said["http://elsewhere.example/s.xml"] == "a sitemap on another host"
        assert any("more than 20 sitemaps" in reason for reason in said.values())
        assert sum(site.asked.values()) < 25


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (lambda: gzip.compress(b"<urlset>" + b"<a/>" * 20_000_000), "unpacks to more"),
        (lambda: b"<urlset>" + b"<a>" * 1_000_000, "more than 16|16 deep"),
        (lambda: gzip.compress(b"<urlset></urlset>")[:-4], "cannot be unpacked"),
        (lambda: b'<!DOCTYPE x [<!ENTITY a "b">]><urlset/>', "no sitemap"),
    ],
    ids=["unpacks to more", "too deep", "cut off", "entities"],
)
def test_sitemaps_that_are_bombs(content, said):
    packed_bytes = content()  # not made where tests are only listed
    with at_most(10.0), pytest.raises(ValueError, match=said):
        sitemap_of(packed_bytes, "https://x.example/sitemap.xml")


def test_a_sitemap_has_fifty_thousand_addresses_at_most():
    content = listing("urlset", [f"https://x.example/{n}" for n in range(60_000)])[0]
    pages, further = sitemap_of(gzip.compress(content), "https://x.example/sitemap.xml.gz")
    assert (len(pages), further) == (50_000, ())


# --- addresses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.255.255.254", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "100.64.0.1", "0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "192.0.0.8", "192.88.99.1",
        "198.18.0.1", "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::80ff:fffe", "fe80::1%eth0",
        "fec0::1", "fd00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "3fff::1", "5f00::1",
        "2400:cb00::5efe:7f00:1", "2400:cb00::200:5efe:10.0.0.1",
    ],
)  # fmt: skip
def test_no_address_of_the_own_network_is_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("host", ["localhost", "2130706433", "0x7f.1", "127.1", "0177.0.0.1"])
async def test_names_and_numbers_of_this_machine_are_refused(host):
    gate = Gate()
    try:
        with pytest.raises(Refused, match="no public address"):
            await gate.resolve(host, 80, socket.AF_INET)
    finally:
        await gate.close()


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://[::1]/", "http://①②⑦.⓪.⓪.①/", "http://１２７.0.0.1/", "http://127。0。0。1/",
        "http://public.example@127.0.0.1/", "http://127.0.0.1./", "http://0.0.0.0/", "http://169.254.169.254/",
        "http://[::ffff:169.254.169.254]/",
    ],
)  # fmt: skip
async def test_an_address_is_read_as_the_client_reads_it(url):
    async with Fetcher() as fetcher:
        with pytest.raises(Refused, match="no public address"):
            await fetcher.fetch(url)


class Names(AbstractResolver):
    """A name server that a test writes: each look-up of a name takes the next of its addresses."""

    def __init__(self, **names: list[str]) -> None:
        self.names = names

    async def resolve(self, host: str, port: int = 0, family: int = socket.AF_INET):
        found = self.names[host.partition(".")[0]]
        address = found.pop(0) if len(found) > 1 else found[0]
        flags = socket.AI_NUMERICHOST
        return [
            {
                "hostname": host,
                "host": address,
                "port": port,
                "family": socket.AF_INET,
                "proto": 0,
                "flags": flags,
            }
        ]

    async def close(self) -> None:
        """Have nothing to close."""


async def test_a_name_that_changes_its_address_is_checked_each_time_and_asked_where_it_was_checked() -> None:
    gate = Gate(inner=Names(rebinding=["93.184.216.34", "127.0.0.1"]))
    (first,) = await gate.resolve("rebinding.example", 80)
    assert first["host"] == "93.184.216.34"
    with pytest.raises(Refused, match=r"rebinding\.example \(127\.0\.0\.1\)"):
        await gate.resolve("rebinding.example", 80)
    where = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))
    with pytest.raises(Refused):
        gate.open(where)
    gate.open((socket.AF_INET, socket.SOCK_STREAM, 6, "", (first["host"], 80))).close()


@pytest.mark.parametrize("name", ["printer.local", "metadata.google.internal", "router.lan", "two.example"])
async def test_names_of_the_own_network_are_refused_by_where_they_lead(name):
    names = {
        "printer": ["192.168.0.7"],
        "metadata": ["169.254.169.254"],
        "router": ["10.0.0.1"],
        "two": ["::1"],
    }
    with pytest.raises(Refused, match="no public address"):
        await Gate(inner=Names(**names)).resolve(name, 80)


def test_a_private_site_opens_its_own_host_and_port_and_no_other(tmp_path):
    with Site({"/": page("Inside", "The intranet's secret.")}) as other:
        to = {
            "/docs/port": redirect(f"{other.url}/"),
            "/docs/name": redirect(other.url.replace("127.0.0.1", "localhost") + "/"),
            "/docs/meta": redirect("http://169.254.169.254/latest/meta-data/"),
            "/docs/number": redirect("http://2130706433/"),
            "/docs/wide": redirect("http://①②⑦.⓪.⓪.①/"),
        }
        _, said, _ = crawl(tmp_path, to, ("port", "name", "meta", "number", "wide"))
        assert not other.asked, "not one request"
    assert "not a canonical IPv4 address" in said["number"]
    for name in ("port", "name", "meta", "wide"):
        assert "`private = true` opens the hosts of `start` alone" in said[name], said


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def test_a_proxy_of_the_environment_is_not_used(tmp_path):
    with Site() as proxy, environment(HTTP_PROXY=proxy.url, http_proxy=proxy.url, ALL_PROXY=proxy.url):
        crawl(tmp_path, {}, ())
        assert not proxy.asked


def test_what_a_host_is_called_is_one_thing():
    assert host_of("HTTPS://Docs.Example.COM./x") == ("docs.example.com", 443)
    for url in ("http://", "http://x.example\\@127.0.0.1/", "http://x.example:0/", "data:text/html,x"):
        with pytest.raises(Refused):
            host_of(url)


def test_a_hostile_site_as_a_whole_is_in_the_skipped_and_the_good_page_is_read(tmp_path):
    bad = {"/docs/bomb": bomb, "/docs/drip": drip, "/docs/loop": redirect("/docs/loop"), "/docs/flood": flood}
    _, said, _ = crawl(tmp_path, bad, ("bomb", "drip", "loop", "flood"), page_seconds=5.0)
    assert said.keys() >= {"bomb", "drip", "loop", "flood"}
