"""Matrix products."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.linalg.matmul import BatchMatMul, BatchMatMulV2, MatMul

RNG = np.random.default_rng(3)
A = RNG.normal(size=(2, 3)).astype(np.float32)
B = RNG.normal(size=(3, 4)).astype(np.float32)
BATCH = RNG.normal(size=(5, 2, 3)).astype(np.float32)
OTHER = RNG.normal(size=(5, 3, 4)).astype(np.float32)
WIDE = RNG.normal(size=(6, 1, 3, 4)).astype(np.float32)
Z = (A + 1j * A[::-1]).astype(np.complex64)
W = (B - 1j * B[:, ::-1]).astype(np.complex64)


def loops(a, b):
    """The definition: sums over the inner dimension, one element at a time."""
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = np.broadcast_to(a, batch + a.shape[-2:])
    b = np.broadcast_to(b, batch + b.shape[-2:])
    out = np.zeros((*batch, a.shape[-2], b.shape[-1]), np.result_type(a, b))
    for *at, i, j in np.ndindex(*out.shape):
        pairs = zip(a[(*at, i)], b[(*at, slice(None), j)], strict=True)
        out[(*at, i, j)] = sum(x * y for x, y in pairs)
    return out


def turn(array):
    return np.conj(np.swapaxes(array, -1, -2))


def flags(cls, a, b) -> list[Case]:
    found = []
    for left in (False, True):
        for right in (False, True):
            # The plain product is the same in all four, the inputs are turned.
            x = np.conj(a.T) if left and cls is MatMul else turn(a) if left else a
            y = np.conj(b.T) if right and cls is MatMul else turn(b) if right else b
            if cls is MatMul:
                x, y = np.conj(x) if left else x, np.conj(y) if right else y
            found.append(
                Case(
                    cls(left, right),
                    (x.copy(), y.copy()),
                    loops(a, b),
                    id=f"{left}-{right}-{a.dtype}",
                    tolerance=1e-5,
                )
            )
    return found  # fmt: skip


CASES = [
    *flags(MatMul, A, B),
    *flags(MatMul, Z, W),
    *flags(BatchMatMulV2, BATCH, OTHER),
    *flags(BatchMatMul, BATCH, OTHER),
    Case(BatchMatMulV2(), (Z[None], W[None]), loops, id="complex", tolerance=1e-5),
    Case(BatchMatMulV2(), (BATCH, WIDE), loops, id="broadcast", tolerance=1e-5),
    Case(BatchMatMulV2(), (BATCH, B), loops, id="matrix", tolerance=1e-5),
    Case(MatMul(), (np.int32([[1, 2, 3]]), np.int32([[4], [5], [6]])), [[32]],
         id="int"),
    Case(MatMul(), (A.astype(np.float16), B.astype(np.float16)), loops, id="half",
         tolerance=5e-3, gradient=False),
    Case(MatMul(), (A[:, :1], np.tile(B[:1], 3)), loops, id="outer"),
    Case(MatMul(), (A[:, :1].astype(np.float16), np.tile(B[:1], 3).astype(np.float16)),
         loops, id="outer half", gradient=False, tolerance=1e-3),
    Case(MatMul(), (A[:, :0], B[:0]), np.zeros((2, 4)), id="empty"),
]  # fmt: skip
