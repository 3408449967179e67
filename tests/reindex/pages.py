"""About sixty pages in a folder, a git repository and a website, changed by a seeded generator.

Every section tells the edition of its page, so that an answer tells from which corpus it is.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.core.ingestion_sources.site_server import Site, page
from tests.endurance.world import FEATURES
from tests.journeys.house import Kettle

RELEASE = "1.0"
NAMES = tuple(f"{kind} {feature}" for feature in FEATURES[:30] for kind in ("shared", "nightly"))
"""What the pages are about."""
PROPERTIES = ("limit", "timeout", "folder")
_TEXTS = {
    "limit": "The {name} holds at most {n} entries in {edition}. Set `{key}_limit` to change the limit.",
    "timeout": "In {edition} a {name} that takes longer than {n} seconds is given up; set `{key}_timeout`.",
    "folder": "In {edition} the {name} is kept in `/var/kettle/{key}{n}`. Set `{key}_folder` to move it.",
}
_EDITION = re.compile(r"edition (\w+)_(\d+)")
CHANGING = 8
"""Pages that are changed, removed or added between two corpora."""

State = Mapping[str, int]
"""The edition of each page that is there."""


class KillKettle(Kettle):
    """A home whose pairs are made by rules, so that kills hit that, too."""

    def settings(self, **given: object):  # type: ignore[no-untyped-def]
        """Return settings with the rules switched on."""
        return super().settings(**({"pregenerate": "rules"} | given))

    def variables(self, **more: str) -> dict[str, str]:
        """Return the environment of the process with the rules switched on."""
        return super().variables(**({"PREGENERATE": "rules"} | more))


class Pages:
    """The pages: one third each in a git repository, in a folder and on a website, which is `site`."""

    def __init__(self, folder: Path, site: Site, count: int = len(NAMES)) -> None:
        self.folder = folder
        self.site = site
        self.names = NAMES[:count]
        self.state: dict[str, int] = {}
        self._edition = 0

    def fill(self, most: float = 0.9) -> None:
        """Write the first edition of most pages, the repository and `corpora.toml`."""
        (self.folder / "docs").mkdir(parents=True)
        (self.folder / "repository" / "docs").mkdir(parents=True)
        self._git("init", "--quiet", "--initial-branch", "main")
        (self.folder / "corpora.toml").write_text(
            f"""\
[product]
name = "Kettle"

[[release]]
name = "{RELEASE}"
latest = true
[[release.source]]
kind = "folder"
path = "{self.folder / "docs"}"
url = "https://kettle.example/{{page}}"
[[release.source]]
kind = "git"
repository = "{self.folder / "repository"}"
ref = "main"
path = "docs"
url = "https://git.kettle.example/{{page}}"
[[release.source]]
kind = "website"
start = ["{self.site.url}/docs/"]
private = true
delay = 0
"""
        )
        self._write(self.names[: round(len(self.names) * most)], ())

    def change(self, chance: random.Random) -> State:
        """Change, remove and add pages; return what there was before."""
        before = dict(self.state)
        gone = [name for name in self.names if name not in self.state]
        some = chance.sample(sorted(self.state), CHANGING)
        removed = some[: chance.randint(1, 3)]
        added = chance.sample(gone, min(len(gone), chance.randint(1, 3)))
        self._write([*some[len(removed) :], *added], removed)
        return before

    def question(self, name: str, chance: random.Random) -> str:
        """Return a question that the page answers."""
        return f"What is the {chance.choice(PROPERTIES)} of the {name}?"

    def _write(self, names: Iterable[str], removed: Iterable[str]) -> None:
        for name in removed:
            if self._is_on_site(name):
                del self.site.pages[self._address(name)]
            else:
                self._place(name).unlink()
            del self.state[name]
        for name in names:
            self._edition += 1
            self.state[name] = self._edition
            key = name.replace(" ", "_")
            edition = f"edition {key}_{self._edition}"
            sections = {
                f"The {what} of the {name}": text.format(
                    name=name, key=key, n=7 * self._edition, edition=edition
                )
                for what, text in _TEXTS.items()
            }
            if self._is_on_site(name):
                self.site.pages[self._address(name)] = _html(name, sections)
            else:
                parts = "\n\n".join(f"## {heading}\n\n{text}" for heading, text in sections.items())
                self._place(name).write_text(f"# The {name}\n\n{parts}\n")
        links = [self._address(name) for name in sorted(self.state) if self._is_on_site(name)]
        self.site.pages["/docs/"] = page("Contents", "What there is to read.", *links)
        self._git("add", "--all")
        self._git("commit", "--quiet", "--allow-empty", "--message", f"edition {self._edition}")

    def _is_on_site(self, name: str) -> bool:
        return self.names.index(name) % 3 == 1

    def _address(self, name: str) -> str:
        return f"/docs/{name.replace(' ', '_')}.html"

    def _place(self, name: str) -> Path:
        below = self.folder / ("repository/docs" if self.names.index(name) % 3 == 0 else "docs")
        return below / f"{name.replace(' ', '_')}.md"

    def _git(self, *arguments: str) -> None:
        who = {
            f"GIT_{role}_{what}": "kettle@example.org"
            for role in ("AUTHOR", "COMMITTER")
            for what in ("NAME", "EMAIL")
        }
        subprocess.run(
            ["git", *arguments],
            cwd=self.folder / "repository",
            check=True,
            capture_output=True,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder), **who},
        )


def _html(name: str, sections: Mapping[str, str]) -> str:
    """Write a page as a site does; what Markdown has in backticks is code."""
    said = {heading: re.sub(r"`([^`]*)`", r"<code>\1</code>", text) for heading, text in sections.items()}
    parts = "".join(f"<h2>{heading}</h2><p>{text}</p>" for heading, text in said.items())
    return (
        f"<!doctype html><html><head><title>The {name}</title></head>"
        f"<body><main><h1>The {name}</h1>{parts}</main></body></html>"
    )


def editions(texts: Iterable[str]) -> dict[str, set[int]]:
    """Return which editions of which pages texts are from."""
    found: dict[str, set[int]] = {}
    for text in texts:
        for key, number in _EDITION.findall(text):
            found.setdefault(key.replace("_", " "), set()).add(int(number))
    return found


def fits(found: Mapping[str, set[int]], state: State) -> bool:
    """Return True if everything found is from one state of the pages."""
    return bool(found) and all(numbers == {state.get(name)} for name, numbers in found.items())
