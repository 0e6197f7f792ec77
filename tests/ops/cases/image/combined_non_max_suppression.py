"""Boxes suppressed by class and image, by loops over pairs."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.image.non_max_suppression import FIFTH, HALF, best, shared
from tfteach.ops.image.combined_non_max_suppression import CombinedNonMaxSuppression

RNG = np.random.default_rng(41)
F = np.float32


def combined(
    boxes: Any, scores: Any, own: Any, whole: Any, limit: Any, least: Any
) -> Any:
    size = int(whole)
    outputs: list[Any] = [[], [], [], []]
    for rows, grades in zip(boxes, scores, strict=True):
        found = []
        for kind in range(grades.shape[1]):
            of = rows[:, kind % rows.shape[1]]
            chosen = best(
                lambda i, k, of=of: shared(of[i], of[k]),  # type: ignore[misc]
                grades[:, kind], int(own), np.nextafter(limit, F(1)), least,
            )  # fmt: skip
            found += [(score, kind, np.clip(of[i], 0, 1)) for i, score in chosen]
        found = sorted(found, key=lambda row: -row[0])[:size]
        count = len(found)
        filler = [(0.0, 0, np.zeros(4))] * (size - count)
        for part, column in zip(
            (1, 2, 0), zip(*found + filler, strict=True), strict=True
        ):
            outputs[part].append(column)
        outputs[3].append(count)
    return (*(F(part) for part in outputs[:3]), np.int32(outputs[3]))


PER_CLASS = RNG.uniform(size=(2, 8, 3, 2))
PER_CLASS = np.concatenate(
    [PER_CLASS - 0.1, PER_CLASS + RNG.uniform(0.1, 0.5, (2, 8, 3, 2))], axis=-1
).astype(F)
GRADES = (RNG.permutation(48).astype(F) / 48).reshape(2, 8, 3)

CASES = [
    Case(
        CombinedNonMaxSuppression(),
        (PER_CLASS, GRADES, np.int32(3), np.int32(7), FIFTH, F(0.1)), combined,
        tolerance=1e-5,
    ),
    Case(
        CombinedNonMaxSuppression(),
        (PER_CLASS[:, :, :1], GRADES, np.int32(4), np.int32(30), HALF, HALF), combined,
        "one-box",
    ),
    Case(
        CombinedNonMaxSuppression(pad_per_class=True),
        (PER_CLASS[:, :, :1], GRADES, np.int32(2), np.int32(30), HALF, HALF),
        lambda boxes, scores, own, whole, *limits: combined(
            boxes, scores, own, 6, *limits), "pad",
    ),
]  # fmt: skip
