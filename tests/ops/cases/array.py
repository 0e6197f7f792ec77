"""Shapes, joins, slices, arrangements: the answers are written out or looped."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tfteach.framework.dtypes import as_dtype, int64
from tfteach.ops.array.concat_split import Concat, ConcatOffset, ConcatV2, Split, SplitV
from tfteach.ops.array.padding import MirrorPad, MirrorPadGrad, Pad, PadV2
from tfteach.ops.array.slicing import Slice, StridedSlice, StridedSliceGrad
from tfteach.ops.array.top_k_unique import Bitcast
from tfteach.ops.array.transpose_reverse import (
    ConjugateTranspose,
    InvertPermutation,
    ReverseSequence,
    ReverseV2,
    Roll,
    Transpose,
)
from tfteach.ops.core.fill import Fill, OnesLike, ZerosLike
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
from tfteach.ops.core.shape_ops import EnsureShape, Rank, Shape_, ShapeN, Size
from tfteach.ops.core.stack_unstack import Pack, Unpack


def f32(*shape: int) -> Any:
    """0.5, 1.5, 2.5, ... in a shape."""
    flat = np.arange(np.prod(shape, dtype=int)) + 0.5
    return flat.astype(np.float32).reshape(shape)


def i32(*values: Any) -> Any:
    return np.array(values, np.int32)


def looped(function: Any, *shape: int) -> Any:
    """The array whose element at each index is `function(*index)`."""
    result = np.zeros(shape, np.float32)
    for index in np.ndindex(*shape):
        result[index] = function(*index)
    return result


X, Y, Z = f32(2, 3), f32(2, 1), f32(4, 3, 5)
TEXT = np.array([["a", "bc"], ["", "d"]], object)
C = (f32(2, 3) - 1j * f32(2, 3)).astype(np.complex64)

IDENTITIES = [
    Case(Identity(), (X,), X),
    Case(Identity(), (np.float32(3),), np.float32(3), "scalar"),
    Case(StopGradient(), (X,), X, gradient=False),
    Case(PreventGradient("no"), (X,), X, gradient=False),
    Case(GuaranteeConst(), (X,), X, gradient=False),
    Case(IdentityN(), ([X, i32(1, 2)],), (X, i32(1, 2)), gradient=False),
    Case(EnsureShape((None, 3, 5)), (Z,), Z),
    Case(Shape_(), (Z,), i32(4, 3, 5), gradient=False),
    Case(Shape_(int64), (Z,), [4, 3, 5], "int64", gradient=False),
    Case(ShapeN(), ([Z, f32(2, 7, 1)],), (i32(4, 3, 5), i32(2, 7, 1)), gradient=False),
    Case(Size(), (Z,), 60, gradient=False),
    Case(Rank(), (Z,), 3, gradient=False),
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
    Case(Fill(), (i32(2, 3), np.float32(7)), [[7, 7, 7], [7, 7, 7]]),
    Case(ZerosLike(), (X,), [[0, 0, 0], [0, 0, 0]]),
    Case(ZerosLike(), (TEXT,), np.full((2, 2), b"", object), "text"),
    Case(OnesLike(), (X,), [[1, 1, 1], [1, 1, 1]]),
    Case(
        Bitcast(as_dtype("int32")),
        (np.array([1, -2], np.float32),),
        [1065353216, -1073741824],
        gradient=False,
        exact_shape=False,
    ),
    Case(
        Bitcast(as_dtype("uint8")),
        (np.array([1, 258], np.int32),),
        [[1, 0, 0, 0], [2, 1, 0, 0]],
        "narrower",
        gradient=False,
        exact_shape=False,
    ),
]

JOINS = [
    Case(Pack(), ([f32(3), f32(3) * 2],), [[0.5, 1.5, 2.5], [1, 3, 5]]),
    Case(Pack(1), ([f32(3), f32(3) * 2],), [[0.5, 1], [1.5, 3], [2.5, 5]], "last"),
    Case(Pack(), ([np.int32(4), np.int32(5)],), [4, 5], "scalars"),
    Case(Unpack(2), (X,), (f32(3), f32(3) + 3)),
    Case(Unpack(3, -1), (X,), ([0.5, 3.5], [1.5, 4.5], [2.5, 5.5]), "last"),
    Case(
        ConcatV2(), ([X, Y], np.int32(1)), [[0.5, 1.5, 2.5, 0.5], [3.5, 4.5, 5.5, 1.5]]
    ),
    Case(
        ConcatV2(),
        ([X, f32(1, 3)], np.int32(-2)),
        [[0.5, 1.5, 2.5], [3.5, 4.5, 5.5], [0.5, 1.5, 2.5]],
        "rows",
    ),
    Case(
        ConcatV2(),
        ([f32(2, n + 1) for n in range(18)], np.int32(1)),
        lambda parts, axis: [
            [p[r, c] for p in parts for c in range(p.shape[1])] for r in range(2)
        ],
        "many",
    ),
    Case(Concat(), (np.int32(1), [X, Y]), [[0.5, 1.5, 2.5, 0.5], [3.5, 4.5, 5.5, 1.5]]),
    Case(
        ConcatOffset(),
        (np.int32(1), [i32(2, 3), i32(2, 1), i32(2, 4)]),
        (i32(0, 0), i32(0, 3), i32(0, 4)),
        exact_shape=False,
    ),
    Case(Split(3), (np.int32(1), X), ([[0.5], [3.5]], [[1.5], [4.5]], [[2.5], [5.5]])),
    Case(
        SplitV(2),
        (X, i32(-1, 1), np.int32(1)),
        ([[0.5, 1.5], [3.5, 4.5]], [[2.5], [5.5]]),
    ),
]


def strided(*entries: Any) -> tuple[Any, Any, Any]:
    """begin, end, strides from triples."""
    return tuple(np.array(column, np.int32) for column in zip(*entries, strict=True))  # type: ignore[return-value]


SLICES = [
    Case(
        Slice(),
        (Z, i32(1, 0, 2), i32(2, -1, 3)),
        lambda z, b, s: looped(lambda i, j, k: z[i + 1, j, k + 2], 2, 3, 3),
    ),
    Case(
        StridedSlice(),
        (Z, *strided((1, 3, 1), (0, 3, 2))),
        lambda z, *_: looped(lambda i, j, k: z[i + 1, 2 * j, k], 2, 2, 5),
    ),
    Case(
        StridedSlice(shrink_axis_mask=1, begin_mask=2, end_mask=2),
        (Z, *strided((-1, 0, 1), (0, 0, -2))),
        lambda z, *_: looped(lambda j, k: z[3, 2 - 2 * j, k], 2, 5),
        "x[-1,::-2]",
    ),
    Case(
        StridedSlice(ellipsis_mask=1, new_axis_mask=2),
        (Z, *strided((0, 0, 1), (0, 0, 1), (1, 3, 1))),
        lambda z, *_: looped(lambda i, j, _, k: z[i, j, k + 1], 4, 3, 1, 2),
        "x[...,newaxis,1:3]",
    ),
    Case(
        StridedSlice(),
        (Z, *strided((3, 9, 1))),
        lambda z, *_: z.tolist()[3:],
        "past the end",
    ),
    Case(
        StridedSlice(end_mask=1),
        (Z, *strided((9, 0, 1))),
        np.zeros((0, 3, 5)),
        "nothing",
    ),
    Case(
        StridedSliceGrad(shrink_axis_mask=2),
        (i32(4, 3), *strided((0, 4, 3), (1, 2, 1)), f32(2)),
        [[0, 0.5, 0], [0, 0, 0], [0, 0, 0], [0, 1.5, 0]],
    ),
    Case(
        StridedSliceGrad(begin_mask=1, end_mask=1),
        (i32(3), *strided((0, 0, -1)), f32(3)),
        [2.5, 1.5, 0.5],
        "backwards",
    ),
]

ARRANGEMENTS = [
    Case(
        Transpose(),
        (Z, i32(2, 0, 1)),
        lambda z, p: looped(lambda i, j, k: z[j, k, i], 5, 4, 3),
    ),
    Case(
        ConjugateTranspose(),
        (C, i32(1, 0)),
        [[complex(C[j, i]).conjugate() for j in range(2)] for i in range(3)],
    ),
    Case(InvertPermutation(), (i32(2, 0, 3, 1),), [1, 3, 0, 2], gradient=False),
    Case(ReverseV2(), (X, i32(-1)), [[2.5, 1.5, 0.5], [5.5, 4.5, 3.5]]),
    Case(ReverseSequence(1, 0), (X, i32(2, 3)), [[1.5, 0.5, 2.5], [5.5, 4.5, 3.5]]),
    Case(
        ReverseSequence(0, 1),
        (X, i32(2, 1, 0)),
        [[3.5, 1.5, 2.5], [0.5, 4.5, 5.5]],
        "columns",
    ),
    Case(Roll(), (X, i32(1, -1), i32(0, 1)), [[4.5, 5.5, 3.5], [1.5, 2.5, 0.5]]),
]

PADDINGS = [
    Case(Pad(), (Y, i32([1, 0], [0, 0])), lambda x, p: np.pad(x, p), "rows before"),
    Case(Pad(), (Y, i32([0, 0], [2, 3])), lambda x, p: np.pad(x, p), "columns"),
    Case(Pad(), (Y, i32([0, 0], [0, 0])), lambda x, p: x.copy(), "nothing"),
    Case(
        Pad(), (Y, i32([1, 0], [2, 1])), [[0, 0, 0, 0], [0, 0, 0.5, 0], [0, 0, 1.5, 0]]
    ),
    Case(
        PadV2(), (Y, i32([0, 1], [1, 0]), np.float32(9)), [[9, 0.5], [9, 1.5], [9, 9]]
    ),
    Case(
        MirrorPad("REFLECT"),
        (f32(2, 3), i32([1, 0], [0, 2])),
        [
            [3.5, 4.5, 5.5, 4.5, 3.5],
            [0.5, 1.5, 2.5, 1.5, 0.5],
            [3.5, 4.5, 5.5, 4.5, 3.5],
        ],
    ),
    Case(
        MirrorPad("SYMMETRIC"),
        (f32(3), i32([2, 3])),
        [1.5, 0.5, 0.5, 1.5, 2.5, 2.5, 1.5, 0.5],
        "symmetric",
    ),
    Case(MirrorPadGrad("REFLECT"), (f32(5), i32([0, 2])), [5, 5, 2.5]),
    Case(
        MirrorPadGrad("SYMMETRIC"),
        (f32(6), i32([1, 2])),
        [0.5 + 1.5, 2.5 + 5.5, 3.5 + 4.5],
        "symmetric",
    ),
]

CASES = [*IDENTITIES, *JOINS, *SLICES, *ARRANGEMENTS, *PADDINGS]
