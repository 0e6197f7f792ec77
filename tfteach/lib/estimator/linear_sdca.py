"""`tf.estimator.experimental.LinearSDCA`, which is not implemented.

Source: tensorflow_estimator/python/estimator/canned/linear.py, LinearSDCA.
"""

from __future__ import annotations

from tfteach.framework.export import export


@export("estimator.experimental.LinearSDCA")
class LinearSDCA:
    """Raises NotImplementedError: stochastic dual coordinate ascent.

    Source: tensorflow_estimator/python/estimator/canned/linear.py.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ) -> None:
        raise NotImplementedError(
            "tf.estimator.experimental.LinearSDCA: use another optimizer of "
            "tf.estimator.LinearClassifier, such as tf.train.FtrlOptimizer with "
            "l1_regularization_strength and l2_regularization_strength"
        )
