"""The claim protocol as steps, and every interleaving of three processes to a depth.

    python -m tests.proofs protocol --depth 26

A process hears an event, claims it, posts a sign of work, posts the answer and notes that it is settled;
before any step it may be killed. What it had shown stands; what it knew is gone. `TODAY` is what one
process at a time does now (`Questions`, `TakingUp`): a process that starts takes up what is open, for
nobody else is alive. `LEASE` lets several live at once: an open claim is taken up by whoever finds its
holder's lease run out. `MISTAKES` are protocols with one mistake each, which the search must find.

A state is a tuple, so that each is looked at once; the search is breadth first, and a trace is the shortest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Protocol:
    """What processes do; the defaults are right."""

    name: str
    processes: int = 3
    at_once: int = 3
    """Processes that may be alive at the same time."""
    lease: bool = False
    """Whether an open claim is another's only once its holder's lease ran out; else a start takes all."""
    claims_first: bool = True
    """Whether a message is claimed before anything is decided about it, in one step with looking."""
    looks_alive: bool = True
    """Whether taking up asks if the holder is alive, or its lease has run out."""
    looks_for_strays: bool = True
    """Whether a reply of a dead process is looked for before it is posted again."""
    acknowledges_late: bool = True
    """Whether the platform hears that a message is taken only once it is claimed."""
    stuck: bool = False
    """Whether an open claim of a dead process is nobody's, so that only its holder may go on."""
    renews: bool = True
    """Whether a process posts only while its lease holds, in one step with looking at it."""


@dataclass(frozen=True)
class Process:
    """What one process knows: whether it lives, and how far it is with the event."""

    alive: bool = False
    at: str = "idle"
    """`idle`, `found` (looked, not claimed), `claimed`, `working` (sign posted) or `posted`."""
    sees: bool = False
    """Whether it found the answer of a dead process standing there when it took the claim up."""


@dataclass(frozen=True)
class State:
    """Everything: the processes, the claim in the database, what stands on the platform."""

    processes: tuple[Process, ...]
    claim: str = ""
    """`open` or `settled`; empty for none."""
    holder: int = -1
    expired: bool = False
    """Whether the holder's lease ran out."""
    answers: int = 0
    acknowledged: bool = False
    crashes: int = 0
    trace: tuple[str, ...] = field(default=(), compare=False, hash=False)


TODAY = Protocol("today", at_once=1)
LEASE = Protocol("lease", lease=True)
MISTAKES = (
    replace(TODAY, name="decide before claim", at_once=2, claims_first=False),
    replace(LEASE, name="resume without looking whether alive", looks_alive=False, renews=False),
    replace(TODAY, name="two writers", at_once=2, looks_alive=False),
    replace(TODAY, name="lost acknowledgement", acknowledges_late=False),
    replace(TODAY, name="posting again without looking", looks_for_strays=False),
    replace(LEASE, name="posting after the lease ran out", renews=False),
    replace(
        LEASE, name="claims without a lease that ends", lease=False, at_once=3, looks_alive=True, stuck=True
    ),
)
CRASHES = 2
"""Kills in one history."""


def steps(p: Protocol, s: State) -> Iterator[State]:
    """Yield every state that one step of one process, or of the world, leads to."""
    alive = sum(process.alive for process in s.processes)
    for n, process in enumerate(s.processes):
        if not process.alive:
            if alive < p.at_once:
                yield _now(s, n, Process(True), f"{n} starts")
            continue
        if s.crashes < CRASHES:
            yield replace(_now(s, n, Process(), f"{n} is killed"), crashes=s.crashes + 1)
        yield from _work(p, s, n, process)
    if p.lease and s.claim == "open" and not s.expired:
        # heartbeats keep it, but a process may be stopped for longer than it lasts
        yield replace(s, expired=True, trace=(*s.trace, f"the lease of {s.holder} runs out"))


