"""The checks of the lesson on Estimators: right answers pass, mistakes are said."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tfteach as tf

NOTEBOOKS = Path(__file__).parent.parent.parent / "notebooks"


@pytest.fixture(scope="module")
def checks() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(NOTEBOOKS)
        yield importlib.import_module("lesson_checks")


class Right(tf.train.SessionRunHook):
    def __init__(self, loss_name: str, limit: float) -> None:
        self.loss_name, self.limit = loss_name, limit
        self.runs = 0

    def before_run(self, context: Any) -> Any:
        return tf.train.SessionRunArgs(self.loss_name)

    def after_run(self, context: Any, values: Any) -> None:
        self.runs += 1
        if values.results < self.limit:
            context.request_stop()


class Unfinished(tf.train.SessionRunHook):
    def __init__(self, loss_name: str, limit: float) -> None:
        self.runs = 0


class AtOnce(Right):
    def after_run(self, context: Any, values: Any) -> None:
        self.runs += 1
        context.request_stop()


class Uncounted(Right):
    def after_run(self, context: Any, values: Any) -> None:
        if values.results < self.limit:
            context.request_stop()


class RunsItself(Right):
    def before_run(self, context: Any) -> None:
        pass

    def after_run(self, context: Any, values: Any) -> None:
        self.runs += 1
        if context.session.run(self.loss_name) < self.limit:
            context.request_stop()


class Fails(Right):
    def after_run(self, context: Any, values: Any) -> None:
        raise KeyError("loss")


@pytest.mark.parametrize(
    ("hook", "said"),
    [
        (Right, "Right"),
        (Unfinished, "it did not stop, and should stop after 4 runs"),
        (AtOnce, "it stopped after 1, and should stop after 4 runs"),
        (Uncounted, "it stops in time, but `runs` is 0 and not 4"),
        (RunsItself, "2 runs of the loop became 3: a `session.run` in the hook"),
        (Fails, "it ends with KeyError: 'loss' Your line: `raise KeyError"),
        (lambda name, limit: 3, "is not a tf.train.SessionRunHook"),
        (3, "'int' object is not callable"),
    ],
)
def test_lesson_18(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], hook: Any, said: str
) -> None:
    checks.check_stopping_hook(hook)
    assert said in capsys.readouterr().out
