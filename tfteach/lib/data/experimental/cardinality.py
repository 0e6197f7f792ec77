"""The number of elements of a dataset.

Source: python/data/experimental/ops/{cardinality,optimization}.py.
"""

from __future__ import annotations

from tfteach.framework.export import export, export_value
from tfteach.framework.operation import Tensor
from tfteach.lib.data.base import DatasetBase
from tfteach.ops.data.background import AUTOTUNE
from tfteach.ops.data.dataset import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from tfteach.ops.data.reducing import DatasetCardinality

__all__ = ["AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "cardinality"]

export_value(
    __name__,
    AUTOTUNE="data.experimental.AUTOTUNE contrib.data.AUTOTUNE",
    INFINITE_CARDINALITY="data.experimental.INFINITE_CARDINALITY",
    UNKNOWN_CARDINALITY="data.experimental.UNKNOWN_CARDINALITY",
)


@export("data.experimental.cardinality")
def cardinality(dataset: DatasetBase) -> Tensor:
    """The number of elements of a dataset, an int64 scalar.

    Returns:
      A Tensor, whose value is `tf.data.experimental.INFINITE_CARDINALITY` (-1) for
      a dataset without end and `UNKNOWN_CARDINALITY` (-2) for one whose elements would
      have to be counted.

    Example:
      >>> tf.data.experimental.cardinality(tf.data.Dataset.range(10).batch(4))  # 3
    """
    return DatasetCardinality()(dataset._variant_tensor)
