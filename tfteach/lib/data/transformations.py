"""How datasets are made of others: selection, order and functions of elements.

Source: python/data/ops/dataset_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tfteach.framework import tf2
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import bool_, int32, string
from tfteach.framework.graph import get_default_graph
from tfteach.framework.scope import name_scope
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_aliases import Structure, TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.base import DatasetBase, int64_tensor
from tfteach.lib.data.functions import StructuredFunction, folding_function
from tfteach.lib.data.seeds import seed_tensors
from tfteach.ops.data.buffering import CacheDataset, PrefetchDataset
from tfteach.ops.data.mapping import FilterDataset, MapDataset, ParallelMapDataset
from tfteach.ops.data.reducing import ReduceDataset
from tfteach.ops.data.selection import (
    ConcatenateDataset,
    RepeatDataset,
    ShardDataset,
    SkipDataset,
    TakeDataset,
)
from tfteach.ops.data.shuffling import (
    AnonymousRandomSeedGenerator,
    ShuffleDataset,
    ShuffleDatasetV2,
)

if TYPE_CHECKING:
    from tfteach.lib.data.dataset import Dataset
    from tfteach.lib.data.options import Options


class Transformations(DatasetBase):
    """The methods that select, order and change elements."""

    # ---- selection and order

    def concatenate(self, dataset: DatasetBase) -> Dataset:
        """The elements of this dataset, then those of another.

        Args:
          dataset: has elements of the same types and classes.

        Raises:
          TypeError: types or classes differ.
        """
        if self.output_types != dataset.output_types:
            raise TypeError(
                "Two datasets to concatenate have different types "
                f"{self.output_types} and {dataset.output_types}"
            )
        if self.output_classes != dataset.output_classes:
            raise TypeError(
                "Two datasets to concatenate have different classes "
                f"{self.output_classes} and {dataset.output_classes}"
            )
        specs = structures.merged(self.element_spec, dataset.element_spec)
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        op = ConcatenateDataset(types, shapes)
        variant = op(self._variant_tensor, dataset._variant_tensor)
        return self.concrete(variant, specs, [self, dataset])

    def take(self, count: TensorLike) -> Dataset:
        """The first `count` elements; all for -1."""
        number = int64_tensor(count, "count")
        return self.derived(TakeDataset(*self.flat)(self._variant_tensor, number))

    def skip(self, count: TensorLike) -> Dataset:
        """All but the first `count` elements; none for -1."""
        number = int64_tensor(count, "count")
        return self.derived(SkipDataset(*self.flat)(self._variant_tensor, number))

    def repeat(self, count: TensorLike | None = None) -> Dataset:
        """The elements `count` times; without end for None or -1."""
        number = int64_tensor(-1 if count is None else count, "count")
        return self.derived(RepeatDataset(*self.flat)(self._variant_tensor, number))

    def shard(self, num_shards: TensorLike, index: TensorLike) -> Dataset:
        """Every `num_shards`-th element, from the one of number `index`.

        Raises:
          tf.errors.InvalidArgumentError: in a run, `num_shards` is not positive, or
            `index` not below it.
        """
        count = int64_tensor(num_shards, "num_shards")
        own = int64_tensor(index, "index")
        op = ShardDataset(False, *self.flat)
        return self.derived(op(self._variant_tensor, count, own))

    def shuffle(
        self,
        buffer_size: TensorLike,
        seed: TensorLike | None = None,
        reshuffle_each_iteration: bool | None = None,
    ) -> Dataset:
        """The elements in random order: each is drawn from a buffer of the next ones.

        Args:
          buffer_size: the number of elements in the buffer; only one that holds the
            whole dataset makes all orders equally likely.
          seed: with `tf.set_random_seed`, determines the order, which is TensorFlow's.
          reshuffle_each_iteration: False for the same order in each epoch.

        Raises:
          tf.errors.InvalidArgumentError: in a run, the buffer size is not positive.
        """
        size = int64_tensor(buffer_size, "buffer_size")
        seeds = seed_tensors(seed)
        reshuffles = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        graph = get_default_graph()
        if reshuffles and tf2.enabled() and (graph.is_eager or graph.building_function):
            # In TensorFlow 2 also iterators that begin with the first element differ.
            generator, _ = AnonymousRandomSeedGenerator()(*seeds)
            anew = ShuffleDatasetV2(*self.flat)
            return self.derived(anew(self._variant_tensor, size, generator))
        op = ShuffleDataset(reshuffles, *self.flat)
        return self.derived(op(self._variant_tensor, size, *seeds))

    def prefetch(self, buffer_size: TensorLike | None) -> Dataset:
        """The same elements, of which a thread prepares the next `buffer_size`.

        Args:
          buffer_size: a number, or `tf.data.experimental.AUTOTUNE` (also None).
        """
        return prefetch_dataset(self, buffer_size)

    def cache(self, filename: TensorLike = "") -> Dataset:
        """The same elements, which are computed in the first complete epoch only.

        Args:
          filename: a prefix of files that keep them also for later programs; "" to keep
            them in memory while the iterator lives.

        Raises:
          tf.errors.AlreadyExistsError: in a run, another iterator writes these files.
        """
        name = convert(filename, string, "filename")
        return self.derived(CacheDataset(*self.flat)(self._variant_tensor, name))

    def enumerate(self, start: TensorLike = 0) -> Dataset:
        """Pairs of a number, counted from `start`, and an element."""
        numbers = self.concrete.range(start, np.iinfo(np.int64).max)
        return self.concrete.zip((numbers, self))

    # ---- functions of elements

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: TensorLike | None = None,
    ) -> Dataset:
        """The results of a function of each element.

        Args:
          map_func: accepts an element, a tuple's items as separate arguments, as
            tensors; returns a nested structure of tensors.  It is called once, to
            build a function of the graph.
          num_parallel_calls: how many elements to work on at the same time, or
            `tf.data.experimental.AUTOTUNE`.  The results come in the elements' order.

        Raises:
          TypeError: the function returns something else.
        """
        return map_dataset(
            self, map_func, num_parallel_calls, True, self.preserves_count
        )

    def filter(self, predicate: Callable[..., Any]) -> Dataset:
        """The elements for which a function returns True.

        Args:
          predicate: accepts an element as `map`'s function does; returns a scalar bool.

        Raises:
          ValueError: it returns something else.
        """
        function = StructuredFunction(predicate, "Dataset.filter()", self.element_spec)
        found = function.output_specs
        if not isinstance(found, TensorSpec) or not found.is_compatible_with(
            TensorSpec([], bool_)
        ):
            raise ValueError(
                "`predicate` return type must be convertible to a scalar boolean "
                f"tensor. Was {found}."
            )
        op = FilterDataset(function.attribute, *self.flat)
        variant = op(self._variant_tensor, function.captured_inputs)
        return self.derived(variant, None, function)

    def map_with_legacy_function(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: TensorLike | None = None,
    ) -> Dataset:
        """See `map`; only TensorFlow makes the function in another way."""
        return self.map(map_func, num_parallel_calls)

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Dataset:
        """See `filter`; only TensorFlow makes the function in another way."""
        return self.filter(predicate)

    def reduce(
        self, initial_state: Structure, reduce_func: Callable[..., Any]
    ) -> Structure:
        """A state, folded over all elements: `state = reduce_func(state, element)`.

        Args:
          initial_state: a nested structure of values.
          reduce_func: returns a state of the same structure and types.

        Returns:
          The tensors of the last state.

        Raises:
          TypeError: the new state has other classes or types.

        Example:
          >>> tf.data.Dataset.range(1, 5).reduce(np.int64(1), lambda s, i: s * i)  # 24
        """
        with name_scope("initial_state"):
            initial = structures.normalized(initial_state)
        state = structures.specs_of(initial)
        function, state = folding_function(
            reduce_func, "reduce()", state, self.element_spec, lambda new: new
        )
        types, shapes = structures.flat_types(state), structures.flat_shapes(state)
        op = ReduceDataset(function.attribute, types, types, shapes)
        tensors = structures.to_tensors(state, initial)
        found = op(self._variant_tensor, tensors, function.captured_inputs)
        return structures.from_tensors(state, found)

    # ---- functions of datasets, options

    def apply(self, transformation_func: Callable[[Dataset], DatasetBase]) -> Dataset:
        """The result of a function of this dataset.

        Raises:
          TypeError: it is no dataset.
        """
        found: Any = transformation_func(self)  # type: ignore[arg-type]
        if not isinstance(found, DatasetBase):
            raise TypeError(
                f"`transformation_func` must return a Dataset. Got {found}."
            )
        return found  # type: ignore[return-value]

    def with_options(self, options: Options) -> Dataset:
        """The same elements, with options for the whole pipeline before."""
        made = self.derived(self._variant_tensor)
        made._own_options = self.options().merge(options)
        return made


def map_dataset(
    dataset: DatasetBase,
    map_func: Callable[..., Any],
    num_parallel_calls: TensorLike | None,
    use_inter_op_parallelism: bool,
    preserve_cardinality: bool,
) -> Dataset:
    """See `Dataset.map`.

    Args:
      dataset: the dataset.
      map_func, num_parallel_calls: see there.
      use_inter_op_parallelism: whether ops of the function may run at the same time.
      preserve_cardinality: whether an OutOfRangeError in it is an error, else the end.
    """
    function = StructuredFunction(map_func, "Dataset.map()", dataset.element_spec)
    types, shapes = function.flat
    captured = function.captured_inputs
    parallel, keeps = use_inter_op_parallelism, preserve_cardinality
    if num_parallel_calls is None:
        op = MapDataset(function.attribute, types, shapes, parallel, keeps)
        variant = op(dataset._variant_tensor, captured)
    else:
        calls = convert(num_parallel_calls, int32, "num_parallel_calls")
        in_threads = ParallelMapDataset(
            function.attribute, types, shapes, parallel, False, keeps
        )
        variant = in_threads(dataset._variant_tensor, captured, calls)
    return dataset.derived(variant, function.output_specs, function)


def prefetch_dataset(
    dataset: DatasetBase, buffer_size: TensorLike | None, slack_period: int = 0
) -> Dataset:
    """See `Dataset.prefetch`; `slack_period` as in `Options.experimental_slack`."""
    size = int64_tensor(-1 if buffer_size is None else buffer_size, "buffer_size")
    op = PrefetchDataset(*dataset.flat, slack_period)
    return dataset.derived(op(dataset._variant_tensor, size))
