"""Python functions as ops."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import float32, float64
from tfteach.ops.debug.py_func import PyFuncStateless, registered

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)
ADD = registered(lambda x, y: x + y)
BOTH = registered(lambda x: [x.sum(), x.astype(np.float64)])

CASES = [
    Case(
        PyFuncStateless(ADD.token, (float32,)),
        ([X, X],),
        X * 2,
        exact_shape=False,
        gradient=False,
    ),
    Case(
        PyFuncStateless(BOTH.token, (float32, float64)),
        ([X],),
        (np.float32(4.75), X.astype(np.float64)),
        id="two",
        exact_shape=False,
        gradient=False,
    ),
]  # fmt: skip
