"""Where words stand in a live corpus, in notes and headings, so that a name is looked for in few pages."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Places:
    """Pages by the words that they have: `notes` those of release notes by all of theirs, `headed` the others
    by those of the innermost heading, in reading order. `first` is the first of these under each title.
    """

    notes: Mapping[str, Collection[str]] = field(default_factory=dict)
    headed: Mapping[str, Collection[str]] = field(default_factory=dict)
    first: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls, titles: Mapping[str, str], texts: Iterable[tuple[str, str]], notes: Collection[str]
    ) -> Places:
        """Note the words of `texts`, each with its page, and of the `titles` of pages that are no `notes`."""
        said: dict[str, dict[str, None]] = {}
        headed: dict[str, dict[str, None]] = {}
        first: dict[str, str] = {}
        for page, text in texts:
            for word in _WORD.findall(text) if page in notes else ():
                said.setdefault(word, {})[page] = None
        for page, title in titles.items():
            if page not in notes:
                first.setdefault(title, page)
                for word in _WORD.findall(title.rpartition(" > ")[2]):
                    headed.setdefault(word, {})[page] = None
        return cls(said, headed, first)

    def noting(self, name: str) -> Collection[str]:
        """Return the pages of release notes that may have a name as a whole word, and all that have it."""
        return _rarest(self.notes, name)

    def headed_by(self, name: str) -> Collection[str]:
        """Return the pages whose heading may be a name, and all whose heading is."""
        return _rarest(self.headed, name)


def _rarest(pages: Mapping[str, Collection[str]], name: str) -> Collection[str]:
    return min((pages.get(word, ()) for word in _WORD.findall(name)), key=len, default=())
