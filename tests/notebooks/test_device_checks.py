"""The checks of the lessons on several devices explain each mistake."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

import tfteach as tf

# ---- lesson 21


def mean(towers: Any, divide: bool = True, by_all: bool = False) -> Any:
    average = []
    for pairs in zip(*towers, strict=True):
        found = [gradient for gradient, _ in pairs if gradient is not None]
        if found:
            count = len(pairs) if by_all else len(found)
            total = tf.add_n(found)
            average.append((total / count if divide else total, pairs[0][1]))
    return average


@pytest.mark.parametrize(
    ("average_gradients", "said"),
    [
        (mean, "Right"),
        (lambda towers: None, "return a list of pairs"),
        (lambda towers: towers[0], "leave it out"),
        (lambda towers: mean(towers)[:1], "`b` has no gradient"),
        (lambda towers: mean(towers) + mean(towers)[:1], "3 pairs for 2 variables"),
        (lambda towers: mean(towers, divide=False), "That is the sum"),
        (lambda towers: towers[0][:2], "That is the first tower's"),
        (lambda towers: mean(towers, by_all=True), "the mean 7 over the two towers"),
        (lambda towers: tf.no_such_op(), "it ends with AttributeError"),
    ],
)
def test_lesson_21(
    checks: ModuleType,
    capsys: pytest.CaptureFixture[str],
    average_gradients: Any,
    said: str,
) -> None:
    checks.check_average(average_gradients)
    assert said in capsys.readouterr().out
