"""`python -m evaluation.simulation.votes`: what votes teach the ranking, on labelled questions of products.

    python -m evaluation.simulation.votes --report DIR Click=HOME,click.corpora.toml,click.jsonl …
    python -m evaluation.simulation.votes --stackfaq FOLDER --report DIR     # makes a product of StackFAQ

Half of the questions are voted on, in other words: somebody asks, the page that comes first is cited, and it
is voted good if it is right; a bad vote is the other way round. The other half is judged by.
"""

from __future__ import annotations

import asyncio
import json
import random
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bot.app.bootstrap import build
from bot.operations.application import Application
from core.domain import Citation, QAPair, Question, Recall, Vector
from core.learning.learner import Learnt, learn
from core.learning.voted import Voted
from core.memory.decision import LEARNED
from core.memory.scoring import Thresholds, score
from core.pipeline.stages.retrieve import opinions
from core.retrieval.features import FEATURES, Numbers
from core.retrieval.ranking import DEFAULT_RANKING, LIFT
from core.settings import load_settings
from evaluation.gold import GoldLine, Place, is_hit, read_gold
from evaluation.plots import draw_votes
from evaluation.simulation.data import read_topics
from evaluation.tables import grid

COUNTS, BAD = (100, 300, 1000), (0.0, 0.1, 0.3)
REWORDED = 4
"""Rewordings that are made of a question by rule: words left out, moved, or polite ones put before."""
ANY = "any of it"
"""The evidence of a question for which a page is right whatever it says."""
_PRIOR = 0.5
_POLITE = ("hi, quick question:", "does anybody know,", "help needed:", "I wonder")


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A question with its search: the pages with their features and hashes, and which are right."""

    topic: str
    is_voted: bool
    """Whether people vote on it, where its topic is one that is voted on."""
    is_judged: bool
    """Whether people asked it in these words: no rule reworded it."""
    table: Numbers
    right: Numbers
    hashes: tuple[str, ...]
    vector: Vector


Row = tuple[float, float, float]
"""The share of questions whose right page comes first, that of the first three, the mean reciprocal rank."""


def reworded(text: str, lot: random.Random) -> str:
    """Return a question in other words: a quarter of them left out, the rest as it is, turned, or greeted."""
    words = text.split()
    gone = set(lot.sample(range(len(words)), max(1, len(words) // 4))) if len(words) > 3 else set()
    kept = [word for place, word in enumerate(words) if place not in gone]
    kind = lot.randrange(3)
    cut = lot.randrange(len(kept)) if kind == 1 else 0
    return " ".join([*([lot.choice(_POLITE)] if kind == 2 else []), *kept[cut:], *kept[:cut]])


def product_of(stackfaq: Path, folder: Path) -> None:
    """Write the answers of StackFAQ as pages, and its questions as labelled ones; blocking."""
    (folder / "docs").mkdir(parents=True, exist_ok=True)
    lines = []
    for number, topic in enumerate(read_topics(stackfaq)):
        name = f"answer{number}.md"
        (folder / "docs" / name).write_text(
            "\n\n".join((f"# Answer {number}", *topic.answers)) + "\n", "utf-8"
        )
        for other, text in enumerate((topic.question, *topic.rewordings)):
            line = {"id": f"{number}-{other}", "type": "howto", "question": text, "release": "1"}
            lines.append(line | {"gold_file": name, "evidence": [ANY]})
    (folder / "gold.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    (folder / "corpora.toml").write_text(
        '[product]\nname = "StackFAQ"\n[[release]]\nname = "1"\nlatest = true\n'
        '[[release.source]]\nkind = "folder"\npath = "docs"\n',
        "utf-8",
    )


async def asked_of(app: Application, lines: Sequence[GoldLine], lot: random.Random) -> list[Asked]:
    """Search for every question that stands alone, and for rewordings of it."""
    found = []
    for line in lines:
        if not line.answerable or len(line.places) != 1 or line.history:
            continue
        [(release, place)] = line.places.items()
        number, _, other = line.id.partition("-") if place.evidence == (ANY,) else (line.id, "", "0")
        texts = [line.question]
        if place.evidence != (ANY,):
            texts += [reworded(line.question, lot) for _ in range(REWORDED)]
        for count, text in enumerate(texts):
            named = release if count or line.ask_release else ""
            asked = await app.research.understand(Question(text, release=named or line.ask_release))
            look = None
            if asked.releases == (release,) and not asked.resolution.unknown:
                look = app.searcher.look(asked.queries, asked.vectors[:1], release)
            if look is None or not (pool := await look.pool()).keys:
                continue
            pages = await look.chunks(pool)
            right = np.array([_is_right(place, page.path, page.text) for page in pages], np.float64)
            hashes = tuple(page.hash for page in pages)
            is_faq = place.evidence == (ANY,)
            is_voted = int(other) % 2 == 1 if is_faq else count > 0
            found.append(Asked(number, is_voted, not count, pool.table, right, hashes, asked.vectors[0]))
    return found


def _is_right(place: Place, path: str, text: str) -> bool:
    return path in place.files if place.evidence == (ANY,) else is_hit(place, path, text)


def stream(
    voted: Sequence[Asked], count: int, bad: float, weights: Numbers, lot: random.Random
) -> dict[tuple[int, int], int]:
    """Return the votes, 👍 less 👎, by question and cited page: places in `voted` and in its pages."""
    net: Counter[tuple[int, int]] = Counter()
    for _ in range(count):
        at = lot.randrange(len(voted))
        cited = int(np.argmax(voted[at].table @ weights))
        good = bool(voted[at].right[cited]) != (lot.random() < bad)
        net[at, cited] += 1 if good else -1
    return {key: value for key, value in net.items() if value}


def taught(voted: Sequence[Asked], net: Mapping[tuple[int, int], int]) -> Learnt:
    """Learn from votes as the schedule does."""
    found = []
    for (at, cited), value in net.items():
        one = voted[at]
        marks = np.arange(len(one.hashes)) == cited
        found.append(Voted(one.table, marks, value / (abs(value) + 1.0), one.hashes[cited], abs(value)))
    return learn(found, DEFAULT_RANKING, Learnt())


def share(asked: Sequence[Asked], scores: Sequence[Numbers]) -> Row:
    """Return how well questions are ranked by the scores of their pages."""
    ranks = []
    for one, given in zip(asked, scores, strict=True):
        places = np.flatnonzero(one.right[np.argsort(-given, kind="stable")])
        ranks.append(int(places[0]) + 1 if len(places) else 0)
    count = len(ranks) or 1
    first, third = (sum(0 < rank <= most for rank in ranks) / count for most in (1, 3))
    return first, third, sum(1.0 / rank for rank in ranks if rank) / count


class Near:
    """What memory knows of voted questions: whether it would reuse one, and how votes speak of pages."""

    def __init__(self, voted: Sequence[Asked], net: Mapping[tuple[int, int], int]) -> None:
        self._limits = Thresholds()
        self._vectors = np.stack([voted[at].vector for at, _ in net])
        self._pairs = []
        for number, ((at, cited), value) in enumerate(net.items()):
            good = score(_PRIOR, [(int(value > 0), float(abs(value)))], self._limits.prior_strength)
            page = Citation(1, "", "", "", "page", voted[at].hashes[cited])
            self._pairs.append(QAPair(str(number), "", "", "", "public", good, (page,)))

    def recall(self, one: Asked) -> Recall:
        """Return the pairs from τ on, and whether the nearest good one would be said again."""
        near = self._vectors @ one.vector
        order = [int(at) for at in np.argsort(-near) if near[at] >= self._limits.tau]
        kinds: dict[str, list[tuple[QAPair, float]]] = {"high": [], "low": []}
        for at in order:
            kinds[self._limits.store(self._pairs[at].score)].append((self._pairs[at], float(near[at])))
        high = kinds["high"]
        rival = next((cos for pair, cos in high if pair.citations != high[0][0].citations), 0.0)
        reused = bool(high) and high[0][1] >= LEARNED.needed(rival)
        most = self._limits.recalled
        return Recall("reuse" if reused else "reference", tuple(high[:most]), tuple(kinds["low"][:most]))

    def lifted(self, one: Asked, recall: Recall) -> Numbers:
        """Return what votes on near questions add to the scores of pages."""
        said = opinions(recall, self._limits.tau)
        return LIFT * np.array([said.get(key, 0.0) for key in one.hashes])


def play(asked: Sequence[Asked], seeds: int) -> dict[str, Any]:
    """Return the figures of one product: means over seeds by share of bad votes and number of votes."""
    start = np.array([DEFAULT_RANKING.weights[name] for name in FEATURES])
    rows: dict[str, list[Any]] = {}
    topics = sorted({one.topic for one in asked})
    for seed in range(seeds):
        lot = random.Random(seed)
        chosen = set(lot.sample(topics, len(topics) // 2))
        # of what people reworded themselves half is voted on; the other half is nearly the same
        voted = [one for one in asked if one.topic in chosen and one.is_voted]
        again = [one for one in asked if one.topic in chosen and one.is_judged and not one.is_voted]
        judged = [one for one in asked if one.topic not in chosen and one.is_judged]
        rows.setdefault("shipped", []).append(share(judged, [one.table @ start for one in judged]))
        for bad in BAD:
            for count in COUNTS:
                net = stream(voted, count, bad, start, random.Random(seed * 1009 + count))
                learnt = taught(voted, net)
                row = np.array([learnt.weights[name] for name in FEATURES]) if learnt.weights else start
                key = f"{bad:g} {count}"
                rows.setdefault(f"learnt {key}", []).append(
                    (*share(judged, [one.table @ row for one in judged]), float(bool(learnt.weights)))
                )
                memory = Near(voted, net)
                near = [(one, recall) for one in again if _is_near(recall := memory.recall(one))]
                some = [one for one, _ in near]
                rows.setdefault(f"near {key}", []).append(share(some, [one.table @ start for one in some]))
                rows.setdefault(f"lifted {key}", []).append(
                    share(some, [one.table @ start + memory.lifted(one, recall) for one, recall in near])
                )
                rows.setdefault(f"count {key}", []).append(len(some))
    return {name: np.mean(found, axis=0).round(3).tolist() for name, found in rows.items()}


def _is_near(recall: Recall) -> bool:
    return recall.route != "reuse" and bool(recall.high or recall.low)


def table(made: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the figures as tables in Markdown: right page first, before and after so many votes."""
    tables = []
    for title, before, after in (
        ("nobody voted on it", "shipped", "learnt"),
        ("nearly what was voted on, not reused", "near", "lifted"),
    ):
        lines = []
        for bad in BAD:
            for count in COUNTS:
                cells = []
                for rows in made.values():
                    old = rows[before if before in rows else f"{before} {bad:g} {count}"][0]
                    cells.append(f"{old:.3f} → {rows[f'{after} {bad:g} {count}'][0]:.3f}")
                lines.append([f"{count:,} votes, {bad:.0%} bad", *cells])
        tables.append(grid([title, *made], lines))
    return "\n\n".join(tables) + "\n"


