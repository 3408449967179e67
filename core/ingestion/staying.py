"""Which pages of a source stay although this reading did not find them."""

from __future__ import annotations

from collections.abc import Sequence

from core.errors import SourceError
from core.ports import PeoplesSource, Source, StoredDocument, Unread
from core.text.plurals import counted

STAYS = "its earlier page stays"
"""What is said of a document that could not be read this time."""
FEWEST, NEARLY_ALL = 10, 0.9
"""Of so many pages of a source, the share that does not go at once: a disk may not be mounted."""


def check_empty(source: Source, skipped: Sequence[tuple[str, str, str]]) -> None:
    """Raise SourceError unless a source may hold no document."""
    if isinstance(source, PeoplesSource) and (source.withheld or source.may_be_empty):
        return
    first = f" (first: {skipped[0][1]}: {skipped[0][2]})" if skipped else ""
    raise SourceError(
        f"{source.name} holds no document that can be read{first}; check its path and include patterns."
    )


def check_shrunk(source: Source, before: int, now: int) -> None:
    """Raise SourceError where nearly all pages of a source are gone at once; what people said may go."""
    if before >= FEWEST and now <= before * (1 - NEARLY_ALL) and not isinstance(source, PeoplesSource):
        raise SourceError(
            f"{source.name} holds {counted(now, 'page')} where there were {before}, so the earlier ones "
            f"stay. Look whether its disk is mounted and its place is right; if they are to go, run "
            f"`threadlore index --rebuild`."
        )


def staying(
    source: Source, skipped: Sequence[tuple[str, str, str]], missing: Sequence[StoredDocument]
) -> tuple[dict[str, str], list[tuple[str, str, str]]]:
    """Return which missing documents stay, since they could not be read (ids by path), and `skipped` with it.

    What people said does not stay: it may have been deleted.
    """
    places = {place: page for page in missing for place in (page.path, page.url)}
    stay: dict[str, str] = {}
    told = []
    for name, place, reason in skipped:
        if isinstance(reason, Unread) and not isinstance(source, PeoplesSource):
            inside = [page for page in missing if place.endswith("/") and page.path.startswith(place)]
            found = [places[place]] if place in places else inside
            stay |= {page.path: page.id for page in found}
            reason = f"{reason}; {STAYS}" if found else reason
        told.append((name, place, str(reason)))
    return stay, told
