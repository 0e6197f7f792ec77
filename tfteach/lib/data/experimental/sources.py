"""Datasets of random numbers and of a count.

Source: python/data/experimental/ops/{random_ops,counter}.py.
"""

from __future__ import annotations

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export
from tfteach.framework.scope import name_scope
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import DTypeLike, TensorLike
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.experimental.elements import scan
from tfteach.lib.data.seeds import seed_tensors
from tfteach.ops.data.sources import RandomDataset as RandomDatasetOp


@export(
    "data.experimental.RandomDataset",
    "contrib.data.RandomDataset",
    v2="data.experimental.RandomDataset",
)
class RandomDataset(Dataset):
    """Random int64 numbers below 2**32, without end.

    Args:
      seed: with `tf.set_random_seed`, determines the numbers, which are TensorFlow's.

    Source: python/data/experimental/ops/random_ops.py.
    """

    def __init__(self, seed: TensorLike | None = None) -> None:
        seeds = seed_tensors(seed)
        variant = RandomDatasetOp((int64,), ((),))(*seeds)
        super().__init__(variant, TensorSpec([], int64))


@export(
    "data.experimental.Counter", "contrib.data.Counter", v2="data.experimental.Counter"
)
def Counter(
    start: TensorLike = 0, step: TensorLike = 1, dtype: DTypeLike = int64
) -> Dataset:
    """Numbers from `start` in steps, without end.

    Args:
      start: the first number.
      step: the difference between two numbers.
      dtype: their type.

    Example:
      >>> tf.data.experimental.Counter(5, step=2)  # 5, 7, 9, ...
      <DatasetV1Adapter shapes: (), types: tf.int64>
    """
    with name_scope("counter"):
        first = convert(start, dtype, "start")
        by = convert(step, dtype, "step")
        return (
            Dataset.from_tensors(0)
            .repeat(None)
            .apply(scan(first, lambda state, _: (state + by, state)))
        )
