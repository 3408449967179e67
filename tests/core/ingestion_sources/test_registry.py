from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import core.ingestion.sources as registry
from core.catalogue import SourceOptions
from core.catalogue.tables import SourceTable
from core.catalogue.toml_file import keys_of
from core.ingestion.sources import Kinds


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
