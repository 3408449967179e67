"""Which release a page of documentation is for, by its address: `/en/2.3.x/`, `/stable/`, `?version=2.3`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from core.domain import Product
from core.query.releases.resolve import lookup
from core.query.releases.spellings import BRANCH_WORDS, LATEST_WORDS, spellings

LONGEST = 2_000
"""Characters of an address that are read."""
MOST_PARTS = 8
"""Parts of a path that are looked at: a release stands near its beginning."""
_NAMED_BY = ("version", "release", "ver")
"""Parameters that name a release."""
_ENDS = frozenset(
    """api blog change changelog changelogs changes history migration news post posts release-notes releases
    releasenotes upgrade upgrading whatsnew whats-new""".split()  # noqa: SIM905
)
"""Parts after which a release is what a page tells of, not what it is for."""
_FILE = re.compile(r"\.(?:html?|php|aspx?|md|txt)$", re.IGNORECASE)
_PREFIX = re.compile(r"^(?:release|version|branch|rel|ver|tag)s?[-_.]?(?=v?\d)", re.IGNORECASE)
_DASHED = re.compile(r"^v?\d+(?:[-_]\d+)+(?:[-_.][xX])?$")
_VERSION = re.compile(r"^v?\d+\.\d[\w.+-]*$|^v\d+$", re.IGNORECASE)
_HOST = re.compile(r"^(?:v\d+(?:[-.]\d+)*|\d+(?:-\d+)+)$", re.IGNORECASE)
_WORDS = frozenset((*LATEST_WORDS, *BRANCH_WORDS))
_BRANCHES = frozenset(("main", "master", "dev", "develop", "nightly", "trunk", "unstable"))
"""Words that name a branch and nothing else; `testing` and `next` are titles of pages, too."""


@dataclass(frozen=True, slots=True)
class Addressed:
    """The release that an address names; what looks like one and is none of the product's is `unknown`."""

    release: str = ""
    unknown: str = ""


def release_of_address(address: str, product: Product) -> Addressed:
    """Return the release that a page's address names: in a parameter, its path or its host, in this order.

    What stands first counts. An address that names no release has neither.
    """
    if not product.releases:
        return Addressed()
    for part in _parts(address):
        if known := _looked_up(part, product):
            return Addressed(known)
        if _VERSION.match(part) or part.lower() in _BRANCHES:
            return Addressed("", part)
    return Addressed()


def _parts(address: str) -> Iterator[str]:
    """Yield what may name a release."""
    try:
        parsed = urlsplit(address[:LONGEST])
        host = parsed.hostname or ""
    except ValueError:
        return
    given = dict(parse_qsl(parsed.query, max_num_fields=50)) if parsed.query.count("&") < 50 else {}
    yield from (given[name].strip() for name in _NAMED_BY if given.get(name))
    yield from _of_path(parsed.path)
    if parsed.fragment.startswith(("/", "!/")):  # a site of one page keeps its path there
        yield from _of_path(parsed.fragment.lstrip("!"))
    first = host.partition(".")[0]
    if _HOST.match(first) and not host.replace(".", "").isdigit():
        yield first


def _of_path(path: str) -> Iterator[str]:
    parts = [unquote(part).strip() for part in path.split("/") if part]
    for part in parts[:MOST_PARTS]:
        if part.lower() in _ENDS:
            return
        if not _FILE.search(part):
            yield part


def _looked_up(part: str, product: Product) -> str:
    """Return the release of one part of an address; a number alone is one only where it names a release."""
    bare = _PREFIX.sub("", spellings(product).glued.sub("", _unnamed(part, product)))
    if _DASHED.match(bare):
        bare = re.sub(r"[-_]", ".", bare)
    is_version = bool(re.match(r"v?\d", bare, re.IGNORECASE))
    if not (is_version or bare.lower() in _WORDS or _is_literal(bare, product)):
        return ""
    return lookup(bare, product)


def _unnamed(part: str, product: Product) -> str:
    """Return a part without the product's name before a number: `flask-2.3` is `2.3`."""
    for name in (product.name, *product.aliases):
        if name and part.lower().startswith(name.lower()):
            rest = part[len(name) :].lstrip("-_. ")
            if re.match(r"v?\d", rest, re.IGNORECASE):
                return rest
    return part


def _is_literal(part: str, product: Product) -> bool:
    """Return True if a part is a release's own name, or one of its aliases, in any spelling."""
    plain = part.lower().replace("_", "-").replace(" ", "-")
    names = (name for one in product.releases for name in (one.name, *one.aliases))
    return any(plain == name.lower().replace("_", "-").replace(" ", "-") for name in names)
