"""Incomplete gamma and beta: by SciPy inside the domain, by TensorFlow at its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from tests.ops.case import Case
from tests.ops.cases.special.erf_lgamma import edge
from tfteach.ops.special.incomplete_gamma_beta import (
    Betainc,
    Igamma,
    Igammac,
    IgammaGradA,
    RandomGammaGrad,
)

A = np.array([[0.05, 0.7, 1.0], [3.0, 20.0, 150.0]])
X = np.array([0.3, 2.5, 90.0])


def by_a(a: Any, x: Any) -> Any:
    """Differences of fourth order."""
    h = 1e-3 * a
    p = scipy.special.gammainc
    near, far = p(a + h, x) - p(a - h, x), p(a + 2 * h, x) - p(a - 2 * h, x)
    return (8 * near - far) / (12 * h)


def moved(a: Any, x: Any) -> Any:
    return -by_a(a, x) / np.exp((a - 1) * np.log(x) - x - scipy.special.gammaln(a))


INF, NAN = np.inf, np.nan
AE = np.array([1, 1, 0, -1, 2, NAN, 0.5, 3, 150, 1e4])
XE = np.array([0, INF, 1, 0, -1, 1, NAN, 2.5, 140, 1.01e4])
BETA_EDGES = (
    np.array([0, 1, 1, 2, NAN, 2, 2]), np.array([1, -1, NAN, 3, 2, 3, 0.5]),
    np.array([0, 0.5, 1, NAN, 0, 1.1, 0.9]),
)  # fmt: skip

CASES = [
    edge(Igamma(), (AE, XE), 0, 1, NAN, 0, NAN, NAN, NAN, 0.4561868841166704,
         0.2095436239185713, 0.8413487504506938),
    edge(Igammac(), (AE, XE), 1, 0, NAN, NAN, NAN, NAN, NAN, 0.5438131158833296,
         0.7904563760814287, 0.15865124954930626),
    edge(IgammaGradA(), (AE, XE), 0, 0, NAN, 0, NAN, NAN, NAN, -0.24711735748326835,
         -0.0237937266511982, -0.002415688003123832),
    edge(RandomGammaGrad(), (AE, XE), 0, 0, NAN, 0, NAN, NAN, NAN, 0.9633618288399735,
         0.9669739406066058, 1.0050001660070227),
    edge(Betainc(), BETA_EDGES, NAN, NAN, 1, NAN, 0, NAN, 0.5414697392755847),
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
]  # fmt: skip
