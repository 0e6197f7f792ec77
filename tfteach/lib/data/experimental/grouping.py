"""Transformations by keys: windows of elements with the same key, buckets, reducers.

Source: python/data/experimental/ops/grouping.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.control.checks.values import assert_less
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int64
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import Structure, TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.element_specs import DatasetSpec
from tfteach.lib.data.functions import StructuredFunction, folding_function
from tfteach.ops.array.where_select import where
from tfteach.ops.core.constant import constant
from tfteach.ops.data.grouping import (
    ExperimentalGroupByReducerDataset,
    GroupByWindowDataset,
)
from tfteach.ops.math.compare import less, less_equal, logical_and
from tfteach.ops.math.reduce_functions import reduce_min

Transformation = Callable[[Dataset], Dataset]
_NUMBER = TensorSpec([], int64)


def _returns_number(function: StructuredFunction) -> bool:
    found = function.output_specs
    return isinstance(found, TensorSpec) and found.is_compatible_with(_NUMBER)


@export("data.experimental.group_by_window", "contrib.data.group_by_window")
def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: TensorLike | None = None,
    window_size_func: Callable[..., Any] | None = None,
) -> Transformation:
    """A transformation: elements with the same key in windows, which a function reads.

    Args:
      key_func: of an element, returns its key, an int64 scalar.
      reduce_func: of a key and a dataset of at most `window_size` elements with this
        key, returns a dataset.
      window_size: the number of elements in a window.
      window_size_func: or a function of the key that returns it.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: both or none of the last two are given; while applied: a function does
        not return a number.
      TypeError: while applied: `reduce_func` returns no dataset.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("Must pass either window_size or window_size_func.")

    def key_func_wrapper(*args: Any) -> Tensor:
        return convert(key_func(*args), int64)

    def window_size_func_wrapper(key: Tensor) -> Tensor:
        if window_size_func is not None:
            return convert(window_size_func(key), int64)
        assert window_size is not None
        return convert(window_size, int64)

    name = "tf.data.experimental.group_by_window()"

    def transform(dataset: Dataset) -> Dataset:
        element = dataset.element_spec
        key = StructuredFunction(key_func_wrapper, name, element)
        if not _returns_number(key):
            raise ValueError("`key_func` must return a single tf.int64 scalar tensor.")
        group = (_NUMBER, DatasetSpec(element))
        reduce = StructuredFunction(reduce_func, name, group)
        found = reduce.output_specs
        if not isinstance(found, DatasetSpec):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        size = StructuredFunction(window_size_func_wrapper, name, _NUMBER)
        if not _returns_number(size):
            raise ValueError(
                "`window_size_func` must return a single tf.int64 scalar tensor."
            )
        specs = found._element_spec
        op = GroupByWindowDataset(
            key.attribute,
            reduce.attribute,
            size.attribute,
            key.captured_types,
            reduce.captured_types,
            size.captured_types,
            structures.flat_types(specs),
            structures.flat_shapes(specs),
        )
        variant = op(
            dataset._variant_tensor,
            key.captured_inputs,
            reduce.captured_inputs,
            size.captured_inputs,
        )
        return dataset.derived(variant, specs, key, reduce, size)

    return transform


@export(
    "data.experimental.bucket_by_sequence_length",
    "contrib.data.bucket_by_sequence_length",
)
def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Sequence[int],
    bucket_batch_sizes: Sequence[int],
    padded_shapes: Structure = None,
    padding_values: Structure = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """A transformation: padded batches of elements of similar length.

    Args:
      element_length_func: of an element, returns its length, an int32 scalar.
      bucket_boundaries: the lengths at which buckets begin.
      bucket_batch_sizes: the size of batches for each bucket, one more.
      padded_shapes, padding_values: see `Dataset.padded_batch`.
      pad_to_bucket_boundary: whether to pad to one less than the bucket's end, and not
        to the largest element in the batch.
      no_padding: whether not to pad at all.
      drop_remainder: whether to omit smaller batches at the end.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: the number of sizes is not that of boundaries plus 1.
    """
    with name_scope("bucket_by_seq_length"):
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError(
                "len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1"
            )
        batch_sizes: Any = constant(bucket_batch_sizes, int64)

    def element_to_bucket_id(*args: Any) -> Tensor:
        length = element_length_func(*args)
        limits = np.iinfo(np.int32)
        smallest = [limits.min, *bucket_boundaries]
        largest = [*bucket_boundaries, limits.max]
        is_inside = logical_and(less_equal(smallest, length), less(length, largest))
        return reduce_min(where(is_inside))

    def window_size_fn(bucket_id: Tensor) -> Any:
        return batch_sizes[bucket_id]

    def padded(shapes: Any, filler: Any) -> Any:
        def with_filler(shape: Any) -> list[Any]:
            sizes = TensorShape(shape).as_list()
            return [filler if size is None else size for size in sizes]

        return structures.mapped(with_filler, shapes)

    def batching_fn(bucket_id: Tensor, grouped_dataset: Dataset) -> Dataset:
        size = window_size_fn(bucket_id)
        if no_padding:
            return grouped_dataset.batch(size, drop_remainder)
        filler: Any = None
        if pad_to_bucket_boundary:
            check = assert_less(
                bucket_id,
                constant(len(bucket_batch_sizes) - 1, int64),
                message="When pad_to_bucket_boundary=True, elements must have length < "
                "max(bucket_boundaries).",
            )
            with control_dependencies([check]):
                boundaries: Any = constant(bucket_boundaries, int64)
                filler = boundaries[bucket_id] - 1
        given = padded_shapes or grouped_dataset.output_shapes
        return grouped_dataset.padded_batch(
            size, padded(given, filler), padding_values, drop_remainder
        )

    def transform(dataset: Dataset) -> Dataset:
        windows = group_by_window(
            element_to_bucket_id, batching_fn, window_size_func=window_size_fn
        )
        return dataset.apply(windows)

    return transform


