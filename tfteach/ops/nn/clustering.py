"""Nearest centers of points, and the first centers of k-means.

The random choices are TensorFlow's: its SimplePhilox generator, word by word.
Source: core/ops/clustering_ops.cc, core/kernels/clustering_ops.cc.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.shape import Shape
from tfteach.framework.shape_checks import (
    require,
    require_matrix,
    require_scalar,
    require_vector,
)
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.random.philox import Philox, uniform_float32

_LOW_WORD = (1 << 32) - 1
_FIRST_BLOCKS = 16
# Distances that are computed at once, so that they stay in the processor's cache.
_BLOCK = 1 << 18


def _words(seed: int) -> Iterator[int]:
    """The 32-bit words of the generator of a seed, in order."""
    generator = Philox(0, (seed & _LOW_WORD, seed >> 32 & _LOW_WORD))
    first, count = 0, _FIRST_BLOCKS
    while True:
        yield from generator.blocks(count, first).reshape(-1).tolist()
        first, count = first + count, 2 * count


def _uniform(words: Iterator[int]) -> float:
    """A float32 in [0, 1)."""
    return float(uniform_float32(np.array([next(words)], np.uint32))[0])


def _below(words: Iterator[int], end: int) -> int:
    """An integer in [0, end) from 64 bits."""
    low = next(words)
    return (low | next(words) << 32) % end


class NearestNeighbors(MultiOutputOp):
    """The k nearest centers of each point, and their squared distances.

    Source: core/ops/clustering_ops.cc, NearestNeighbors.
    """

    signature = (
        "points: float32, centers: float32, k: int64 "
        "-> nearest_center_indices: int64, nearest_center_distances: float32"
    )

    def infer_shape(self, points: Shape, centers: Shape, k: Shape) -> list[Shape]:
        return [None, None]

    def compute(
        self, xp: ArrayModule, points: Array, centers: Array, k: Array
    ) -> tuple[Array, Array]:
        require_matrix(points.shape, "Input points should be a matrix.")
        require_matrix(centers.shape, "Input centers should be a matrix.")
        require_scalar(k.shape, "Input k should be a scalar.")
        require(len(points) > 0, "Expected points.rows() > 0.")
        require(int(k) >= 0, "Expected k >= 0.")
        width, other = points.shape[1], centers.shape[1]
        message = "Expected point_dimensions == center_dimensions: %s vs %s."
        require(width == other, message, width, other)
        count = min(int(k), len(centers))
        indices = xp.empty((len(points), count), xp.int64)
        distances = xp.empty((len(points), count), xp.float32)
        if count == 0:
            return indices, distances
        halves = xp.square(centers).sum(1) * xp.float32(0.5)
        rows = max(1, _BLOCK // max(1, len(centers)))
        for first in range(0, len(points), rows):
            part = slice(first, first + rows)
            # Half of |point - center|^2, less |point|^2 / 2, which orders nothing.
            half = halves - points[part] @ centers.T
            if count == 1:
                nearest = half.argmin(1)[:, None]
            else:
                nearest = half.argsort(1, kind="stable")[:, :count]
            indices[part] = nearest
            chosen = xp.take_along_axis(half, nearest, 1)
            lengths = xp.square(points[part]).sum(1, keepdims=True)
            distances[part] = lengths + xp.float32(2) * chosen
        return indices, distances


class KmeansPlusPlusInitialization(Op):
    """Points far from each other, drawn with chances of their squared distances.

    Source: core/ops/clustering_ops.cc, KmeansPlusPlusInitialization.
    """

    signature = (
        "points: float32, num_to_sample: int64, seed: int64, "
        "num_retries_per_sample: int64 -> samples: float32"
    )

    def infer_shape(
        self, points: Shape, num_to_sample: Shape, seed: Shape, retries: Shape
    ) -> Shape:
        return None

    def compute(
        self,
        xp: ArrayModule,
        points: Array,
        num_to_sample: Array,
        seed: Array,
        num_retries_per_sample: Array,
    ) -> Array:
        require_matrix(points.shape, "Input points should be a matrix.")
        message = "Input {} should be a scalar."
        require_scalar(num_to_sample.shape, message.format("num_to_sample"))
        require_scalar(seed.shape, message.format("seed"))
        retries = num_retries_per_sample
        require_scalar(retries.shape, message.format("num_retries_per_sample"))
        count, length = int(num_to_sample), len(points)
        require(count > 0, "Expected num_to_sample > 0.")
        message = "Expected num_to_sample <= points.rows(). %s vs %s."
        require(count <= length, message, count, length)
        # Negative: the number that Arthur and Vassilvitskii recommend.
        more = int(retries) if retries >= 0 else 2 + int(math.log(count))
        words = _words(int(seed))
        distances: Any = None
        chosen = []
        for _ in range(count):
            tries = [self._drawn(xp, words, points, distances) for _ in range(more + 1)]
            # The try that leaves the least sum of distances; the first of equal ones.
            _, index, distances = min(tries, key=lambda found: found[0])
            chosen.append(index)
        samples: Array = points[xp.asarray(chosen)]
        return samples

    @staticmethod
    def _drawn(
        xp: ArrayModule, words: Iterator[int], points: Array, distances: Any
    ) -> tuple[float, int, Array]:
        """(the sum of the distances with a new point, its index, these distances)."""
        if distances is None:
            index = _below(words, len(points))
        else:
            sums = distances.astype(np.float64).cumsum()
            goal = _uniform(words) * float(sums[-1])
            # Of NaN and infinity the last point, as the search in C++ ends.
            index = min(int((~(goal < sums)).sum()), len(points) - 1)
        found = xp.square(points - points[index]).sum(1)
        if distances is not None:
            found = xp.minimum(distances, found)
        return float(found.sum(dtype=np.float64)), index, found


class KMC2ChainInitialization(Op):
    """The end of a Markov chain over points, by their distances from the centers.

    Source: core/ops/clustering_ops.cc, KMC2ChainInitialization; Bachem and others,
    "Approximate K-Means++ in Sublinear Time" (2016).
    """

    signature = "distances: float32, seed: int64 -> index: int64"

    def infer_shape(self, distances: Shape, seed: Shape) -> Shape:
        return ()

    def compute(self, xp: ArrayModule, distances: Array, seed: Array) -> Array:
        require_vector(distances.shape, "Input distances should be a vector.")
        require_scalar(seed.shape, "Input seed should be a scalar.")
        require(distances.size > 0, "Expected distances_tensor.size() > 0.")
        words = _words(int(seed))
        index, current = 0, float(distances[0])
        for i in range(1, distances.size):
            candidate = float(distances[i])
            if candidate > _uniform(words) * current:
                index, current = i, candidate
        found: Array = xp.asarray(index, xp.int64)
        return found
