"""How much a run of the tests tries: what a change is likely to break, or with `--thorough` everything."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

SHARE = 0.4
"""Of the examples of a property that `make test` tries; they are the same ones in every run."""


class Effort:
    """What this run tries; `conftest.py` says before the tests are read."""

    is_thorough = False


def examples(most: int) -> int:
    """Return how many examples of a property are tried, of `most`."""
    return most if Effort.is_thorough else max(1, round(most * SHARE))


def thorough(held_by: str) -> pytest.MarkDecorator:
    """Mark what only `make thorough` runs: it takes long, and `held_by` holds the same behaviour once.

    That is a test of the same folder, as `test_file.py::test_name`, or of another one by its whole path.
    """
    return pytest.mark.thorough(held_by)


def sorted_out(items: Sequence[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Return the tests that this run plays, and those that it leaves to `make thorough`."""
    left = [] if Effort.is_thorough else [item for item in items if item.get_closest_marker("thorough")]
    kept = set(left)
    return [item for item in items if item not in kept], left
