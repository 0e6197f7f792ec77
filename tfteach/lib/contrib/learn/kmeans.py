"""K-means as an older Estimator: `tf.contrib.learn.KMeansClustering`.

`tf.contrib.factorization.KMeansClustering` is the same on `tf.estimator.Estimator`.

Source: contrib/learn/python/learn/estimators/kmeans.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.type_aliases import Array, PathLike
from tfteach.lib.contrib.factorization.features import points_of
from tfteach.lib.contrib.factorization.initialize_clusters import InitializeClustersHook
from tfteach.lib.contrib.factorization.kmeans import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    KMeans,
)
from tfteach.lib.contrib.factorization.kmeans_start import InitialClusters
from tfteach.lib.contrib.factorization.loss_relative_change import (
    LossRelativeChangeHook,
)
from tfteach.lib.contrib.learn.estimator import Estimator
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.type_aliases import InputFn
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.state.ref_variables import assign_add

_SCORES = "scores"
_CLUSTER_IDX = "cluster_idx"
_ALL_SCORES = "all_scores"
_LOSS_OP_NAME = "kmeans_loss"


def _kmeans_clustering_model_fn(
    features: Any,
    labels: Any,
    mode: str,
    params: Mapping[str, Any],
    config: RunConfig,
) -> ModelFnOps:
    """The model: `params` are the arguments of `KMeans`."""
    assert labels is None, labels
    model = KMeans(
        points_of(features),
        params["num_clusters"],
        initial_clusters=params["training_initial_clusters"],
        distance_metric=params["distance_metric"],
        use_mini_batch=params["use_mini_batch"],
        mini_batch_steps_per_iteration=params["mini_batch_steps_per_iteration"],
        random_seed=params["random_seed"],
        kmeans_plus_plus_num_retries=params["kmeans_plus_plus_num_retries"],
    )
    distances, index, losses, initialized, init_op, training_op = model.training_graph()
    step = assign_add(get_global_step(), 1)
    loss = reduce_sum(losses, name=_LOSS_OP_NAME)
    scalar("loss/raw", loss)
    hooks: list[SessionRunHook] = [
        InitializeClustersHook(init_op, initialized, config.is_chief)
    ]
    if params["relative_tolerance"] is not None:
        hooks.append(LossRelativeChangeHook(loss, params["relative_tolerance"]))
    return ModelFnOps(
        mode,
        predictions={_ALL_SCORES: distances[0], _CLUSTER_IDX: index[0]},
        loss=loss,
        train_op=with_dependencies([training_op, step], loss),
        eval_metric_ops={_SCORES: loss},
        training_hooks=hooks,
    )


@export("contrib.learn.KMeansClustering")
class KMeansClustering(Estimator):
    """Finds clusters of points.

    Args:
      num_clusters: the number of clusters.
      model_dir: the directory of checkpoints and event files.
      initial_clusters: the first centers: `RANDOM_INIT`, `KMEANS_PLUS_PLUS_INIT`, an
        array [num_clusters, d], or a function of the inputs and the number of missing
        centers.
      distance_metric: `SQUARED_EUCLIDEAN_DISTANCE` or `COSINE_DISTANCE`.
      random_seed: the seed of the first centers.
      use_mini_batch: whether a step moves the centers by the points of a batch, instead
        of to the means of all points.
      mini_batch_steps_per_iteration: after how many steps such moves are seen.
      kmeans_plus_plus_num_retries: further tries of each choice of k-means++.
      relative_tolerance: the training ends when the loss changes by less than this
        fraction of 1 + the loss; only for whole batches.
      config: a `tf.contrib.learn.RunConfig`.

    Raises:
      ValueError: when it is trained: there is no such start or distance.

    Example:
      >>> def input_fn():
      ...     return tf.constant(points), None
      >>> kmeans = tf.contrib.learn.KMeansClustering(5, use_mini_batch=False)
      >>> kmeans.fit(input_fn=input_fn, steps=10)
      >>> kmeans.clusters()

    Source: contrib/learn/python/learn/estimators/kmeans.py.
    """

    SQUARED_EUCLIDEAN_DISTANCE = SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = COSINE_DISTANCE
    RANDOM_INIT = RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = KMEANS_PLUS_PLUS_INIT
    SCORES = _SCORES
    CLUSTER_IDX = _CLUSTER_IDX
    CLUSTERS = "clusters"
    ALL_SCORES = _ALL_SCORES
    LOSS_OP_NAME = _LOSS_OP_NAME

    def __init__(
        self,
        num_clusters: int,
        model_dir: PathLike | None = None,
        initial_clusters: InitialClusters = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        random_seed: int = 0,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
    ) -> None:
        params = {
            "num_clusters": num_clusters,
            "training_initial_clusters": initial_clusters,
            "distance_metric": distance_metric,
            "random_seed": random_seed,
            "use_mini_batch": use_mini_batch,
            "mini_batch_steps_per_iteration": mini_batch_steps_per_iteration,
            "kmeans_plus_plus_num_retries": kmeans_plus_plus_num_retries,
            "relative_tolerance": relative_tolerance,
        }
        super().__init__(_kmeans_clustering_model_fn, model_dir, config, params)

    def predict_cluster_idx(self, input_fn: InputFn | None = None) -> Iterator[Any]:
        """Yield the index of the nearest center of each point, an int64.

        Args:
          input_fn: returns points, a float32 Tensor [n, d], or a dict of features.

        Raises:
          NotFittedError: there is no checkpoint.
        """
        for found in self.predict(input_fn=input_fn, outputs=[self.CLUSTER_IDX]):
            yield found[self.CLUSTER_IDX]

    def score(
        self, input_fn: InputFn | None = None, steps: int | None = None
    ) -> np.float32:
        """The sum of the points' distances from their nearest centers.

        Squared distances, unless they are cosines; of the last batch.

        Args:
          input_fn: see `predict_cluster_idx`.
          steps: the number of batches; None until the input's end.

        Raises:
          NotFittedError: there is no checkpoint.
        """
        found: np.float32 = self.evaluate(input_fn=input_fn, steps=steps)[self.SCORES]
        return found

    def transform(
        self, input_fn: InputFn | None = None, as_iterable: bool = False
    ) -> Array | Iterator[dict[str, Array]]:
        """The distances of each point from all centers.

        Args:
          input_fn: see `predict_cluster_idx`.
          as_iterable: whether to return an iterator, of dicts from `ALL_SCORES` to the
            distances of a point, float32 [num_clusters].

        Returns:
          An array, float32 [n, num_clusters], or the iterator.

        Raises:
          NotFittedError: there is no checkpoint.
        """
        found = self.predict(
            input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable
        )
        distances: Array | Iterator[dict[str, Array]] = (
            found if as_iterable else found[self.ALL_SCORES]
        )
        return distances

    def clusters(self) -> Array:
        """The centers, float32 [num_clusters, d].

        Raises:
          ValueError: there is no checkpoint.
        """
        return self.get_variable_value(self.CLUSTERS)
