"""What was asked, answered and voted, counted in the database."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from sqlalchemy import func, select

from core.insights.statistics import Day, Failing, Unserved
from core.text.times import day_of
from storage.database.database import Store
from storage.tables import AnswerRow, CorrectionRow, DistinctionRow, EscalationRow, VoteRow
from storage.tables.columns import LONG, parts

PUBLIC = "public"
_VALUES = {1: "up", 0: "down", None: "withdrawn"}


class SqlStatistics(Store):
    """The `StatisticsStore` port on SQL."""

    async def days(self, since: float) -> tuple[Day, ...]:
        """Return the days since then on which anything happened, oldest first."""
        answers = select(
            AnswerRow.at,
            AnswerRow.route,
            AnswerRow.asker,
            AnswerRow.trace["ms"].as_float().label("ms"),
            AnswerRow.trace["first_ms"].as_float().label("first"),
            AnswerRow.trace["model_error"].as_string().label("error"),
        )
        votes = select(VoteRow.at, VoteRow.value).where(VoteRow.at >= since, VoteRow.value.is_not(None))
        apart = select(DistinctionRow.at).where(DistinctionRow.at >= since)
        routes: defaultdict[str, Counter[Any]] = defaultdict(Counter)
        values: defaultdict[str, Counter[int]] = defaultdict(Counter)
        people: defaultdict[str, set[str]] = defaultdict(set)
        spent: defaultdict[str, list[float]] = defaultdict(list)
        first: defaultdict[str, list[float]] = defaultdict(list)
        failed: Counter[str] = Counter()
        wrong: Counter[str] = Counter()
        async with self._database.read() as connection:
            async for rows in parts(await connection.execute(answers.where(AnswerRow.at >= since))):
                for row in rows:
                    day = day_of(row.at)
                    routes[day][row.route] += 1
                    people[day].add(row.asker)
                    failed[day] += bool(row.error)
                    if row.ms is not None:
                        spent[day].append(row.ms)
                        first[day].append(row.ms if row.first is None else row.first)
            async for rows in parts(await connection.execute(votes)):
                for row in rows:
                    values[day_of(row.at)][row.value] += 1
            wrong.update(day_of(at) for at in await connection.scalars(apart))
        return tuple(
            Day(
                day,
                dict(routes[day]),
                values[day][1],
                values[day][0],
                len(people[day]),
                _percentile(spent[day], 0.5),
                _percentile(spent[day], 0.95),
                _percentile(first[day], 0.5),
                _percentile(first[day], 0.95),
                failed[day],
                wrong[day],
            )
            for day in sorted(routes.keys() | values.keys() | wrong.keys())
        )

    async def totals(self) -> dict[str, Counter[str]]:
        """Return all answers by route (`routes`) and votes by value (`votes`), and wrong reuse (`reuse`)."""
        routes = select(AnswerRow.route, func.count().label("n")).group_by(AnswerRow.route)
        votes = select(VoteRow.value, func.count().label("n")).group_by(VoteRow.value)
        async with self._database.read() as connection:
            by_route = Counter({row.route: int(row.n) for row in await connection.execute(routes)})
            by_value = Counter({_VALUES[row.value]: int(row.n) for row in await connection.execute(votes)})
            wrong = (await connection.execute(select(func.count()).select_from(DistinctionRow))).scalar_one()
        return {"routes": by_route, "votes": by_value, "reuse": Counter(wrong=int(wrong))}

    async def unserved(self, since: float, limit: int) -> tuple[Unserved, ...]:
        """Return public questions that went unanswered or badly answered, newest first, each once."""
        latest: dict[tuple[str, str], int | None] = {}
        async with self._database.read() as connection:
            votes = select(VoteRow.answer_id, VoteRow.voter, VoteRow.value).where(VoteRow.at >= since)
            async for rows in parts(await connection.execute(votes.order_by(VoteRow.number))):
                latest.update(((row.answer_id, row.voter), row.value) for row in rows)
            opinions: Counter[str] = Counter()
            for (answer_id, _), value in latest.items():
                if value is not None:
                    opinions[answer_id] += 1 if value else -1
            corrected = set(
                await connection.scalars(select(CorrectionRow.answer_id).where(CorrectionRow.at >= since))
            )
            put = select(EscalationRow.answer_id).where(EscalationRow.at >= since)
            escalated = set(await connection.scalars(put))
            down = {answer_id for answer_id, sum_ in opinions.items() if sum_ < 0}
            answers = select(
                AnswerRow.id,
                AnswerRow.at,
                AnswerRow.question,
                AnswerRow.release,
                AnswerRow.route,
                AnswerRow.trace,
            ).where(AnswerRow.at >= since, AnswerRow.scope == PUBLIC, AnswerRow.question != "")
            found: list[Unserved] = []
            newest = answers.order_by(AnswerRow.at.desc(), AnswerRow.id)
            async for rows in parts(await connection.execute(newest), LONG):
                for row in rows:
                    why = _why(row, down, corrected, escalated)
                    if why and len(found) < limit:
                        found.append(_unserved(row, why))
        return tuple(found)


def _why(row: Any, down: set[str], corrected: set[str], escalated: set[str]) -> Failing | None:
    if row.id in corrected:
        return "corrected"
    if row.id in escalated:
        return "escalated"
    if row.id in down:
        return "voted down"
    # without a release the question was about one that does not exist, without evidence pages were still
    # being read: no page is missing for that
    searched = row.release and (row.trace or {}).get("evidence")
    return "abstained" if row.route == "abstain" and searched else None


def _unserved(row: Any, why: Failing) -> Unserved:
    trace = row.trace or {}
    queries = trace.get("queries") or {}
    evidence = trace.get("evidence") or ()
    page = (str(evidence[0].get("title", "")), str(evidence[0].get("url", ""))) if evidence else ("", "")
    topic = str(queries.get("topic") or queries.get("base") or row.question)
    # a follow-up says little without its thread, its stand-alone form does
    asked = str(queries.get("base") or row.question) if trace.get("rewritten") else row.question
    return Unserved(row.id, topic, asked, row.release, row.at, why, page)


def _percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 1) if ordered else 0.0
