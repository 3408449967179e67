"""`python -m tests.bench.founded --home HOME GOLD.jsonl …`: how strict the check of generated answers is.

The answers of golden files were written by hand for real pages: right, and in other words than theirs.
Each is checked against the page that it is about, as it stands (a *false drop* if it is dropped) and
corrupted in one fact (a *false pass* if it is kept): a number, a name, code, a negation, an opposite, a
sentence of another document. Sentences of the page itself must pass as well.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from bot.app.bootstrap import build
from core.ingestion.pregeneration.groundedness import Ground
from core.ingestion.pregeneration.pairs import Made
from core.settings import load_settings
from core.text.words import identifiers, quantities, sentences, words
from core.vocabulary import OPPOSITES
from evaluation.gold import is_hit, read_gold

SEED = 7
NAMES = (
    "Tornado",
    "Heroku",
    "Django",
    "Apache",
    "Redis",
    "Windows",
    "Linux",
    "Celery",
    "Postgres",
    "FastAPI",
)
_NOT = re.compile(
    r"\b(is|are|was|were|can|does|do|did|will|has|have|must|should|could|would) not\b|\bcannot\b|n't\b"
)
_VERB = re.compile(r"\b(is|are|was|were|can|will|has|must|should)\b(?! not)")
_NAMED = re.compile(r"(?<=[a-z,] )([A-Z][a-z]{2,})\b")
Case = tuple[str, str]


def corrupted(answer: str, page: str, other: str, chance: random.Random) -> Iterator[Case]:
    """Yield (what, text) for each way in which one fact of an answer can be wrong."""
    numbers = list(dict.fromkeys(value for value, _ in quantities(answer)))
    known = {value for value, _ in quantities(page)}
    if numbers:
        gone = chance.choice(numbers)
        new = next(str(n) for n in range(3, 999) if str(n) not in known)
        yield "number", _swap(answer, gone, new)
        if elsewhere := sorted(known - set(numbers)):
            yield "number of the same document", _swap(answer, gone, chance.choice(elsewhere))
    names = [name for name in identifiers(answer) if re.search(r"[_.\-(]|[a-z][A-Z]", name)]
    if names:
        gone = chance.choice(names)
        theirs = [name for name in identifiers(other) if name.lower() not in page.lower() and len(name) > 3]
        if theirs:
            yield "code", answer.replace(gone, chance.choice(theirs))
        ours = [name for name in identifiers(page) if name not in answer and len(name) > 3]
        if ours:
            yield "code of the same document", answer.replace(gone, chance.choice(ours))
        yield "code misspelt", answer.replace(gone, gone[:-2] + gone[-1] + gone[-2] + "x")
    capitals = _NAMED.findall(answer)
    if capitals:
        new = chance.choice([name for name in NAMES if name.lower() not in page.lower()])
        yield "name", answer.replace(chance.choice(capitals), new)
    if found := _NOT.search(answer):
        bare = "can" if found[0] == "cannot" else (found[1] or "")
        yield "negation taken out", answer[: found.start()] + bare + answer[found.end() :]
    elif found := _VERB.search(answer):
        yield "negation put in", answer[: found.end()] + " not" + answer[found.end() :]
    turned = [
        (one, min(theirs))
        for a, b in OPPOSITES
        for mine, theirs in ((a, b), (b, a))
        for one in sorted(mine)
        if len(one) > 2 and re.search(rf"\b{re.escape(one)}\b", answer)
    ]
    if turned:
        gone, new = chance.choice(turned)
        yield "opposite", re.sub(rf"\b{re.escape(gone)}\b", new, answer, count=1)
    foreign = [s for s in sentences(" ".join(other.split())) if 8 < len(s.split()) < 25 and s[:1].isalpha()]
    if foreign:
        yield "sentence of another document", f"{answer} {chance.choice(foreign)}"


def _swap(text: str, gone: str, new: str) -> str:
    return re.sub(rf"(?<![\w.]){re.escape(gone)}(?![\d])", new, text, count=1)


async def measured(home: Path, config: Path, gold: Path, half: str) -> dict[str, list[tuple[bool, str]]]:
    """Return for each kind of answer whether it was dropped, with why or what it was."""
    settings = load_settings(None, home=home, config=config)
    chance = random.Random(SEED)
    found: dict[str, list[tuple[bool, str]]] = defaultdict(list)
    async with build(settings, "bench") as app:
        documents: dict[str, dict[str, list[str]]] = {}
        for release in app.searcher.corpora:
            ids = list(dict.fromkeys(row.context_id for row in await app.corpora.rows(release)))
            by_path: dict[str, list[str]] = defaultdict(list)
            for chunk in (await app.corpora.contexts(ids)).values():
                by_path[chunk.path.split("#")[0]].append(
                    f"{chunk.title} {chunk.release}\n{chunk.heading}\n\n{chunk.page}"
                )
            documents[release] = by_path
        for line in read_gold(gold, "all"):
            if not line.answer or len(line.places) != 1 or half not in ("all", line.split):
                continue
            [(release, place)] = line.places.items()
            hits = [
                p for p, pages in documents[release].items() if any(is_hit(place, p, page) for page in pages)
            ]
            if not hits:
                continue
            pages = documents[release][hits[0]]
            document = next(page for page in pages if is_hit(place, hits[0], page))
            others = [p for p in documents[release] if p not in hits and len(documents[release][p]) > 1]
            other = "\n\n".join(documents[release][chance.choice(others)])
            ground = Ground.of(document)

            def check(kind: str, answer: str, ground: Ground = ground) -> None:
                problem = ground.unfounded(Made("c", "What is so?", answer, answer))
                found[kind].append((bool(problem), f"{answer} ({problem.text if problem else 'kept'})"))

            check("right", line.answer)
            for kind, text in corrupted(line.answer, document, other, chance):
                if words(text) != words(line.answer):
                    check(kind, text)
            own = [s for s in sentences(" ".join(document.split())) if 5 < len(s.split()) < 40]
            for said in chance.sample(own, min(3, len(own))):
                check("verbatim", said)
    return found


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--config", type=Path, default=Path("corpora.toml"))
    parser.add_argument("--half", choices=["tune", "report", "all"], default="all")
    parser.add_argument("--show", default="", help="list what went wrong with answers of this kind")
    parser.add_argument("gold", type=Path)
    options = parser.parse_args()
    found = await measured(options.home, options.config, options.gold, options.half)
    counted = {
        kind: Counter("dropped" if dropped else "kept" for dropped, _ in some) for kind, some in found.items()
    }
    for kind, counts in counted.items():
        print(f"{kind:32} {counts['dropped']:4} dropped {counts['kept']:4} kept")
    right = ("right", "verbatim")
    wrong = Counter[str]()
    for kind, counts in counted.items():
        wrong += Counter() if kind in right else counts
    print(json.dumps({"corrupted": sum(wrong.values()), "false passes": wrong["kept"]}))
    for dropped, said in found.get(options.show, ()):
        if dropped == (options.show in right):
            print("-", said)


if __name__ == "__main__":
    asyncio.run(_main())
