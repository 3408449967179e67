"""What a process that may be killed has acknowledged, and what must therefore stand in its database.

The ledger follows the rules by itself, from what it was told alone; it shares no code with the product.
"""

from __future__ import annotations

import copy
import sqlite3
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

VALUES: dict[str, int | None] = {"up": 1, "down": 0, "none": None}
Ballot = tuple[str, str, int | None]
"""Answer, voter and value; None takes the vote back."""


@dataclass
class Ledger:
    """Everything that was acknowledged, and what was under way when the process was killed."""

    asker: dict[str, str] = field(default_factory=dict)
    """Who was given an answer, by the answer's id."""
    pair: dict[str, str] = field(default_factory=dict)
    """The pair that an answer is, or reuses, by the answer's id."""
    votes: Counter[Ballot] = field(default_factory=Counter)
    unsure_votes: Counter[Ballot] = field(default_factory=Counter)
    standing: dict[tuple[str, str], list[tuple[str, int]]] = field(default_factory=lambda: defaultdict(list))
    """What a voter has on a pair, what was put last at the end, by pair and voter."""
    unsure: set[str] = field(default_factory=set)
    """Pairs with a vote that may or may not have been counted."""
    retired: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    unsure_imported: set[str] = field(default_factory=set)
    unsure_asked: int = 0
    gone: set[str] = field(default_factory=set)
    """Answers of people who were forgotten."""
    emptied: set[str] = field(default_factory=set)
    """Answers of others that repeated theirs: who asked, and when, stays."""
    gone_pairs: set[str] = field(default_factory=set)

    def answered(self, asker: str, answer_id: str, route: str, reused: str) -> None:
        """Note an answer; `reused` is the name of the pair it reuses, or quotes as something like it."""
        own = f"p{answer_id[1:]}" if route not in ("reuse", "abstain") else ""
        self.asker[answer_id] = asker
        self.pair[answer_id] = reused or own

    def voted(self, answer_id: str, voter: str, vote: str) -> None:
        """Note an acknowledged vote."""
        value = VALUES[vote]
        self.votes[answer_id, voter, value] += 1
        placed = self.standing[self.pair[answer_id], voter]
        placed[:] = [p for p in placed if p[0] != answer_id or (value is not None and p[1] != value)]
        if value is not None:
            placed.append((answer_id, value))

    def maybe_voted(self, answer_id: str, voter: str, vote: str) -> None:
        """Note a vote whose answer did not come."""
        self.unsure_votes[answer_id, voter, VALUES[vote]] += 1
        self.unsure.add(self.pair[answer_id])

    def adopt(self, database: sqlite3.Connection) -> None:
        """Take over answers that were written down although nobody could be told of them any more."""
        rows = database.execute(
            "SELECT answers.id, answers.asker, route, pair_id, label FROM answers LEFT JOIN pairs ON "
            "pairs.id = pair_id"
        )
        for answer_id, asker, route, pair_id, label in rows:
            if answer_id not in self.asker:
                self.answered(asker, answer_id, route, label or pair_id)
        self.unsure_asked = 0

    def votable(self) -> list[str]:
        """Return the answers that have a pair."""
        return [answer for answer, pair in self.pair.items() if pair]

    def forgot(self, person: str) -> None:
        """Note that a person was forgotten: answers, pairs, what was made of these, votes."""
        own = {answer for answer, asker in self.asker.items() if asker == person}
        pairs = {f"p{answer[1:]}" for answer in own}
        repeated = {answer for answer, pair in self.pair.items() if pair in pairs} - own
        gone = own | repeated
        self.gone |= own
        self.emptied = (self.emptied | repeated) - own
        self.gone_pairs |= pairs
        self.retired -= pairs
        for answer in own:
            self.asker.pop(answer, None)
            self.pair.pop(answer, None)
        self.pair |= dict.fromkeys(repeated, "")
        for votes in (self.votes, self.unsure_votes):
            for ballot in [b for b in votes if b[0] in gone or b[1] == person]:
                del votes[ballot]
        for key, placed in list(self.standing.items()):
            placed[:] = [p for p in placed if p[0] not in gone]
            if key[0] in pairs or key[1] == person:
                del self.standing[key]

    def after_forgetting(self, person: str) -> Ledger:
        """Return what would be known if a person had been forgotten."""
        other = copy.deepcopy(self)
        other.forgot(person)
        return other

    def opinions(self) -> dict[str, tuple[int, int]]:
        """Return for each pair how many people have 👍 and 👎 on it, where nothing is unsure."""
        found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for (pair, _), placed in self.standing.items():
            if placed and pair not in self.unsure:
                found[pair][0 if placed[-1][1] else 1] += 1
        return {pair: (up, down) for pair, (up, down) in found.items()}

    def compare(self, database: sqlite3.Connection, listed: list[dict[str, Any]]) -> dict[str, list[str]]:
        """Compare with the database and with `memory list --json`; return what is wrong by check."""
        return {
            "every acknowledged vote is there, none twice": self._votes(database),
            "every acknowledged answer is there": self._answers(database),
            "opinions are what people voted": self._opinions(listed),
            "retired pairs stay out": self._retired(database),
            "imported pairs are there, none twice": self._imported(database),
            "forgotten people stay forgotten": self._forgotten(database),
        }

    def _votes(self, database: sqlite3.Connection) -> list[str]:
        rows = database.execute("SELECT answer_id, voter, value, count(*) FROM votes GROUP BY 1, 2, 3")
        kept = Counter({(answer, voter, value): count for answer, voter, value, count in rows})
        wrong = [f"lost: {b} {kept[b]} of {n}" for b, n in self.votes.items() if kept[b] < n]
        wrong += [f"too many: {b} {n}" for b, n in kept.items() if n > self.votes[b] + self.unsure_votes[b]]
        return wrong + [
            f"vote {number} counts for pair {pair}, its answer is of another"
            for number, pair in database.execute(
                "SELECT number, votes.pair_id FROM votes LEFT JOIN answers ON answers.id = answer_id "
                "WHERE answers.pair_id IS NOT votes.pair_id"
            )
        ]

    def _answers(self, database: sqlite3.Connection) -> list[str]:
        kept = {row[0] for row in database.execute("SELECT id FROM answers")}
        wrong = [f"{answer} is gone" for answer in self.asker if answer not in kept]
        if len(kept - self.asker.keys()) > self.unsure_asked:
            wrong.append(f"{len(kept - self.asker.keys())} answers that nobody was told of")
        return wrong

    def _opinions(self, listed: list[dict[str, Any]]) -> list[str]:
        told = {row["id"]: (row["up"], row["down"]) for row in listed}
        return [
            f"{pair} has {told.get(pair, (0, 0))}, people voted {votes}"
            for pair, votes in self.opinions().items()
            if told.get(pair, (0, 0)) != votes
        ]

    def _retired(self, database: sqlite3.Connection) -> list[str]:
        placed = {row[0] for row in database.execute("SELECT pair_id FROM placements")}
        named = {
            label or pair: (pair, aside)
            for pair, label, aside in database.execute("SELECT id, label, aside FROM pairs")
        }
        return [
            f"{name}: {named.get(name)}"
            for name in self.retired
            if name not in named or named[name][1] != "retired" or named[name][0] in placed
        ]

    def _imported(self, database: sqlite3.Connection) -> list[str]:
        kept = Counter(row[0] for row in database.execute("SELECT label FROM pairs WHERE origin = 'import'"))
        wrong = [f"{label} is there {kept[label]} times" for label in self.imported if kept[label] != 1]
        return wrong + [
            f"{label} was not brought, or twice: {count}"
            for label, count in kept.items()
            if count > 1 or label not in self.imported | self.unsure_imported
        ]

    def _forgotten(self, database: sqlite3.Connection) -> list[str]:
        found = {row[0] for row in database.execute("SELECT id FROM answers")} & self.gone
        told = database.execute("SELECT id FROM answers WHERE text != '' OR pair_id != ''")
        found |= {row[0] for row in told} & self.emptied
        found |= {row[0] for row in database.execute("SELECT answer_id FROM votes")} & (
            self.gone | self.emptied
        )
        found |= {row[0] for row in database.execute("SELECT id FROM pairs")} & self.gone_pairs
        found |= {row[0] for row in database.execute("SELECT pair_id FROM placements")} & self.gone_pairs
        return sorted(found)
