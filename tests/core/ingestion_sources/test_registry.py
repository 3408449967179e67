from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import core.ingestion.sources as registry
from core.catalogue import SourceOptions, SourceSpec, load_catalogue
from core.catalogue.tables import SourceTable
from core.catalogue.toml_file import keys_of
from core.domain import content_hash
from core.errors import ConfigurationError
from core.ingestion.sources import Kinds
from core.ingestion.sources.website.source import WebsiteSource
from core.settings import Settings
from tests.fake_workers import FakeWorkers


def test_the_folder_is_the_registry():
    kinds = Kinds()
    folder = Path(registry.__file__).parent
    assert list(kinds) == sorted(p.stem for p in folder.glob("[a-z]*") if p.suffix == ".py" or p.is_dir())
    assert {"folder", "git", "reader", "sdist"} <= set(kinds)
    for kind, options in kinds.items():
        assert issubclass(options, SourceOptions)
        assert not set(keys_of(options)) & set(keys_of(SourceTable)), kind
    with pytest.raises(KeyError):
        kinds["_files"]


def test_options_cost_no_library_that_only_reading_needs():
    program = (
        "import sys; from core.ingestion.sources import Kinds; dict(Kinds());"
        "print([m for m in ('pypi_simple', 'requests', 'llama_index', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


TWINS = {
    "other limits": ('kind = "website"\nstart = ["https://e.org/"]\n', "max_pages = 5\n", " [max_pages = 5]"),
    "another second start": (
        'kind = "website"\n',
        'start = ["https://e.org/", "https://e.org/b/"]\n',
        ' [start = ["https://e.org/", "https://e.org/b/"]]',
    ),
    "other labels": ('kind = "github"\nrepository = "a/b"\n', 'labels = ["x"]\n', ' [labels = ["x"]]'),
    "other channels": ('kind = "history"\npath = "e.zip"\n', 'channels = ["x"]\n', ' [channels = ["x"]]'),
}
FIRST = {"another second start": 'start = ["https://e.org/", "https://e.org/a/"]\n'}


@pytest.mark.parametrize("case", TWINS)
def test_two_sources_of_one_place_have_names_of_their_own(tmp_path, case):
    common, other, suffix = TWINS[case]
    tables = (f"[[release.source]]\n{common}{own}" for own in (FIRST.get(case, ""), other))
    specs = _read(tmp_path, "".join(tables))
    names = [registry.open_source(spec, Settings(home=tmp_path), FakeWorkers()).name for spec in specs]
    assert names[0] != names[1] and names[1].endswith(suffix)
    alone = _read(tmp_path, f"[[release.source]]\n{common}{other}")
    name = registry.open_source(alone[0], Settings(home=tmp_path), FakeWorkers()).name
    assert name == names[1].removesuffix(suffix), "a source without a twin keeps its name"


def test_twins_on_a_website_keep_copies_apart(tmp_path):
    tables = '[[release.source]]\nkind = "website"\nstart = ["https://e.org/"]\n'
    specs = _read(tmp_path, f"{tables}{tables}max_pages = 5\n")
    one, other = (registry.open_source(spec, Settings(home=tmp_path), FakeWorkers()) for spec in specs)
    assert isinstance(one, WebsiteSource) and isinstance(other, WebsiteSource)
    assert one._kept != other._kept


def test_twins_with_other_patterns_keep_the_copies_that_they_have(tmp_path):
    tables = '[[release.source]]\nkind = "website"\nstart = ["https://e.org/"]\n'
    specs = _read(tmp_path, f'{tables}include = ["a/**"]\n{tables}include = ["b/**"]\n')
    kept = [WebsiteSource(spec, tmp_path, FakeWorkers())._kept.name for spec in specs]
    assert kept == [content_hash("https://e.org/", f"{name}/**")[:16] for name in "ab"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('kind = "sdist"\npackage = "x"\nversion = "1"\npath = "docs"\n', ("docs", "/docs/")),
        ('kind = "git"\nrepository = "https://a:one@e.org/x"\n', ("one", "two")),
        ('kind = "website"\nstart = ["https://e.org/"]\n', ("org/", "org#top")),
        ('kind = "github"\nrepository = "a/b"\napi = "https://a:one@e.org"\n', ("one", "two")),
    ],
)
def test_one_place_that_is_written_in_two_ways_is_one_source(tmp_path, one, other):
    with pytest.raises(ConfigurationError, match="the same source stands on line"):
        _read(tmp_path, f"[[release.source]]\n{one}[[release.source]]\n{one.replace(*other)}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('kind = "github"\nrepository = "a/b"\n', 'api = "https://a:secret@e.org"\n'),
        ('kind = "website"\nstart = ["https://a:secret@e.org/"]\n', "max_pages = 5\n"),
        ('kind = "git"\nrepository = "https://a:secret@e.org/x"\n', 'path = "docs"\n'),
    ],
)
def test_no_name_has_a_password(tmp_path, one, other):
    specs = _read(tmp_path, f"[[release.source]]\n{one}[[release.source]]\n{one}{other}")
    names = {registry.open_source(spec, Settings(home=tmp_path), FakeWorkers()).name for spec in specs}
    assert len(names) == 2 and not [name for name in names if "secret" in name]


def _read(folder: Path, tables: str) -> tuple[SourceSpec, ...]:
    file = folder / "corpora.toml"
    file.write_text(f'[product]\nname = "P"\n\n[[release]]\nname = "1.0"\n{tables}')
    return load_catalogue(file, Kinds()).sources
