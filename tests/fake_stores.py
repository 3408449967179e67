"""The stores of `fakes.py`: corpora, memories and conversations, in dictionaries."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from core.catalogue.tables import next_level
from core.domain import (
    READER,
    STRANGERS,
    Answer,
    ChunkedDocument,
    Citation,
    ContextChunk,
    MessageRef,
    Question,
    Vector,
    Vote,
    content_hash,
)
from core.errors import StorageError
from core.ports import (
    Claim,
    Corpus,
    MemoryChange,
    Place,
    Placement,
    Remembered,
    SearchRow,
    SourceRun,
    StoredDocument,
    TopicVector,
    always,
)
from core.ports.opinions import Correction
from core.text.words import window_texts


class FakeCorpora:
    """The `CorpusStore` port; `topics` names the pair topics whose vectors a sweep must keep."""

    def __init__(self, topics: Callable[[], Iterable[str]] = tuple) -> None:
        self._topics = topics
        self._documents: dict[str, tuple[str, ChunkedDocument]] = {}
        self._live: dict[str, tuple[Corpus, tuple[str, ...]]] = {}
        self._vectors: dict[tuple[str, str], Vector] = {}
        self._tokens: dict[tuple[str, str], bytes] = {}
        self._views: dict[tuple[str, str], bytes] = {}
        self._runs: dict[tuple[str, str], SourceRun] = {}
        self.kept_texts: Callable[[], set[str]] = set
        """Hashes of texts of others whose vectors a sweep must keep."""
        self.replaced: Callable[[ChunkedDocument, ChunkedDocument], None] = lambda old, new: None
        """Hears of each document that takes another one's place."""

    def document(self, document_id: str) -> ChunkedDocument | None:
        return self._documents.get(document_id, (None, None))[1]

    async def live(self) -> dict[str, Corpus]:
        return {release: corpus for release, (corpus, _) in self._live.items()}

    async def manifest(self, release: str) -> tuple[StoredDocument, ...]:
        found = [StoredDocument(d.id, d.source, d.path, d.hash, d.url) for d in self._of(release)]
        return tuple(sorted(found, key=lambda d: (d.source, d.path)))

    async def put(self, release: str, document: ChunkedDocument) -> None:
        self._documents.setdefault(document.id, (release, document))

    async def wrote(self, people: Mapping[str, Collection[str]]) -> None:
        for key, names in people.items():
            if key in self._documents:
                release, kept = self._documents[key]
                self._documents[key] = (release, replace(kept, people=tuple(sorted({*kept.people, *names}))))

    async def missing_vectors(self, encoder: str, hashes: Sequence[str], tokens: bool = False) -> set[str]:
        kept = self._tokens if tokens else self._vectors
        return {key for key in hashes if (encoder, key) not in kept}

    async def put_vectors(
        self, encoder: str, vectors: Mapping[str, Vector], tokens: Mapping[str, bytes] | None = None
    ) -> None:
        for key, vector in vectors.items():
            self._vectors.setdefault((encoder, key), vector.astype(np.float32))
        self._tokens |= {(encoder, key): bits for key, bits in (tokens or {}).items()}

    async def tokens(self, encoder: str, hashes: Sequence[str]) -> dict[str, bytes]:
        return {key: self._tokens[encoder, key] for key in hashes if (encoder, key) in self._tokens}

    async def vectors(self, encoder: str, hashes: Sequence[str]) -> dict[str, Vector]:
        return {key: self._vectors[encoder, key] for key in hashes if (encoder, key) in self._vectors}

    async def missing_views(self, by: str, pages: Sequence[str]) -> set[str]:
        return {key for key in pages if (by, key) not in self._views}

    async def put_views(self, by: str, views: Mapping[str, bytes]) -> None:
        there = await self.contexts(list(views))
        self._views |= {(by, key): view for key, view in views.items() if key in there}

    async def views(self, by: str, pages: Sequence[str]) -> dict[str, bytes]:
        there = await self.contexts(pages)
        return {key: self._views[by, key] for key in there if (by, key) in self._views}

    async def rows(self, release: str, document_ids: Sequence[str] | None = None) -> tuple[SearchRow, ...]:
        if document_ids is None:
            documents = self._of(release)
        else:
            known = [key for key in dict.fromkeys(document_ids) if key in self._documents]
            documents = [self._documents[key][1] for key in known]
        rows = []
        for document in documents:
            headings = {context.id: context.heading for context in document.contexts}
            rows += [
                SearchRow(
                    piece.id,
                    piece.context_id,
                    document.id,
                    f"{document.title} {headings[piece.context_id]}",
                    piece.text,
                    piece.embedded,
                    content_hash(piece.embedded),
                    document.path,
                )
                for piece in document.searches
            ]
        return tuple(rows)

    async def swap(self, release: str, document_ids: Sequence[str], encoder: str) -> Corpus:
        ids = tuple(dict.fromkeys(document_ids))
        if missing := [key for key in ids if key not in self._documents]:
            raise StorageError(f"{len(missing)} documents of {release} are not kept; index it again.")
        generation = self._live[release][0].generation + 1 if release in self._live else 1
        chunks = sum(len(self._documents[key][1].searches) for key in ids)
        corpus = Corpus(release, encoder, generation, time.time(), len(ids), chunks)
        before = {(d.source, d.path): d for d in self._of(release)} if release in self._live else {}
        self._live[release] = (corpus, ids)
        for new in self._of(release):
            old = before.get((new.source, new.path))
            if old and old.id != new.id:
                self.replaced(old, new)
        return corpus

    async def leftovers(self, release: str) -> int:
        live = set(self._live[release][1]) if release in self._live else set()
        return sum(owner == release and key not in live for key, (owner, _) in self._documents.items())

    async def remove(self, release: str) -> None:
        self._live.pop(release, None)
        self._runs = {place: run for place, run in self._runs.items() if place[0] != release}

    async def sweep(self, release: str) -> None:
        live = set(self._live[release][1]) if release in self._live else set()
        for key, (owner, _) in list(self._documents.items()):
            if owner == release and key not in live:
                del self._documents[key]
        texts = {piece.embedded for _, document in self._documents.values() for piece in document.searches}
        used = {content_hash(text) for text in texts}
        used |= {
            key
            for _, document in self._documents.values()
            for chunk in document.contexts
            for key in window_texts(replace(chunk, title=document.title))
        }
        topics = {content_hash(topic) for topic in self._topics()} | self.kept_texts()
        encoders = {corpus.encoder for corpus, _ in self._live.values()}
        seen = {corpus.views for corpus, _ in self._live.values()}
        self._views = {place: view for place, view in self._views.items() if place[0] in seen}
        for encoder, key in list(self._vectors):
            if key not in topics and (key not in used or encoder not in encoders):
                del self._vectors[encoder, key]

    async def contexts(self, ids: Sequence[str]) -> dict[str, ContextChunk]:
        wanted = set(ids)
        return {
            chunk.id: replace(
                chunk, path=document.path, title=document.title, release=release, people=document.people
            )
            for release, document in self._documents.values()
            for chunk in document.contexts
            if chunk.id in wanted
        }

    async def pages_like(self, places: Sequence[Place]) -> dict[Place, dict[str, tuple[str, ...]]]:
        found: dict[Place, dict[str, tuple[str, ...]]] = {place: {} for place in places}
        for release in self._live:
            for document in sorted(self._of(release), key=lambda d: d.source):
                for chunk in document.contexts:
                    pages = found.get((document.path, chunk.heading))
                    if pages is not None:
                        pages[release] = (*pages.get(release, ()), chunk.page)
        return found

    async def page_hashes(self, release: str) -> set[str]:
        return {chunk.hash for document in self._of(release) for chunk in document.contexts}

    async def note_run(
        self,
        release: str,
        source: str,
        error: str,
        skipped: Sequence[tuple[str, str]],
        changed: bool | None = None,
    ) -> None:
        now, old = time.time(), self._runs.get((release, source))
        succeeded = now if not error else old.succeeded_at if old else 0.0
        failures = (old.failures if old else 0) + 1 if error else 0
        passed = tuple((path, reason) for path, reason in skipped)
        level = old.level if old else 0
        level = level if changed is None else next_level(level, changed)
        self._runs[release, source] = SourceRun(
            release, source, now, succeeded, failures, error, passed, level
        )

    async def runs(self) -> tuple[SourceRun, ...]:
        return tuple(self._runs.values())

    def _of(self, release: str) -> list[ChunkedDocument]:
        _, ids = self._live.get(release, (None, ()))
        return [self._documents[key][1] for key in ids]


