"""How well the community is served, and what the documentation lacks, as data and as a page."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from typing import get_args

import numpy as np

from core.domain import Vector
from core.insights.statistics import EVERYTHING, Cited, Day, Failing, Gap, Served, StatisticsStore, Within
from core.memory.scoring import DAY_SECONDS, Thresholds
from core.models.embedding.encoder import Encoders
from core.ports import Matrix, for_questions
from core.system.offload import aside
from core.text.plurals import counted
from core.text.times import day_of
from core.text.words import cut_at_word, one_line

__all__ = ["Gap", "Statistics", "grouped"]

DAYS = 30
"""Days that are looked at where nobody says otherwise."""
GROUPED = 20
"""Questions that are grouped at once; 50 take 20 ms."""
LIMIT = 2_000
"""Questions that are grouped at most, the newest ones."""
LONGEST = 200
LONGEST_HEADING = 70
ALSO = 5
"""Other wordings of a gap that are shown."""
UNVERSIONED = "no release"
_GREETING = re.compile(r"^(?:(?:hi|hey|hello|hallo|please|so|and|ok|well)\b[\s,!.:]*)+", re.IGNORECASE)
_ASKS_FOR = re.compile(
    r"^(?:(?:does|do|can|could|would) )?(?:any(?:one|body)|some(?:one|body)|you) (?:please )?"
    r"(?:know|knows|tell me|explain|show me)\s+"
    r"|^(?:is there (?:a|any|some) way(?: for \w+)? to|is it possible to|what(?:'s| is) the \w+ way to"
    r"|i(?:'d| would) like to|i want to|i need to|i'm trying to)\s+"
    r"|^(?:can|could|may|should) (?:i|we|one|you)\s+",
    re.IGNORECASE,
)
_HOW = re.compile(
    r"^how (?:(?:do|can|could|should|would|might|to)\s*(?:i|we|you|one|people)?)\s+", re.IGNORECASE
)
_WHAT = re.compile(r"^what(?:'s| is| are| was)\s+", re.IGNORECASE)
_WHAT_DOES = re.compile(
    r"^what (?:does|do|did)\s++(\S++(?:\s++\S++)*?)\s++(?:do|does|mean|stand for)$", re.IGNORECASE
)


class Statistics:
    """Tells how the community is served."""

    def __init__(self, store: StatisticsStore, encoders: Encoders, thresholds: Thresholds) -> None:
        self._store = store
        self._encoders = encoders
        self._thresholds = thresholds

    async def days(self, days: float, within: Within = EVERYTHING) -> tuple[Day, ...]:
        """Return the last days, oldest first; those without anything are left out."""
        return await self._store.days(time.time() - days * DAY_SECONDS, within)

    async def cited(self, days: int, within: Within = EVERYTHING) -> tuple[Cited, ...]:
        """Return the pages that public answers of the last days cite, the most cited first."""
        return await self._store.cited(time.time() - days * DAY_SECONDS, within)

    async def channels(self, days: int) -> tuple[str, ...]:
        """Return the public channels where anything was asked in the last days, the busiest first."""
        return await self._store.channels(time.time() - days * DAY_SECONDS)

    async def served(self, since: float) -> tuple[Served, ...]:
        """Return the answers since a time (seconds since the epoch), oldest first."""
        return await self._store.served(since)

    async def totals(self) -> dict[str, Counter[str]]:
        """Return answers by route, votes by value (`up`, `down`, `withdrawn`), and `wrong` reuse."""
        return await self._store.totals()

    async def wrong_reuse(self, days: float) -> int:
        """Return how many remembered answers of the last days were to another question, as people said."""
        return sum(day.wrong_reuse for day in await self.days(days))

    async def gaps(self, days: float, within: Within = EVERYTHING) -> tuple[Gap, ...]:
        """Return what was not served in the last days, the largest gap first, resolved ones last.

        Questions are grouped as ComRAG groups pairs: each joins the nearest centroid that is as near as τ,
        or starts a group; a centroid is the mean of its members.
        """
        found = await self._store.unserved(time.time() - days * DAY_SECONDS, LIMIT, within)
        if not found:
            return ()
        encoder = for_questions(await self._encoders.current())
        vectors = await encoder.encode([question.topic for question in found])
        groups = await aside(len(found), grouped, vectors, self._thresholds.tau, few=GROUPED)
        gaps = (Gap(tuple(found[at] for at in group)) for group in groups)
        return tuple(sorted(gaps, key=lambda gap: (gap.is_resolved, -len(gap.questions), -gap.example.at)))


def grouped(vectors: Matrix | Sequence[Vector], tau: float) -> list[list[int]]:
    """Group vectors of unit length around centroids; return the places in each group, in order."""
    sums: list[Vector] = []
    centroids = np.zeros((len(vectors), len(vectors[0]) if len(vectors) else 0), np.float32)
    groups: list[list[int]] = []
    for place, vector in enumerate(vectors):
        best = len(sums)
        if sums:
            near = centroids[:best] @ vector
            nearest = int(np.argmax(near))
            best = nearest if near[nearest] >= tau else best
        if best == len(sums):
            sums.append(np.array(vector))
            groups.append([place])
        else:
            sums[best] = sums[best] + vector
            groups[best].append(place)
        centroids[best] = sums[best] / max(float(np.linalg.norm(sums[best])), 1e-9)
    return groups


def page(gaps: Sequence[Gap], product: str, days: int, now: float | None = None) -> str:
    """Write gaps by release and topic, the largest first; `now` is in seconds since the epoch."""
    end = time.time() if now is None else now
    span = f"{day_of(end - days * 86_400.0)} to {day_of(end)}"
    lines = [f"# What the {product} documentation does not answer", ""]
    if not gaps:
        return "\n".join([*lines, f"All that was asked in public from {span} was answered.", ""])
    by_release = _by_release(gaps)
    questions = sum(len(gap.questions) for gap in gaps)
    lines += [
        f"{counted(questions, 'question')} that people asked in public from {span} and that got no answer, "
        f"or not a good one, by release and topic. *Abstained*: the pages found did not answer it. *Voted "
        f"down* and *corrected*: people said that the answer was wrong. *Escalated*: it was put to a person.",
        "",
        *_table(by_release),
    ]
    for release, own in by_release.items():
        lines += ["", f"## {_named(product, release)}"]
        for number, gap in enumerate(own, start=1):
            lines += ["", *_entry(number, gap)]
    return "\n".join(lines) + "\n"


def heading(gap: Gap) -> str:
    """Suggest a heading for what is missing, of the shortest of its questions."""
    topics = [_plain(question.topic or question.question) for question in gap.questions]
    telling = [topic for topic in topics if len(topic.split()) > 2] or topics
    return heading_of(min(telling, key=lambda topic: (len(topic), topic)))


def heading_of(question: str) -> str:
    """Make a heading of a question: "How do I rotate the log?" to "Rotate the log"."""
    text = _plain(question).rstrip("?!. ")
    text = _GREETING.sub("", text)
    if meant := _WHAT_DOES.match(text):
        text = meant[1]
    before = ""
    while text != before:
        before = text
        text = _HOW.sub("", _ASKS_FOR.sub("", text))
    text = _WHAT.sub("", text) or before
    if len(text) > LONGEST_HEADING:
        text = text[:LONGEST_HEADING].rsplit(" ", 1)[0].rstrip(",;:") + " …"
    return text[:1].upper() + text[1:]


def _by_release(gaps: Sequence[Gap]) -> dict[str, list[Gap]]:
    """Split gaps where their questions are about different releases; the release with most comes first."""
    found: dict[str, list[Gap]] = {}
    for gap in gaps:
        for release in dict.fromkeys(question.release for question in gap.questions):
            own = tuple(question for question in gap.questions if question.release == release)
            found.setdefault(release, []).append(Gap(own))
    for own_gaps in found.values():
        own_gaps.sort(key=lambda gap: (gap.is_resolved, -len(gap.questions), -gap.example.at))
    asked = {release: sum(len(gap.questions) for gap in own_gaps) for release, own_gaps in found.items()}
    return {release: found[release] for release in sorted(found, key=lambda r: (-asked[r], r))}


def _table(by_release: dict[str, list[Gap]]) -> list[str]:
    reasons: tuple[Failing, ...] = get_args(Failing)
    lines = [
        f"| Release | Topics | Questions | {' | '.join(reason.capitalize() for reason in reasons)} |",
        "|---" * (3 + len(reasons)) + "|",
    ]
    for release, gaps in by_release.items():
        counts = sum((Counter(gap.reasons) for gap in gaps), Counter[Failing]())
        numbers = [len(gaps), counts.total(), *(counts[reason] for reason in reasons)]
        lines.append(f"| {release or UNVERSIONED} | {' | '.join(map(str, numbers))} |")
    return lines


def _entry(number: int, gap: Gap) -> list[str]:
    times = "once" if len(gap.questions) == 1 else f"{len(gap.questions)} times, last"
    suggested, (title, url) = heading(gap), gap.page
    lines = [
        f"### {number}. {_plain(gap.example.question)}",
        "",
        f"- Asked {times} on {day_of(gap.example.at)}: {gap.told}",
    ]
    shown = _plain(gap.example.question)
    others = list(dict.fromkeys(_plain(q.question) for q in gap.questions if _plain(q.question) != shown))
    lines += [f"- Also asked as: {'; '.join(f'“{other}”' for other in others[:ALSO])}"] if others else []
    if title:
        linked = f"[{title.replace('[', '(').replace(']', ')')}]({url})" if url else title
        lines += [
            f"- Nearest page: {linked}",
            f"- Suggested: a section “{suggested}” there, or a page of its own",
        ]
    else:
        lines += ["- Nearest page: none", f"- Suggested: a page “{suggested}”"]
    return lines


def _named(product: str, release: str) -> str:
    return f"{product} {release.replace('+', ' and ')}" if release else f"{product}, {UNVERSIONED}"


def _plain(text: str) -> str:
    """Write what somebody said in one line of Markdown that cannot open a heading, a fence or a ping."""
    line = one_line(text.replace("`", "")).lstrip("#>-*+ ").replace("<", "‹").replace("@", "@\u200b")
    return cut_at_word(line, LONGEST)
