"""Numbers that depend on their seeds alone: real TensorFlow's."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import int32
from tfteach.ops.random.stateless_random import (
    StatelessMultinomial,
    StatelessRandomNormal,
    StatelessRandomUniform,
    StatelessRandomUniformInt,
    StatelessTruncatedNormal,
)

SIZE, SEED = np.int32([4]), np.int64([1, 2])
LOGITS = np.float32([[0.1, 0.5, 0.2], [0, 1, 2]])

CASES = [
    Case(StatelessRandomUniform(), (SIZE, SEED),
         [0.8440604209899902, 0.19204533100128174, 0.9962232112884521,
          0.16038739681243896]),
    Case(StatelessRandomNormal(), (SIZE, np.int32([1, -2])),
         [-0.7619395852088928, 0.03173809498548508, 0.5835484266281128,
          0.017654888331890106]),
    Case(StatelessTruncatedNormal(), (np.int64([2, 2]), SEED),
         [[0.544110119342804, 0.20738030970096588],
          [0.0735643208026886, 0.04643455147743225]]),
    Case(StatelessRandomUniformInt(), (SIZE, SEED, np.int32(-4), np.int32(9)),
         [6, -4, -3, -3]),
    Case(StatelessRandomUniformInt(), (SIZE, SEED, np.int64(-4), np.int64(9)),
         [6, 6, -4, -3], "int64"),
    Case(StatelessMultinomial(), (LOGITS, np.int32(3), np.int64([3, 4])),
         [[2, 2, 0], [2, 2, 2]]),
    Case(StatelessMultinomial(int32), (LOGITS, np.int32(6), np.int32([3, 4])),
         [[2, 2, 0, 2, 2, 1], [1, 0, 2, 1, 1, 2]], "int32"),
]  # fmt: skip
