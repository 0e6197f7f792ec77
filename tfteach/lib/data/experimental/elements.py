"""Transformations of single elements: scan, take_while, unique, errors, numbers.

Source: python/data/experimental/ops/{scan_ops,take_while_ops,unique,error_ops,
enumerate_ops,shuffle_ops,get_single_element}.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.dtypes import bool_, int32, int64, string
from tfteach.framework.export import export
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import Structure, TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.base import DatasetBase, int64_tensor
from tfteach.lib.data.dataset import Dataset
from tfteach.lib.data.functions import StructuredFunction, folding_function
from tfteach.lib.data.seeds import seed_tensors
from tfteach.ops.data.filtering import IgnoreErrorsDataset, UniqueDataset
from tfteach.ops.data.mapping import ScanDataset, TakeWhileDataset
from tfteach.ops.data.reducing import DatasetToSingleElement
from tfteach.ops.data.shuffling import ShuffleAndRepeatDataset

Transformation = Callable[[Dataset], Dataset]


@export("data.experimental.scan", "contrib.data.scan")
def scan(initial_state: Structure, scan_func: Callable[..., Any]) -> Transformation:
    """A transformation by a function that hands a state from element to element.

    Args:
      initial_state: a nested structure of values.
      scan_func: of (state, element), returns (new state, new element).

    Returns:
      A function for `Dataset.apply`.

    Raises:
      TypeError: while applied: the function returns no pair, or a state of other types.
    """

    def transform(dataset: Dataset) -> Dataset:
        initial = structures.normalized(initial_state)
        function, state = folding_function(
            scan_func,
            "tf.data.experimental.scan()",
            structures.specs_of(initial),
            dataset.element_spec,
            _state_of_pair,
        )
        specs = function.output_specs[1]
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        kinds = structures.flat_types(state)
        op = ScanDataset(function.attribute, kinds, types, shapes, True)
        variant = op(
            dataset._variant_tensor,
            structures.to_tensors(state, initial),
            function.captured_inputs,
        )
        return dataset.derived(variant, specs, function)

    return transform


def _state_of_pair(found: Any) -> Any:
    if not isinstance(found, tuple) or len(found) != 2:
        raise TypeError(
            "The scan function must return a pair comprising the new state and the "
            "output value."
        )
    return found[0]


@export("data.experimental.take_while")
def take_while(predicate: Callable[..., Any]) -> Transformation:
    """A transformation: the elements before the first that a function refuses.

    Args:
      predicate: accepts an element; returns a scalar bool.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      ValueError: while applied: the function returns something else.
    """

    def transform(dataset: Dataset) -> Dataset:
        name = "tf.data.experimental.take_while()"
        function = StructuredFunction(predicate, name, dataset.element_spec)
        found = function.output_specs
        if not isinstance(found, TensorSpec) or not found.is_compatible_with(
            TensorSpec([], bool_)
        ):
            raise ValueError("`predicate` must return a scalar boolean tensor.")
        op = TakeWhileDataset(function.attribute, *dataset.flat)
        variant = op(dataset._variant_tensor, function.captured_inputs)
        return dataset.derived(variant, None, function)

    return transform


@export("data.experimental.unique", "contrib.data.unique")
def unique() -> Transformation:
    """A transformation: each element once.

    Returns:
      A function for `Dataset.apply`.

    Raises:
      TypeError: while applied: the elements are no single int32, int64 or string.
    """

    def transform(dataset: Dataset) -> Dataset:
        if dataset.output_types not in (int32, int64, string):
            raise TypeError(
                "`tf.data.experimental.unique()` only supports inputs with a single "
                "`tf.int32`, `tf.int64`, or `tf.string` component."
            )
        return dataset.derived(UniqueDataset(*dataset.flat)(dataset._variant_tensor))

    return transform


@export("data.experimental.ignore_errors", "contrib.data.ignore_errors")
def ignore_errors() -> Transformation:
    """A transformation that passes over elements whose computation fails.

    Returns:
      A function for `Dataset.apply`.
    """

    def transform(dataset: Dataset) -> Dataset:
        op = IgnoreErrorsDataset(*dataset.flat)
        return dataset.derived(op(dataset._variant_tensor))

    return transform


@export("data.experimental.enumerate_dataset", "contrib.data.enumerate_dataset")
def enumerate_dataset(start: TensorLike = 0) -> Transformation:
    """A transformation: pairs of a number and an element; see `Dataset.enumerate`."""

    def transform(dataset: Dataset) -> Dataset:
        return dataset.enumerate(start)

    return transform


@export("data.experimental.shuffle_and_repeat", "contrib.data.shuffle_and_repeat")
def shuffle_and_repeat(
    buffer_size: TensorLike,
    count: TensorLike | None = None,
    seed: TensorLike | None = None,
) -> Transformation:
    """A transformation: several epochs, shuffled also over their borders.

    Args:
      buffer_size: the number of elements in the buffer.
      count: the number of epochs; None or -1 for no end.
      seed: with `tf.set_random_seed`, determines the order.

    Returns:
      A function for `Dataset.apply`.
    """

    def transform(dataset: Dataset) -> Dataset:
        size = int64_tensor(buffer_size, "buffer_size")
        epochs = int64_tensor(-1 if count is None else count, "count")
        seeds = seed_tensors(seed)
        op = ShuffleAndRepeatDataset(*dataset.flat)
        return dataset.derived(op(dataset._variant_tensor, size, *seeds, epochs))

    return transform


@export("data.experimental.get_single_element", "contrib.data.get_single_element")
def get_single_element(dataset: DatasetBase) -> Structure:
    """The tensors of the only element of a dataset.

    Raises:
      TypeError: the argument is no dataset.
      tf.errors.InvalidArgumentError: in a run, there is no element, or more than one.
    """
    if not isinstance(dataset, DatasetBase):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    found = DatasetToSingleElement(*dataset.flat)(dataset._variant_tensor)
    return structures.from_tensors(dataset.element_spec, found)
