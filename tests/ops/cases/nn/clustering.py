"""Nearest centers by NumPy; random choices as TensorFlow made them."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.nn.clustering import (
    KMC2ChainInitialization,
    KmeansPlusPlusInitialization,
    NearestNeighbors,
)

P = np.float32([[0, 0], [1, 0], [0, 5], [9, 9], [4, 4], [2, 7]])
C = np.float32([[0, 1], [8, 8], [0, 1]])
LINE = np.arange(1000, dtype=np.float32)[:, None]


def nearest(points, centers, k):
    distances = np.square(points[:, None] - centers).sum(-1)
    order = distances.argsort(1, kind="stable")[:, : int(k)]
    return order, np.take_along_axis(distances, order, 1)


def drawn(*values: float) -> np.ndarray:
    return np.float32(values)[:, None]


START = KmeansPlusPlusInitialization()
CASES = [
    Case(NearestNeighbors(), (P, C, np.int64(2)), nearest, exact_shape=False),
    Case(NearestNeighbors(), (P, C, np.int64(1)), nearest, "one", exact_shape=False),
    Case(NearestNeighbors(), (P, C, np.int64(9)), nearest, "all", exact_shape=False),
    Case(NearestNeighbors(), (P, C, np.int64(0)), nearest, "none", exact_shape=False),
    Case(START, (LINE, np.int64(3), np.int64(0), np.int64(0)), drawn(629, 277, 2),
         exact_shape=False),
    Case(START, (LINE, np.int64(3), np.int64(42), np.int64(3)), drawn(703, 207, 454),
         "tries", exact_shape=False),
    Case(START, (P, np.int64(6), np.int64(1), np.int64(0)), P[[4, 3, 0, 2, 5, 1]],
         "all", exact_shape=False),
    Case(START, (P, np.int64(1), np.int64(1), np.int64(-1)), P[[4]], "no try",
         exact_shape=False),
    Case(KMC2ChainInitialization(),
         (np.float32([0.01852, 0.4641, 0.09491, 0.1837, 6.634e-06]), np.int64(0)),
         np.int64(1), "seed 0"),
    Case(KMC2ChainInitialization(),
         (np.float32([0.2356, 0.2293, 0.2348, 0.8406, 0.317]), np.int64(1)),
         np.int64(4), "seed 1"),
    Case(KMC2ChainInitialization(),
         (np.float32([0, 0.08347, 0.3395, 0.0002184, 0.2964]), np.int64(7)),
         np.int64(4), "seed 7"),
    Case(KMC2ChainInitialization(),
         (np.float32([0.3016, 0.009312, 0.002143, 0.03138, 0.04811]), np.int64(42)),
         np.int64(0), "seed 42"),
]  # fmt: skip
