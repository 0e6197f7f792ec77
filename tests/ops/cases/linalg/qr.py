"""QR decomposition: a sign convention makes it unique, LAPACK's is Householder's."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.linalg.qr import Qr

TALL = np.array([[1.0, 2.0], [3.0, -4.0], [-5.0, 6.5]])


def householder(a: np.ndarray, full: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """By reflections, one column at a time."""
    rows, columns = a.shape
    q, r = np.eye(rows), a.astype(np.float64)
    for k in range(min(rows - 1, columns)):
        v = np.zeros(rows)
        v[k:] = r[k:, k]
        v[k] += np.copysign(np.linalg.norm(v), v[k])
        reflect = np.eye(rows) - 2 * np.outer(v, v) / (v @ v)
        q, r = q @ reflect, reflect @ r
    least = rows if full else min(rows, columns)
    return q[:, :least], np.triu(r)[:least]


# The gradient has a rule only where there are as many columns as r has rows.
CASES = [
    Case(Qr(), (TALL,), householder),
    Case(Qr(), (TALL.T,), householder, id="wide", gradient=False),
    Case(
        Qr(True),
        (TALL,),
        lambda a: householder(a, full=True),
        id="full",
        gradient=False,
    ),
    Case(
        Qr(),
        (np.stack([TALL, TALL[::-1] * 2, TALL + 1, TALL - 1]).astype(np.float32),),
        lambda a: tuple(
            np.stack(part) for part in zip(*map(householder, a), strict=True)
        ),
        id="batch",
        tolerance=1e-5,
        gradient=False,  # a first element is 0: signs change with it
    ),
]
