"""Names of `tf.contrib.linear_optimizer` that say what to use in their place."""

from __future__ import annotations

from tfteach.framework.export import export


@export("contrib.linear_optimizer.SDCAOptimizer")
class SDCAOptimizer:
    """Raises NotImplementedError: stochastic dual coordinate ascent.

    Args:
      example_id_column, num_loss_partitions, num_table_shards,
        symmetric_l1_regularization, symmetric_l2_regularization, adaptive,
        update_weights_hook: as in TensorFlow.

    Raises:
      NotImplementedError: always.

    Source: contrib/linear_optimizer/python/sdca_optimizer.py.
    """

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = True,
        update_weights_hook: object = None,
    ) -> None:
        raise NotImplementedError(
            "tf.contrib.linear_optimizer.SDCAOptimizer: use another optimizer of "
            "tf.contrib.learn.LinearClassifier, such as tf.train.FtrlOptimizer with "
            "l1_regularization_strength and l2_regularization_strength"
        )
