"""What somebody writes about where documentation is, turned into the lines of a source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from core.catalogue.toml_file import quoted
from core.ingestion.sources._public import NotPublic, public_addresses

WHERE = """
Where is the documentation? Write for each release one of
  https://docs.example.org/2.0/        the address of its first page
  ../kettle/docs                       a folder on this machine
  manual.pdf                           a PDF
  https://git.example.org/kettle.git@v2.0:docs    a git repository, a tag or branch, and the folder in it
  kettle==2.0.1:docs                   a source distribution of the package index, and the folder in it
"""
_GIT = re.compile(
    r"(?=.*\Z)(?P<repository>(?:git@|ssh://|https?://|/|\.|~/).*?(?:\.git)?)@(?P<ref>[\w./-]+)(?::(?P<path>.+))?"
)
_OWN = re.compile(r"(?P<repository>[^@]+)@(?P<ref>[\w./-]+)(?::(?P<path>.+))?")
"""A repository in this folder, without `./` before it."""
_NEEDS_REF = "needs a tag or a branch: {0}@v2.0, or {0}@v2.0:docs for a folder."
_WEB = ("http://", "https://")
_PACKAGE = re.compile(r"(?P<package>[A-Za-z0-9][\w.-]*)==(?P<version>[^\s:]+)(?::(?P<path>.+))?")


PRIVATE = "private = true"
"""The line of a website without which no address of the own network is read."""


class Unclear(Exception):
    """Say why it cannot be told where the documentation is."""


def located(where: str, link: str = "") -> str:
    """Return the lines of a `[[release.source]]`; `link` is where its pages are published.

    Paths are made absolute, for the file they go into may lie elsewhere. Raises Unclear.
    """
    where = where.strip()
    if package := _PACKAGE.fullmatch(where):
        kind, values = "sdist", package.groupdict()
    elif (git := _GIT.fullmatch(where)) and _is_git(where):
        kind, values = "git", git.groupdict()
        if git["repository"].startswith(("/", ".", "~")):
            values["repository"] = str(_there(git["repository"]))
    elif (git := _OWN.fullmatch(where)) and Path(git["repository"]).is_dir() and _is_git(where):
        kind, values = "git", git.groupdict() | {"repository": str(_there(git["repository"]))}
    elif where.endswith(".git") and where.startswith((*_WEB, "ssh://", "git@")):
        raise Unclear(f"{where} {_NEEDS_REF.format(where)}")
    elif where.startswith(_WEB):
        own = f"{PRIVATE}\n" if _is_on_own_network(where) else ""
        return f'kind = "website"\nstart = [{quoted(where)}]\n{own}'
    else:
        kind, values = _on_disk(where)
    is_template = link.startswith(_WEB) and ("{page}" in link or "{path}" in link)
    if link and kind != "pdf" and not is_template:
        told = "write {page} where the path of a page stands, such as https://docs.example.org/{page}/."
        raise Unclear(f"{link} leads to no page of its own: {told}")
    lines = [f"{key} = {quoted(value)}" for key, value in values.items() if value]
    return "\n".join([f'kind = "{kind}"', *lines, *([f"url = {quoted(link)}"] if link else [])]) + "\n"


def private_word(docs: Mapping[str, str]) -> list[str]:
    """Say of which releases (names, with the lines of their sources) a website is on the own network."""
    own = ", ".join(release for release, lines in docs.items() if PRIVATE in lines)
    said = (
        f"The website of {own} is on your own network: `{PRIVATE}` in corpora.toml lets the bot read it. "
        f"Take it out if that is not meant."
    )
    return [said] if own else []


def linkless_word(docs: Mapping[str, str]) -> list[str]:
    """Say of which releases (names, with the lines of their sources) answers have no links to the pages."""
    kinds = ('kind = "folder"', 'kind = "sdist"', 'kind = "pdf"')
    own = ", ".join(
        name for name, lines in docs.items() if lines.startswith(kinds) and "\nurl = " not in lines
    )
    said = (
        f"Answers name the pages of {own} without a link. "
        f'To link them, add `url = "https://docs.example.org/{{page}}/"` to the source in corpora.toml.'
    )
    return [said] if own else []


def _is_on_own_network(address: str) -> bool:
    """Return True if the host of a website has an address of the own network; False where nobody knows."""
    try:
        parts = urlsplit(address)
        public_addresses(parts.hostname or "", parts.port or 443)
    except NotPublic:
        return True
    except (OSError, ValueError):  # indexing says what is wrong with it
        return False
    return False


def _is_git(where: str) -> bool:
    """Return True unless what has an @ in it is a page of a website, or a folder or file of that name."""
    if where.startswith("http"):
        return ".git@" in where
    return not Path(where).expanduser().exists()


def _there(where: str) -> Path:
    path = Path(where).expanduser().absolute()
    if not path.exists():
        raise Unclear(f"There is no {path}; write an address, or a folder or file that is there.")
    return path


def _on_disk(where: str) -> tuple[str, dict[str, str | None]]:
    path = _there(where)
    if all((path / part).exists() for part in ("HEAD", "objects", "refs")):
        raise Unclear(f"{where} is a repository; it {_NEEDS_REF.format(where)}")
    if path.is_dir():
        return "folder", {"path": str(path)}
    if path.suffix.lower() == ".pdf":
        return "pdf", {"path": str(path)}
    raise Unclear(f"{path} is neither a PDF nor a folder; name the folder it is in.")
