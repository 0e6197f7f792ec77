"""`tf.contrib.factorization.KMeans`: clusters of points.

Source: contrib/factorization/python/ops/clustering_ops.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export, export_value
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import Array, TensorLike
from tfteach.lib.contrib.factorization import kmeans_start
from tfteach.lib.contrib.factorization.kmeans_start import (
    InitialClusters,
    Start,
)
from tfteach.lib.contrib.factorization.kmeans_updates import (
    full_batch_op,
    mini_batch_op,
    sync_op,
)
from tfteach.ops.array.transpose_reverse import transpose
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import ones, zeros
from tfteach.ops.core.identity_reshape import squeeze
from tfteach.ops.core.placeholder import placeholder_with_default
from tfteach.ops.core.shape_ops import shape
from tfteach.ops.linalg.matmul import matmul
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.math.unary import square
from tfteach.ops.nn.clustering import NearestNeighbors
from tfteach.ops.nn.l2_loss import l2_normalize
from tfteach.ops.random.random_ops import get_seed
from tfteach.variables.base import Variable

SQUARED_EUCLIDEAN_DISTANCE = "squared_euclidean"
COSINE_DISTANCE = "cosine"
KMC2_INIT = kmeans_start.KMC2_INIT
RANDOM_INIT = kmeans_start.RANDOM_INIT
KMEANS_PLUS_PLUS_INIT = kmeans_start.KMEANS_PLUS_PLUS_INIT
_PLACE = "contrib.factorization"
export_value(
    __name__,
    SQUARED_EUCLIDEAN_DISTANCE=f"{_PLACE}.SQUARED_EUCLIDEAN_DISTANCE",
    COSINE_DISTANCE=f"{_PLACE}.COSINE_DISTANCE",
    RANDOM_INIT=f"{_PLACE}.RANDOM_INIT",
    KMEANS_PLUS_PLUS_INIT=f"{_PLACE}.KMEANS_PLUS_PLUS_INIT",
)
TrainingGraph = tuple[
    list[Tensor], list[Tensor], list[Tensor], Any, Tensor, Tensor | Operation
]


def _variable(value: Any, name: str | None = None, **options: Any) -> Any:
    make: Any = Variable  # the metaclass makes the kind of the variable scope
    return make(value, name=name, **options)


@export("contrib.factorization.KMeans")
class KMeans:
    """Makes the graph of k-means over points.

    Args:
      inputs: float32 Tensor [n, d], or a list of them.
      num_clusters: the number of clusters.
      initial_clusters: the first centers: "random" for random points,
        "kmeans_plus_plus" for points far from each other, "kmc2" for an approximation
        of it by Markov chains, a Tensor [num_clusters, d], or a function of the inputs
        and the number of missing centers.
      distance_metric: "squared_euclidean", or "cosine", for which points and centers
        are normalized.
      use_mini_batch: whether a step moves the centers by the points of a batch, instead
        of to the means of all points.
      mini_batch_steps_per_iteration: after how many steps such moves are seen.
      random_seed: the seed of the first centers.
      kmeans_plus_plus_num_retries: further tries of each choice of "kmeans_plus_plus".
      kmc2_chain_length: how many points each choice of "kmc2" looks at.

    Raises:
      ValueError: there is no such method or distance.

    Example:
      >>> kmeans = tf.contrib.factorization.KMeans(x, 3, use_mini_batch=True)
      >>> (all_scores, cluster_idx, scores, initialized, init_op,
      ...  train_op) = kmeans.training_graph()

    Source: contrib/factorization/python/ops/clustering_ops.py.
    """

    def __init__(
        self,
        inputs: TensorLike | Sequence[Tensor],
        num_clusters: TensorLike,
        initial_clusters: InitialClusters = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        use_mini_batch: bool = False,
        mini_batch_steps_per_iteration: int = 1,
        random_seed: int | None = 0,
        kmeans_plus_plus_num_retries: int = 2,
        kmc2_chain_length: int = 200,
    ) -> None:
        known = (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT, KMC2_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in known:
            raise ValueError(
                f"Unsupported initialization algorithm '{initial_clusters}'"
            )
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")
        self._inputs: list[Any] = (
            list(inputs) if isinstance(inputs, list | tuple) else [inputs]
        )
        assert num_clusters > 0, num_clusters  # type: ignore[operator]
        self._num_clusters: Any = num_clusters
        assert mini_batch_steps_per_iteration > 0, mini_batch_steps_per_iteration
        self._initial_clusters = initial_clusters
        self._is_cosine = distance_metric == COSINE_DISTANCE
        self._use_mini_batch = use_mini_batch
        self._steps = int(mini_batch_steps_per_iteration)
        self._seed = self._seed_of(random_seed)
        self._retries = kmeans_plus_plus_num_retries
        self._chain_length = kmc2_chain_length

    def training_graph(self) -> TrainingGraph:
        """Make the graph.

        Returns:
          all_scores: for each input a Tensor [n, num_clusters] of distances.
          cluster_idx: for each input an int64 Tensor [n], the nearest center.
          scores: for each input a Tensor [n], the distance from it.
          cluster_centers_initialized: a bool variable, True once there are all centers.
          init_op: what to run until then.
          training_op: what a step runs.
        """
        given: Any = self._initial_clusters
        if isinstance(given, str) or callable(given):
            count = convert(self._num_clusters)
        else:
            given = convert(given)
            count = shape(given)[0]
        centers, initialized, updated, steps_left, counts = self._variables(count)
        init_op = Start(
            self._inputs, count, given, self._is_cosine, self._seed, self._retries,
            self._chain_length, centers, updated, initialized,
        ).op()  # fmt: skip
        inputs: list[Any] = self._inputs
        compared: Any = centers
        if self._is_cosine:
            inputs = [self._normalized(points) for points in inputs]
            if not self._keeps_unit_length():
                compared = l2_normalize(centers, 1)
        all_scores = [self._distances(points, compared) for points in inputs]
        ids, scores = [], []
        for given, points in zip(self._inputs, inputs, strict=True):
            with get_default_graph().colocate_with(given, ignore_existing=True):
                nearest, distance = self._nearest(points, compared)
                scores.append(squeeze(distance, [-1]))
                ids.append(squeeze(nearest, [-1]))
        training_op: Any
        if self._use_mini_batch:
            sync = sync_op(
                self._steps, steps_left, centers, updated, counts, self._is_cosine
            )
            training_op = mini_batch_op(inputs, ids, updated, counts, sync)
        else:
            training_op = full_batch_op(inputs, count, ids, centers, self._is_cosine)
        return all_scores, ids, scores, initialized, init_op, training_op

    def _variables(self, count: Tensor) -> tuple[Any, Any, Any, Any, Any]:
        """Centers, whether there are all, updated ones, steps left, their points."""
        nothing = self._no_centers()
        centers = _variable(nothing, "clusters", validate_shape=False)
        initialized = _variable(False, "initialized")
        updated, steps_left, counts = centers, None, None
        if self._use_mini_batch and self._steps > 1:
            updated = _variable(nothing, "clusters_updated", validate_shape=False)
            steps_left = _variable(self._steps, "update_in_steps", dtype=int64)
            counts = _variable(zeros([count], dtype=int64))
        elif self._use_mini_batch:
            counts = _variable(ones([count], dtype=int64))
        return centers, initialized, updated, steps_left, counts

    def _no_centers(self) -> Tensor:
        return constant(self._empty())

    def _seed_of(self, given: int | None) -> int | None:
        return given

    def _empty(self) -> Array:
        return np.empty([0], self._inputs[0].dtype.as_numpy_dtype)

    def _keeps_unit_length(self) -> bool:
        """Whether the centers that points are compared with are normalized."""
        return self._is_cosine and not (self._use_mini_batch and self._steps == 1)

    @staticmethod
    def _normalized(points: Any) -> Tensor:
        with get_default_graph().colocate_with(points, ignore_existing=True):
            return l2_normalize(points, 1)

    def _distances(self, points: Any, centers: Any) -> Tensor:
        with get_default_graph().colocate_with(points, ignore_existing=True):
            if self._is_cosine:
                distances: Tensor = 1 - matmul(points, centers, transpose_b=True)
                return distances
            found: Tensor = (
                reduce_sum(square(points), 1, keepdims=True)
                - 2 * matmul(points, centers, transpose_b=True)
                + transpose(reduce_sum(square(centers), 1, keepdims=True))
            )
            return found

    def _nearest(self, points: Any, centers: Any) -> tuple[Any, Any]:
        """The nearest centers, [n, 1], and the distances from them."""
        if self._is_cosine and not self._keeps_unit_length():
            centers = self._normalized(centers)
        nearest, distances = NearestNeighbors()(points, centers, 1)
        # Of vectors of length 1, half the square is 1 - cosine.
        return nearest, distances * 0.5 if self._is_cosine else distances


class CoreKMeans(KMeans):
    """The graph that `tf.estimator.experimental.KMeans` makes.

    Variables that are resources need an initial value of unknown shape.

    Source: python/ops/clustering_ops.py.
    """

    def _seed_of(self, given: int | None) -> int | None:
        return get_seed(given)[0]

    def _no_centers(self) -> Tensor:
        return placeholder_with_default(self._empty(), TensorShape(None))
