"""What was asked, answered and voted, counted in the database."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from core.insights.statistics import EVERYTHING, Cited, Day, Failing, Served, Unserved, Within, gives_orders
from core.system.offload import aside
from core.text.times import day_of
from storage.database.database import Database, Store
from storage.memory.pair_rows import standing
from storage.tables import (
    AnswerRow,
    CorrectionRow,
    DistinctionRow,
    EscalationRow,
    PairRow,
    PlacementRow,
    VoteRow,
)
from storage.tables.columns import LONG, every, parts

PUBLIC = "public"
CHANNELS = 50
"""Channels that are told apart at most."""
TERMINAL = frozenset({"cli", "terminal"})
"""Who asks at the command line."""
OFF_TOPIC = 0.25
"""Confidence under which a question without a near page is about something else; ours."""
_VALUES = {1: "up", 0: "down", None: "withdrawn"}


@dataclass(slots=True)
class _Counted:
    """What happened on one day; times in milliseconds."""

    routes: Counter[Any] = field(default_factory=Counter)
    votes: Counter[int] = field(default_factory=Counter)
    people: set[str] = field(default_factory=set)
    spent: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    """Until the first words stood there."""
    failed: int = 0
    wrong: int = 0
    reused_ms: float = 0.0
    written: int = 0
    written_ms: float = 0.0
    calls: int = 0

    def answer(self, row: Any, person: str) -> None:
        """Count an answer that a person asked for."""
        self.routes[row.route] += 1
        self.people.add(person)
        self.failed += bool(row.error)
        if row.ms is not None:
            self.spent.append(row.ms)
            self.first.append(row.ms if row.first is None else row.first)
        if row.route == "reuse":
            self.reused_ms += row.ms or 0.0
        elif row.route not in ("calculation", "abstain") and row.ms is not None:
            self.written += 1
            self.written_ms += row.ms
            self.calls += row.calls or 0

    def as_day(self, day: str) -> Day:
        """Return the figures of the day."""
        return Day(
            day,
            dict(self.routes),
            self.votes[1],
            self.votes[0],
            len(self.people),
            _percentile(self.spent, 0.5),
            _percentile(self.spent, 0.95),
            _percentile(self.first, 0.5),
            _percentile(self.first, 0.95),
            self.failed,
            self.wrong,
            round(self.reused_ms, 1),
            self.written,
            round(self.written_ms, 1),
            self.calls,
        )


class SqlStatistics(Store):
    """The `StatisticsStore` port on SQL; `person` names the person behind an account."""

    def __init__(self, database: Database, person: Callable[[str], str] = str) -> None:
        super().__init__(database)
        self._person = person

    async def days(self, since: float, within: Within = EVERYTHING) -> tuple[Day, ...]:
        """Return the days since then on which anything happened, oldest first."""
        answers = select(
            AnswerRow.at,
            AnswerRow.route,
            AnswerRow.asker,
            AnswerRow.trace["ms"].as_float().label("ms"),
            AnswerRow.trace["calls"].as_integer().label("calls"),
            AnswerRow.trace["first_ms"].as_float().label("first"),
            AnswerRow.trace["model_error"].as_string().label("error"),
            AnswerRow.trace["replaced"].as_boolean().label("replaced"),
        )
        apart = select(DistinctionRow.at).where(DistinctionRow.at >= since)
        if within != EVERYTHING:
            apart = apart.join(AnswerRow, AnswerRow.id == DistinctionRow.answer_id).where(*_only(within))
        answers = answers.where(AnswerRow.at >= since, *_only(within))
        found: defaultdict[str, _Counted] = defaultdict(_Counted)
        async with self._database.read() as connection:
            async for rows in parts(await connection.execute(answers)):
                for row in rows:
                    if not row.replaced:  # an edited question is one, answered once
                        found[day_of(row.at)].answer(row, self._person(row.asker))
            for vote in await self._standing(connection, since, within):
                found[day_of(vote.at)].votes[vote.value] += 1
            for at in await connection.scalars(apart):
                found[day_of(at)].wrong += 1
        return tuple(counted.as_day(day) for day, counted in sorted(found.items()))

    async def totals(self) -> dict[str, Counter[str]]:
        """Return all answers by route (`routes`) and votes by value (`votes`), and wrong reuse (`reuse`)."""
        routes = select(AnswerRow.route, func.count().label("n")).group_by(AnswerRow.route)
        votes = select(VoteRow.value, func.count().label("n")).group_by(VoteRow.value)
        async with self._database.read() as connection:
            by_route = Counter({row.route: int(row.n) for row in await connection.execute(routes)})
            by_value = Counter({_VALUES[row.value]: int(row.n) for row in await connection.execute(votes)})
            wrong = (await connection.execute(select(func.count()).select_from(DistinctionRow))).scalar_one()
        return {"routes": by_route, "votes": by_value, "reuse": Counter(wrong=int(wrong))}

    async def served(self, since: float) -> tuple[Served, ...]:
        """Return the answers since then, oldest first."""
        ms = AnswerRow.trace["ms"].as_float().label("ms")
        rows = await self._rows(
            select(AnswerRow.id, AnswerRow.at, AnswerRow.route, ms)
            .where(AnswerRow.at >= since)
            .order_by(AnswerRow.at)
        )
        return tuple(Served(row.id, row.at, row.route, row.ms) for row in rows)

    async def channels(self, since: float) -> tuple[str, ...]:
        """Return the public channels (`slack:C1`) where anything was asked, the busiest first."""
        return tuple(
            await self._values(
                select(AnswerRow.channel)
                .where(AnswerRow.at >= since, AnswerRow.scope == PUBLIC, AnswerRow.channel != "")
                .group_by(AnswerRow.channel)
                .order_by(func.count().desc(), AnswerRow.channel)
                .limit(CHANNELS)
            )
        )

    async def cited(self, since: float, within: Within = EVERYTHING) -> tuple[Cited, ...]:
        """Return the pages that public answers cite, the most cited first."""
        count: Counter[tuple[str, str, str]] = Counter()
        votes: defaultdict[tuple[str, str, str], Counter[int]] = defaultdict(Counter)
        bad: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
        answers = select(AnswerRow.id, AnswerRow.citations).where(
            AnswerRow.at >= since, AnswerRow.scope == PUBLIC, *_only(within)
        )
        answers = answers.order_by(AnswerRow.at.desc())
        async with self._database.read() as connection:
            opinions = await self._opinions(connection, since)
            async for rows in parts(await connection.execute(answers), LONG):
                for row in rows:
                    pages = {
                        (str(one.get("title", "")), str(one.get("url", "")), str(one.get("release", "")))
                        for one in row.citations or ()
                    }
                    count.update(pages)
                    for page in pages:
                        votes[page].update(given := opinions.get(row.id, ()))
                        bad[page] += [row.id] if 0 in given else []
        return tuple(
            Cited(*page, n, votes[page][1], votes[page][0], tuple(bad[page]))
            for page, n in count.most_common()
        )

    async def _opinions(self, connection: AsyncConnection, since: float) -> dict[str, list[int]]:
        """Return the votes that stand on each answer."""
        found: defaultdict[str, list[int]] = defaultdict(list)
        for vote in await self._standing(connection, since):
            found[vote.answer_id].append(vote.value)
        return found

    async def _standing(
        self, connection: AsyncConnection, since: float, within: Within = EVERYTHING
    ) -> list[Any]:
        """Return the votes since then that stand: of each person the last one on an answer."""
        columns = (VoteRow.answer_id, VoteRow.voter, VoteRow.value, VoteRow.withdraws, VoteRow.said_at)
        votes = select(*columns, VoteRow.at).where(VoteRow.at >= since).order_by(VoteRow.number)
        if within != EVERYTHING:
            votes = votes.join(AnswerRow, AnswerRow.id == VoteRow.answer_id).where(*_only(within))
        rows = await every(await connection.execute(votes), lambda row: row)
        return list((await aside(len(rows), standing, rows)).values())

    async def unserved(self, since: float, limit: int, within: Within = EVERYTHING) -> tuple[Unserved, ...]:
        """Return public questions that went unanswered or badly answered, newest first, each once."""
        async with self._database.read() as connection:
            opinions = await self._opinions(connection, since)
            better = select(CorrectionRow.answer_id, CorrectionRow.pair_id).where(CorrectionRow.at >= since)
            corrected = {row.answer_id: bool(row.pair_id) for row in await connection.execute(better)}
            put = select(EscalationRow.answer_id, EscalationRow.resolved_at).where(EscalationRow.at >= since)
            escalated = {row.answer_id: bool(row.resolved_at) for row in await connection.execute(put)}
            down = {answer_id for answer_id, given in opinions.items() if 2 * sum(given) < len(given)}
            of_people = (
                select(PairRow.release, PairRow.topic)
                .join(PlacementRow)
                .where(PairRow.origin == "person", PairRow.scope == PUBLIC, PlacementRow.store == "high")
            )
            well = {(row.release, row.topic) for row in await connection.execute(of_people)}
            answers = select(
                AnswerRow.id,
                AnswerRow.at,
                AnswerRow.question,
                AnswerRow.release,
                AnswerRow.route,
                AnswerRow.text,
                AnswerRow.confidence,
                AnswerRow.asker,
                AnswerRow.channel,
                AnswerRow.trace,
            ).where(
                AnswerRow.at >= since, AnswerRow.scope == PUBLIC, AnswerRow.question != "", *_only(within)
            )
            found: list[Unserved] = []
            newest = answers.order_by(AnswerRow.at.desc(), AnswerRow.id)
            async for rows in parts(await connection.execute(newest), LONG):
                for row in rows:
                    if not row.channel and row.asker in TERMINAL:
                        continue
                    why = _why(row, down, corrected, escalated)
                    if why and len(found) < limit:
                        done = corrected.get(row.id) or escalated.get(row.id)
                        one = _unserved(row, why)
                        found.append(replace(one, resolved=done or (one.release, one.topic) in well))
                    elif not why and row.route != "abstain":  # newest first: it was answered later
                        known = _unserved(row, "abstained")
                        well.add((known.release, known.topic))
        return tuple(found)


def _only(within: Within) -> list[Any]:
    """Return the conditions on an answer: of a channel, what is public alone."""
    release = [AnswerRow.release == within.release] if within.release else []
    channel = [AnswerRow.channel == within.channel, AnswerRow.scope == PUBLIC] if within.channel else []
    return [*release, *channel]


def _why(
    row: Any, down: Collection[str], corrected: Collection[str], escalated: Collection[str]
) -> Failing | None:
    if row.id in corrected:
        return "corrected"
    if row.id in escalated:
        return "escalated"
    if row.id in down:
        return "voted down"
    # without a release the question was about one that does not exist, without evidence pages were still
    # being read: no page is missing for that
    searched = row.release and (row.trace or {}).get("evidence")
    if row.route != "abstain" or not searched or _is_off_topic(row):
        return None
    # pages may well hold what was not translated, and none is missing for orders to the bot
    is_gap = not (row.trace or {}).get("untranslated") and not gives_orders(row.question)
    return "abstained" if is_gap else None


def _is_off_topic(row: Any) -> bool:
    """Return True if a question has nothing to do with the documentation: not even a page is near."""
    confidence = (row.trace or {}).get("confidence")
    return confidence is not None and confidence < OFF_TOPIC and "\n" not in row.text.strip()


def _unserved(row: Any, why: Failing) -> Unserved:
    trace = row.trace or {}
    queries = trace.get("queries") or {}
    evidence = trace.get("evidence") or ()
    page = (str(evidence[0].get("title", "")), str(evidence[0].get("url", ""))) if evidence else ("", "")
    topic = str(queries.get("topic") or queries.get("base") or row.question)
    # a follow-up says little without its thread, its stand-alone form does
    asked = str(queries.get("base") or row.question) if trace.get("rewritten") else row.question
    return Unserved(row.id, topic, asked, row.release, row.at, why, page, row.route == "abstain")


def _percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) if ordered else 0.0
