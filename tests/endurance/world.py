"""What the endurance run asks, and the documents it asks about: Kettle with a shelf of generated pages."""

from __future__ import annotations

import random
from pathlib import Path

from tests.journeys.kettle import RELEASES

FEATURES = tuple(
    """archive billing cache calendar cluster comment coupon dashboard delivery digest export feed
    gallery import inbox invoice journal ledger mail mirror newsletter notification order payment
    planner queue receipt report scheduler search session snapshot survey thumbnail ticket upload
    voucher webhook widget workflow""".split()
)
PROPERTIES = {
    "limit": "The {feature} holds at most {n} entries. Set `{feature}_limit` to change the limit.",
    "timeout": "A {feature} that takes longer than {n} seconds is given up; set `{feature}_timeout`.",
    "folder": "The {feature} is kept in `/var/kettle/{feature}{n}`. Set `{feature}_folder` to move it.",
    "password": "Protect the {feature} with a password by setting `{feature}_password`.",
    "log": "The {feature} writes what it does to `{feature}{n}.log`.",
}
TEMPLATES = (
    "How do I set the {property} of the {feature}?",
    "How can I change the {property} of the {feature}?",
    "Where is the {property} of the {feature} configured?",
    "What is the default {property} of the {feature}?",
    "how to set {feature} {property}",
)
CHANGING = 6
"""Pages that are written anew, added or deleted before each reindex."""


class Shelf:
    """The documentation folder of Kettle with a page on each of so many features in every release."""

    def __init__(self, folder: Path, features: int = len(FEATURES)) -> None:
        self._folder = folder
        self._features = FEATURES[:features]

    def fill(self) -> None:
        """Write all pages."""
        for place, release in enumerate(RELEASES):
            for number, feature in enumerate(self._features):
                self._write(release, feature, 10 * (number + 1) + place)

    def change(self, release: str, chance: random.Random) -> None:
        """Write some pages anew, and delete or bring back some, as a folder that people work in."""
        for feature in chance.sample(self._features, CHANGING):
            page = self._page(release, feature)
            if page.exists() and chance.random() < 0.3:
                page.unlink()
            else:
                self._write(release, feature, chance.randint(1, 10_000))

    def pages(self, release: str) -> int:
        """Return how many documents the corpus of a release consists of."""
        folders = (self._folder / "docs" / release, self._folder / "docs" / "all")
        return sum(1 for folder in folders for _ in folder.iterdir())

    def question(self, chance: random.Random) -> tuple[str, str]:
        """Return a question and its release; some come again, in these words or others."""
        text = chance.choice(TEMPLATES).format(
            property=chance.choice(tuple(PROPERTIES)), feature=chance.choice(self._features)
        )
        return text, chance.choice(RELEASES)

    def _write(self, release: str, feature: str, n: int) -> None:
        sections = (
            f"## The {name} of the {feature}\n\n{text.format(feature=feature, n=n)}\n"
            for name, text in PROPERTIES.items()
        )
        self._page(release, feature).write_text(f"# {feature.title()}\n\n" + "\n".join(sections))

    def _page(self, release: str, feature: str) -> Path:
        return self._folder / "docs" / release / f"{feature}.md"
