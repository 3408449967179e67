from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue.loading import load_catalogue
from core.catalogue.toml_file import TomlLines
from core.errors import ConfigurationError
from core.ingestion.sources import Kinds

TEXT = '''# [product]
[product]
name = "F # not a comment"
"quoted key".b = 1
multi = """
[x]
a = 1 \\""" ""
"""
raw = \'\'\'
[y]
\'\'\'
list = [
  "a", # ] no end
  {k = "v", d = 1979-05-27 07:32:00},
  [1,
   2]
]
[[release]]
name = "a"
[[release.source]]
kind = "x"
[[release.source]]
kind = "y"
[release.extra]
q = {}
[[release]]
name='b'
  [[ release . "source" ]]
  kind = 'z'
[channels."slack:C0123"]
release = "2.3"
'''


def test_every_value_is_found_on_its_line():
    lines = TomlLines(TEXT)
    found = {
        ("product",): 2,
        ("product", "name"): 3,
        ("product", "quoted key", "b"): 4,
        ("product", "multi"): 5,
        ("product", "raw"): 9,
        ("product", "list", 0): 13,
        ("product", "list", 1, "d"): 14,
        ("product", "list", 2, 1): 16,
        ("release", 0): 18,
        ("release", 0, "source", 0, "kind"): 21,
        ("release", 0, "source", 1, "kind"): 23,
        ("release", 0, "extra", "q"): 25,
        ("release", 1, "name"): 27,
        ("release", 1, "source", 0): 28,
        ("release", 1, "source", 0, "kind"): 29,
        ("channels", "slack:C0123", "release"): 31,
    }
    assert {place: lines.line(place) for place in found} == found
    assert ("product", "x") not in lines
    assert ("product", "y") not in lines


def test_what_is_not_there_is_told_at_the_table_it_is_missing_in():
    lines = TomlLines(TEXT)
    assert lines.line(("release", 1, "aliases", 0)) == 26
    assert lines.line(("people", "ada")) == 1
    assert TomlLines("").line(("product",)) == 1


_keys = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=4)
_scalars = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=9), st.integers(-9, 9), st.booleans()
)
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_keys, inner, max_size=3),
    max_leaves=6,
)


def _quoted(text: str) -> str:
    return '"' + "".join(f"\\U{ord(c):08x}" if c in '"\\' or not c.isprintable() else c for c in text) + '"'


def _written(value: object) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        return "[" + ", # [\n".join(map(_written, value)) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_quoted(k)} = {_written(v)}" for k, v in value.items()) + "}"
    return str(value).lower()


def _places(value: object, place: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [p for key, v in inner for p in ((*place, key), *_places(v, (*place, key)))]


@given(st.lists(st.tuples(_keys, _values), max_size=6, unique_by=lambda pair: pair[0]))
def test_whatever_is_written_every_key_has_a_line(pairs):
    rows = [f"{_quoted(key)} = {_written(value)}" for key, value in pairs]
    text = "\n\n".join(rows) + "\n"
    assert tomllib.loads(text) == dict(pairs)
    lines = TomlLines(text)
    at = 1
    for (key, value), row in zip(pairs, rows, strict=True):
        assert lines.line((key,)) == at
        for place in _places(value, (key,)):
            assert place in lines
            assert at <= lines.line(place) <= at + row.count("\n")
        at += row.count("\n") + 2


def test_a_number_with_too_many_digits_is_a_mistake_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "corpora.toml"
    file.write_text(f"[product]\nname = {'9' * 5000}\n")
    with pytest.raises(ConfigurationError, match="this is not TOML"):
        load_catalogue(file, Kinds())
