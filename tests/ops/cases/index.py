"""Gather, scatter, segments, choices, diagonals, blocks: written out or looped."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.ops.case import Case
from tests.ops.cases.array import X, Y, Z, f32, i32, looped
from tfteach.ops.array.dynamic_partition import DynamicPartition, DynamicStitch
from tfteach.ops.array.gather import Gather, GatherNd, GatherV2
from tfteach.ops.array.scatter_nd import (
    ScatterNd,
    TensorScatterAdd,
    TensorScatterSub,
    TensorScatterUpdate,
)
from tfteach.ops.array.segment_ops import (
    SegmentMax,
    SegmentMean,
    SegmentMin,
    SegmentProd,
    SegmentSum,
    UnsortedSegmentMax,
    UnsortedSegmentMin,
    UnsortedSegmentProd,
    UnsortedSegmentSum,
)
from tfteach.ops.array.space_to_depth import (
    BatchToSpaceND,
    DepthToSpace,
    SpaceToBatchND,
    SpaceToDepth,
)
from tfteach.ops.array.tile_broadcast import BroadcastArgs, BroadcastTo, OneHot, Tile
from tfteach.ops.array.top_k_unique import (
    ListDiff,
    LowerBound,
    TopKV2,
    Unique,
    UniqueWithCounts,
    UpperBound,
)
from tfteach.ops.array.where_select import Select, SelectV2, Where
from tfteach.ops.linalg.matrix_diag import (
    Diag,
    DiagPart,
    MatrixBandPart,
    MatrixDiag,
    MatrixDiagPart,
    MatrixSetDiag,
)

ROWS = np.array([[3, 1.5], [2, -5], [1, 4], [0.5, 7], [6, 2.5]], np.float32)
WIDE = np.random.default_rng(3).normal(size=(7, 6)).astype(np.float32)
IDS = i32(2, 0, -1, 2, 0)
LOWEST = np.finfo(np.float32).min
HIGHEST = np.finfo(np.float32).max

# Rounded, so that some are equal; of FEW's rows most hold the least number there is.
LONG = np.round(np.random.default_rng(4).normal(size=(2, 5, 41)), 1).astype(np.float32)
FEW = np.where(LONG > 2, LONG, -np.inf).astype(np.float32)


def largest(rows: Any, count: Any) -> Any:
    """The largest of each row by Python's sort, and where they are."""
    flat = rows.reshape(-1, rows.shape[-1])
    order = [sorted(enumerate(row.tolist()), key=lambda x: -x[1]) for row in flat]
    places = np.array([[i for i, _ in row] for row in order])[:, : int(count)]
    values = np.take_along_axis(flat, places, -1)
    shape = (*rows.shape[:-1], int(count))
    return values.reshape(shape), places.reshape(shape)


def segment_loop(join: Any, start: float) -> Any:
    """Reduce rows by id with plain loops; negative ids drop their rows."""

    def apply(data: Any, ids: Any, count: Any = None) -> Any:
        rows = int(ids.max()) + 1 if count is None else int(count)
        found: list[Any] = [None] * rows
        for row, i in zip(data.tolist(), ids.tolist(), strict=True):
            if i >= 0:
                old = found[i]
                found[i] = (
                    row
                    if old is None
                    else [join(a, b) for a, b in zip(old, row, strict=True)]
                )
        width = data.shape[1]
        return [[start] * width if row is None else row for row in found]

    return apply


def add(a: float, b: float) -> float:
    return a + b


def times(a: float, b: float) -> float:
    return a * b


SORTED = i32(0, 0, 2, 2, 4)

