"""Error and gamma functions: by SciPy inside the domain, by TensorFlow at its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

from tests.ops.case import Case
from tests.ops.element_wise import X, of_half, real
from tfteach.ops.special.erf_lgamma import Digamma, Erf, Erfc, Lgamma, Polygamma, Zeta

INF, NAN = np.inf, np.nan
EDGES = np.array([0, -1, -2.5, INF, -INF, NAN, 1e30, -1e30, 0.3, 26.5])


def edge(op: Any, inputs: tuple[Any, ...], *right: float) -> Case:
    """A row with what TensorFlow 1.15 answers."""
    return Case(op, inputs, np.array(right), "edges64", gradient=False, tolerance=1e-9)


CASES = [
    edge(Erf(), (EDGES,), 0, -0.8427007929497149, -0.999593047982555, 1, -1, NAN, 1, -1,
         0.3286267594591274, 1),
    edge(Erfc(), (EDGES,), 1, 1.842700792949715, 1.999593047982555, 0, 2, NAN, 0, 2,
         0.6713732405408726, 2.2109076642637343e-307),
    edge(Lgamma(), (EDGES,), INF, INF, -0.05624371649767407, INF, INF, NAN,
         6.8077552789821365e31, INF, 1.0957979948180756, 59.62784609588432),
    edge(Digamma(), (EDGES,), INF, INF, 1.1031566406452433, INF, INF, NAN,
         69.07755278982137, INF, -3.502524222200133, 3.2581581591584294),
    edge(Zeta(), (np.array([1, 0.5, 2, 2, 2.5, NAN, 3, 3, 2]),
                  np.array([3, 2, 0, -3, -3.5, 0, INF, -INF, 0.25])),
         INF, NAN, INF, INF, NAN, INF, NAN, INF, 17.197329154507113),
    edge(Polygamma(), (np.array([0, 0, 1, 1, 2, 3, 0.5, -1, 0, 4]),
                       np.array([0, INF, 0, -2, -2, INF, 1, 1, NAN, 0.7])),
         INF, INF, INF, INF, -INF, NAN, NAN, NAN, NAN, -144.7082536430247),
    real("Erf", X, lambda a: scipy.special.erf(a)),
    real("Erfc", X, lambda a: scipy.special.erfc(a)),
    real("Lgamma", X, lambda a: scipy.special.gammaln(a)),
    real("Digamma", X, lambda a: scipy.special.digamma(a)),
    of_half("Erf", lambda a: scipy.special.erf(a)),
    of_half("Lgamma", lambda a: scipy.special.gammaln(a)),
    of_half("Digamma", lambda a: scipy.special.digamma(a)),
    Case(
        Zeta(), (np.float64([2, 3.5, 1.5]), np.float64([1, 0.25, 20])),
        scipy.special.zeta, tolerance=1e-12,
    ),
    Case(
        Polygamma(), (np.float64([[0], [1], [3]]), np.float64([0.5, 2.25])),
        scipy.special.polygamma, tolerance=1e-11,
    ),
]  # fmt: skip