async def searched(name: str, home: str, config: str, gold: str) -> list[Asked]:
    """Search a product's home for its labelled questions; index it first where nothing is."""
    settings = load_settings(None, home=Path(home), config=Path(config), ollama_host="off")
    async with build(settings, "votes") as app:
        if not app.research.corpora:
            await app.corpus_manager.reindex("")
        return await asked_of(app, read_gold(Path(gold)), random.Random(name))


def main() -> None:
    """Play every product that is named, and write figures, tables and a plot."""
    given = ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    given.add_argument("products", nargs="*", metavar="NAME=HOME,CONFIG,GOLD.jsonl")
    given.add_argument("--stackfaq", type=Path)
    given.add_argument("--report", type=Path, required=True)
    given.add_argument("--seeds", type=int, default=5)
    options = given.parse_args()
    report: Path = options.report
    report.mkdir(parents=True, exist_ok=True)
    named = {name: value.split(",") for name, _, value in (text.partition("=") for text in options.products)}
    if options.stackfaq:
        folder = report / "stackfaq"
        product_of(options.stackfaq, folder)
        named["StackFAQ"] = [str(folder / part) for part in ("home", "corpora.toml", "gold.jsonl")]
    kept = report / "votes.json"
    made: dict[str, Any] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    for name, (home, config, gold) in named.items():
        asked = asyncio.run(searched(name, home, config, gold))
        made[name] = play(asked, options.seeds)
        kept.write_text(json.dumps(made, indent=1) + "\n", "utf-8")
        print(name, len(asked), "questions", flush=True)
    (report / "votes.md").write_text(table(made), "utf-8")
    draw_votes(made, COUNTS, BAD, report)
    print(table(made))


if __name__ == "__main__":
    main()
