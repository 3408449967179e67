"""Scope: nothing said in a private place is used, quoted, listed or shown anywhere else.

Each thing that somebody says there holds a word that stands nowhere else. The model is `Secrets`: which
word belongs where. After every step answers, what led to them, and every page that others see are searched
for words that do not belong there.
"""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from bot.ports.chat import Person
from core.domain import Answer, Question, Scope, Turn, Vote
from core.insights.gaps import page as gaps_page
from core.ports.opinions import Correction
from tests.proofs.world import World

PUBLIC = ("slack:C1", "slack:C2", "discord:7")
PRIVATE = ("slack:G1", "slack:G2", "discord:9")
DIRECT = ("slack:D1", "slack:D2")
PLACES = (*PUBLIC, *PRIVATE, *DIRECT)
PEOPLE = ("slack:ann", "slack:bob", "discord:eve")
ASKED = (
    "Which port does the dashboard listen on",
    "How often is a failed job tried again",
    "How do I run a job every night",
    "Where is the licence of the teapot",
)
WORD = re.compile(r"zq\w+?qz")
"""A word that one person said once."""


@dataclass
class Secrets:
    """Where each word may be heard: the whole model."""

    said_in: dict[str, str] = field(default_factory=dict)
    said_by: dict[str, str] = field(default_factory=dict)
    private: set[str] = field(default_factory=lambda: {*PRIVATE, *DIRECT})
    published: set[str] = field(default_factory=set)
    """Words that an admin made public."""
    gone: set[str] = field(default_factory=set)
    """Words of people who were forgotten."""

    def leaked(self, shown: object, place: str) -> set[str]:
        """Return the words in something shown at a place that were said elsewhere, and not for all."""
        words = set(WORD.findall(str(shown)))
        open_ = {w for w, at in self.said_in.items() if at not in self.private or w in self.published}
        here = {word for word, at in self.said_in.items() if at == place and place}
        return (words - open_ - here) | (words & self.gone)


class Scopes(RuleBasedStateMachine):
    """People ask, vote, correct, publish and are forgotten in eight places."""

    numbers = itertools.count()

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world, self.secrets = world, Secrets()
        self.app = world.bot.app
        self.dispatch = world.process()
        self.channels = dict.fromkeys(PUBLIC, "public") | dict.fromkeys(PRIVATE, "private")
        self.given: list[tuple[Answer, str, str]] = []
        """Answers, with the place and the asker of each."""
        self.app.engine._private.clear()  # a process of its own, as far as scope goes

    def teardown(self) -> None:
        try:
            self.look()
        finally:
            self.world.reset()

    def scope(self, place: str) -> Scope:
        if place in DIRECT:
            return Scope("direct", place)
        return Scope("private", place) if place in self.secrets.private else Scope()

    def word(self, place: str, who: str) -> str:
        made = f"zq{next(self.numbers)}qz"
        self.secrets.said_in[made], self.secrets.said_by[made] = place, who
        return made

    @rule(
        place=st.sampled_from(PLACES),
        who=st.sampled_from(PEOPLE),
        text=st.sampled_from(ASKED),
        how=st.sampled_from(["plain", "secret", "follow-up"]),
    )
    def ask(self, place: str, who: str, text: str, how: str) -> None:
        """Somebody asks, with a word of their own in it or before it."""
        history: tuple[Turn, ...] = ()
        if how == "follow-up":
            history = (
                Turn("user", f"{text} for {self.word(place, who)}?", who),
                Turn("assistant", "See the docs."),
            )
            text = "And in 1.0"
        elif how == "secret":
            text = f"{text} for {self.word(place, who)}"
        asked = Question(f"{text}?", who, place, self.scope(place), history)
        answer = self.world.run(self.app.engine.answer(asked))
        self.see((answer.text, answer.trace, answer.citations), place)
        self.given.append((answer, place, who))

    @rule(at=st.integers(0, 30), who=st.sampled_from(PEOPLE), value=st.sampled_from([1, 1, 0, None]))
    def vote(self, at: int, who: str, value: Any) -> None:
        if self.given:
            answer, _, asker = self.given[at % len(self.given)]
            self.world.run(self.app.engine.feedback(Vote(answer.id, asker if at % 2 else who, value)))

    @rule(at=st.integers(0, 30), who=st.sampled_from(PEOPLE))
    def correct(self, at: int, who: str) -> None:
        """A helper writes a better answer in the place where one was given."""
        if not self.given:
            return
        answer, place, _ = self.given[at % len(self.given)]
        said = Correction(
            answer.id, who, "Hal", "wrong", f"It is {self.word(place, who)}, really.", time.time()
        )
        link, where = f"https://chat.example/{place}", self.scope(place)
        try:
            self.world.run(self.app.engine.accepted.correct(said, True, link, where))
        except KeyError:
            assert not self.world.run(self.app.memory._store.answer(answer.id))

    @rule(channel=st.sampled_from(PUBLIC))
    def become_private(self, channel: str) -> None:
        """A public channel becomes private: what was learned there stays there from then on."""
        self.world.run(self.dispatch.channel_became_private(channel))
        self.secrets.private.add(channel)
        self.secrets.published -= {w for w, at in self.secrets.said_in.items() if at == channel}
        self.given = [entry for entry in self.given if entry[1] != channel]

    @rule(channel=st.sampled_from((*PRIVATE, *PUBLIC)))
    def publish(self, channel: str) -> None:
        """An admin makes public what was learned in a private channel."""
        self.world.run(self.app.memory.publish(channel))
        self.secrets.published |= {w for w, at in self.secrets.said_in.items() if at == channel}

    @rule(who=st.sampled_from(PEOPLE))
    def forget(self, who: str) -> None:
        """Somebody is forgotten; what others said stays."""
        self.world.run(self.app.people.forget(who))
        self.secrets.gone |= {word for word, author in self.secrets.said_by.items() if author == who}
        self.given = [entry for entry in self.given if entry[2] != who]

    @rule()
    def restart(self) -> None:
        self.app.engine._private.clear()
        self.world.run(self.app.memory.rebuild())

    @rule()
    def look(self) -> None:
        """See every page that is made of what people asked."""
        run, app = self.world.run, self.app
        for place in (*PUBLIC, *PRIVATE):
            self.see(run(app.examples.of(place, self.scope(place))), "" if place in PUBLIC else place)
        gaps = run(app.statistics.gaps(30))
        self.see((gaps, gaps_page(gaps, "Kettle", 30)), "")
        open_ = [channel for channel in PUBLIC if channel not in self.secrets.private]
        self.see(run(app.given.public(open_, "slack:bob", 50)), "")
        chat = self.world.chat()
        self.see(run(self.dispatch.own_page(chat, Person("discord:new", "new"), open_)), "")
        for answer, place, _ in self.given:
            if place in self.secrets.private:
                assert not run(self.dispatch.thread(answer.id)), "a private question is shown by its answer"
        assert run(app.memory.verify()) == []

    def see(self, shown: object, place: str) -> None:
        leaked = self.secrets.leaked(shown, place)
        assert not leaked, (
            f"{[(word, self.secrets.said_in.get(word)) for word in leaked]} at {place or 'a page'}: {shown}"
        )
