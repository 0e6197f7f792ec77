"""A slice of `tests.fuzz.interrupts`, for every run of the tests."""

from __future__ import annotations

import random

import pytest

from tests.fuzz.interrupts import MODELS, Training


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("name", MODELS)
def test_interrupted_steps_are_whole_or_undone(name: str) -> None:
    training = Training(MODELS[name])
    numbers = random.Random(0)
    for _ in range(8):
        assert training.interrupt(numbers.random()) != "TORN"
