"""The house stands as CONTRIBUTING.md says: doors, registries, sizes, documents."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from bot.commands.registry import table
from bot.ports import platforms
from core.settings import Settings

ROOT = Path(__file__).parent.parent
CODE = sorted(p for room in ("bot", "core", "storage", "evaluation") for p in (ROOT / room).rglob("*.py"))
COMMANDS = ROOT / "docs" / "command-line.md"
LONGEST = 330
"""Lines of a file."""
ONE_SUBJECT = {
    "bot/ports/chat.py",
    "core/corpora/manager.py",
    "core/memory/partitions/partition_index.py",
    "core/memory/scoring.py",
    "core/models/breaker.py",
    "core/models/completion.py",
    "core/models/pool.py",
    "core/pipeline/stages/quote.py",
}
"""Files that would be two of one subject, each of little use without the other (docs/decisions, P-22)."""
LONGEST_OF_ONE_SUBJECT = 450
SOURCES, FORMATS = "core/ingestion/sources", "core/ingestion/formats"
DOORS = {
    "slack_bolt": {"bot/platforms/slack/"},
    "slack_sdk": {"bot/platforms/slack/"},
    "discord": {"bot/platforms/discord/"},
    "aiohttp": {"bot/platforms/", f"{SOURCES}/website/"},
    "courlan": {f"{SOURCES}/website/links"},
    "defusedxml": {f"{SOURCES}/website/links", "evaluation/simulation/data"},
    "protego": {f"{SOURCES}/website/crawl"},
    "github": {f"{SOURCES}/github/api"},
    "pdfplumber": {f"{FORMATS}/pdf/"},
    "nbformat": {f"{FORMATS}/notebook"},
    "yaml": {"core/ingestion/front_matter", "core/ingestion/sites"},
    "apscheduler": {"bot/operations/scheduler"},
    "rich": {"bot/rendering/progress"},
    "click": {"bot/cli/arguments"},
    "bert_score": {"core/models/bertscore", "evaluation/metrics"},
    "prometheus_client": {"bot/app/metrics"},
    "ollama": {"core/models/ollama/"},
    "openai": {"core/models/openai/"},
    "tenacity": {"core/models/completion"},
    "jsonschema": {"core/models/completion"},
    "httpx": {
        *("core/generation/wikidata", "core/models/ollama/", "core/models/openai/", "core/models/re"),
        *("core/models/certificates", "storage/vectors/server"),
    },
    "sentence_transformers": {"core/models/embedding/encoder", "core/models/reranker"},
    "torch": {
        "core/models/embedding/encoder",
        "core/models/embedding/runs",
        "core/models/rebel",
        "core/models/reranker",
    },
    "transformers": {"core/models/embedding/encoder", "core/models/rebel"},
    "onnxruntime": {"core/models/embedding/encoder", "core/models/embedding/runs", "core/models/reranker"},
    "tokenizers": {"core/models/embedding/", "core/models/reranker"},
    "llama_index": {f"{SOURCES}/reader", "core/models/llama_index/", "core/pipeline/lent/"},
    "pypi_simple": {f"{SOURCES}/sdist/package_index"},
    "trafilatura": {f"{FORMATS}/html/"},
    "griffe": {"core/ingestion/autodoc"},
    "markdown_it": {f"{FORMATS}/markdown/"},
    "chromadb": {"storage/vectors/"},
    "tantivy": {"storage/corpora/bm25"},
    "alembic": {"storage/"},
    "sqlalchemy": {"storage/"},
    "scipy": {"core/learning/fit", "core/memory/question_graph"},
    "pydantic_settings": {"core/settings"},
}
MOST_MODULES = 14
"""Modules of a folder."""


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


def test_each_library_has_one_door() -> None:
    strays = defaultdict(list)
    for path in CODE:
        place = path.relative_to(ROOT).as_posix()
        for library in _imports(path) & DOORS.keys():
            if not place.startswith(tuple(DOORS[library])):
                strays[library].append(place)
    assert not strays


def test_what_catches_everything_says_why() -> None:
    broad = re.compile(r"^\s*except(?:\s+\(?(?:Base)?Exception\b[^:]*)?:(.*)$", re.MULTILINE)
    silent = [
        f"{path.relative_to(ROOT).as_posix()}: {found[0].strip()}"
        for path in CODE
        for found in broad.finditer(path.read_text(encoding="utf-8"))
        if not re.search(r"#.*\w+ \w+ \w+", re.sub(r"noqa: \w+", "", found[1]))
    ]
    assert not silent, "say on that line why nothing narrower will do"


def test_every_file_is_short_enough_to_be_about_one_thing() -> None:
    lengths = {p.relative_to(ROOT).as_posix(): p.read_text(encoding="utf-8").count("\n") for p in CODE}
    most = {place: LONGEST_OF_ONE_SUBJECT if place in ONE_SUBJECT else LONGEST for place in lengths}
    too_long = {place: lines for place, lines in lengths.items() if lines > most[place]}
    assert not too_long, "cut them where their subjects part"


def test_files_that_may_be_longer_are_longer() -> None:
    lengths = {place: (ROOT / place).read_text(encoding="utf-8").count("\n") for place in ONE_SUBJECT}
    assert {place: lines for place, lines in lengths.items() if lines <= LONGEST} == {}, "name them no more"


def test_nothing_heavy_is_imported_for_help() -> None:
    script = (
        "import sys, atexit; atexit.register(lambda: print(*sorted(sys.modules))); "
        "import bot.cli.main; bot.cli.main.main(['--help'])"
    )
    modules = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout.split()
    heavy = {"numpy", "torch", "chromadb", "discord", "slack_bolt", "pydantic", "sqlalchemy", "rich"}
    heavy |= {"babel", "core.domain"}
    assert "bot.commands.memory.show" in modules
    assert heavy.isdisjoint(modules)


def test_only_the_settings_and_the_doors_of_processes_read_the_environment() -> None:
    allowed = {
        "core/env_file.py",
        "core/settings.py",
        "bot/cli/main.py",
        "core/models/embedding/encoder.py",
        "core/models/ollama/__init__.py",
    }
    readers = {
        path.relative_to(ROOT).as_posix()
        for path in CODE
        if re.search(r"os\.environ|os\.getenv", path.read_text(encoding="utf-8"))
    }
    # git and workers get a cleaned environment handed on; TLS certificates are where the machine says
    others = {
        "core/ingestion/sources/git/source.py",
        "core/ingestion/sources/sdist/package_index.py",
        "core/ingestion/sources/github/api.py",
        "core/workers/process.py",
    }
    assert readers - allowed <= others


def test_every_platform_is_a_package_with_connect() -> None:
    folder = ROOT / "bot" / "platforms"
    doors = {p.parent.name for p in folder.glob("*/platform.py") if "\ndef connect(" in p.read_text("utf-8")}
    assert doors == {p.name for p in folder.iterdir() if p.name[0] != "_"} >= {"slack", "discord", "web"}


def test_every_platform_is_named_in_the_contract_that_keeps_them_apart() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    (apart,) = (contract for contract in linter["contracts"] if contract["type"] == "independence")
    assert apart["modules"] == [f"bot.platforms.{name}" for name in platforms.names()]


def test_no_folder_holds_more_modules_than_one_can_read() -> None:
    modules = Counter(p.parent.relative_to(ROOT).as_posix() for p in CODE if p.stem != "__init__")
    kept = {place: count for place, count in modules.items() if "versions" not in place}
    assert {place: count for place, count in kept.items() if count > MOST_MODULES} == {}
    assert {p.name for p in (ROOT / "bot").glob("*.py")} == {"__init__.py", "__main__.py"}
    assert {p.name for p in (ROOT / "core").glob("*.py")} == {
        *("__init__.py", "engine.py", "env_file.py", "errors.py", "settings.py")
    }


@pytest.mark.parametrize("command", ["serve", "index", "ask", "vote", "status", "why", "memory", "chat"])
def test_the_documents_list_every_command(command: str) -> None:
    assert f"`threadlore {command}" in COMMANDS.read_text(encoding="utf-8")


def test_the_documents_list_no_command_that_is_not_there() -> None:
    said = set(re.findall(r"`threadlore ([\w-]+)", COMMANDS.read_text(encoding="utf-8")))
    choices = {c.name.split(" ")[0] for c in table().commands if c.is_in("terminal")}
    assert said - {"status", "releases", "reindex"} <= choices
    assert choices <= said


def test_the_example_file_names_every_setting() -> None:
    said = set(re.findall(r"^#? ?([A-Z][A-Z_]+)=", (ROOT / ".env.example").read_text(encoding="utf-8"), re.M))
    names = set()
    for field in Settings.model_fields.values():
        choices = getattr(field.validation_alias, "choices", None)
        names.add(str(choices[0]) if choices else str(field.alias))
    assert said == names


def test_the_ci_script_calls_the_readmes_test_command() -> None:
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith("\nmake test")
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf-8")
