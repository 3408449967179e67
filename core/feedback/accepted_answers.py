"""People's answers: messages that helpers accept, and better answers that people write.

Both become pairs of memory like any other, with their author as the source. Nothing here needs the model
unless the question that is answered is in doubt.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from core.domain import Citation, Question, Scope, Trace
from core.generation.phrases import either
from core.languages import DEFAULT, N_, _
from core.memory.community import CommunityMemory
from core.memory.import_export import PRIOR
from core.pipeline.research import Research
from core.ports import MemoryStore, Remembered
from core.ports.opinions import Correction, OpinionStore, pair_of
from core.privacy.names import nobody
from core.query import language

OBJECTED = N_("Its author does not want it remembered.")
OPTED_OUT = N_("Its author, or the asker, has opted out, so I do not store it.")
DIRECT = N_("What is said in direct messages is never remembered.")
EMPTY = N_("It has no text to remember.")


@dataclass(frozen=True, slots=True)
class Written:
    """A person's message: the key of its `MessageRef`, its author's id and name, its text and link."""

    message: str
    author: str
    name: str
    text: str
    link: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What accepting a message led to: the pair it became, or why it became none."""

    pair: Remembered | None = None
    problem: str = ""


class AcceptedAnswers:
    """Takes what people answer into memory, and out of it again."""

    def __init__(
        self,
        memory: CommunityMemory,
        store: MemoryStore,
        opinions: OpinionStore,
        research: Research,
        is_out: Callable[[str], bool] = nobody,
    ) -> None:
        self._memory = memory
        self._store = store
        self._opinions = opinions
        self._research = research
        self._is_out = is_out

    # --- accepted messages --------------------------------------------------------------------

    async def accept(self, written: Written, question: Question, helper: str) -> Outcome:
        """Remember a message as the answer to a question, because a helper says so."""
        if not question.scope.remembered:
            return Outcome(problem=_(DIRECT))
        if self._is_out(written.author) or self._is_out(question.asker):
            return Outcome(problem=_(OPTED_OUT))
        if not written.text.strip():
            return Outcome(problem=_(EMPTY))
        if written.author in await self._opinions.marked(written.message, "object"):
            return Outcome(problem=_(OBJECTED))
        spoken = question.language or await language.detect(question.text)
        asked = await self._research.understand(replace(question, language=spoken))
        if asked.resolution.unknown:
            unknown = either(asked.resolution.unknown)
            return Outcome(problem=_("There is no release {release}.").format(release=unknown))
        pair = Remembered(
            id=await self._made_of(written.message),
            question=asked.queries.base,
            topic=asked.topic,
            answer=written.text,
            release=asked.partition,
            scope=question.scope.key,
            prior=PRIOR,
            created_at=time.time(),
            citations=(_by(written.name, written.link, asked.releases[0]),),
            origin="person",
            asker=question.asker,
            channel=question.channel,
            language=await language.detect(written.text) or asked.language,
            others=tuple(sorted({*asked.taken.asked, *question.authors} - {question.asker})),
        )
        await self._opinions.mark(written.message, helper, "accept")
        await self._remember(pair, written.author)
        return Outcome(pair)

    async def is_remembered(self, message: str) -> bool:
        """Return True if a message is an answer that is remembered now."""
        pair = await self._store.pair(await self._made_of(message))
        return pair is not None and not pair.aside

    async def accepting(self, message: str) -> frozenset[str]:
        """Return whose ✅ stands on a message."""
        return await self._opinions.marked(message, "accept")

    async def withdraw(self, message: str, helper: str) -> bool:
        """Take a helper's ✅ off; returns True if the message is no longer remembered for it."""
        if not await self._opinions.unmark(message, helper, "accept"):
            return False
        if await self._opinions.marked(message, "accept"):
            return False
        return await self._retire(await self._made_of(message))

    async def object(self, message: str, author: str) -> bool:
        """Forget a message for good, because its author says so; returns True if it was remembered."""
        await self._opinions.mark(message, author, "object")
        return await self.gone(message)

    async def reworded(self, message: str, text: str) -> None:
        """Let a remembered message follow an edit; one without text left is not remembered any more."""
        pair_id = await self._made_of(message)
        if not text.strip():
            await self._retire(pair_id)
        elif await self._opinions.author(pair_id):
            await self._opinions.reword(pair_id, text)

    async def gone(self, message: str) -> bool:
        """Forget a message that was deleted; returns True if it was remembered."""
        pair = await self._store.pair(await self._made_of(message))
        if pair is None:
            return False
        was_remembered = await self._retire(pair.id)
        await self._opinions.discard(pair.id)
        return was_remembered

    async def linked(self, links: str, channel: str = "") -> list[str]:
        """Return the links of people's remembered messages that begin so, or that stand in a channel."""
        pairs = await self._memory.everything() if links else ()
        found = [(pair, cited.url) for pair in pairs if pair.origin == "person" for cited in pair.citations]
        return [url for pair, url in found if url.startswith(links) or pair.channel == channel != ""]

    # --- corrections --------------------------------------------------------------------------

    async def correct(
        self,
        correction: Correction,
        helper: bool,
        link: str,
        where: Scope | None = None,
        asked: str = "",
    ) -> Correction:
        """Keep what was wrong with an answer; a helper's better one is remembered in its place.

        `link` leads to the answer. What is written in a private channel (`where`) stays there, also where the
        answer was published since; `asked` is the question as it reads today, else it is that of the answer;
        without either nothing is remembered. Of somebody who opted out nothing is kept. Raises KeyError for
        an answer that is not kept.
        """
        row = await self._store.answer(correction.answer_id)
        if row is None:
            raise KeyError(correction.answer_id)
        if self._is_out(correction.person):
            return correction
        scope, release = Scope.parse(row["scope"]), str(row["release"])
        if where is not None and where.kind == "private" and scope.remembered:
            scope = where
        correction = replace(correction, scope=scope.key)
        trace = Trace.of(row["trace"])
        queries = trace.queries
        base = asked or queries.base
        if helper and correction.better.strip() and release and scope.remembered and base.strip():
            pair = Remembered(
                id=pair_of(f"{correction.answer_id} {correction.person}"),
                question=base,
                topic=queries.topic if queries.topic and base == queries.base else base,
                answer=correction.better,
                release=release,
                scope=scope.key,
                prior=PRIOR,
                created_at=time.time(),
                citations=(_by(correction.name, link, release.split("+")[0]),),
                origin="person",
                asker=row["asker"],
                channel=scope.channel or row["channel"],
                language=await language.detect(correction.better) or trace.language or DEFAULT,
                others=tuple(sorted(await self._store.whose([correction.answer_id], False) - {row["asker"]})),
            )
            await self._remember(pair, correction.person)
            correction = replace(correction, pair_id=pair.id)
        else:
            await self._retire(pair_of(f"{correction.answer_id} {correction.person}"))
        await self._opinions.correct(correction)
        return correction

    async def corrections(self, answer_id: str = "") -> tuple[Correction, ...]:
        """Return what people found wrong with one answer, or with any, the latest first."""
        return await self._opinions.corrections(answer_id)

    # --- the works ----------------------------------------------------------------------------

    async def _remember(self, pair: Remembered, author: str) -> None:
        """Place a pair in memory, also one that was taken out before or has another text by now.

        One that stands there for others than are to hear it now is taken out first, with its words.
        """
        kept = await self._store.pair(pair.id)
        if kept is not None and not kept.aside and kept.scope != pair.scope:
            await self._memory.retire([pair.id])
        await self._opinions.wrote(pair.id, author)
        await self._memory.seed([pair])
        await self._opinions.reword(pair.id, pair.answer)

    async def _made_of(self, message: str) -> str:
        """Return the id of the pair of a message: its channel may have had another id when it was made."""
        made = pair_of(message)
        return await self._opinions.former(made) or made

    async def _retire(self, pair_id: str) -> bool:
        pair = await self._store.pair(pair_id)
        if pair is None or pair.aside:
            return False
        await self._memory.retire([pair_id])
        return True


def _by(name: str, link: str, release: str) -> Citation:
    return Citation(1, _("Answer by {name}").format(name=name), link, release, "")
