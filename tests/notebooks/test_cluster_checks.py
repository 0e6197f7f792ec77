"""The check of the lesson on clusters explains each mistake."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

WORKER = "/job:worker/task:1"


def setters(device: Any) -> Any:
    """What the learner writes: the device of an op by its type and number."""

    def make_setter(worker: str, ps_tasks: int) -> Any:
        counts = {"VariableV2": 0}

        def setter(op: Any) -> str:
            number = counts.get(op.type, 0)
            if op.type in counts:
                counts[op.type] += 1
            found: str = device(op.type, number, worker, ps_tasks)
            return found

        return setter

    return make_setter


def right(kind: str, number: int, worker: str, ps_tasks: int) -> str:
    return f"/job:ps/task:{number % ps_tasks}" if kind == "VariableV2" else worker


@pytest.mark.parametrize(
    ("make_setter", "said"),
    [
        (setters(right), "Right"),
        (lambda worker, ps_tasks: None, "returns None"),
        (setters(lambda kind, n, worker, ps: worker), "w0 is a variable, and asks for"),
        (setters(lambda *given: ""), "w0 is a variable, and asks for 'no device'"),
        (
            setters(lambda kind, n, worker, ps: right(kind, 0, worker, ps)),
            "w1 belongs to /job:ps/task:1, and asks for /job:ps/task:0",
        ),
        (
            setters(lambda kind, n, worker, ps: right(kind, n, worker, 2)),
            "with 3 servers the variables take turns, so w2 belongs to /job:ps/task:2",
        ),
        (
            setters(lambda kind, n, worker, ps: right("VariableV2", n, worker, ps)),
            f"x is no variable, so it belongs to {WORKER}",
        ),
        (setters(lambda *given: 1 / 0), "it ends with ZeroDivisionError"),
    ],
)
def test_lesson_22(
    checks: ModuleType,
    capsys: pytest.CaptureFixture[str],
    make_setter: Any,
    said: str,
) -> None:
    checks.check_device_setter(make_setter)
    assert said in capsys.readouterr().out
