"""Special functions: by SciPy inside their domains, by TensorFlow at the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from tests.ops.case import Case
from tfteach.ops.math.cumulative_logsumexp import CumulativeLogsumexp
from tfteach.ops.special.bessel import BesselI0e, BesselI1e, Cross, NextAfter
from tfteach.ops.special.erf_lgamma import Digamma, Erf, Erfc, Lgamma, Polygamma, Zeta
from tfteach.ops.special.incomplete_gamma_beta import (
    Betainc,
    Igamma,
    Igammac,
    IgammaGradA,
    RandomGammaGrad,
)

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


INF, NAN = np.inf, np.nan
EDGES = np.array([0, -1, -2.5, INF, -INF, NAN, 1e30, -1e30, 0.3, 26.5])
AE = np.array([1, 1, 0, -1, 2, NAN, 0.5, 3, 150, 1e4])
XE = np.array([0, INF, 1, 0, -1, 1, NAN, 2.5, 140, 1.01e4])
BETA_EDGES = (
    np.array([0, 1, 1, 2, NAN, 2, 2]), np.array([1, -1, NAN, 3, 2, 3, 0.5]),
    np.array([0, 0.5, 1, NAN, 0, 1.1, 0.9]),
)  # fmt: skip


def edge(op: Any, inputs: tuple[Any, ...], *right: float) -> Case:
    """A row with what TensorFlow 1.15 answers."""
    return Case(op, inputs, np.array(right), "edges64", gradient=False, tolerance=1e-9)


BY_TENSORFLOW = [
    edge(Erf(), (EDGES,), 0, -0.8427007929497149, -0.999593047982555, 1, -1, NAN, 1, -1,
         0.3286267594591274, 1),
    edge(Erfc(), (EDGES,), 1, 1.842700792949715, 1.999593047982555, 0, 2, NAN, 0, 2,
         0.6713732405408726, 2.2109076642637343e-307),
    edge(Lgamma(), (EDGES,), INF, INF, -0.05624371649767407, INF, INF, NAN,
         6.8077552789821365e31, INF, 1.0957979948180756, 59.62784609588432),
    edge(Digamma(), (EDGES,), INF, INF, 1.1031566406452433, INF, INF, NAN,
         69.07755278982137, INF, -3.502524222200133, 3.2581581591584294),
    edge(BesselI0e(), (EDGES,), 1, 0.46575960759364043, 0.27004644161220276, 0, 0, NAN,
         3.989422804014327e-16, 3.989422804014327e-16, 0.7575806251825481,
         0.07787103666050893),
    edge(BesselI1e(), (EDGES,), 0, -0.2079104153497085, -0.20658464953126654, 0, 0, NAN,
         3.989422804014327e-16, -3.989422804014327e-16, 0.11237756063983881,
         0.0763873542440351),
    edge(Igamma(), (AE, XE), 0, 1, NAN, 0, NAN, NAN, NAN, 0.4561868841166704,
         0.2095436239185713, 0.8413487504506938),
    edge(Igammac(), (AE, XE), 1, 0, NAN, NAN, NAN, NAN, NAN, 0.5438131158833296,
         0.7904563760814287, 0.15865124954930626),
    edge(IgammaGradA(), (AE, XE), 0, 0, NAN, 0, NAN, NAN, NAN, -0.24711735748326835,
         -0.0237937266511982, -0.002415688003123832),
    edge(RandomGammaGrad(), (AE, XE), 0, 0, NAN, 0, NAN, NAN, NAN, 0.9633618288399735,
         0.9669739406066058, 1.0050001660070227),
    edge(Zeta(), (np.array([1, 0.5, 2, 2, 2.5, NAN, 3, 3, 2]),
                  np.array([3, 2, 0, -3, -3.5, 0, INF, -INF, 0.25])),
         INF, NAN, INF, INF, NAN, INF, NAN, INF, 17.197329154507113),
    edge(Polygamma(), (np.array([0, 0, 1, 1, 2, 3, 0.5, -1, 0, 4]),
                       np.array([0, INF, 0, -2, -2, INF, 1, 1, NAN, 0.7])),
         INF, INF, INF, INF, -INF, NAN, NAN, NAN, NAN, -144.7082536430247),
    edge(Betainc(), BETA_EDGES, NAN, NAN, 1, NAN, 0, NAN, 0.5414697392755847),
]  # fmt: skip


CASES = [
    *BY_TENSORFLOW,
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