@export("data.experimental.Reducer", "contrib.data.Reducer")
class Reducer:
    """Three functions that fold elements to a result; see `group_by_reducer`.

    Args:
      init_func: of a key, returns the first state.
      reduce_func: of a state and an element, returns the next state.
      finalize_func: of the last state, returns the result.
    """

    def __init__(
        self,
        init_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        finalize_func: Callable[..., Any],
    ) -> None:
        self._functions = init_func, reduce_func, finalize_func

    @property
    def init_func(self) -> Callable[..., Any]:
        """As given."""
        return self._functions[0]

    @property
    def reduce_func(self) -> Callable[..., Any]:
        """As given."""
        return self._functions[1]

    @property
    def finalize_func(self) -> Callable[..., Any]:
        """As given."""
        return self._functions[2]


@export("data.experimental.group_by_reducer", "contrib.data.group_by_reducer")
def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """A transformation: a result for each key, folded from the elements that have it.

    Args:
      key_func: of an element, returns its key, an int64 scalar.
      reducer: the functions.

    Returns:
      A function for `Dataset.apply`; results come in the order of their keys.

    Raises:
      ValueError: while applied: `key_func` does not return a number.
      TypeError: while applied: the type of the state changes.
    """
    name = "tf.data.experimental.group_by_reducer()"

    def transform(dataset: Dataset) -> Dataset:
        key = StructuredFunction(key_func, name, dataset.element_spec)
        if not _returns_number(key):
            raise ValueError(
                "`key_func` must return a single tf.int64 tensor. Got "
                f"type={structures.legacy_types(key.output_specs)} and "
                f"shape={structures.legacy_shapes(key.output_specs)}"
            )
        init = StructuredFunction(reducer.init_func, name, _NUMBER)
        reduce, state = folding_function(
            reducer.reduce_func,
            name,
            init.output_specs,
            dataset.element_spec,
            lambda new: new,
        )
        finalize = StructuredFunction(reducer.finalize_func, name, state)
        functions = key, init, reduce, finalize
        op = ExperimentalGroupByReducerDataset(
            key.attribute,
            init.attribute,
            reduce.attribute,
            finalize.attribute,
            key.captured_types,
            init.captured_types,
            reduce.captured_types,
            finalize.captured_types,
            *finalize.flat,
        )
        captured = [function.captured_inputs for function in functions]
        variant = op(dataset._variant_tensor, *captured)
        return dataset.derived(variant, finalize.output_specs, *functions)

    return transform


@export("contrib.data.reduce_dataset")
def reduce_dataset(dataset: Dataset, reducer: Reducer) -> Structure:
    """The result of a reducer for all elements.

    Args:
      dataset: a dataset.
      reducer: its functions receive the key 0.

    Returns:
      The tensors that `reducer.finalize_func` returns.

    Raises:
      TypeError: `reducer` is no `tf.data.experimental.Reducer`.

    Example:
      >>> total = tf.data.experimental.Reducer(
      ...   lambda key: np.int64(0), lambda state, x: state + x, lambda state: state)
      >>> tf.contrib.data.reduce_dataset(tf.data.Dataset.range(4), total)  # 6
    """
    if not isinstance(reducer, Reducer):
        raise TypeError("`reducer` must be a `tf.data.experimental.Reducer`.")
    state = reducer.init_func(np.int64(0))
    return reducer.finalize_func(dataset.reduce(state, reducer.reduce_func))
