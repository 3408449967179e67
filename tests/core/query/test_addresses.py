"""The release of a page of documentation by its address, as hosts and tools for documentation write it."""

from __future__ import annotations

import pytest

from core.domain import Product, Release
from core.query.releases.addresses import Addressed, release_of_address

KETTLE = Product(
    "Kettle",
    ("kettle-queue",),
    (
        Release("1.0"),
        Release("1.5", lts=True),
        Release("2.0", latest=True),
        Release("2.1", ("main", "nightly", "Silver Spout")),
    ),
)
DJANGO = Product("Django", (), (Release("4.2"), Release("5.0"), Release("5.1", latest=True)))
WHOLE = Product("PostgreSQL", (), (Release("15"), Release("16"), Release("17", latest=True)))
SITE = "https://docs.example.org"


@pytest.mark.parametrize(
    ("address", "release", "unknown"),
    [
        # Read the Docs
        (f"{SITE}/en/1.5/jobs.html", "1.5", ""),
        (f"{SITE}/en/1.5.x/jobs.html#retries", "1.5", ""),
        (f"{SITE}/en/v1.5/", "1.5", ""),
        (f"{SITE}/en/1.5.3/jobs/", "1.5", ""),
        (f"{SITE}/en/stable/", "2.0", ""),
        (f"{SITE}/en/latest/jobs.html", "2.0", ""),
        (f"{SITE}/de/1.0/", "1.0", ""),
        (f"{SITE}/projects/kettle-redis/en/1.0/", "1.0", ""),
        ("https://kettle.readthedocs.io/en/main/jobs.html", "2.1", ""),
        ("https://kettle.readthedocs.io/en/release-1.5/", "1.5", ""),
        # Sphinx and mike, on any host
        (f"{SITE}/2.0/", "2.0", ""),
        (f"{SITE}/2.0", "2.0", ""),
        (f"{SITE}/1.0/dashboard.html", "1.0", ""),
        (f"{SITE}/kettle/1.5/scheduling/", "1.5", ""),
        (f"{SITE}/latest/", "2.0", ""),
        (f"{SITE}/stable/jobs/", "2.0", ""),
        (f"{SITE}/current/jobs/", "2.0", ""),
        (f"{SITE}/nightly/", "2.1", ""),
        (f"{SITE}/kettle-1.5/jobs.html", "1.5", ""),
        (f"{SITE}/kettle_v1.5/", "1.5", ""),
        (f"{SITE}/kettle2.0/", "2.0", ""),
        (f"{SITE}/docs/v2/jobs", "2.1", ""),
        (f"{SITE}/1_5/", "1.5", ""),
        (f"{SITE}/1-5/jobs/", "1.5", ""),
        (f"{SITE}/version/1.0/", "1.0", ""),
        (f"{SITE}/version-1.0/", "1.0", ""),
        (f"{SITE}/silver-spout/jobs.html", "2.1", ""),
        (f"{SITE}/Silver%20Spout/", "2.1", ""),
        ("file:///usr/share/doc/kettle/1.5/index.html", "1.5", ""),
        # parameters, hosts, sites of one page
        (f"{SITE}/jobs.html?version=1.0", "1.0", ""),
        (f"{SITE}/2.0/jobs.html?version=1.5", "1.5", ""),
        (f"{SITE}/jobs?q=retry&release=stable", "2.0", ""),
        (f"{SITE}/jobs?v=1.5", "", ""),
        ("https://v1.docs.example.org/jobs/", "1.5", ""),
        ("https://1-5.docs.example.org/jobs/", "1.5", ""),
        (f"{SITE}/#/1.5/jobs", "1.5", ""),
        (f"{SITE}/jobs.html#1.5", "", ""),
        # what is none of the product's releases
        (f"{SITE}/en/9.9/jobs.html", "", "9.9"),
        (f"{SITE}/v9/", "", "v9"),
        (f"{SITE}/develop/jobs.html", "", "develop"),
        (f"{SITE}/jobs.html?version=0.4", "", "0.4"),
        (f"{SITE}/9.9/1.5/", "", "9.9"),
        # no release at all
        (f"{SITE}/", "", ""),
        (f"{SITE}/en/jobs.html", "", ""),
        (f"{SITE}/testing/", "", ""),
        (f"{SITE}/next/steps.html", "", ""),
        (f"{SITE}/blog/2024/05/1.5-is-out/", "", ""),
        (f"{SITE}/2024/05/", "", ""),
        (f"{SITE}/releases/1.5/", "", ""),
        (f"{SITE}/whatsnew/1.5.html", "", ""),
        (f"{SITE}/api/1.5/", "", ""),
        ("http://127.0.0.1:8000/jobs.html", "", ""),
        ("http://1.5/", "", ""),
        ("", "", ""),
        ("no address", "", ""),
        ("http://[broken/1.5/", "", ""),
        (f"{SITE}/{'x/' * 500}1.5/", "", ""),
    ],
)
def test_the_release_of_an_address(address: str, release: str, unknown: str) -> None:
    assert release_of_address(address, KETTLE) == Addressed(release, unknown)


@pytest.mark.parametrize(
    ("product", "address", "release"),
    [
        (DJANGO, "https://docs.djangoproject.com/en/5.0/releases/4.2/", "5.0"),
        (DJANGO, "https://docs.djangoproject.com/en/5/topics/", "5.1"),
        (WHOLE, "https://www.postgresql.org/docs/16/sql-select.html", "16"),
        (WHOLE, "https://www.postgresql.org/docs/current/sql-select.html", "17"),
        (WHOLE, "https://www.postgresql.org/docs/9.6/sql-select.html", ""),
        (Product("Bare"), "https://docs.example.org/1.5/", ""),
    ],
)
def test_the_first_release_of_a_path_counts(product: Product, address: str, release: str) -> None:
    assert release_of_address(address, product).release == release


def test_an_address_of_any_length_is_read_at_once() -> None:
    assert (
        release_of_address("https://docs.example.org/?" + "&".join(["version=9"] * 9_000), KETTLE)
        == Addressed()
    )
    assert release_of_address("https://docs.example.org/" + "1." * 100_000, KETTLE).release == ""
