"""Nothing that somebody writes holds the process: no pattern takes more than about linear time.

Python's `re` lets no other thread in while it looks for a match, so a pattern that is quadratic stops
everybody's answers for as long as one person's message takes. All patterns are collected from the modules and
their syntax trees, and measured in a process of their own against texts that are made to be slow. One that
was found to be quick is not measured again until it, its use, the hostile texts or Python changes.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import re
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.hostile import GENERIC, made_for, slow
from tests.patterns import Collected, collected, patterns_in

ROOT = Path(__file__).parent.parent
MOST_SECONDS = 900
"""Seconds after which measuring is given up; 60 are needed for all patterns."""
MEASURED = Path(__file__).parent / "patterns_measured.txt"
"""Digests of the patterns that were found to be quick, after that of the way they were measured in."""
WRITES = "`python -m tests.test_patterns` measures these and writes down those that are quick"
LONGEST = 20.0
"""Seconds after which one measurement is given up.

Neither is a limit of processor time: where one is set some machines count that in ticks of milliseconds, and
everything looks quick.
"""
USED = {"core.ingestion.sources._files:Patterns.__init__": "fullmatch"}
ALREADY_MET = ()
"""Where what a function builds stands in variables of its module."""


def _made() -> dict[str, Iterable[re.Pattern[Any]]]:
    """Return samples of the patterns that functions build of what they are given."""
    from bot.commands.slash.table import account_on
    from bot.home.logs import Lines
    from bot.platforms.slack.text import reading as slack_reading
    from bot.rendering import answers
    from core.generation.quotes import quote
    from core.ingestion.formats import _shared
    from core.ingestion.formats.markdown import snippets as _snippets
    from core.ingestion.formats.rst import registered, sphinx
    from core.ingestion.sources._files import Patterns
    from core.memory.guard.sense import product_of, release_of
    from core.models import filters as control_tokens
    from core.models.embedding import prefixes
    from core.models.filters import TurnedBack
    from core.query import forms
    from core.query.releases.spellings import spellings
    from core.retrieval.release_notes import gone, names, requirements, verdict
    from core.text import statuses
    from core.text.said import version_of
    from core.text.words import whole_word
    from evaluation import gold
    from evaluation.answers import expected
    from storage.people import mentions
    from tests.core.query.products import PRODUCTS

    spelled = [spellings(PRODUCTS[name]) for name in ("flask", "ubuntu")]
    globs = ["**/*.rst", "guide/", "docs/**/api/*.{md,mdx}", "[!a]?.md", "**"]
    return {
        "bot.commands.slash.table:account_on": [account_on("slack")],
        "bot.home.logs:Lines.__init__": patterns_in(Lines("text", ["xoxb-1-secret", "s3cr3t.word"])),
        "bot.platforms.slack.text.reading:mention_of": [slack_reading.mention_of("U1")],
        "bot.rendering.answers:_below": [answers._below()],
        "evaluation.answers.expected:expression": [expected.expression(r"default\W{0,6}none|\bg\b")],
        "evaluation.gold:said": [gold.said("2.3"), gold.said("worker")],
        "evaluation.gold:spelled": [gold.spelled("a worker")],
        "core.models.embedding.prefixes:_families": [pattern for pattern, _ in prefixes._families()],
        "core.generation.checked.raw:_pattern": ALREADY_MET,
        "core.generation.quotes.quote:_introductions": [quote._introductions()],
        "core.ingestion.formats._shared:definition_of": [_shared.definition_of("parse")],
        "core.ingestion.formats.markdown.snippets:region_ends": _snippets.region_ends("setup"),
        "core.ingestion.formats.markdown.snippets:section_ends": _snippets.section_ends("setup"),
        "core.ingestion.sources._files:Patterns.__init__": patterns_in(Patterns(globs)),
        "core.memory.guard.sense:product_of": [product_of("Flask")],
        "core.memory.guard.sense:release_of": release_of("2.3"),
        "core.models.filters:TurnedBack.__init__": patterns_in(TurnedBack({"<|im_end|>"})),
        "core.models.filters:_tokens": control_tokens._tokens(),
        "core.models.filters:turns": [control_tokens.turns()],
        "core.query.asking:_any": ALREADY_MET,
        "core.query.forms:named": [p for known in spelled for p in forms.named(known.product.pattern)],
        "core.query.forms:_pattern": [forms._pattern("PM"), forms._pattern("read replica")],
        "core.query.releases.spellings:_any": ALREADY_MET,
        "core.query.releases.spellings:_prepare": patterns_in(spelled),
        "core.query.releases.spellings:_relative": ALREADY_MET,
        "core.retrieval.release_notes.names:named": [
            names.named(name) for name in ("old_call", "old", "ds.old")
        ],
        "core.retrieval.release_notes.names:behind_owner": [names.behind_owner("old_call")],
        "core.retrieval.release_notes.names:imported_from": [names.imported_from("kettle", "old")],
        "core.retrieval.release_notes.names:of_it": [names.of_it("kettle.web", "old")],
        "core.retrieval.release_notes.gone:_whole": [gone._whole("old_call")],
        "core.retrieval.release_notes.verdict:_called": [verdict._called("old_call")],
        "core.retrieval.release_notes.requirements:_headed": [requirements._headed("python")],
        "core.retrieval.release_notes.requirements:_asked": [requirements._asked("python")],
        "core.retrieval.release_notes.requirements:_left": [requirements._left("python")],
        "core.retrieval.release_notes.requirements:_stated": [requirements._stated("python")],
        "core.retrieval.release_notes.requirements:drops": [requirements.drops("python", "3.7")],
        "core.ingestion.formats.rst.registered:before_dots": [registered.before_dots(["_orm", "_sql"])],
        "core.ingestion.formats.rst.sphinx:two_words": [sphinx.two_words("floatingpoint")],
        "core.text.statuses:named": [statuses.named("Request-URI Too Long")],
        "core.text.statuses:_told": [
            statuses._told("413", "Content Too Large"),
            statuses._told("410", "Gone"),
        ],
        "core.text.said:version_of": [version_of("Flask")],
        "core.text.words:whole_word": [whole_word("from_file")],
        "core.vocabulary:_change": ALREADY_MET,
        "core.vocabulary.changes:_translations": ALREADY_MET,
        "storage.people.mentions:account": [mentions.account("slack:U1")],
    }


def test_no_pattern_of_the_product_is_slow_in_a_hostile_text() -> None:
    made = _made()
    found, unknown = collected(made, USED)
    assert unknown == [], "make these in a function that returns them, and name it in `_made`"
    met = {place.split(",")[0] for entry in found for place in entry.places}
    assert [place for place, patterns in made.items() if patterns and place not in met] == [], "stale"
    assert len(found) > 600
    new = _new(found)
    assert len(new) < 100 or not _measured(), f"{len(new)} are new; {WRITES}"
    said = _in_child("tests.test_patterns") if new else {"slow": {}}
    assert said["slow"] == {}


def test_a_quadratic_pattern_is_found_to_be_slow() -> None:
    with _interrupted():
        assert next(_findings(Collected(re.compile(r"\[(?:.|\d)*\]\("), [], {"finditer"})), "")
        assert not next(_findings(Collected(re.compile(r"\[[^\[]*\]\("), [], {"finditer"})), "")


def test_what_was_measured_is_measured_again_when_it_changes() -> None:
    one = Collected(re.compile("a+b"), [], {"match"})
    others = [
        Collected(re.compile("a+c"), [], {"match"}),
        Collected(re.compile("a+b", re.I), [], {"match"}),
        Collected(re.compile("a+b"), [], {"match", "finditer"}),
        Collected(re.compile(b"a+b"), [], {"match"}),
    ]
    assert _new([one, *others], {_digest(one)}) == others


def _new(found: Iterable[Collected], measured: Collection[str] | None = None) -> list[Collected]:
    """Return the patterns that were not found to be quick before, used and measured in the same way."""
    known = _measured() if measured is None else measured
    return [entry for entry in found if _digest(entry) not in known]


def _measured() -> set[str]:
    """Return what was found to be quick; nothing where it was measured in another way."""
    way, *digests = MEASURED.read_text().split()
    return set(digests) if way == _way() else set()


def _way() -> str:
    """Name how it is measured: the hostile texts, and the Python whose `re` reads them."""
    return _short(f"{sys.version_info[:2]}{(ROOT / 'tests' / 'hostile.py').read_text()}")


def _digest(entry: Collected) -> str:
    return _short(repr((entry.pattern.pattern, entry.pattern.flags, sorted(entry.uses))))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _in_child(module: str) -> dict[str, Any]:
    """Run a module's `main` in a process that is killed where it takes too long; return what it says."""
    known = dict(os.environ, PYTHONPATH=str(ROOT), OMP_NUM_THREADS="1")
    command = [sys.executable, "-c", f"import {module} as module; module.main()"]
    done = subprocess.run(
        command, cwd=ROOT, env=known, timeout=MOST_SECONDS, capture_output=True, text=True, check=False
    )
    last = done.stderr.strip().splitlines()[-1:]
    assert done.returncode == 0, f"{done.returncode}, after: {last}"
    return dict(json.loads(done.stdout))


