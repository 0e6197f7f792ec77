"""Windows of images, against loops over every pixel."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.image.extract_glimpse import ExtractGlimpse

RNG = np.random.default_rng(23)
IMAGES = RNG.normal(size=(2, 5, 7, 3)).astype(np.float32)


def glimpses(starts: Any) -> Any:
    """Windows that begin at `starts`; zeros where there is no image."""

    def found(x: Any, size: Any, _: Any) -> Any:
        out = np.zeros((len(x), *size, x.shape[3]), np.float32)
        for b, start in enumerate(starts):
            for at in np.ndindex(*size):
                y, x_ = at[0] + start[0], at[1] + start[1]
                if 0 <= y < x.shape[1] and 0 <= x_ < x.shape[2]:
                    out[b, at[0], at[1]] = x[b, y, x_]
        return out

    return found


WINDOW = np.int32([3, 4])
CASES = [
    Case(ExtractGlimpse(), (IMAGES, WINDOW, np.float32([[0.1, -0.2], [-0.3, 0.3]])),
         glimpses([(1, 0), (0, 2)]), "", False),
    Case(ExtractGlimpse(False, True, False, "zero"),
         (IMAGES, WINDOW, np.float32([[0.2, 0.9], [0.9, 0.1]])),
         glimpses([(0, 4), (3, -1)]), "corner", False),
    Case(ExtractGlimpse(True, False, False, "zero"),
         (IMAGES, WINDOW, np.float32([[2, 3], [5, -7]])),
         glimpses([(2, 3), (3, -2)]), "pixels", False),
    Case(ExtractGlimpse(False, False, False, "zero"),
         (IMAGES, WINDOW, np.float32([[2, 3], [40, 0]])),
         glimpses([(0, 1), (38, 0)]), "beyond", False),
]  # fmt: skip
