"""Transformations that concern the rewrites of pipelines.

Source: python/data/experimental/ops/optimization.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tfteach.framework.convert import convert
from tfteach.framework.dtypes import string
from tfteach.lib.data.dataset import Dataset
from tfteach.ops.data.options import NonSerializableDataset, OptimizeDataset

Transformation = Callable[[Dataset], Dataset]


def non_serializable() -> Transformation:
    """A transformation: the same elements, by a pipeline that no rewrite changes.

    Returns:
      A function for `Dataset.apply`.
    """

    def transform(dataset: Dataset) -> Dataset:
        op = NonSerializableDataset(*dataset.flat)
        return dataset.derived(op(dataset._variant_tensor))

    return transform


def optimize(optimizations: Sequence[str] | None = None) -> Transformation:
    """A transformation: the elements of the pipeline after rewrites.

    Args:
      optimizations: the names of rewrites, such as "shuffle_and_repeat_fusion".

    Returns:
      A function for `Dataset.apply`.
    """

    def transform(dataset: Dataset) -> Dataset:
        names = convert(list(optimizations or ()), string, "optimizations")
        op = OptimizeDataset(*dataset.flat)
        return dataset.derived(op(dataset._variant_tensor, names))

    return transform