def _work(p: Protocol, s: State, n: int, process: Process) -> Iterator[State]:
    if process.at == "idle":
        yield from _hear(p, s, n)
        yield from _take_up(p, s, n)
    elif process.at == "found":
        yield replace(_now(s, n, Process(True, "claimed"), f"{n} claims what it found free"), **_held(n))
    elif process.at == "claimed":
        yield _now(s, n, replace(process, at="working"), f"{n} shows a sign of work")
    elif process.at == "working":
        if p.lease and p.renews and (s.expired or s.holder != n):
            yield _now(s, n, Process(True), f"{n} lost its lease and lets go")
        else:
            posted = _now(
                s, n, Process(True, "posted"), f"{n} {'edits' if process.sees else 'posts'} the answer"
            )
            yield replace(posted, answers=s.answers + (not process.sees))
    elif process.at == "posted":
        yield replace(_now(s, n, Process(True), f"{n} notes that it is settled"), claim="settled")


def _hear(p: Protocol, s: State, n: int) -> Iterator[State]:
    """The platform tells the event until somebody acknowledges it."""
    if s.acknowledged and s.claim:
        return
    if not p.acknowledges_late and not s.acknowledged:
        yield replace(_now(s, n, Process(True), f"{n} acknowledges"), acknowledged=True)
        # and claims it in a later step, if it lives
        yield replace(_now(s, n, Process(True, "found"), f"{n} acknowledges, then looks"), acknowledged=True)
        return
    if s.acknowledged:
        return
    if not p.claims_first:
        if not s.claim:
            yield _now(s, n, Process(True, "found"), f"{n} looks: it is free")
        return
    if s.claim:
        yield replace(s, acknowledged=True, trace=(*s.trace, f"{n} finds it claimed, acknowledges"))
    else:
        claimed = _now(s, n, Process(True, "claimed"), f"{n} claims, acknowledges")
        yield replace(claimed, acknowledged=True, **_held(n))
        yield replace(_now(s, n, Process(True, "claimed"), f"{n} claims"), **_held(n))


def _take_up(p: Protocol, s: State, n: int) -> Iterator[State]:
    if s.claim != "open":
        return
    holder = s.processes[s.holder]
    works = holder.alive and holder.at != "idle"
    # today one process owns the database, and knows what it works on itself
    free = (s.expired if p.lease else not works and not p.stuck) or not p.looks_alive
    if free and not (s.holder == n and works):
        sees = p.looks_for_strays and bool(s.answers)
        yield replace(_now(s, n, Process(True, "claimed", sees), f"{n} takes it up"), **_held(n))


def _held(n: int) -> dict[str, object]:
    return {"claim": "open", "holder": n, "expired": False}


def _now(s: State, n: int, process: Process, what: str) -> State:
    processes = (*s.processes[:n], process, *s.processes[n + 1 :])
    return replace(s, processes=processes, trace=(*s.trace, what))


def wrong(p: Protocol, s: State, following: list[State]) -> str:
    """Say which invariant a state breaks; empty for none."""
    if s.answers > 1:
        return "answered twice"
    idle = all(not process.alive or process.at == "idle" for process in s.processes)
    lives = any(process.alive for process in s.processes)
    if lives and idle and not s.answers and s.acknowledged and not _goes_on(following):
        return "lost"
    return ""


def _goes_on(following: list[State]) -> bool:
    """Return True if some live process can still do something about the event."""
    return any(
        any(process.at != "idle" for process in state.processes) or state.expired for state in following
    )


@dataclass(frozen=True)
class Found:
    """What a search saw: how many states and steps, and the first broken invariant with its trace."""

    states: int
    steps: int
    wrong: str = ""
    trace: tuple[str, ...] = ()


def explored(p: Protocol, depth: int) -> Found:
    """Look at every interleaving of so many steps at most."""
    begin = State((Process(),) * p.processes)
    seen, queue, taken = {begin}, deque([(begin, 0)]), 0
    while queue:
        state, far = queue.popleft()
        following = list(steps(p, state))
        if broken := wrong(p, state, following):
            return Found(len(seen), taken, broken, state.trace)
        if far == depth:
            continue
        for after in following:
            taken += 1
            if after not in seen:
                seen.add(after)
                queue.append((after, far + 1))
    return Found(len(seen), taken)
