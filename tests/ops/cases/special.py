"""Incomplete gamma and beta functions, Bessel's and others, by SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from tests.ops.case import Case
from tfteach.ops.bessel import BesselI0e, BesselI1e, Cross, NextAfter
from tfteach.ops.gamma import Betainc, Igamma, Igammac, IgammaGradA, RandomGammaGrad
from tfteach.ops.scan_log import CumulativeLogsumexp

A = np.array([[0.05, 0.7, 1.0], [3.0, 20.0, 150.0]])
X = np.array([0.3, 2.5, 90.0])
U = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -1.5]])
V = np.array([[0.25, 5.0, 1.0], [-1.0, 2.0, 6.0]])
LOGS = np.array([[0.5, -1.5, 2.0], [90.0, 0.25, 3.0], [-4.0, 91.0, 1.0], [0, 2, 1.0]])


def by_a(a: Any, x: Any) -> Any:
    """Differences of fourth order."""
    h = 1e-3 * a
    p = scipy.special.gammainc
    near, far = p(a + h, x) - p(a - h, x), p(a + 2 * h, x) - p(a - 2 * h, x)
    return (8 * near - far) / (12 * h)


def moved(a: Any, x: Any) -> Any:
    return -by_a(a, x) / np.exp((a - 1) * np.log(x) - x - scipy.special.gammaln(a))


def running(x: Any, axis: Any) -> Any:
    found = [
        scipy.special.logsumexp(np.take(x, range(i + 1), axis), axis)
        for i in range(x.shape[axis])
    ]
    return np.stack(found, axis)


CASES = [
    Case(Igamma(), (A, X), scipy.special.gammainc),
    Case(Igamma(), (np.float32([0.5, 2, 3, -1]), np.float32([0, np.inf, 4, 1])),
         scipy.special.gammainc, "edges", gradient=False),
    Case(Igammac(), (A, X), scipy.special.gammaincc),
    Case(IgammaGradA(), (A, X), by_a, tolerance=1e-8),
    # Where a number of such a distribution could be, with all digits.
    Case(RandomGammaGrad(), (A, A * 1.1 + 0.2), moved, tolerance=1e-5),
    Case(Betainc(), (A, A[::-1].copy(), np.float64(0.4)), scipy.special.betainc),
    Case(Betainc(), (np.float64(2), np.float64(0.5), np.array([0.1, 0.5, 0.9])),
         scipy.special.betainc, "x"),
    Case(BesselI0e(), (U * 40,), scipy.special.i0e),
    Case(BesselI1e(), (U * 40,), scipy.special.i1e),
    Case(BesselI1e(), (np.zeros((2, 3)),), scipy.special.i1e, "zero"),
    Case(NextAfter(), (U, V[0]), np.nextafter),
    Case(Cross(), (U, V), np.cross),
    Case(Cross(), (np.int32([1, 2, 3]), np.int32([4, 6, 5])), [-8, 7, -2], "int"),
    Case(CumulativeLogsumexp(), (LOGS, np.int32(0)), running),
    Case(CumulativeLogsumexp(reverse=True), (LOGS, np.int32(-1)),
         lambda x, axis: running(x[:, ::-1], 1)[:, ::-1], "reverse"),
    Case(CumulativeLogsumexp(exclusive=True), (LOGS, np.int32(1)),
         lambda x, axis: np.hstack([np.full((4, 1), np.finfo(float).min),
                                    running(x, 1)[:, :-1]]),
         "exclusive", gradient=False),
]  # fmt: skip
