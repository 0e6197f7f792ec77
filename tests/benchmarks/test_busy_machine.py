"""The measurement of busy machines runs, and prints what it says."""

from __future__ import annotations

import pytest

from tests.benchmarks import busy_machine
from tests.benchmarks.busy_machine import Condition, conditions


def test_a_short_measurement(capsys: pytest.CaptureFixture[str]) -> None:
    busy_machine.main(
        ["--models=softmax", "--busy=0,1", "--nice=19", "--seconds=.05", "--rounds=1"]
    )
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split()[-4:] == ["mean", "median", "p95", "times"]
    assert [row[12:29].strip() for row in rows] == ["0 busy", "1 busy, nice 19"]
    for row in rows:
        mean, median, p95, times = map(float, row.split()[-4:])
        assert 0 < median <= p95
        assert mean > 0
        assert times >= 1


def test_the_first_steps_are_timed_in_new_processes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    busy_machine.main(["--models=linear", "--busy=0", "--first=3", "--rounds=2"])
    _, row = capsys.readouterr().out.splitlines()
    assert row.split()[-1] == "2"


def test_no_busy_process_has_no_niceness() -> None:
    assert conditions([0, 2], [0, 19]) == [
        Condition(0, 0),
        Condition(2, 0),
        Condition(2, 19),
    ]


def test_a_python_that_cannot_train_is_named() -> None:
    program = busy_machine.Program(busy_machine.sys.executable, "no_such_package")
    with pytest.raises(RuntimeError, match="cannot train mlp with no_such_package"):
        busy_machine.Worker(program, "mlp")
