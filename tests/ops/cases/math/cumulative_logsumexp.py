"""Running log-sum-exp, by SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from tests.ops.case import Case
from tfteach.ops.math.cumulative_logsumexp import CumulativeLogsumexp

LOGS = np.array([[0.5, -1.5, 2.0], [90.0, 0.25, 3.0], [-4.0, 91.0, 1.0], [0, 2, 1.0]])


def running(x: Any, axis: Any) -> Any:
    found = [
        scipy.special.logsumexp(np.take(x, range(i + 1), axis), axis)
        for i in range(x.shape[axis])
    ]
    return np.stack(found, axis)


CASES = [
    Case(CumulativeLogsumexp(), (LOGS, np.int32(0)), running),
    Case(CumulativeLogsumexp(reverse=True), (LOGS, np.int32(-1)),
         lambda x, axis: running(x[:, ::-1], 1)[:, ::-1], "reverse"),
    Case(CumulativeLogsumexp(exclusive=True), (LOGS, np.int32(1)),
         lambda x, axis: np.hstack([np.full((4, 1), np.finfo(float).min),
                                    running(x, 1)[:, :-1]]),
         "exclusive", gradient=False),
]  # fmt: skip