class _Late(Exception):
    """Say that a measurement was given up."""


def _interrupt(*_: object) -> None:
    raise _Late


@contextmanager
def _interrupted() -> Iterator[None]:
    """Let measurements be given up, and look for no garbage meanwhile."""
    before = signal.signal(signal.SIGALRM, _interrupt)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        signal.signal(signal.SIGALRM, before)


def main(write: bool = False) -> None:
    """Measure the new patterns and print what is slow, as JSON; the error output names what is measured.

    With `write` those that are quick are written down, in place of those that are gone.
    """
    found, _ = collected(_made(), USED)
    slow_ones: dict[str, str] = {}
    new = _new(found)
    with _interrupted():
        for entry in new:
            print(entry.places[0], file=sys.stderr, flush=True)
            if said := next(_findings(entry), ""):
                slow_ones[f"{', '.join(entry.places)}: {entry.pattern.pattern!r}"] = said
                found.remove(entry)
    if write:
        MEASURED.write_text("\n".join([_way(), *sorted(map(_digest, found))]) + "\n")
    print(json.dumps({"slow": slow_ones}))


def _findings(entry: Collected) -> Iterator[str]:
    pattern = entry.pattern
    attacks = [*GENERIC, *made_for(pattern.pattern, pattern.flags)]
    for use in sorted(entry.uses):
        read = _reader(pattern, use)
        for attack in attacks:
            signal.setitimer(signal.ITIMER_REAL, LONGEST)
            try:
                said = slow(read, attack)
            except _Late:
                said = f"is not done after {LONGEST:g} s"
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if said:
                yield f"{use} of {attack} {said}"


def _reader(pattern: re.Pattern[Any], use: str) -> Callable[[str], object]:
    """Return what uses a pattern on a text: everything that tries at each place is like `finditer`."""
    every: Callable[[Any], object] = getattr(pattern, use)
    each = (lambda text: deque(pattern.finditer(text), 0)) if use == "finditer" else every
    return (lambda text: each(text.encode())) if isinstance(pattern.pattern, bytes) else each


if __name__ == "__main__":
    main(write=True)
