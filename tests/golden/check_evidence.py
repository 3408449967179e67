"""Check every golden line against the documentation that it claims to speak for.

    python tests/golden/check_evidence.py FOLDER [--golden FILE ...] [--corpora FILE]

FOLDER holds the source distributions (`pip download --no-binary :all: --no-deps flask==3.1.0 -d FOLDER`),
packed. `flask.jsonl` is read with `flask.corpora.toml` beside it, or else with the project's own
`corpora.toml`. Each problem is one line on stdout; the exit status is 1 where there is any.
"""

from __future__ import annotations

import argparse
import ast
import json
import posixpath
import re
import sys
import tarfile
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MAX_WORDS = 12
"""Words of one evidence string; more would be a copy of the documentation."""

# Stands where a role's text begins or ends: how a role is shown differs from renderer to renderer
# (`open_resource`, `open_resource()`, `Flask.open_resource`), so evidence must not run across it.
EDGE = "\x00"
_ROLE = re.compile(r":[\w:+.-]+:`([^`]*)`", re.DOTALL)
_TITLED = re.compile(r"^(.*?)\s*<[^<>]+>$", re.DOTALL)
_INCLUDE = re.compile(r"^\.\. include:: *(\S+)$", re.MULTILINE)
_MODULE = re.compile(r"^ *\.\. (?:currentmodule|module|py:module|py:currentmodule):: *(\S+)")
_AUTO = re.compile(r"^( *)\.\. auto(class|exception|function|data|method|attribute|module):: *([\w.]+)")
_OPTION = re.compile(r"^ +:([\w-]+): *(.*)$")


def plain(text: str) -> str:
    """Take markup, case and line breaks away, so that reST and Markdown of it compare equal."""

    def role(match: re.Match[str]) -> str:
        inner = match.group(1)
        titled = _TITLED.match(inner)
        shown = titled.group(1) if titled else inner.rpartition(".")[2] if inner[:1] == "~" else inner
        return f"{EDGE}{shown.lstrip('!')}{EDGE}"

    text = _ROLE.sub(role, text)
    text = re.sub(r"[`*|\\]|_+(?=\s|$)", "", text)
    return re.sub(r"\s+", " ", text).strip().lower()


class Sdist:
    """The documents of one release, each with what it includes and the docstrings it pulls in."""

    def __init__(self, archive: Path, folder: str, include: Iterable[str]) -> None:
        self.files: dict[str, str] = {}
        with tarfile.open(archive) as tar:
            for member in tar:
                name = member.name.partition("/")[2]
                handle = tar.extractfile(member) if name.endswith((".rst", ".md", ".py", ".txt")) else None
                if handle:
                    self.files[name] = handle.read().decode("utf-8", "replace")
        self.nodes: dict[str, list[ast.AST]] = {}
        for name, text in self.files.items():
            if name.endswith(".py") and not name.startswith(("tests/", "docs/", "examples/")):
                for node in ast.walk(ast.parse(text)):
                    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                        self.nodes.setdefault(node.name, []).append(node)
        prefix = folder.strip("/") + "/"
        patterns = [pattern.replace("**/", "*") for pattern in include]
        self.pages = {
            name.removeprefix(prefix): plain(self._text(name))
            for name in self.files
            if name.startswith(prefix) and any(fnmatch(name.removeprefix(prefix), p) for p in patterns)
        }

    def _text(self, name: str) -> str:
        def included(match: re.Match[str]) -> str:
            target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match.group(1)))
            return self._text(target) if target in self.files and target != name else ""

        text = _INCLUDE.sub(included, self.files[name])
        return "\n\n".join([text, *self._docstrings(text)])

    def _docstrings(self, text: str) -> Iterator[str]:
        lines = text.split("\n")
        for number, line in enumerate(lines):
            match = _AUTO.match(line)
            if not match:
                continue
            options: dict[str, str] = {}
            for following in lines[number + 1 :]:
                option = _OPTION.match(following)
                if not option:
                    break
                options[option.group(1)] = option.group(2)
            *owner, simple = match.group(3).split(".")
            for node in self.nodes.get(simple, []):
                if match.group(2) == "method" and owner and not self._belongs(node, owner[-1]):
                    continue
                yield from self._of(node, options)

    def _belongs(self, node: ast.AST, owner: str) -> bool:
        classes = [c for c in self.nodes.get(owner, []) if isinstance(c, ast.ClassDef)]
        return any(node in c.body for c in classes)

    def _of(self, node: ast.AST, options: dict[str, str]) -> Iterator[str]:
        yield _docstring(node)
        if not isinstance(node, ast.ClassDef):
            return
        wanted = {name.strip() for name in options.get("members", "").split(",")} - {""}
        # "#:" comments document attributes as well; ast drops them, so evidence that stands only there is
        # not accepted here although Sphinx would show it.
        for member, following in zip(node.body, [*node.body[1:], None], strict=True):
            name = _name(member)
            public = name == "__init__" or name[:1] not in ("", "_")
            if "members" in options and public and (not wanted or name in wanted):
                yield f"{name}: {_docstring(member) or _attribute_docstring(member, following)}"
        if "inherited-members" in options:
            for base in node.bases:
                simple = ast.unparse(base).split("[")[0].rpartition(".")[2]
                for parent in self.nodes.get(simple, []):
                    if parent is not node:
                        yield from self._of(parent, options)


