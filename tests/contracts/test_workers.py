"""What every `Workers` does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from core.errors import WorkEnded
from core.ports import Workers
from core.workers.pool import WorkerPool
from core.workers.process import Limits
from tests.core.workers import jobs
from tests.fake_workers import FakeWorkers


@pytest.fixture(params=["fake", "processes"])
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    made: Workers = FakeWorkers() if request.param == "fake" else WorkerPool(Limits(30, 500))
    yield made
    made.close()


def test_work_is_done_with_what_it_is_given(workers: Workers) -> None:
    assert workers.run(jobs.total, 1, 2, 3) == 6
    assert workers.run(jobs.length, b"x" * 3_000_000, patience=2.0) == 3_000_000


def test_what_work_raises_is_raised_and_other_work_is_done(workers: Workers) -> None:
    with pytest.raises(ValueError, match="it is no JSON"):
        workers.run(jobs.refuse, "it is no JSON")
    assert workers.run(jobs.total, 1, 2) == 3


def test_after_an_interrupt_other_work_is_done(workers: Workers) -> None:
    workers.interrupt()
    assert workers.run(jobs.total, 1, 2) == 3
    workers.interrupt()
    assert workers.run(jobs.total, 1, 2) == 3


def test_closed_ones_do_nothing_any_more(workers: Workers) -> None:
    workers.close()
    workers.close()
    with pytest.raises(WorkEnded):
        workers.run(jobs.total, 1, 2)