@dataclass(frozen=True)
class Mark:
    """In which releases a pair is stale, and what came of that."""

    releases: frozenset[str]
    marked_at: float
    checked_at: float = 0.0
    finding: str = ""
    proposal: str = ""
    proposed: tuple[Citation, ...] = ()


class FakeMemories:
    """The `MemoryStore` port: answers, pairs, and the list of vote events."""

    def __init__(self) -> None:
        self.corpora = FakeCorpora()
        self._answers: dict[str, dict[str, Any]] = {}
        self._whose: dict[str, tuple[Collection[str], Collection[str], Collection[str]]] = {}
        self._pairs: dict[str, Remembered] = {}
        self.votes: list[tuple[Vote, str, float]] = []
        self.marks: dict[str, Mark] = {}
        self._placements: dict[str, Placement] = {}
        self.corrections: dict[tuple[str, str], Correction] = {}

    def topics(self) -> set[str]:
        """Return the topics of all pairs."""
        return {pair.topic for pair in self._pairs.values()}

    def all_pairs(self) -> dict[str, Remembered]:
        """Return every pair by its id, without votes."""
        return dict(self._pairs)

    def all_answers(self) -> list[dict[str, Any]]:
        """Return every answer."""
        return list(self._answers.values())

    def change(self, pair_id: str, **values: Any) -> None:
        """Change columns of a pair."""
        self._pairs[pair_id] = replace(self._pairs[pair_id], **values)

    def reword(self, pair_id: str, answer: str) -> None:
        """Replace the answer of a pair."""
        if pair_id in self._pairs:
            self._pairs[pair_id] = replace(self._pairs[pair_id], answer=answer)

    def discard(self, pair_id: str) -> None:
        """Remove a pair with its votes."""
        self._pairs.pop(pair_id, None)
        self._placements.pop(pair_id, None)
        self.votes = [vote for vote in self.votes if vote[1] != pair_id]

    async def save_answer(
        self,
        answer: Answer,
        question: Question,
        pair: Remembered | None,
        still: Callable[[], Awaitable[bool]] = always,
        topic: TopicVector | None = None,
    ) -> bool:
        wanted = {*answer.taken.pairs, *([answer.pair_id] if answer.pair_id and pair is None else [])}
        if not await still() or wanted - self._pairs.keys():
            return False
        if pair is not None:
            self._pairs.setdefault(pair.id, replace(pair, opinions=()))
        if topic is not None:
            await self.corpora.put_vectors(topic.encoder, {topic.text_hash: topic.vector})
        used = self._pairs.get(answer.pair_id)
        if used is not None and answer.route == "reuse" and answer.id not in self._answers:
            self._pairs[used.id] = replace(used, uses=used.uses + 1, used_at=time.time())
        kept = {
            "id": answer.id,
            "at": time.time(),
            "question": question.text,
            "asker": question.asker,
            "channel": question.channel,
            "scope": question.scope.key,
            "release": answer.release,
            "route": answer.route,
            "text": answer.text,
            "citations": [asdict(citation) for citation in answer.citations],
            "confidence": answer.confidence,
            "similarity": answer.similarity,
            "pair_id": pair.id if pair else answer.pair_id,
            "trace": answer.trace,
        }
        self._answers.setdefault(answer.id, kept)
        lent = {person for key in wanted for person in (*self._pairs[key].others, self._pairs[key].asker)}
        self._whose[answer.id] = (question.authors, answer.taken.asked, answer.taken.people | lent)
        return True

    async def withdraw(self, answer_id: str, replaced: bool) -> None:
        if answer_id in self._answers:
            pair_id, trace = (self._answers[answer_id][key] for key in ("pair_id", "trace"))
            pair = (await self.pairs([pair_id])).get(pair_id)
            voted = pair and (pair.opinions or pair.strangers)
            topic = (trace.get("queries") or {}).get("topic") if voted or pair_id in self._placements else ""
            left = {"replaced": replaced} | ({"queries": {"topic": topic}} if topic else {})
            bare = {"question": "", "text": "", "citations": [], "trace": left}
            self._answers[answer_id] |= bare
            having = [one for one in self._answers.values() if one["pair_id"] == pair_id]
            shared = any(one["text"] for one in having)
            if pair and pair.origin == "answer" and not (pair.aside or voted or shared):
                del self._pairs[pair_id]
                for one in having:
                    one["pair_id"] = ""

    async def emptied(self, answer_ids: Sequence[str]) -> frozenset[str]:
        return frozenset(key for key in answer_ids if key in self._answers and not self._answers[key]["text"])

    async def releases_of(self, answer_ids: Sequence[str]) -> dict[str, str]:
        return {key: self._answers[key]["release"] for key in answer_ids if key in self._answers}

    async def whose(self, answer_ids: Sequence[str], text: bool = True) -> frozenset[str]:
        found: set[str] = set()
        for key in [key for key in answer_ids if key in self._answers]:
            authors, asked, told = self._whose[key]
            found |= {*(authors or [self._answers[key]["asker"]]), *asked, *(told if text else ())}
        return frozenset(found - {""})

    async def add(self, pairs: Sequence[Remembered]) -> set[str]:
        new = {}
        for pair in reversed(pairs):
            old = self._pairs.get(pair.id)
            if old is None or old.aside:
                own = {"uses": old.uses, "used_at": old.used_at} if old else {}
                new[pair.id] = replace(pair, opinions=(), **own)
        self._pairs |= new
        return set(new)

    async def set_aside(self, ids: Sequence[str], why: Literal["", "retired", "evicted"]) -> None:
        for key in ids:
            if key in self._pairs:
                self._pairs[key] = replace(self._pairs[key], aside=why)

    async def answer(self, answer_id: str) -> dict[str, Any] | None:
        kept = self._answers.get(answer_id)
        return dict(kept) if kept else None

    async def pair(self, pair_id: str) -> Remembered | None:
        return (await self.pairs([pair_id])).get(pair_id)

    async def pairs(self, ids: Sequence[str]) -> dict[str, Remembered]:
        return {key: self._voted(self._pairs[key]) for key in ids if key in self._pairs}

    async def vote(self, vote: Vote, weight: float) -> Remembered | None:
        answer = self._answers.get(vote.answer_id)
        if answer is None:
            return None
        at = vote.at or datetime.now(UTC)
        hand = vote.withdraws if vote.value is None else vote.value
        for other, _, _ in self.votes if vote.said_at else ():
            same = (other.answer_id, other.voter) == (vote.answer_id, vote.voter)
            of = other.withdraws if other.value is None else other.value
            again = (other.value, other.withdraws, other.said_at) == (
                vote.value,
                vote.withdraws,
                vote.said_at,
            )
            if same and (again or (other.said_at > vote.said_at and of in (hand, None))):
                return await self.pair(answer["pair_id"])
        since = self.votes[vote.until :] if vote.until is not None else []
        if any((other.answer_id, other.voter) == (vote.answer_id, vote.voter) for other, _, _ in since):
            return await self.pair(answer["pair_id"])
        self.votes.append((replace(vote, at=at), answer["pair_id"], weight))
        pair = self._pairs.get(answer["pair_id"])
        if pair is not None and pair.aside == "evicted" and vote.standing != READER:
            self._pairs[pair.id] = replace(pair, aside="")
        return await self.pair(answer["pair_id"])

    async def opinion(self, answer_id: str, voter: str) -> Literal[0, 1] | None:
        hands = self._hands(answer_id, voter)
        return hands[-1].value if hands else None

    async def hands(
        self, answer_id: str, value: Literal[0, 1], without: Collection[str] = (), until: int | None = None
    ) -> tuple[str, ...]:
        later = self.votes[until:] if until is not None else []
        since = {vote.voter for vote, _, _ in later if vote.answer_id == answer_id}
        voters = {vote.voter for vote, _, _ in self.votes} - set(without) - since
        return tuple(
            voter
            for voter in sorted(voters)
            if any(hand.value == value and hand.by_reaction for hand in self._hands(answer_id, voter))
        )

    def _hands(self, answer_id: str, voter: str) -> list[Vote]:
        hands: list[Vote] = []
        for vote, _, _ in self.votes:
            if (vote.answer_id, vote.voter) == (answer_id, voter):
                taken = vote.withdraws if vote.value is None else vote.value
                hands = [] if taken is None else [hand for hand in hands if hand.value != taken]
                hands += [] if vote.value is None else [vote]
        return hands

    async def place(self, change: MemoryChange) -> None:
        for pair_id in change.removed:
            self._placements.pop(pair_id, None)
        self._placements |= {placement.pair_id: placement for placement in change.placements}

    async def placements(self) -> tuple[tuple[Placement, Remembered], ...]:
        placed = sorted(self._placements.items())
        return tuple((placement, self._voted(self._pairs[key])) for key, placement in placed)

    async def voted(self) -> tuple[Remembered, ...]:
        pairs = [self._voted(pair) for _, pair in sorted(self._pairs.items())]
        return tuple(p for p in pairs if p.opinions or p.strangers or p.origin != "answer")

    async def clear_placements(self) -> None:
        self._placements.clear()

    async def mark_stale(self, release: str, live_hashes: set[str], built_at: float | None = None) -> int:
        newly = 0
        for key, pair in self._pairs.items():
            if release not in pair.release.split("+"):
                continue
            whole = Mark(frozenset(pair.release.split("+")), 0.0)
            mark = self.marks.get(key) or (whole if pair.stale else None)
            cited = {c.hash for c in pair.citations if c.hash and c.release in (release, "")}
            before = mark.releases if mark else frozenset()
            after = before - {release} if cited <= live_hashes else before | {release}
            again = release in after and (built_at is None or not mark or mark.marked_at < built_at)
            if after == before and not again:
                continue
            newly += bool(after) and not before
            self._pairs[key] = replace(pair, stale=bool(after))
            self.marks.pop(key, None)
            if after:
                self.marks[key] = replace(mark or Mark(after, 0.0), releases=after, marked_at=time.time())
        return newly

    async def move(self, channel: str, before: str, after: str) -> tuple[str, ...]:
        here = sorted(k for k, p in self._pairs.items() if (p.channel, p.scope) == (channel, before))
        for key in here:
            free = {"channel": ""} if after == "public" else {}
            self._pairs[key] = replace(self._pairs[key], scope=after, **free)
            self._placements.pop(key, None)
        for row in self._answers.values():
            if (row["channel"], row["scope"]) == (channel, before):
                row["scope"] = after
                row["channel"] = "" if after == "public" else channel
                for name, said in self.corrections.items():
                    if (name[0], said.scope) == (row["id"], before):
                        self.corrections[name] = replace(said, scope=after)
            if after not in ("public", row["scope"]):
                for kind in {"high", "low"} & row["trace"].keys():
                    row["trace"][kind] = [e for e in row["trace"][kind] if e.get("pair") not in here]
        return tuple(here)

    async def counts(self) -> dict[str, int]:
        shown = Counter(p.store for p in self._placements.values() if not p.shadowed_by)
        held = {"answers": len(self._answers), "pairs": len(self._pairs), "votes": len(self.votes)}
        return {**held, "high": shown["high"], "low": shown["low"]}

    def _voted(self, pair: Remembered) -> Remembered:
        """Give a pair its standing opinions: the latest hand of each voter that is still raised."""
        raised: dict[tuple[str, str, int], tuple[int, float, str]] = {}
        for number, (vote, pair_id, weight) in enumerate(self.votes):
            if pair_id != pair.id or vote.standing == READER:
                continue
            if vote.value is not None:
                raised[vote.voter, vote.answer_id, vote.value] = (number, weight, vote.standing)
                continue
            for hand in (0, 1) if vote.withdraws is None else (vote.withdraws,):
                raised.pop((vote.voter, vote.answer_id, hand), None)
        latest: dict[str, tuple[int, int, float, str]] = {}
        for (voter, _, value), (number, weight, standing) in raised.items():
            latest[voter] = max(latest.get(voter, (-1, 0, 0.0, "")), (number, value, weight, standing))
        hands = [hand[1:] for _, hand in sorted(latest.items())]
        return replace(
            pair,
            opinions=tuple((v, w) for v, w, standing in hands if standing not in STRANGERS),
            strangers=tuple((v, w, s == "early") for v, w, s in hands if s in STRANGERS),
        )