def _docstring(node: ast.AST) -> str:
    if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        return ast.get_docstring(node) or ""
    return ""


def _name(node: ast.AST) -> str:
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.target)
    return ast.unparse(node.targets[0]) if isinstance(node, ast.Assign) else getattr(node, "name", "")


def _attribute_docstring(node: ast.AST, following: ast.AST | None) -> str:
    if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(following, ast.Expr):
        value = following.value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value.value
    return ""


def archive_of(folder: Path, package: str, version: str) -> Path:
    """Find the archive of a source distribution, however its name spells the package."""
    wanted = f"{package}-{version}.tar.gz".lower().replace("_", "-")
    for path in folder.iterdir():
        if path.name.lower().replace("_", "-") == wanted:
            return path
    raise SystemExit(f"{wanted} is not in {folder}; fetch it with pip download --no-binary :all: --no-deps.")


def load_releases(folder: Path, corpora: Path) -> dict[str, Sdist]:
    """Read the documents of every release that the configuration names."""
    config = tomllib.loads(corpora.read_text("utf-8"))
    found = {}
    for release in config["release"]:
        source = release["source"][0]
        archive = archive_of(folder, source["package"], source["version"])
        found[release["name"]] = Sdist(archive, source["path"], source["include"])
    return found


def alternatives(value: str | list[str]) -> list[str]:
    """Split `a||b`, or take a list as it is."""
    return value.split("||") if isinstance(value, str) else list(value)


def says(page: str, text: str) -> bool:
    """Return True if a page holds a text, not as part of a longer word."""
    wanted = plain(text)
    before = r"(?<!\w)" if wanted[:1].isalnum() else ""
    after = r"(?!\w)" if wanted[-1:].isalnum() else ""
    return re.search(before + re.escape(wanted) + after, page) is not None


def evidence_problems(pages: dict[str, str], gold: str | list[str], evidence: list[str]) -> Iterator[str]:
    """Tell which evidence is missing from which gold page; every gold page must hold all of it."""
    for path in alternatives(gold):
        if path not in pages:
            yield f"there is no page {path}"
            continue
        for item in evidence:
            options = [option.strip() for option in item.split("||")]
            if not any(says(pages[path], option) for option in options):
                yield f"{path} does not say {item!r}"
            yield from (f"{option!r} is too long" for option in options if len(option.split()) > MAX_WORDS)


def problems(line: dict[str, Any], releases: dict[str, Sdist]) -> Iterator[str]:
    """Tell everything that is wrong with one line."""
    if line["type"] == "out_of_scope":
        for name, release in releases.items():
            for path, page in release.pages.items():
                if all(any(plain(o) in page for o in term.split("||")) for term in line["absent"]):
                    yield f"{name} {path} holds all of {line['absent']}"
        return
    if line["type"] == "unknown_release":
        return
    yield from evidence_problems(releases[line["release"]].pages, line["gold_file"], line["evidence"])
    for name, part in line.get("by_release", {}).items():
        for problem in evidence_problems(releases[name].pages, part["gold_file"], part["evidence"]):
            yield f"{name}: {problem}"
    for name in line.get("not_in", []):
        for path in alternatives(line["gold_file"]):
            page = releases[name].pages.get(path, "")
            if all(any(says(page, o) for o in item.split("||")) for item in line["evidence"]):
                yield f"{name} {path} says the same, so the answer does not depend on the release"


def main() -> int:
    """Check the golden files named on the command line, by default both sets beside this script."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--golden", type=Path, nargs="*", default=[HERE / "flask.jsonl", HERE / "click.jsonl"]
    )
    parser.add_argument("--corpora", type=Path)
    args = parser.parse_args()
    failed = 0
    for golden in args.golden:
        own = golden.with_suffix(".corpora.toml")
        corpora = args.corpora or (own if own.exists() else HERE.parents[1] / "corpora.toml")
        releases = load_releases(args.folder, corpora)
        lines = [json.loads(text) for text in golden.read_text("utf-8").splitlines()]
        for line in lines:
            for problem in problems(line, releases):
                failed += 1
                print(f"{golden.name} {line['id']}: {problem}")
        print(
            f"{golden.name}: {len(lines)} lines checked against releases {', '.join(releases)}",
            file=sys.stderr,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
