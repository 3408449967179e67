"""What people read is plain English: banned phrases do not come back (CONTRIBUTING.md, Voice)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
BANNED = ROOT / "tests" / "banned_phrases.txt"
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "bot/platforms/web/playground/*.html")
SCRIPTS = ("bot/platforms/web/playground/*.js", "bot/platforms/web/widget/page/*.js")
CODE = ("bot", "core", "storage", "evaluation")
NOT_READ = ("core/prompts/", "core/query/", "storage/migrations/")
"""What a model or nobody reads: prompts, words that questions are recognised by, the database's past."""
QUOTED = re.compile(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`")
Said = tuple[str, int, str]


def phrases() -> list[str]:
    """Return the banned phrases: one a line, matched as whole words, whatever their case."""
    lines = BANNED.read_text(encoding="utf-8").splitlines()
    return [line.split(" -> ")[0] for line in lines if line and not line.startswith("#")]


def found(text: str) -> list[str]:
    """Return the banned phrases of a text, which may break lines inside of them."""
    folded = " ".join(text.split())
    return [m[0] for m in _pattern().finditer(folded)]


@cache
def _pattern() -> re.Pattern[str]:
    every = "|".join(re.escape(phrase) for phrase in phrases())
    return re.compile(rf"(?<!\w)(?:{every})(?!\w)", re.I)


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the strings of a module with their lines; docstrings are left out, values stand as {}."""
    tree = ast.parse(text)
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            inside.add(id(node.value))
        elif isinstance(node, ast.JoinedStr):
            inside.update(id(part) for part in node.values)
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield node.lineno, node.value


def said() -> Iterator[Said]:
    """Yield what people read, with its file and line."""
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if not name.startswith(NOT_READ):
                yield from ((name, line, text) for line, text in sentences(path.read_text(encoding="utf-8")))
    for path in sorted(path for pattern in SCRIPTS for path in ROOT.glob(pattern)):
        text = path.read_text(encoding="utf-8")
        for string in QUOTED.finditer(text):
            yield path.relative_to(ROOT).as_posix(), text.count("\n", 0, string.start()) + 1, string[0]
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            yield path.relative_to(ROOT).as_posix(), 1, path.read_text(encoding="utf-8")


def test_nobody_reads_a_riddle() -> None:
    riddles = [f"{name}:{line}: {phrase}" for name, line, text in said() for phrase in found(text)]
    assert riddles == [], "say it plainly, as tests/banned_phrases.txt suggests"


@pytest.mark.parametrize("phrase", phrases())
def test_each_banned_phrase_is_found_in_a_message_a_help_text_a_script_and_a_page(phrase: str) -> None:
    module = f'"""{phrase}."""\nSAID = N_("Well: {phrase}, {{name}}.")\nHELP = f"{phrase}: {{SAID}}"\n'
    assert [found(text) for _, text in sentences(module)] == [[phrase], [phrase]], "a docstring is left out"
    strings = [string[0] for string in QUOTED.finditer(f'h("p", {{}}, "So {phrase}.")')]
    assert [phrase] in [found(text) for text in strings]
    assert found(f"<p>See\n{phrase.replace(' ', chr(10))}</p>") == [phrase]
