"""When BLAS's threads are judged to wait for cores; times are given, not measured."""

from __future__ import annotations

import pytest

from tfteach.framework import contention as module
from tfteach.framework.contention import (
    FIRST_PAUSE_S,
    LONGEST_PAUSE_S,
    Contention,
)

WORK, ELEMENTS = 25_000_000, 400_000
USUAL_S = 0.25e-3


class Machine:
    """Computes one product after another, by a clock of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 100.0
        self.contention = Contention()
        monkeypatch.setattr(module, "perf_counter", lambda: self.now_s)
        self.compute(USUAL_S)

    def compute(self, elapsed_s: float, work: int = WORK, size: int = ELEMENTS) -> bool:
        """A product that takes so long; whether BLAS had its threads for it."""
        has_threads = not self.contention.is_likely()
        self.now_s += elapsed_s if has_threads else USUAL_S
        if has_threads:
            self.contention.record(work, size, elapsed_s, self.now_s)
        return has_threads

    def stall(self) -> float:
        """Stall until BLAS gets one thread; for how long it does."""
        while not self.contention.is_likely():
            self.compute(17e-3)
        return self.contention.until_s - self.now_s


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


def test_two_long_stalls_take_blas_its_threads_for_a_while(machine: Machine) -> None:
    assert [machine.compute(17e-3) for _ in range(3)] == [True, True, False]
    machine.now_s += FIRST_PAUSE_S
    assert machine.compute(USUAL_S)


def test_a_very_long_stall_does_so_at_once(machine: Machine) -> None:
    assert [machine.compute(60e-3), machine.compute(USUAL_S)] == [True, False]


def test_frequent_short_stalls_do_so_too(machine: Machine) -> None:
    had_threads = [
        machine.compute(5e-3 if i % 20 == 0 else USUAL_S * 4) for i in range(300)
    ]
    assert had_threads.index(False) in range(41, 81)  # the third or fourth stall


def test_one_stall_of_a_few_time_slices_does_not(machine: Machine) -> None:
    for _ in range(10):
        assert machine.compute(18e-3)
        for _ in range(3000):
            assert machine.compute(USUAL_S)


def test_a_stall_now_and_then_does_not(machine: Machine) -> None:
    for _ in range(10):
        assert machine.compute(8e-3)
        for _ in range(2000):
            assert machine.compute(USUAL_S)


def test_pauses_grow_while_the_machine_stays_busy(machine: Machine) -> None:
    pauses_s = []
    for _ in range(6):
        pauses_s.append(machine.stall())
        machine.now_s = machine.contention.until_s + 60  # idle: that says nothing
    assert pauses_s == pytest.approx([0.5, 1, 2, 4, LONGEST_PAUSE_S, LONGEST_PAUSE_S])
    for _ in range(20_000):
        assert machine.compute(USUAL_S)
    assert machine.stall() == pytest.approx(FIRST_PAUSE_S)


@pytest.mark.parametrize(
    ("elapsed_s", "work", "elements"),
    [
        (25e-3, 100 * WORK, ELEMENTS),  # large
        (20e-3, 10 * WORK, 10_000_000),  # thin: a large result of few multiplications
        (0.9e-3, 1000, 1000),  # slow, but no time slice of another process
    ],
)
def test_slow_products_are_no_stalls(
    machine: Machine, elapsed_s: float, work: int, elements: int
) -> None:
    assert all(machine.compute(elapsed_s, work, elements) for _ in range(1000))
