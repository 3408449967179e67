"""Check every line of `answers.jsonl`, or of a file like it, against the section that it names.

    python -m tests.golden.check_answers FOLDER [--file FILE]

FOLDER holds the source distributions, packed (see README.md). Every `must` has to stand in the sections of
its line taken together, nothing of `must_not` in any of them. Each problem is one line; status 1 if any.
"""

from __future__ import annotations

import argparse
import posixpath
import re
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

from evaluation.answers.expected import Expected, Said, read_expected, squeezed, words_of
from evaluation.gold import plain
from tests.golden.check_evidence import Sdist, archive_of

HERE = Path(__file__).parent
CORPORA = {
    "flask": HERE.parents[1] / "corpora.toml",
    "click": HERE / "click.corpora.toml",
    "black": HERE / "black.corpora.toml",
    "pip": HERE / "pip.corpora.toml",
    "celery": HERE / "celery.corpora.toml",
    "scrapy": HERE / "scrapy.corpora.toml",
    "pytest": HERE / "pytest.corpora.toml",
    "aiohttp": HERE / "aiohttp.corpora.toml",
}
_ROLE = re.compile(r":[\w:+.-]+:`([^`]*)`", re.DOTALL)
_UNDERLINE = re.compile(r"^([=\-~`^\"'#*+.])\1{2,}\s*$")
_OBJECT = re.compile(r"^\.\. (?:py:)?(?:data|function|attribute|method):: *([\w.]+)")


class Pages:
    """The pages of one release as their authors wrote them, included files in place."""

    def __init__(self, folder: Path, sources: list[dict[str, object]]) -> None:
        self.pages: dict[str, str] = {}
        self.docstrings: dict[str, str] = {}
        for source in sources:
            archive = archive_of(folder, str(source["package"]), str(source["version"]))
            files = _files(archive)
            prefix = "" if source["path"] == "." else f"{source['path']}/"
            patterns = [str(one).replace("**/", "*") for one in source["include"]]  # type: ignore[attr-defined]
            for name in files:
                inner = name.removeprefix(prefix)
                if name.startswith(prefix) and any(fnmatch(inner, pattern) for pattern in patterns):
                    self.pages[inner] = _included(files, name)
            if any(name.endswith(".rst") for name in self.pages):
                pulled = Sdist(archive, str(source["path"]), source["include"])  # type: ignore[arg-type]
                self.docstrings |= {
                    name: text for name, text in pulled.pages.items() if "api" in name or "reference" in name
                }

    def section(self, page: str, heading: str) -> str | None:
        """Return the raw text of a section with its heading, None where there is none."""
        text = self.pages.get(page)
        if text is None or not heading:
            return None if text is None else f"{text}\n{self.docstrings.get(page, '')}"
        found = [one for level, title, one in _sections(page, text) if _same(title, heading)]
        if not found and page in self.docstrings and heading in self.docstrings[page]:
            return self.docstrings[page]  # a documented object of the API
        return "\n\n".join(found) or None


def _files(archive: Path) -> dict[str, str]:
    found = {}
    with tarfile.open(archive) as tar:
        for member in tar:
            name = member.name.partition("/")[2]
            handle = tar.extractfile(member) if name.endswith((".rst", ".md")) else None
            if handle:
                found[name] = handle.read().decode("utf-8", "replace")
    return found


def _included(files: dict[str, str], name: str) -> str:
    def put(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(name), match[1]))
        return files.get(target, "") if target != name else ""

    return re.sub(r"^\.\. include:: *(\S+)$", put, files[name], flags=re.MULTILINE)


def _sections(page: str, text: str) -> Iterator[tuple[int, str, str]]:
    lines = text.split("\n")
    heads = list(_markdown_heads(lines) if page.endswith(".md") else _rest_heads(lines))
    for place, (number, level, title) in enumerate(heads):
        later = (n for n, deep, _ in heads[place + 1 :] if deep <= level)
        yield level, title, "\n".join(lines[number : next(later, len(lines))])
    for number, line in enumerate(lines):  # an object of the API is a section of its own
        if match := _OBJECT.match(line):
            end = next(
                (n for n in range(number + 1, len(lines)) if lines[n].strip() and lines[n][:1] != " "),
                len(lines),
            )
            yield 9, match[1], "\n".join(lines[number:end])


def _markdown_heads(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    fenced = False
    for number, line in enumerate(lines):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and (match := re.match(r"(#{1,6}) +(.*)", line)):
            yield number, len(match[1]), match[2]


def _rest_heads(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    styles: list[str] = []
    for number in range(1, len(lines)):
        title, below = lines[number - 1], _UNDERLINE.match(lines[number])
        if below and title.strip() and title[:1] != " " and not _UNDERLINE.match(title):
            if len(lines[number].rstrip()) < len(title.strip()):
                continue
            if below[1] not in styles:
                styles.append(below[1])
            yield number - 1, styles.index(below[1]), title.strip()


def _same(title: str, wanted: str) -> bool:
    return _shown(title) == _shown(wanted)


def _shown(text: str) -> str:
    return plain(_ROLE.sub(lambda m: m[1].lstrip("~!").partition(" <")[0], text).replace("_", ""))


def _said(raw: str) -> Said:
    def role(match: re.Match[str]) -> str:
        inner = match[1]
        titled = re.match(r"(.*?)\s*<[^<>]+>$", inner, re.DOTALL)
        return titled[1] if titled else inner.rpartition(".")[2] if inner[:1] == "~" else inner.lstrip("!.")

    shown = re.sub(r"(?<=\w)`_+", "", _ROLE.sub(role, raw))
    return Said(words_of(shown), squeezed(raw))


def problems(line: Expected, releases: dict[str, Pages]) -> Iterator[str]:
    """Tell everything that is wrong with one line."""
    if not line.answerable:
        return
    if line.release not in releases:
        yield f"there is no release {line.release}"
        return
    texts = []
    for section in line.sections:
        text = releases[line.release].section(section.page, section.heading)
        if text is None:
            yield f"there is no section {section.heading!r} in {section.page} of {line.release}"
        else:
            texts.append(text)
    together = _said("\n\n".join(texts))
    for entry in line.must:
        if not together.holds(entry):
            yield f"{[s.page for s in line.sections]} of {line.release} does not hold {entry!r}"
    for entry in line.must_not:
        if _said(texts[0] if texts else "").holds(entry):
            yield f"the section itself holds {entry!r}, which the answer must not"


def main() -> int:
    """Check the file named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--file", type=Path, default=HERE / "answers.jsonl")
    args = parser.parse_args()
    releases: dict[str, dict[str, Pages]] = {}
    failed = 0
    lines = read_expected(args.file)
    for line in lines:
        if line.product not in releases:
            config = tomllib.loads(CORPORA[line.product].read_text("utf-8"))
            releases[line.product] = {r["name"]: Pages(args.folder, r["source"]) for r in config["release"]}
        for problem in problems(line, releases[line.product]):
            failed += 1
            print(f"{line.id}: {problem}")
    print(f"{args.file.name}: {len(lines)} lines checked, {failed} problems", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
