"""Placeholders."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.core.placeholder import PlaceholderWithDefault

X = np.array([[0.5, -1.5, 2.0], [3.0, -0.25, 1.0]], np.float32)

CASES = [
    Case(PlaceholderWithDefault((2, 3)), (X,), lambda x: x),
]
