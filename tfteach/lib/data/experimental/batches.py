"""Transformations between elements and batches.

Source: python/data/experimental/ops/batching.py, contrib/data/python/ops/batching.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.constant_values import constant_value
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, bool_, int64
from tfteach.framework.export import export
from tfteach.framework.shape import TensorShape
from tfteach.framework.type_aliases import ShapeLike, Structure, TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.base import int64_tensor
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.element_specs import SparseTensorSpec
from tfteach.lib.data.functions import StructuredFunction
from tfteach.ops.data.batching import MapAndBatchDataset
from tfteach.ops.data.padding import DenseToSparseBatchDataset

Transformation = Callable[[Dataset], Dataset]


@export(
    "data.experimental.map_and_batch", "contrib.data.map_and_batch",
    "data.experimental.map_and_batch_with_legacy_function",
)  # fmt: skip
def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: TensorLike,
    num_parallel_batches: int | None = None,
    drop_remainder: TensorLike = False,
    num_parallel_calls: TensorLike | None = None,
) -> Transformation:
    """A transformation: `map`, then `batch`.

    Args:
      map_func: see `Dataset.map`.
      batch_size: the number of elements in a batch.
      num_parallel_batches: a hint how many batches to work on at a time.
      drop_remainder: whether to omit a smaller batch at the end.
      num_parallel_calls: a hint how many elements to work on at a time.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: both hints are given.
    """
    calls: Any = num_parallel_calls
    if num_parallel_calls is None:
        calls = batch_size
        if num_parallel_batches is not None:
            calls = calls * num_parallel_batches
    elif num_parallel_batches is not None:
        raise ValueError(
            "The `num_parallel_batches` and `num_parallel_calls` arguments are "
            "mutually exclusive."
        )

    def transform(dataset: Dataset) -> Dataset:
        name = "tf.data.experimental.map_and_batch()"
        function = StructuredFunction(map_func, name, dataset.element_spec)
        size = int64_tensor(batch_size, "batch_size")
        count = int64_tensor(calls, "num_parallel_calls")
        drops = convert(drop_remainder, bool_, "drop_remainder")
        known = constant_value(size) if constant_value(drops) else None
        specs = structures.mapped(
            lambda spec: spec.batched(None if known is None else int(known)),
            function.output_specs,
        )
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        op = MapAndBatchDataset(function.attribute, types, shapes, True)
        captured = function.captured_inputs
        variant = op(dataset._variant_tensor, captured, size, count, drops)
        return dataset.derived(variant, specs, function)

    return transform


@export("data.experimental.unbatch", "contrib.data.unbatch")
def unbatch() -> Transformation:
    """A transformation: the rows of the elements; see `Dataset.unbatch`."""

    def transform(dataset: Dataset) -> Dataset:
        return dataset.unbatch()

    return transform


@export("data.experimental.dense_to_sparse_batch", "contrib.data.dense_to_sparse_batch")
def dense_to_sparse_batch(
    batch_size: TensorLike, row_shape: ShapeLike
) -> Transformation:
    """A transformation: batches of elements of different sizes, as SparseTensors.

    Args:
      batch_size: the number of elements in a batch.
      row_shape: the largest shape of an element; None for the largest in the batch.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      TypeError: while applied: the elements have several components.
    """

    def transform(dataset: Dataset) -> Dataset:
        dtype = dataset.output_types
        if not isinstance(dtype, DType):
            raise TypeError(
                "DenseToSparseDataset requires an input whose elements have a single "
                f"component, whereas the input has {dtype!r}."
            )
        shape = TensorShape(row_shape)
        sizes = [-1 if size is None else size for size in shape.as_list()]
        spec = SparseTensorSpec(TensorShape([None]).concatenate(shape), dtype)
        op = DenseToSparseBatchDataset(spec.flat_types, (None,))
        variant = op(dataset._variant_tensor, batch_size, convert(sizes, int64))
        return dataset.derived(variant, spec)

    return transform


@export("contrib.data.batch_and_drop_remainder")
def batch_and_drop_remainder(batch_size: TensorLike) -> Transformation:
    """A transformation: `batch(batch_size, drop_remainder=True)`."""

    def transform(dataset: Dataset) -> Dataset:
        return dataset.batch(batch_size, drop_remainder=True)

    return transform


@export("contrib.data.padded_batch_and_drop_remainder")
def padded_batch_and_drop_remainder(
    batch_size: TensorLike, padded_shapes: Structure, padding_values: Structure = None
) -> Transformation:
    """A transformation: `padded_batch` with `drop_remainder=True`."""

    def transform(dataset: Dataset) -> Dataset:
        return dataset.padded_batch(batch_size, padded_shapes, padding_values, True)

    return transform
