"""Feature crosses, written out; numbers from real TensorFlow."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case, as_input
from tfteach.framework.dtypes import int64, string
from tfteach.ops.sparse.sparse_cross import SparseCross

A = (np.array([[0, 0], [1, 0], [1, 1]]), ["a", "b", "c"], np.array([2, 2]))
B = (np.array([[0, 0], [1, 0]]), np.array([5, -6]), np.array([2, 1]))
DENSE = [["f", "x"], ["g", "y"]]


def cross(columns, dense, hashed=False, buckets=0):
    types = tuple(int64 if np.asarray(c[1]).dtype == int else string for c in columns)
    kinds = tuple(int64 if np.asarray(d).dtype == int else string for d in dense)
    op = SparseCross(
        len(columns), hashed, buckets, 956888297470, types, kinds,
        int64 if hashed else string, int64 if int64 in types + kinds else string,
    )  # fmt: skip
    parts = list(zip(*columns, strict=True)) if columns else [(), (), ()]
    return op, tuple(map(list, (*parts, dense)))


def case(crossed, places, values, shape, name):
    values = as_input(values) if isinstance(values[0], str) else np.array(values)
    expect = (np.array(places), values, np.array(shape))
    return Case(*crossed, expect, name, exact_shape=False)


PLACES = [[0, 0], [1, 0], [1, 1]]
CASES = [
    case(
        cross([A, B], []), PLACES, ["a_X_5", "b_X_-6", "c_X_-6"], [2, 2], "two columns"
    ),
    case(
        cross([A], [DENSE]),
        [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]],
        ["a_X_f", "a_X_x", "b_X_g", "b_X_y", "c_X_g", "c_X_y"],
        [2, 4],
        "the last runs first",
    ),
    case(
        cross([A, B], [np.array([[3], [4]])], True),
        PLACES,
        [1078148969223992465, 4799205136968438726, 4868300091463703272],
        [2, 2],
        "hashed",
    ),
    case(
        cross([], [DENSE]), [[0, 0], [0, 1], [1, 0], [1, 1]], list("fxgy"), [2, 2], ""
    ),
]