class FakeConversations:
    """The `ConversationStore` port."""

    def __init__(self) -> None:
        self._claims: dict[str, Claim] = {}
        self._events: set[str] = set()
        self._settled: set[str] = set()
        self._posts: dict[str, str] = {}

    async def claim(self, claim: Claim, event: str = "") -> bool:
        if event and event in self._events:
            return False
        if event:
            self._events.add(event)
        if not claim.message:
            return True
        if claim.message in self._claims:
            return False
        self._claims[claim.message] = replace(claim, answer_id="")
        return True

    async def taken(self, event: str) -> bool:
        return event in self._events

    async def claimed(self, message: str) -> Claim | None:
        return self._claims.get(message)

    async def posted(self, message: str, parts: Sequence[MessageRef], conversation: str = "") -> None:
        if message in self._claims:
            claim = self._claims[message]
            at = conversation or claim.conversation
            self._claims[message] = replace(claim, parts=tuple(parts), conversation=at)
        self._posts = {part: owner for part, owner in self._posts.items() if owner != message}
        for part in parts:
            self._posts.setdefault(part.key, message)

    async def posting(self, message: str, answer_id: str) -> bool:
        if message in self._claims:
            self._claims[message] = replace(self._claims[message], posting=answer_id)
        return True

    async def answered(self, message: str, answer_id: str, language: str = "", ours: bool = False) -> None:
        if message in self._claims:
            claim = self._claims[message]
            spoken = language or claim.language
            self._claims[message] = replace(claim, answer_id=answer_id, is_settled=True, language=spoken)
            self._settled.add(message)

    async def decided(self, message: str, payload: Mapping[str, Any]) -> None:
        if message in self._claims:
            claim = self._claims[message]
            self._claims[message] = replace(claim, decided=True, payload=dict(payload), tries=1)

    async def dropped(self, message: str) -> None:
        self._claims.pop(message, None)

    async def tried(self, message: str) -> int:
        claim = self._claims.get(message)
        if claim is None:
            return 0
        self._claims[message] = replace(claim, tries=claim.tries + 1)
        return claim.tries + 1

    async def spared(self, messages: Collection[str]) -> None:
        for message in set(messages) & (self._claims.keys() - self._settled):
            claim = self._claims[message]
            self._claims[message] = replace(claim, tries=max(0, claim.tries - 1))

    async def emptied(self, message: str) -> None:
        if message in self._claims:
            self._claims[message] = replace(self._claims[message], payload={}, asker="")

    async def unanswered(self, since: float) -> tuple[Claim, ...]:
        waiting = [c for key, c in self._claims.items() if key not in self._settled and c.at >= since]
        return tuple(sorted(waiting, key=lambda claim: claim.at))

    async def left(self, platform: str, messages: bool) -> tuple[Claim, ...]:
        waiting = await self.unanswered(0.0)
        here = [claim for claim in waiting if claim.message.startswith(f"{platform}:")]
        return tuple(claim for claim in here if (claim.kind == "message") == messages)

    async def take_over(self, message: str) -> None:
        pass

    async def is_ours(self, message: str) -> bool:
        return True

    async def answer_of(self, part: str) -> str:
        claim = self._claims.get(self._posts.get(part, ""))
        return (claim.answer_id if claim.is_settled else claim.posting) if claim else ""

    async def claim_at(self, part: str) -> Claim | None:
        return self._claims.get(self._posts.get(part, ""))

    async def claim_of(self, answer_id: str) -> Claim | None:
        found = (c for c in self._claims.values() if answer_id and c.answer_id == answer_id)
        return next(found, None)

    async def answers_of(self, parts: Sequence[str]) -> dict[str, str]:
        found = {part: await self.answer_of(part) for part in parts}
        return {part: answer_id for part, answer_id in found.items() if answer_id}

    async def answers_in(self, conversation: str, limit: int) -> tuple[str, ...]:
        found = [c for c in self._claims.values() if c.conversation == conversation and c.answer_id]
        return tuple(c.answer_id for c in sorted(found, key=lambda claim: -claim.at)[:limit])

    async def last_claim(self, conversation: str) -> Claim | None:
        found = [c for c in self._claims.values() if c.conversation == conversation and c.answer_id]
        return max(found, key=lambda claim: claim.at, default=None)

    async def last_asked(self, conversation: str) -> Claim | None:
        found = [c for c in self._claims.values() if c.conversation == conversation and c.answer_id]
        asked = (c for c in found if c.kind in ("message", "share"))
        return max(asked, key=lambda claim: claim.at, default=None)

    async def last_told(self, conversation: str) -> Claim | None:
        told = set(self._posts.values()) & self._settled
        found = [c for key, c in self._claims.items() if key in told and c.conversation == conversation]
        told_of = (c for c in found if c.kind in ("message", "share"))
        return max(told_of, key=lambda claim: claim.at, default=None)

    async def open_in(self, conversation: str) -> tuple[Claim, ...]:
        waiting = await self.unanswered(0.0)
        return tuple(c for c in waiting if c.conversation == conversation and c.kind == "message")

    async def reworded(self, message: str, payload: Mapping[str, Any]) -> None:
        if message in self._claims:
            self._claims[message] = replace(self._claims[message], payload=dict(payload))

    async def known(self, parts: Collection[str]) -> frozenset[str]:
        return frozenset(set(parts) & self._posts.keys())

    async def last_in(self, channel: str) -> Claim | None:
        answered = [c for c in self._claims.values() if c.answer_id]
        found = [c for c in answered if c.conversation.startswith(f"{channel}:")]
        return max(found, key=lambda claim: claim.at, default=None)

    async def reopen(self, message: str, payload: Mapping[str, Any], at: float) -> None:
        if message in self._claims:
            claim = self._claims[message]
            fresh = replace(claim, payload=dict(payload), at=at, answer_id="", is_settled=False)
            earlier = (*claim.before, *filter(None, [claim.answer_id]))
            fresh = replace(fresh, decided=True, tries=1, posting="", before=earlier)
            self._claims[message] = fresh
            self._settled.discard(message)
