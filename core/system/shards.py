"""Which shards of Discord's gateway a process connects, as they are written in a setting."""

from __future__ import annotations

import re


def shards_of(written: str, count: int | None) -> tuple[int, ...]:
    """Return the shards that `0,1` or `0-3,6` names, of `count`, in order; none where nothing is written.

    Raises ValueError, which says what to write: for garbage, without a count, for one that is not below it.
    """
    found: set[int] = set()
    for part in filter(None, (part.strip() for part in written.split(","))):
        match = re.fullmatch(r"([0-9]{1,6})(?:\s*-\s*([0-9]{1,6}))?", part)
        if match is None or int(match[1]) > int(match[2] or match[1]):
            raise ValueError("write numbers of shards and ranges of them, such as 0,1 or 0-3")
        if not count:
            raise ValueError("set DISCORD_SHARD_COUNT, too: the number of shards in all processes together")
        first, last = int(match[1]), int(match[2] or match[1])
        if last >= count:
            raise ValueError(
                f"shards count from 0, so of {count} (DISCORD_SHARD_COUNT) the last is {count - 1}"
            )
        found.update(range(first, last + 1))
    return tuple(sorted(found))