GATHERS = [
    Case(Gather(), (ROWS, i32([1], [4])), [[[2, -5]], [[6, 2.5]]], gradient=False),
    Case(
        GatherV2(),
        (ROWS, i32([1, 1, 0], [4, 0, 2]), np.int32(0)),
        lambda r, i, _: [[r[k].tolist() for k in row] for row in i],
        gradient=False,
    ),
    Case(
        GatherV2(),
        (Z, i32(2, 0, 2, 1), np.int32(1)),
        lambda z, i, _: looped(lambda a, b, c: z[a, i[b], c], 4, 4, 5),
        "axis 1",
    ),
    Case(GatherV2(), (Z, np.int32(2), np.int32(-1)), Z[:, :, 2], "one"),
    Case(
        GatherV2(1),
        (Z, i32([4, 0], [1, 1], [2, 3], [0, 4]), np.int32(2)),
        lambda z, i, _: looped(lambda a, b, c: z[a, b, i[a, c]], 4, 3, 2),
        "batch",
    ),
    Case(
        GatherV2(1),
        (Z, i32([2], [1], [0], [2]), np.int32(1)),
        lambda z, i, _: looped(lambda a, b, c: z[a, i[a, b], c], 4, 1, 5),
        "batch 1",
    ),
    Case(GatherNd(), (Z, i32([[3, 1], [0, 2]])), [[Z[3, 1], Z[0, 2]]]),
    Case(
        GatherNd(), (ROWS, i32([4], [4])), [[6, 2.5], [6, 2.5]], "rows", gradient=False
    ),
    Case(GatherNd(), (ROWS, np.zeros((2, 0), np.int32)), [ROWS, ROWS], "whole"),
    Case(
        ScatterNd(),
        (i32([2], [0], [2]), f32(3, 2), i32(4, 2)),
        [[2.5, 3.5], [0, 0], [0.5 + 4.5, 1.5 + 5.5], [0, 0]],
    ),
    Case(
        ScatterNd(),
        (i32([0, 1], [2, 0]), f32(2), i32(3, 2)),
        [[0, 0.5], [0, 0], [1.5, 0]],
        "elements",
    ),
    Case(
        TensorScatterUpdate(),
        (ROWS, i32([1], [3]), f32(2, 2)),
        [[3, 1.5], [0.5, 1.5], [1, 4], [2.5, 3.5], [6, 2.5]],
    ),
    Case(
        TensorScatterAdd(),
        (ROWS, i32([1], [1]), f32(2, 2)),
        [[3, 1.5], [5, 0], [1, 4], [0.5, 7], [6, 2.5]],
    ),
    Case(
        TensorScatterSub(),
        (ROWS, i32([1], [1]), f32(2, 2)),
        [[3, 1.5], [-1, -10], [1, 4], [0.5, 7], [6, 2.5]],
    ),
]

SEGMENTS = [
    Case(SegmentSum(), (ROWS, SORTED), segment_loop(add, 0), exact_shape=False),
    Case(
        SegmentMean(),
        (ROWS, SORTED),
        [[2.5, -1.75], [0, 0], [0.75, 5.5], [0, 0], [6, 2.5]],
        exact_shape=False,
    ),
    Case(
        SegmentMean(),
        (i32(1, 2, 4, -3), i32(0, 0, 0, 1)),
        [2, -3],
        "int",
        exact_shape=False,
    ),
    Case(SegmentMax(), (ROWS, SORTED), segment_loop(max, 0), exact_shape=False),
    Case(SegmentMin(), (ROWS, SORTED), segment_loop(min, 0), exact_shape=False),
    Case(
        SegmentProd(),
        (ROWS, SORTED),
        segment_loop(times, 1),
        exact_shape=False,
        gradient=False,
    ),
    Case(UnsortedSegmentSum(), (ROWS, IDS, np.int32(4)), segment_loop(add, 0)),
    Case(
        UnsortedSegmentSum(),
        (WIDE, i32(3, 1, 3, 3, 0, 1, -1), np.int32(5)),
        segment_loop(add, 0),
        "wide",
    ),
    Case(
        UnsortedSegmentSum(),
        (WIDE, i32(3, 1, 6, 2, 0, 4, 5), np.int32(9)),
        segment_loop(add, 0),
        "distinct",
    ),
    Case(
        UnsortedSegmentSum(),
        (f32(2, 3), i32([1, 0, 1], [1, 1, -1]), np.int32(2)),
        [1.5, 0.5 + 2.5 + 3.5 + 4.5],
        "matrix of ids",
    ),
    Case(
        UnsortedSegmentSum(),
        (i32([5], [2**30], [7]), i32(1, 1, 0), np.int32(2)),
        [[7], [2**30 + 5]],
        "int",
    ),
    Case(UnsortedSegmentMax(), (ROWS, IDS, np.int32(4)), segment_loop(max, LOWEST)),
    Case(UnsortedSegmentMin(), (ROWS, IDS, np.int32(4)), segment_loop(min, HIGHEST)),
    Case(UnsortedSegmentProd(), (ROWS, IDS, np.int32(4)), segment_loop(times, 1)),
    Case(
        UnsortedSegmentProd(),
        (i32([0], [3], [4]).astype(np.float32), i32(0, 0, 1), np.int32(2)),
        [[0], [4]],
        "a zero",
    ),
    Case(
        DynamicPartition(3),
        (ROWS, i32(2, 0, 2, 0, 0)),
        (ROWS[[1, 3, 4]], np.zeros((0, 2)), ROWS[[0, 2]]),
        exact_shape=False,
    ),
    Case(
        DynamicStitch(),
        ([i32(3, 0), i32([1, 0])], [f32(2, 2), f32(1, 2, 2) + 9]),
        [[11.5, 12.5], [9.5, 10.5], [0, 0], [0.5, 1.5]],
        exact_shape=False,
        gradient=False,
    ),  # of equal indices TF gives both the gradient
    Case(
        DynamicStitch(),
        ([i32(3, 0), i32(1, 2)], [f32(2, 2), f32(2, 2) + 9]),
        [[2.5, 3.5], [9.5, 10.5], [11.5, 12.5], [0.5, 1.5]],
        "distinct",
        exact_shape=False,
    ),
]

