"""Mixtures of Gaussians as an Estimator: `tf.contrib.factorization.GMM`.

Source: contrib/factorization/python/ops/gmm.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Array, PathLike, TensorLike
from tfteach.lib.contrib.factorization.gmm_ops import GmmAlgorithm, gmm
from tfteach.lib.contrib.factorization.initialize_clusters import InitializeClustersHook
from tfteach.lib.contrib.learn.estimator import Estimator
from tfteach.lib.contrib.learn.model_fn import ModelFnOps
from tfteach.lib.contrib.learn.type_aliases import InputFn
from tfteach.lib.estimator.run_config import RunConfig
from tfteach.lib.training.global_step import get_global_step
from tfteach.ops.array.concat_split import concat
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import with_dependencies
from tfteach.ops.state.ref_variables import assign_add
from tfteach.variables.base import Variable


def _streaming_sum(value: Tensor) -> tuple[Any, Tensor]:
    """A local variable, and the op that adds `value` to it."""
    make: Any = Variable  # the metaclass makes the kind of the variable scope
    total = make(
        constant(0, dtype=float32),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
    )
    return total, assign_add(total, value)


def _points_of(features: Any) -> Any:
    """The features as one Tensor [n, d], those of a dict in the order of their names.

    Unlike those of k-means, they are not colocated.
    """
    if isinstance(features, dict):
        return concat([features[key] for key in sorted(features)], 1)
    return features


@export("contrib.factorization.GMM")
class GMM(Estimator):
    """Fits a mixture of Gaussians to points.

    Args:
      num_clusters: the number of Gaussians.
      model_dir: the directory of checkpoints and event files.
      random_seed: the seed of random first means.
      params: what a step updates: weights, means, covariances; see
        `tf.contrib.factorization.GmmAlgorithm`.
      initial_clusters: the first means, [num_clusters, d], or "random" for points.
      covariance_type: "full" or "diag".
      config: a `tf.contrib.learn.RunConfig`.

    Example:
      >>> mixture = tf.contrib.factorization.GMM(2, initial_clusters=means)
      >>> mixture.fit(input_fn=lambda: (tf.constant(points), None), steps=60)
      >>> mixture.weights(), mixture.clusters(), mixture.covariances()

    Source: contrib/factorization/python/ops/gmm.py.
    """

    SCORES = "scores"
    LOG_LIKELIHOOD = "loss"
    ASSIGNMENTS = "assignments"

    def __init__(
        self,
        num_clusters: int,
        model_dir: PathLike | None = None,
        random_seed: int | None = 0,
        params: str = "wmc",
        initial_clusters: TensorLike | str = "random",
        covariance_type: str = "full",
        config: RunConfig | None = None,
    ) -> None:
        def model_fn(
            features: Any, labels: object, mode: str, config: RunConfig
        ) -> ModelFnOps:
            likelihood, scores, classes, train, init_op, initialized = gmm(
                _points_of(features), initial_clusters, num_clusters, random_seed,
                covariance_type, params,
            )  # fmt: skip
            step = assign_add(get_global_step(), 1)
            return ModelFnOps(
                mode,
                {self.ASSIGNMENTS: classes[0][0]},
                likelihood,
                with_dependencies([train, step], likelihood),
                {self.SCORES: scores, self.LOG_LIKELIHOOD: _streaming_sum(likelihood)},
                training_hooks=[
                    InitializeClustersHook(init_op, initialized, config.is_chief)
                ],
            )

        super().__init__(model_fn, model_dir, config)

    def predict_assignments(
        self,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        outputs: list[str] | None = None,
    ) -> Iterator[Array]:
        """Yield the likeliest class of each point, an int64.

        Args:
          input_fn: returns points, a float32 Tensor [n, d] or a dict of such, and None.
          batch_size: the rows of a batch; None for those of `input_fn`.
          outputs: the names of the predictions to compute; None for all.

        Raises:
          NotFittedError: there is no checkpoint.
        """
        found: Any = self.predict(
            input_fn=input_fn, batch_size=batch_size, outputs=outputs, as_iterable=True
        )
        for prediction in found:
            yield prediction[self.ASSIGNMENTS]

    def score(
        self,
        input_fn: InputFn | None = None,
        batch_size: int | None = None,
        steps: int | None = None,
    ) -> np.floating[Any]:
        """The logarithm of the sum of the likelihoods of the points of the last batch.

        Args:
          input_fn: see `predict_assignments`.
          batch_size: the rows of a batch; None for those of `input_fn`.
          steps: the number of batches; None for all.

        Raises:
          NotFittedError: there is no checkpoint.
        """
        found: Any = self.evaluate(
            input_fn=input_fn, batch_size=batch_size, steps=steps
        )
        score: np.floating[Any] = np.log(np.sum(np.exp(found[self.SCORES])))
        return score

    def weights(self) -> Array:
        """The weights of the Gaussians, float32 [num_clusters].

        Raises:
          ValueError: there is no checkpoint.
        """
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_WEIGHT)

    def clusters(self) -> Array:
        """The means, float32 [num_clusters, d].

        Raises:
          ValueError: there is no checkpoint.
        """
        found: Array = np.squeeze(
            self.get_variable_value(GmmAlgorithm.CLUSTERS_VARIABLE), 1
        )
        return found

    def covariances(self) -> Array:
        """The covariances, float32 [num_clusters, d, d]; [num_clusters, d] if "diag".

        Raises:
          ValueError: there is no checkpoint.
        """
        return self.get_variable_value(GmmAlgorithm.CLUSTERS_COVS_VARIABLE)
