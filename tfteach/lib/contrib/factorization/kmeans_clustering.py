"""K-means as an Estimator: `tf.contrib.factorization.KMeansClustering`.

Source: contrib/factorization/python/ops/kmeans.py,
tensorflow_estimator/python/estimator/canned/kmeans.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import Array, PathLike
from tfteach.lib.contrib.factorization.features import Columns, points_of
from tfteach.lib.contrib.factorization.initialize_clusters import InitializeClustersHook
from tfteach.lib.contrib.factorization.kmeans import (
    COSINE_DISTANCE,
    KMEANS_PLUS_PLUS_INIT,
    RANDOM_INIT,
    SQUARED_EUCLIDEAN_DISTANCE,
    CoreKMeans,
    KMeans,
)
from tfteach.lib.contrib.factorization.kmeans_start import InitialClusters
from tfteach.lib.contrib.factorization.loss_relative_change import (
    LossRelativeChangeHook,
)
from tfteach.lib.estimator.estimator import Estimator
from tfteach.lib.estimator.estimator_spec import EstimatorSpec
from tfteach.lib.estimator.export_outputs import PredictOutput
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.metrics.means import mean
from tfteach.lib.saved_model import signature_constants
from tfteach.lib.training.global_step import get_global_step
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.debug.summary_functions import scalar
from tfteach.ops.math.reduce_functions import reduce_sum
from tfteach.ops.state.ref_variables import assign_add


class _KMeansEstimator(Estimator):
    SQUARED_EUCLIDEAN_DISTANCE = SQUARED_EUCLIDEAN_DISTANCE
    COSINE_DISTANCE = COSINE_DISTANCE
    RANDOM_INIT = RANDOM_INIT
    KMEANS_PLUS_PLUS_INIT = KMEANS_PLUS_PLUS_INIT
    SCORE = "score"
    CLUSTER_INDEX = "cluster_index"
    ALL_DISTANCES = "all_distances"
    CLUSTER_CENTERS_VAR_NAME = "clusters"

    def __init__(
        self,
        make: Callable[[Any], KMeans],
        initial_clusters: InitialClusters,
        distance_metric: str,
        relative_tolerance: float | None,
        feature_columns: Columns,
        model_dir: PathLike | None,
        config: RunConfig | None,
    ) -> None:
        known = (RANDOM_INIT, KMEANS_PLUS_PLUS_INIT)
        if isinstance(initial_clusters, str) and initial_clusters not in known:
            raise ValueError(
                f"Unsupported initialization algorithm '{initial_clusters}'"
            )
        if distance_metric not in (SQUARED_EUCLIDEAN_DISTANCE, COSINE_DISTANCE):
            raise ValueError(f"Unsupported distance metric '{distance_metric}'")

        def model_fn(features: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            points = points_of(features, feature_columns)
            distances, index, losses, initialized, init_op, training_op = make(
                points
            ).training_graph()
            loss = reduce_sum(losses)
            scalar("loss/raw", loss)
            step = assign_add(get_global_step(), 1)
            hooks: list[SessionRunHook] = [
                InitializeClustersHook(init_op, initialized, config.is_chief)
            ]
            if relative_tolerance is not None:
                hooks.append(LossRelativeChangeHook(loss, relative_tolerance))
            outputs = {
                self.ALL_DISTANCES: PredictOutput(distances[0]),
                self.CLUSTER_INDEX: PredictOutput(index[0]),
                signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: PredictOutput(
                    index[0]
                ),
            }
            train_op = with_dependencies([training_op, step], loss)
            return EstimatorSpec(
                mode,
                {self.ALL_DISTANCES: distances[0], self.CLUSTER_INDEX: index[0]},
                loss,
                train_op,
                {self.SCORE: mean(loss)},
                outputs,
                training_hooks=hooks,
            )

        super().__init__(model_fn, model_dir, config)

    def predict_cluster_index(self, input_fn: Callable[..., Any]) -> Iterator[Array]:
        """Yield the index of the nearest center of each point, an int64.

        Args:
          input_fn: returns points, a float32 Tensor [n, d], or a dict of features.

        Raises:
          ValueError: there is no checkpoint.
        """
        for found in self.predict(input_fn, [self.CLUSTER_INDEX]):
            yield found[self.CLUSTER_INDEX]

    def score(self, input_fn: Callable[..., Any]) -> Any:
        """The sum of the points' distances from their nearest centers, of one batch.

        Squared distances, unless they are cosines.

        Args:
          input_fn: see `predict_cluster_index`.

        Raises:
          ValueError: there is no checkpoint.
        """
        return self.evaluate(input_fn, steps=1)[self.SCORE]

    def transform(self, input_fn: Callable[..., Any]) -> Iterator[Array]:
        """Yield the distances of each point from all centers, float32 [num_clusters].

        Args:
          input_fn: see `predict_cluster_index`.

        Raises:
          ValueError: there is no checkpoint.
        """
        for found in self.predict(input_fn, [self.ALL_DISTANCES]):
            yield found[self.ALL_DISTANCES]

    def cluster_centers(self) -> Array:
        """The centers, float32 [num_clusters, d].

        Raises:
          ValueError: there is no checkpoint.
        """
        return self.get_variable_value(self.CLUSTER_CENTERS_VAR_NAME)


@export("contrib.factorization.KMeansClustering")
class KMeansClustering(_KMeansEstimator):
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
      config: a `tf.estimator.RunConfig`.
      feature_columns: the columns of a dict of features; None for all features, in the
        order of their names.

    Raises:
      ValueError: there is no such start or distance.

    Example:
      >>> kmeans = tf.contrib.factorization.KMeansClustering(5, use_mini_batch=False)
      >>> kmeans.train(input_fn, steps=10)
      >>> kmeans.cluster_centers()
      >>> list(kmeans.predict_cluster_index(input_fn))

    Source: contrib/factorization/python/ops/kmeans.py.
    """

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
        feature_columns: Columns = None,
    ) -> None:
        def make(points: Any) -> KMeans:
            return KMeans(
                points, num_clusters, initial_clusters, distance_metric, use_mini_batch,
                mini_batch_steps_per_iteration, random_seed,
                kmeans_plus_plus_num_retries,
            )  # fmt: skip

        super().__init__(
            make, initial_clusters, distance_metric, relative_tolerance,
            feature_columns, model_dir, config,
        )  # fmt: skip


