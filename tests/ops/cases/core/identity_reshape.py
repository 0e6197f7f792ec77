"""Identities and reshapes; the answers are written out."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tests.ops.sample_arrays import X, f32, i32
from tfteach.ops.core.identity_reshape import (
    ExpandDims,
    GuaranteeConst,
    Identity,
    IdentityN,
    PreventGradient,
    Reshape,
    Squeeze,
    StopGradient,
)

CASES = [
    Case(Identity(), (X,), X),
    Case(Identity(), (np.float32(3),), np.float32(3), "scalar"),
    Case(StopGradient(), (X,), X, gradient=False),
    Case(PreventGradient("no"), (X,), X, gradient=False),
    Case(GuaranteeConst(), (X,), X, gradient=False),
    Case(IdentityN(), ([X, i32(1, 2)],), (X, i32(1, 2)), gradient=False),
    Case(Reshape(), (X, i32(3, -1)), [[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]]),
    Case(Reshape(), (f32(1), np.zeros(0, np.int32)), 0.5, "to-scalar"),
    Case(
        Reshape(),
        (np.zeros((2, 0), np.float32), i32(-1, 0)),
        np.zeros((2, 0)),
        "empty",
        exact_shape=False,
    ),
    Case(ExpandDims(), (X, np.int32(-2)), [[[0.5, 1.5, 2.5]], [[3.5, 4.5, 5.5]]]),
    Case(Squeeze(), (f32(1, 3, 1),), [0.5, 1.5, 2.5]),
    Case(Squeeze((-1,)), (f32(1, 3, 1),), [[0.5, 1.5, 2.5]], "axis"),
]  # fmt: skip
