"""Steps whose executors run beside each other, or in an order that the test chooses."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.engine.execute.orders import AnyOrder, Parallel
from tfteach.engine.execute import parallel_program


@pytest.fixture
def parallel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps on several devices run in parallel from their first run on."""
    monkeypatch.setattr(parallel_program, "Race", Parallel)


@pytest.fixture
def shuffled(
    monkeypatch: pytest.MonkeyPatch, parallel: None
) -> Callable[[int], list[str]]:
    """`shuffled(seed)`: one thread runs the executors in a random order from now on.

    It returns a list that fills with the names of the ops that ran.
    """

    def shuffle(seed: int) -> list[str]:
        ran: list[str] = []
        monkeypatch.setattr(AnyOrder, "chance", random.Random(seed))
        monkeypatch.setattr(AnyOrder, "ran", ran)
        monkeypatch.setattr(parallel_program, "Executors", AnyOrder)
        return ran

    return shuffle
