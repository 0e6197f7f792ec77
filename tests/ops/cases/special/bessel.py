"""Bessel functions, by SciPy inside their domains, by TensorFlow at the edges."""

from __future__ import annotations

import numpy as np
import scipy.special

from tests.ops.case import Case
from tests.ops.cases.special.erf_lgamma import EDGES, edge
from tfteach.ops.special.bessel import BesselI0e, BesselI1e

U = np.array([[1.0, -2.0, 0.5], [3.0, 4.0, -1.5]])
V = np.array([[0.25, 5.0, 1.0], [-1.0, 2.0, 6.0]])
INF, NAN = np.inf, np.nan

CASES = [
    edge(BesselI0e(), (EDGES,), 1, 0.46575960759364043, 0.27004644161220276, 0, 0, NAN,
         3.989422804014327e-16, 3.989422804014327e-16, 0.7575806251825481,
         0.07787103666050893),
    edge(BesselI1e(), (EDGES,), 0, -0.2079104153497085, -0.20658464953126654, 0, 0, NAN,
         3.989422804014327e-16, -3.989422804014327e-16, 0.11237756063983881,
         0.0763873542440351),
    Case(BesselI0e(), (U * 40,), scipy.special.i0e),
    Case(BesselI1e(), (U * 40,), scipy.special.i1e),
    Case(BesselI1e(), (np.zeros((2, 3)),), scipy.special.i1e, "zero"),
]  # fmt: skip