CHOICES = [
    Case(
        Where(),
        (np.array([[0, 1.5], [np.nan, 0]], np.float32),),
        [[0, 1], [1, 0]],
        exact_shape=False,
        gradient=False,
    ),
    Case(Select(), (X > 2, X, -X), [[-0.5, -1.5, 2.5], [3.5, 4.5, 5.5]]),
    Case(
        Select(),
        (np.array([True, False]), X, -X),
        [[0.5, 1.5, 2.5], [-3.5, -4.5, -5.5]],
        "rows",
    ),
    Case(Select(), (np.array(False), X, -X), -X, "scalar"),
    Case(SelectV2(), (Y > 1, X, np.float32(9)), [[9, 9, 9], [3.5, 4.5, 5.5]]),
    Case(
        OneHot(),
        (i32(0, -1, 5, 2), np.int32(3), np.float32(4), np.float32(1)),
        [[4, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 4]],
        gradient=False,
    ),
    Case(
        OneHot(0),
        (i32([0, -1], [1, 2]), np.int32(3), np.int32(7), np.int32(1)),
        [[[7, 1], [1, 1]], [[1, 1], [7, 1]], [[1, 1], [1, 7]]],
        "first axis",
    ),
    Case(
        Tile(),
        (X, i32(2, 2)),
        [[0.5, 1.5, 2.5, 0.5, 1.5, 2.5], [3.5, 4.5, 5.5, 3.5, 4.5, 5.5]] * 2,
    ),
    Case(BroadcastTo(), (Y, i32(3, 2, 2)), [[[0.5, 0.5], [1.5, 1.5]]] * 3),
    Case(BroadcastArgs(), (i32(3, 1), i32(2, 1, 4)), [2, 3, 4]),
    Case(
        TopKV2(),
        (np.array([[1, 3, 3.0, 2], [5, 5, 1, 7]], np.float32), np.int32(3)),
        ([[3, 3, 2], [7, 5, 5]], [[1, 2, 3], [3, 0, 1]]),
        gradient=False,
    ),
    Case(TopKV2(), (LONG, np.int32(3)), largest, "few of many", gradient=False),
    Case(TopKV2(), (LONG.astype(np.int8), np.int32(3)), largest, "few ints"),
    Case(TopKV2(), (FEW, np.int32(3)), largest, "the least", gradient=False),
    Case(
        Unique(),
        (i32(3, 1, 3, 2, 1),),
        ([3, 1, 2], [0, 1, 0, 2, 1]),
        exact_shape=False,
        gradient=False,
    ),
    Case(
        Unique(),
        (np.array(["b", "a", "b"], object),),
        (np.array([b"b", b"a"], object), [0, 1, 0]),
        "text",
        exact_shape=False,
    ),
    Case(
        UniqueWithCounts(),
        (i32(3, 1, 3, 2, 1),),
        ([3, 1, 2], [0, 1, 0, 2, 1], [2, 2, 1]),
        exact_shape=False,
        gradient=False,
    ),
    Case(
        ListDiff(),
        (i32(1, 5, 2, 5, 3), i32(2, 1)),
        ([5, 5, 3], [1, 3, 4]),
        exact_shape=False,
        gradient=False,
    ),
    Case(
        LowerBound(),
        (f32(1, 5), np.array([[-1, 1.5, 2, 9]], np.float32)),
        [[0, 1, 2, 5]],
        gradient=False,
    ),
    Case(
        UpperBound(),
        (f32(1, 5), np.array([[-1, 1.5, 2, 9]], np.float32)),
        [[0, 2, 2, 5]],
        gradient=False,
    ),
]

