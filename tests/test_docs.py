"""What the documents say of the code is true: links lead to files, names are defined where they say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
ARCHITECTURE, GLOSSARY = ROOT / "docs" / "architecture.md", ROOT / "docs" / "glossary.md"
ENTRY = re.compile(
    r"^\*\*(?P<term>[^*]+)\*\*: (?P<text>.+?) \[`(?P<name>[\w.]+)`\]\((?P<file>[^)]+)\)$", re.S
)
DECISIONS = ROOT / "docs" / "decisions"
DECISION = re.compile(
    r"^## (?P<id>(?P<topic>[A-Z])-\d{2,3}) (?P<title>.+)\n\n"
    r"\*20\d\d-\d\d(-\d\d)?, (in force|replaced by [A-Z]-\d\d)\.\*\n\n\S",
    re.M,
)


def links_of(page: Path) -> Iterator[str]:
    """Yield where the links of a page lead on this machine, without anchors; code is left out."""
    text = re.sub(r"```.*?```|`[^`\n]*`(?!\])", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(<?([^)\s>]+)", text):
        if not re.match(r"[a-z]+:|#", target):
            yield target.partition("#")[0]


def defined_in(file: Path) -> set[str]:
    """Return the names a module defines or hands on, those of a class under its name: `Answer.route`."""
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        found |= _names(node)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for inner in node.body for name in _names(inner)}
    return found


def _names(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def tree_of(page: Path) -> dict[str, set[str]]:
    """Return the folders of the tree that a page shows: each room with its packages."""
    shown: dict[str, set[str]] = {}
    block = re.search(r"```\n(bot/.*?)```", page.read_text(encoding="utf-8"), re.S)
    assert block, "the page shows no tree"
    for line in block[1].splitlines():
        name = line.split("/")[0].strip()
        if line.startswith(" "):
            shown[list(shown)[-1]].add(name)
        else:
            shown[name] = set()
    return shown


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_to_a_file(page: Path) -> None:
    gone = [target for target in links_of(page) if not (page.parent / target).exists()]
    assert not gone


def test_the_tree_of_the_architecture_is_that_of_the_code() -> None:
    rooms = ("bot", "core", "storage", "evaluation")
    there = {room: {p.parent.name for p in (ROOT / room).glob("*/__init__.py")} for room in rooms}
    assert tree_of(ARCHITECTURE) == there


def test_what_newcomers_look_for_stands_where_the_architecture_says() -> None:
    rows = re.findall(
        r"^\| ([^|]+\?) \| `([\w/]+)/` \| \[[^]]+\]\(\.\./([^)]+)\) \| (.+) \|$",
        ARCHITECTURE.read_text(encoding="utf-8"),
        re.M,
    )
    asked = " ".join(question for question, *_ in rows)
    for word in ("👎", "Mattermost", "ranked first", "I don't know"):
        assert word in asked
    for question, folder, file, answer in rows:
        name = re.search(r"`(\w+)`", answer)
        assert name and file.startswith(f"{folder}/"), question
        assert re.search(rf"\b{name[1]}\b", (ROOT / file).read_text(encoding="utf-8")), question


def test_the_readme_is_short_shows_the_rooms_and_leads_to_every_page() -> None:
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    assert text.count("\n") < 150
    assert set(tree_of(readme)) >= {"bot", "core", "storage", "evaluation"}
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
    assert pages <= set(links_of(readme))


def test_the_words_of_the_glossary_are_defined_where_it_says() -> None:
    entries = [part for part in GLOSSARY.read_text(encoding="utf-8").split("\n\n") if part.startswith("**")]
    read = [ENTRY.match(" ".join(entry.split("\n")).strip()) for entry in entries]
    assert len(read) >= 25
    assert all(read), [e for e, found in zip(entries, read, strict=True) if not found]
    strays = {
        found["term"]: found["name"]
        for found in read
        if found and found["name"] not in defined_in((GLOSSARY.parent / found["file"]).resolve())
    }
    assert not strays


def test_a_word_stands_in_the_glossary_once() -> None:
    terms = re.findall(r"^\*\*([^*]+)\*\*: ", GLOSSARY.read_text(encoding="utf-8"), re.M)
    assert len(terms) == len({term.lower() for term in terms})


def test_every_decision_has_an_id_of_its_own_a_date_and_a_status() -> None:
    ids: list[str] = []
    for page in sorted(DECISIONS.glob("*.md")):
        if page.name == "README.md":
            continue
        text = page.read_text(encoding="utf-8")
        found = list(DECISION.finditer(text))
        assert len(found) == text.count("\n## "), f"{page.name}: `## X-00 Title`, then `*date, in force.*`"
        assert len({entry["topic"] for entry in found}) == 1, f"{page.name} has ids of several topics"
        ids += [entry["id"] for entry in found]
    assert len(ids) > 100
    assert len(ids) == len(set(ids))


def test_the_index_of_decisions_is_complete() -> None:
    index = (DECISIONS / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^## \[[^]]+\]\(([\w.-]+)\)\n(.*?)(?=^## |\Z)", index, re.M | re.S))
    assert set(listed) == {page.name for page in DECISIONS.glob("*.md")} - {"README.md"}
    for name, part in listed.items():
        entries = DECISION.finditer((DECISIONS / name).read_text(encoding="utf-8"))
        assert re.findall(r"^- (.+)$", part, re.M) == [f"{e['id']} {e['title']}" for e in entries]


def test_a_name_that_moved_is_found_missing(tmp_path: Path) -> None:
    file = tmp_path / "values.py"
    file.write_text("Route = str\nclass Found:\n    near: int = 0\n    def confidence(self): ...\n")
    assert defined_in(file) == {"Route", "Found", "Found.near", "Found.confidence"}
    page = tmp_path / "page.md"
    page.write_text("[a](values.py#L2) `[b](code.py)` [c](gone.py) [d](https://x.example) ![e](<p.png>)")
    assert list(links_of(page)) == ["values.py", "gone.py", "p.png"]
