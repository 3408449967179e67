"""Votes: reactions, buttons, taking back and clearing, against a model of who holds up which hand."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass, field, replace
from typing import Literal

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from bot.ports.chat import Cleared, Press, Reaction
from core.domain import MessageRef
from tests.journeys.fake_stage import FakeResponder, person, scope
from tests.journeys.stage import ask
from tests.proofs.world import Fuse, World

WHO = ("ann", "bob", "eve", "joe", "hal")
EMOJI: dict[int, str] = {1: "👍", 0: "👎"}
Value = Literal[0, 1]


@dataclass
class Hands:
    """Who holds up what on one answer, the hand that counts last: the whole model."""

    up: dict[str, list[tuple[int, bool]]] = field(default_factory=dict)
    """By person: (value, by a reaction)."""

    def raised(self, who: str, value: int, by_reaction: bool) -> None:
        self.lowered(who, value)
        self.up.setdefault(who, []).append((value, by_reaction))

    def lowered(self, who: str, value: int | None) -> None:
        self.up[who] = [hand for hand in self.up.get(who, []) if value is not None and hand[0] != value]

    def pressed(self, who: str, value: int) -> None:
        """A button takes back what stands if it is the same, whichever way it was put."""
        if self.opinion(who) == value:
            self.lowered(who, None)
        else:
            self.raised(who, value, False)

    def cleared(self, value: int) -> None:
        """A moderator takes off everybody's emoji of one vote; what buttons said stays."""
        for who, hands in list(self.up.items()):
            if any(hand == (value, True) for hand in hands):
                self.lowered(who, value)

    def opinion(self, who: str) -> int | None:
        hands = self.up.get(who)
        return hands[-1][0] if hands else None

    def score(self, prior: float) -> float:
        """The asker and a helper weigh two votes; of strangers all together weigh half a vote beside them.

        Alone they weigh one vote, while nobody is known yet, and three of one opinion are a crowd.
        """
        standing = {who: self.opinion(who) for who in WHO if self.opinion(who) is not None}
        known = [(standing[who], 2.0) for who in ("ann", "hal") if who in standing]
        others = [value for who, value in standing.items() if who not in ("ann", "hal")]
        if not known:
            others = [value for value in others if others.count(value) <= 2]
        most = 0.5 if known else 1.0
        share = min(1.0, most / len(others)) if others else 0.0
        cast = [*known, *((value, share) for value in others)]
        return (prior + sum(v * w for v, w in cast)) / (1 + sum(w for _, w in cast))


class Votes(RuleBasedStateMachine):
    """People vote on one answer, in every way, also twice and while the process dies."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world, self.hands = world, Hands()
        self.chat = world.chat()
        self.start(Fuse())
        seen = world.run(ask(self.stage, "Which port does the dashboard listen on?"))
        self.seen = seen
        self.ref = MessageRef("fake", seen.place, seen.id)
        self.answer = world.run(world.bot.app.conversations.answer_of(self.ref.key))
        assert self.answer

    def start(self, fuse: Fuse) -> None:
        self.fuse, self.dispatch = fuse, self.world.process(fuse)
        self.stage = self.world.stage(self.dispatch, self.chat)

    def teardown(self) -> None:
        self.world.reset()

    @rule(who=st.sampled_from(WHO), value=st.sampled_from([0, 1]), times=st.integers(1, 2))
    def react(self, who: str, value: Value, times: int) -> None:
        """Somebody puts an emoji; the platform may tell it twice."""
        self.told(Reaction(self.ref, person(who), EMOJI[value], True, str(uuid.uuid4())), times)
        self.hands.raised(who, value, True)

    @rule(who=st.sampled_from(WHO), value=st.sampled_from([0, 1]))
    def take_off(self, who: str, value: Value) -> None:
        self.told(Reaction(self.ref, person(who), EMOJI[value], False, str(uuid.uuid4())), 1)
        self.hands.lowered(who, value)

    @rule(who=st.sampled_from(WHO), value=st.sampled_from([0, 1]))
    def press(self, who: str, value: Value) -> None:
        name = "up" if value else "down"
        press = Press(name, self.answer, self.ref, person(who), scope("public"), {}, str(uuid.uuid4()))
        self.world.run(self.dispatch.press(self.chat, press, FakeResponder(self.stage, who)))
        self.hands.pressed(who, value)

    @rule(values=st.sampled_from([(0,), (1,), (0, 1)]))
    def clear(self, values: tuple[int, ...]) -> None:
        """A moderator clears the emoji of one vote, or all."""
        left = {
            EMOJI[value]: frozenset(
                f"fake:{who}" for who in WHO if (value, True) in self.hands.up.get(who, [])
            )
            for value in (0, 1)
            if value not in values
        }
        emoji = "" if len(values) == 2 else EMOJI[values[0]]
        self.world.run(self.dispatch.reactions_cleared(self.chat, Cleared(self.ref, emoji, left)))
        for value in values:
            self.hands.cleared(value)

    @rule(
        who=st.sampled_from(WHO), value=st.sampled_from([0, 1]), calls=st.integers(1, 6), late=st.booleans()
    )
    def die_while_counting(self, who: str, value: Value, calls: int, late: bool) -> None:
        """The process is killed while it counts, and the platform tells the reaction to the next one."""
        reaction = Reaction(self.ref, person(who), EMOJI[value], True, str(uuid.uuid4()))
        self.start(Fuse(calls, late))

        async def until_dead() -> None:
            counting = asyncio.ensure_future(self.dispatch.reaction(self.chat, reaction))
            dead = asyncio.ensure_future(self.fuse.blown.wait())
            await asyncio.wait({counting, dead}, return_when=asyncio.FIRST_COMPLETED)
            dead.cancel()

        self.world.run(until_dead())
        self.fuse.blown.set()
        self.world.abandon()
        self.start(Fuse())
        self.told(reaction, 1)
        self.hands.raised(who, value, True)

    @rule()
    def rebuild(self) -> None:
        """What is derived of the votes is made once more, and is the same."""
        memory = self.world.bot.app.memory
        before = memory.stores()
        self.world.run(memory.rebuild())
        assert memory.stores() == before

    def told(self, reaction: Reaction, times: int) -> None:
        for _ in range(times):
            self.world.run(self.dispatch.reaction(self.chat, reaction))

    @invariant()
    def votes_stand_as_the_model_says(self) -> None:
        run, app = self.world.run, self.world.bot.app
        for who in WHO:
            assert run(app.engine.opinion(self.answer, f"fake:{who}")) == self.hands.opinion(who), who
        row = run(app.engine._store.answer(self.answer))
        pair = run(app.memory.pairs([row["pair_id"]]))[row["pair_id"]]
        assert app.memory.score(replace(pair)) == pytest.approx(self.hands.score(pair.prior))
        assert run(app.memory.verify()) == []