@export("estimator.experimental.KMeans")
class ExperimentalKMeans(_KMeansEstimator):
    """Finds clusters of points; also where variables are resources.

    Args:
      num_clusters: the number of clusters.
      model_dir: the directory of checkpoints and event files.
      initial_clusters, distance_metric: see
        `tf.contrib.factorization.KMeansClustering`.
      seed: the seed of the first centers; k-means++ requires one.
      use_mini_batch, mini_batch_steps_per_iteration, kmeans_plus_plus_num_retries,
        relative_tolerance, config, feature_columns: see
        `tf.contrib.factorization.KMeansClustering`.

    Raises:
      ValueError: there is no such start or distance.

    Example:
      >>> kmeans = tf.estimator.experimental.KMeans(5, use_mini_batch=False)
      >>> kmeans.train(input_fn, steps=10)
      >>> kmeans.score(input_fn)

    Source: tensorflow_estimator/python/estimator/canned/kmeans.py.
    """

    def __init__(
        self,
        num_clusters: int,
        model_dir: PathLike | None = None,
        initial_clusters: InitialClusters = RANDOM_INIT,
        distance_metric: str = SQUARED_EUCLIDEAN_DISTANCE,
        seed: int | None = None,
        use_mini_batch: bool = True,
        mini_batch_steps_per_iteration: int = 1,
        kmeans_plus_plus_num_retries: int = 2,
        relative_tolerance: float | None = None,
        config: RunConfig | None = None,
        feature_columns: Columns = None,
    ) -> None:
        def make(points: Any) -> KMeans:
            return CoreKMeans(
                points, num_clusters, initial_clusters, distance_metric, use_mini_batch,
                mini_batch_steps_per_iteration, seed, kmeans_plus_plus_num_retries,
            )  # fmt: skip

        super().__init__(
            make, initial_clusters, distance_metric, relative_tolerance,
            feature_columns, model_dir, config,
        )  # fmt: skip
