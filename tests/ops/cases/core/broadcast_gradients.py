"""The axes that a gradient sums after broadcasting; written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.op import OPS

CASES = [
    Case(
        OPS["BroadcastGradientArgs"](), (np.int32([2, 1, 4]), np.int32([3, 4])),
        ([1], [0]), exact_shape=False,
    ),
    Case(
        OPS["BroadcastGradientArgs"](), (np.int32([2, 1]), np.int32([2, 1])),
        ([], []), id="same", exact_shape=False,
    ),
    Case(
        OPS["BroadcastGradientArgs"](), (np.int64([]), np.int64([5])),
        ([0], []), id="scalar", exact_shape=False,
    ),
]  # fmt: skip
