"""Comparisons and logic."""

from __future__ import annotations

import operator

import numpy as np

from tests.ops.case import Case, each
from tfteach.framework.op import OPS

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)
ROW = np.array([0.5, -2.0, 2.0], np.float32)
TRUE = np.array([[True, False, True]])
FALSE = np.array([[True], [False]])
TEXT = np.array(["a", "b", "c"], object)

ORDERS = {
    "Less": operator.lt, "LessEqual": operator.le, "Greater": operator.gt,
    "GreaterEqual": operator.ge, "Equal": operator.eq, "NotEqual": operator.ne,
}  # fmt: skip


CASES = [
    *(Case(OPS[name](), (X, ROW), each(f)) for name, f in ORDERS.items()),
    *(
        Case(OPS[name](), (np.int64(3), np.int64([2, 3, 4])), each(f), id="int")
        for name, f in ORDERS.items()
    ),
    Case(OPS["Equal"](), (TEXT, np.array("b", object)), [False, True, False],
         id="text"),
    Case(OPS["NotEqual"](), (TEXT, np.array("b", object)), [True, False, True],
         id="text"),
    Case(OPS["Equal"](), (np.array("b", object), np.array("b", object)), True,
         id="text-scalars"),
    Case(OPS["Equal"](), (TRUE, FALSE), [[True, False, True], [False, True, False]],
         id="bool"),
    Case(OPS["Equal"](False), (X, ROW[:2]), False, id="no-broadcast"),
    Case(OPS["NotEqual"](False), (X, ROW[:2]), True, id="no-broadcast"),
    Case(OPS["ApproximateEqual"](0.5), (X[0], ROW), [True, True, True]),
    Case(OPS["ApproximateEqual"](0.49), (X[0], ROW), [True, False, True], "apart"),
    Case(OPS["LogicalAnd"](), (TRUE, FALSE), [[True, False, True], [False] * 3]),
    Case(OPS["LogicalOr"](), (TRUE, FALSE), [[True] * 3, [True, False, True]]),
    Case(OPS["LogicalNot"](), (TRUE,), [[False, True, False]]),
]  # fmt: skip
