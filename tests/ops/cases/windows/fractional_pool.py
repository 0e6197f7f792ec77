"""Pooling over random windows: TensorFlow 1.15 drew the ones given here."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.ops.windows.fractional_pool import (
    FractionalAvgPool,
    FractionalAvgPoolGrad,
    FractionalMaxPool,
    FractionalMaxPoolGrad,
)

RATIO = (1.0, 1.2, 2.0, 1.0)
SEEDS = (True, 5, 3)
COLUMNS = np.int64([0, 3, 5, 7, 9])
ROWS = {
    True: np.int64([0, 1, 3, 4, 6, 7]),  # pseudo-random
    False: np.int64([0, 2, 3, 5, 6, 7]),
}
X = np.sin(np.arange(2 * 7 * 9 * 3) * 3.0).reshape(2, 7, 9, 3)
WHOLE = np.arange(-95, 94).reshape(1, 7, 9, 3)
GRAD = np.cos(np.arange(2 * 5 * 4 * 3) * 5.0).reshape(2, 5, 4, 3)


def windows(x: Any, rows: Any, columns: Any, overlapping: bool) -> Any:
    """(row, column, elements) of each window."""
    more = 1 if overlapping else 0
    for i in range(len(rows) - 1):
        for j in range(len(columns) - 1):
            down = slice(rows[i], rows[i + 1] + more)
            yield i, j, x[:, down, columns[j] : columns[j + 1] + more]


def pooled(x: Any, rows: Any, columns: Any, overlapping: bool, reduce: Any) -> Any:
    out = np.empty((len(x), len(rows) - 1, len(columns) - 1, x.shape[3]), x.dtype)
    for i, j, window in windows(x, rows, columns, overlapping):
        out[:, i, j] = reduce(window, axis=(1, 2))
    return out, rows, columns


def spread(shape: Any, grad: Any, rows: Any, columns: Any, overlapping: bool) -> Any:
    found = np.zeros(shape)
    for i, j, window in windows(found, rows, columns, overlapping):
        window += (grad[:, i, j] / (window.shape[1] * window.shape[2]))[:, None, None]
    return found


def to_max(x: Any, grad: Any, rows: Any, columns: Any, overlapping: bool) -> Any:
    found = np.zeros_like(x)
    places = list(windows(found, rows, columns, overlapping))
    for (i, j, window), (*_, place) in zip(
        windows(x, rows, columns, overlapping), places, strict=True
    ):
        for image in range(len(x)):
            for channel in range(x.shape[3]):
                part = window[image, :, :, channel]
                at = np.unravel_index(part.argmax(), part.shape)
                place[(image, *at, channel)] += grad[image, i, j, channel]
    return found


CASES = [
    case
    for pseudo in (True, False)
    for overlapping in (True, False)
    for case in (
        Case(
            FractionalMaxPool(RATIO, pseudo, overlapping, *SEEDS),
            (X,),
            pooled(X, ROWS[pseudo], COLUMNS, overlapping, np.max),
            f"pseudo={pseudo} overlapping={overlapping}",
        ),
        Case(
            FractionalAvgPool(RATIO, pseudo, overlapping, *SEEDS),
            (X,),
            pooled(X, ROWS[pseudo], COLUMNS, overlapping, np.mean),
            f"pseudo={pseudo} overlapping={overlapping}",
        ),
    )
]
CASES += [
    Case(
        FractionalAvgPool(RATIO, True, False, *SEEDS),
        (WHOLE,),
        pooled(
            WHOLE, ROWS[True], COLUMNS, False,
            lambda w, axis: np.trunc(w.mean(axis)).astype(w.dtype),
        ),
        "integers",
    ),
    *(
        Case(
            FractionalMaxPoolGrad(overlapping),
            (
                np.round(X, 1),  # with ties
                pooled(np.round(X, 1), ROWS[True], COLUMNS, overlapping, np.max)[0],
                GRAD,
                ROWS[True],
                COLUMNS,
            ),
            to_max(np.round(X, 1), GRAD, ROWS[True], COLUMNS, overlapping),
            f"overlapping={overlapping}",
            gradient=False,
        )
        for overlapping in (True, False)
    ),
    *(
        Case(
            FractionalAvgPoolGrad(overlapping),
            (np.int64(X.shape), GRAD, ROWS[False], COLUMNS),
            spread(X.shape, GRAD, ROWS[False], COLUMNS, overlapping),
            f"overlapping={overlapping}",
            gradient=False,
        )
        for overlapping in (True, False)
    ),
]  # fmt: skip
