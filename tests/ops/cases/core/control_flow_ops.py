"""What loops and branches are made of, where it has a value of its own.

The executor acts out the rest: tests/control/test_control_flow_oracle.py.
"""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.core.control_flow_ops import (
    ControlTrigger,
    Enter,
    Exit,
    LoopCond,
    NextIteration,
    NoOp,
)

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)

CASES = [
    Case(NoOp(), (), ()),
    Case(ControlTrigger(), (), ()),
    Case(Enter("frame", is_constant=True), (X,), X),
    Case(Enter("frame"), (X,), X, id="varying", exact_shape=False),
    Case(Exit(), (X,), X, gradient=False),  # see control/test_loop.py
    Case(NextIteration(), (X,), X),
    Case(LoopCond(), (np.array(True),), True),
]
