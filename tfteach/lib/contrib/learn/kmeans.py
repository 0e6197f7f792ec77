"""K-means as an Estimator of 2016: `tf.contrib.learn.KMeansClustering`.

Source: contrib/learn/python/learn/estimators/kmeans.py.
"""

from __future__ import annotations

from collections.abc import Iterator
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


@export("contrib.learn.KMeansClustering")
class KMeansClustering(Estimator):
    """Finds clusters of points; `tf.contrib.factorization.KMeansClustering` is newer.

    Args:
      num_clusters: the number of clusters.
      model_dir: the directory of checkpoints and event files.
      initial_clusters, distance_metric, random_seed, use_mini_batch,
        mini_batch_steps_per_iteration, kmeans_plus_plus_num_retries,
        relative_tolerance: see `tf.contrib.factorization.KMeansClustering`.
      config: a `tf.contrib.learn.RunConfig`.

    Raises:
      ValueError: there is no such start or distance; when the model is built.

    Example:
      >>> clusterer = tf.contrib.learn.KMeansClustering(num_clusters=2)
      >>> clusterer.fit(input_fn=lambda: (tf.constant(points), None), steps=30)
      >>> clusterer.clusters()

    Source: contrib/learn/python/learn/estimators/kmeans.py.
    """

    SQUARED_EUCLIDEAN_DISTANCE = SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = COSINE_DISTANCE
    RANDOM_INIT = RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = KMEANS_PLUS_PLUS_INIT
    SCORES = "scores"
    CLUSTER_IDX = "cluster_idx"
    CLUSTERS = "clusters"
    ALL_SCORES = "all_scores"
    LOSS_OP_NAME = "kmeans_loss"

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
        def model_fn(
            features: Any, labels: object, mode: str, config: RunConfig
        ) -> ModelFnOps:
            all_scores, index, scores, initialized, init_op, training_op = KMeans(
                points_of(features), num_clusters, initial_clusters, distance_metric,
                use_mini_batch, mini_batch_steps_per_iteration, random_seed,
                kmeans_plus_plus_num_retries,
            ).training_graph()  # fmt: skip
            step = assign_add(get_global_step(), 1)
            loss = reduce_sum(scores, name=self.LOSS_OP_NAME)
            scalar("loss/raw", loss)
            hooks: list[SessionRunHook] = [
                InitializeClustersHook(init_op, initialized, config.is_chief)
            ]
            if relative_tolerance is not None:
                hooks.append(LossRelativeChangeHook(loss, relative_tolerance))
            return ModelFnOps(
                mode,
                {self.ALL_SCORES: all_scores[0], self.CLUSTER_IDX: index[0]},
                loss,
                with_dependencies([training_op, step], loss),
                {self.SCORES: loss},
                training_hooks=hooks,
            )

        super().__init__(model_fn, model_dir, config)

    def predict_cluster_idx(self, input_fn: InputFn | None = None) -> Iterator[Any]:
        """Yield the index of the nearest center of each point, an int64.

        Args:
          input_fn: returns points, a float32 Tensor [n, d] or a dict of such, and None.

        Raises:
          NotFittedError: there is no checkpoint.
        """
        found: Any = self.predict(
            input_fn=input_fn, outputs=[self.CLUSTER_IDX], as_iterable=True
        )
        for prediction in found:
            yield prediction[self.CLUSTER_IDX]

    def score(
        self, input_fn: InputFn | None = None, steps: int | None = None
    ) -> np.floating[Any]:
        """The sum of the points' distances from their nearest centers, of one batch.

        Squared distances, unless they are cosines.

        Args:
          input_fn: see `predict_cluster_idx`.
          steps: the number of batches, of which the last one counts; None for all.

        Raises:
          NotFittedError: there is no checkpoint.
        """
        found: Any = self.evaluate(input_fn=input_fn, steps=steps)
        score: np.floating[Any] = np.sum(found[self.SCORES])
        return score

    def transform(
        self, input_fn: InputFn | None = None, as_iterable: bool = False
    ) -> Array | Iterator[dict[str, Array]]:
        """The distances of each point from all centers.

        Args:
          input_fn: see `predict_cluster_idx`.
          as_iterable: whether to return a generator of dicts of a point's distances.

        Returns:
          float32 [n, num_clusters]; or a generator of {"all_scores": [num_clusters]}.

        Raises:
          NotFittedError: there is no checkpoint.
        """
        found: Any = self.predict(
            input_fn=input_fn, outputs=[self.ALL_SCORES], as_iterable=as_iterable
        )
        distances: Array | Iterator[dict[str, Array]] = found
        return distances if as_iterable else found[self.ALL_SCORES]

    def clusters(self) -> Array:
        """The centers, float32 [num_clusters, d].

        Raises:
          ValueError: there is no checkpoint.
        """
        return self.get_variable_value(self.CLUSTERS)
