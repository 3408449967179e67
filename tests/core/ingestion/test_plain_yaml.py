"""YAML that others wrote: what its references unfold to is bounded, ordinary references work."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from core.ingestion import front_matter
from core.ingestion.sites import site_of
from tests.processor import at_most

LETTERS = "abcdefghijklm"
MERGED = "a: &a {x: 1}\n" + "".join(
    f"{here}: &{here} {{<<: [{', '.join([f'*{before}'] * 9)}]}}\n"
    for before, here in itertools.pairwise(LETTERS)
)
LISTED = "a: &a [x, x, x]\n" + "".join(
    f"{here}: &{here} [{', '.join([f'*{before}'] * 9)}]\n" for before, here in itertools.pairwise(LETTERS)
)


@pytest.mark.parametrize("text", [MERGED, LISTED, "a: &a [*a]", "a: &a {<<: *a}"])
def test_references_that_unfold_without_end_are_refused_before_anything_is_made_of_them(text: str) -> None:
    with at_most(5.0):
        with pytest.raises(front_matter.NotPlain):
            front_matter.load(text)
        front, rest = front_matter.split(f"---\ntitle: Kettle\n{text}\n---\nText.\n")
        assert front.title == "Kettle" and rest == "Text.\n", "what can be read line by line is"


def test_a_sites_configuration_that_unfolds_without_end_is_one_without_settings(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text(f"docs_dir: pages\nextra:\n  x: 1\nplugins: [macros]\n{LISTED}")
    site = site_of(str(tmp_path), tmp_path / "docs" / "index.md")
    assert site is not None and site.docs == ((tmp_path / "docs", ""),) and not site.variables


def test_ordinary_references_are_followed(tmp_path: Path) -> None:
    (tmp_path / "mkdocs.yml").write_text(
        "base: &base {unit: minutes, limit: 5}\nextra:\n  <<: *base\n  name: Kettle\n  again: *base\n"
        "plugins: [macros]\ndocs_dir: !ENV [DOCS, pages]\n"
    )
    site = site_of(str(tmp_path), tmp_path / "docs" / "index.md")
    assert site is not None
    assert site.variables == {
        "unit": "minutes",
        "limit": "5",
        "name": "Kettle",
        "again.unit": "minutes",
        "again.limit": "5",
    }
    assert front_matter.load("") is None and front_matter.load("- 1") == [1]


def test_a_sites_configuration_of_braces_alone_is_read_in_time(tmp_path: Path) -> None:
    (tmp_path / "docusaurus.config.js").write_text("{a: {}}" * 70_000)
    with at_most(10.0):
        site = site_of(str(tmp_path), tmp_path / "docs" / "index.md")
        assert site is not None and site.docs == ((tmp_path / "docs", "docs"),)
