"""Datasets of the elements of datasets that functions return.

Source: python/data/ops/dataset_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.data import structures
from tfteach.lib.data.base import DatasetBase, int64_tensor
from tfteach.lib.data.element_specs import DatasetSpec
from tfteach.lib.data.functions import StructuredFunction
from tfteach.ops.data.flattening import FlatMapDataset
from tfteach.ops.data.interleaving import InterleaveDataset, ParallelInterleaveDatasetV2

if TYPE_CHECKING:
    from tfteach.lib.data.dataset import Dataset


class Nesting(DatasetBase):
    """The methods whose functions return datasets."""

    def flat_map(self, map_func: Callable[..., Any]) -> Dataset:
        """The elements of the datasets that a function returns, one after the other.

        Args:
          map_func: accepts an element as `map`'s function does; returns a dataset.

        Raises:
          TypeError: it returns something else.
        """
        function, specs = dataset_function(map_func, "Dataset.flat_map()", self)
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        op = FlatMapDataset(function.attribute, types, shapes)
        variant = op(self._variant_tensor, function.captured_inputs)
        return self.derived(variant, specs, function)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: TensorLike = -1,
        block_length: TensorLike = 1,
        num_parallel_calls: TensorLike | None = None,
    ) -> Dataset:
        """The elements of the datasets that a function returns, by turns.

        Args:
          map_func: accepts an element as `map`'s function does; returns a dataset.
          cycle_length: the number of datasets that take turns; -1 for the number of
            cores.
          block_length: the number of consecutive elements of each.
          num_parallel_calls: from how many datasets to read at the same time, at most
            `cycle_length`; -1 for all.

        Raises:
          TypeError: the function returns something else.
        """
        function, specs = dataset_function(map_func, "Dataset.interleave()", self)
        types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
        cycle = int64_tensor(cycle_length, "cycle_length")
        block = int64_tensor(block_length, "block_length")
        captured = function.captured_inputs
        if num_parallel_calls is None:
            op = InterleaveDataset(function.attribute, types, shapes)
            variant = op(self._variant_tensor, captured, cycle, block)
        else:
            calls = int64_tensor(num_parallel_calls, "num_parallel_calls")
            parallel = ParallelInterleaveDatasetV2(function.attribute, types, shapes)
            variant = parallel(self._variant_tensor, captured, cycle, block, calls)
        return self.derived(variant, specs, function)


def dataset_function(
    function: Callable[..., Any], transformation: str, dataset: DatasetBase
) -> tuple[StructuredFunction, Any]:
    """A function that returns a dataset, and the structure of that one's elements.

    Raises:
      TypeError: it returns something else.
    """
    made = StructuredFunction(function, transformation, dataset.element_spec)
    specs = made.output_specs
    if not isinstance(specs, DatasetSpec):
        raise TypeError(f"`map_func` must return a `Dataset` object. Got {type(specs)}")
    return made, specs._element_spec
