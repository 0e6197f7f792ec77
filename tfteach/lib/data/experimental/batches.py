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
from tfteach.lib.contrib.framework.shapes import with_shape
from tfteach.lib.data import structures
from tfteach.lib.data.base import int64_tensor
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.functions import StructuredFunction
from tfteach.ops.data.batching import MapAndBatchDataset
from tfteach.ops.data.grouping import SlidingWindowDataset
from tfteach.ops.data.padding import DenseToSparseBatchDataset
from tfteach.ops.sparse.sparse_tensor_spec import SparseTensorSpec

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
            lambda spec: spec._batch(None if known is None else int(known)),
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


@export("contrib.data.sliding_window_batch")
def sliding_window_batch(
    window_size: TensorLike,
    stride: TensorLike | None = None,
    window_shift: TensorLike | None = None,
    window_stride: TensorLike = 1,
) -> Transformation:
    """A transformation: batches of a window that slides over the elements.

    Args:
      window_size: the number of elements in a window.
      stride: the older name of `window_shift`.
      window_shift: how far the window moves; 1 if None.
      window_stride: the distance of the elements in a window.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: both `stride` and `window_shift` are given.
      tf.errors.InvalidArgumentError: in a run, a number is not positive, or elements
        of a window have different shapes.

    Example:
      >>> slide = tf.contrib.data.sliding_window_batch(3)
      >>> tf.data.Dataset.range(5).apply(slide)  # [0 1 2], [1 2 3], [2 3 4]
      <DatasetV1Adapter shapes: (?,), types: tf.int64>
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `stride` and `window_shift`")
    shift = stride if window_shift is None else window_shift

    def transform(dataset: Dataset) -> Dataset:
        specs = structures.mapped(lambda spec: spec._batch(None), dataset.element_spec)
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        # In TensorFlow's order, and with its name of the size.
        size = int64_tensor(window_size, "window_stride")
        step = int64_tensor(window_stride, "window_stride")
        distance = int64_tensor(1 if shift is None else shift, "window_shift")
        op = SlidingWindowDataset(types, shapes)
        variant = op(dataset._variant_tensor, size, distance, step)
        return dataset.derived(variant, specs)

    return transform


@export("contrib.data.assert_element_shape")
def assert_element_shape(expected_shapes: Structure) -> Transformation:
    """A transformation that checks the shapes of elements, and makes them static.

    Args:
      expected_shapes: the structure of `tf.TensorShape`s of an element.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: while applied: static shapes differ.
      tf.errors.InvalidArgumentError: in a run, an element has another shape.
    """

    def _check_shape(*element: Any) -> Any:
        return tuple(
            with_shape(_as_sizes(shape), tensor)
            for shape, tensor in zip(
                structures.flatten(expected_shapes),
                structures.flatten(element),
                strict=True,
            )
        )

    def transform(dataset: Dataset) -> Dataset:
        structures.require_same(expected_shapes, dataset.output_shapes)
        checked = dataset.map(_check_shape)
        specs = structures.from_legacy(
            dataset.output_types, expected_shapes, dataset.output_classes
        )
        return Dataset(
            checked._variant_tensor, specs, [dataset], checked._wrapped_functions
        )

    return transform


def _as_sizes(shape: TensorShape) -> Any:
    if shape.is_fully_defined():
        return shape
    return [-1 if n is None else n for n in shape.as_list()]