DIAGONALS = [
    Case(
        MatrixDiag(),
        (f32(2, 3),),
        lambda d: looped(lambda b, i, j: d[b, i] * (i == j), 2, 3, 3),
    ),
    Case(
        MatrixDiagPart(),
        (f32(2, 3, 4),),
        lambda m: looped(lambda b, i: m[b, i, i], 2, 3),
    ),
    Case(MatrixDiagPart(), (f32(3, 3),), [0.5, 4.5, 8.5], "square"),
    Case(
        MatrixSetDiag(),
        (f32(2, 3), np.array([8, 9], np.float32)),
        [[8, 1.5, 2.5], [3.5, 9, 5.5]],
    ),
    Case(
        MatrixBandPart(),
        (f32(3, 4), np.int64(1), np.int64(0)),
        [[0.5, 0, 0, 0], [4.5, 5.5, 0, 0], [0, 9.5, 10.5, 0]],
    ),
    Case(
        MatrixBandPart(),
        (f32(3, 4), np.int64(0), np.int64(-1)),
        [[0.5, 1.5, 2.5, 3.5], [0, 5.5, 6.5, 7.5], [0, 0, 10.5, 11.5]],
        "upper",
    ),
    Case(
        Diag(),
        (f32(2, 3),),
        lambda d: looped(lambda i, j, k, m: d[i, j] * ((i, j) == (k, m)), 2, 3, 2, 3),
    ),
    Case(
        DiagPart(),
        (f32(2, 3, 2, 3),),
        lambda t: looped(lambda i, j: t[i, j, i, j], 2, 3),
    ),
]


def depth_loop(x: Any) -> Any:
    """Space to depth of NHWC with blocks of 2."""
    _, h, w, c = x.shape
    return looped(
        lambda n, i, j, k: x[n, 2 * i + k // (2 * c), 2 * j + k // c % 2, k % c],
        len(x),
        h // 2,
        w // 2,
        4 * c,
    )


BLOCKS = [
    Case(SpaceToDepth(2), (f32(1, 4, 6, 3),), depth_loop),
    Case(
        SpaceToDepth(2, "NCHW"),
        (f32(1, 3, 4, 6),),
        lambda x: np.moveaxis(depth_loop(np.moveaxis(x, 1, 3)), 3, 1),
        "NCHW",
    ),
    Case(DepthToSpace(2), (depth_loop(f32(1, 4, 6, 3)),), f32(1, 4, 6, 3)),
    Case(
        SpaceToBatchND(),
        (f32(1, 2, 3, 1), i32(2, 1), i32([1, 1], [0, 1])),
        [
            [[[0], [0], [0], [0]], [[3.5], [4.5], [5.5], [0]]],
            [[[0.5], [1.5], [2.5], [0]], [[0], [0], [0], [0]]],
        ],
    ),
    Case(
        BatchToSpaceND(),
        (f32(4, 2, 3, 1) - 0.5, i32(2, 1), i32([1, 0], [0, 1])),
        [
            [[[12], [13]], [[3], [4]], [[15], [16]]],
            [[[18], [19]], [[9], [10]], [[21], [22]]],
        ],
    ),
]

CASES = [*GATHERS, *SEGMENTS, *CHOICES, *DIAGONALS, *BLOCKS]
