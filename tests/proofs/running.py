"""Runs a machine on hypothesis, with a count of examples and a seed."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def played(
    machine: Callable[[], RuleBasedStateMachine], examples: int, steps: int, begin: int | None = None
) -> None:
    """Play so many sequences of at most `steps` steps, always the same or those of the seed `begin`."""

    def made() -> RuleBasedStateMachine:
        return machine()

    bearing = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=begin is None,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    run_state_machine_as_test(seed(begin)(made) if begin is not None else made, settings=bearing)
