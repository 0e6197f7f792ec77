"""What all datasets share: the variant tensor, the structure of elements, options.

Source: python/data/ops/dataset_ops.py, DatasetV2.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from tfteach.framework.composite import register_composite
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import int64, string
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Tensor
from tfteach.framework.trackable import Trackable, TrackableReference
from tfteach.framework.type_aliases import TensorLike
from tfteach.framework.type_spec import register_type_spec_from_value_converter
from tfteach.lib.autograph.operators.for_loops import ForLoop, Variables
from tfteach.lib.data import structures
from tfteach.lib.data.element_specs import DatasetSpec
from tfteach.lib.data.functions import StructuredFunction
from tfteach.lib.data.options import Options
from tfteach.lib.data.variant_tracker import VariantTracker
from tfteach.ops.data.options import (
    MaxIntraOpParallelismDataset,
    ModelDataset,
    OptimizeDataset,
    PrivateThreadPoolDataset,
)
from tfteach.ops.data.statistics import SetStatsAggregatorDataset

if TYPE_CHECKING:
    from tfteach.lib.data.dataset import Dataset


class DatasetBase(Trackable):
    """A tensor of a dataset, with the structure of its elements.

    Args:
      variant: a scalar Tensor of type variant.
      specs: the structure of the specs of an element.
      inputs: the datasets that it reads.
      functions: the functions that it calls.
    """

    concrete: ClassVar[type[Dataset]]
    type_name: ClassVar[str] = "DatasetV1Adapter"  # of TensorFlow's class

    def __init__(
        self,
        variant: Tensor,
        specs: Any,
        inputs: Sequence[DatasetBase] = (),
        functions: Sequence[StructuredFunction] = (),
    ) -> None:
        self._variant_tensor = variant
        self._specs = specs
        self._input_datasets = list(inputs)
        self._wrapped_functions = list(functions)
        self._own_options: Options | None = None
        # Whether an OutOfRangeError in `map` is an error; else it ends the elements.
        # In TensorFlow it is one for the datasets that functions of groups receive.
        self.preserves_count = False

    def derived(
        self, variant: Tensor, specs: Any = None, *functions: StructuredFunction
    ) -> Dataset:
        """A dataset that reads this one; its elements are alike if `specs` is None."""
        found = self.element_spec if specs is None else specs
        made = self.concrete(variant, found, [self], functions)
        made.preserves_count = self.preserves_count
        return made

    # ---- structure

    @property
    def element_spec(self) -> Any:
        """The structure of an element, with `tf.TensorSpec` and the like as leaves."""
        return self._specs

    @property
    def output_types(self) -> Any:
        """The structure of the element types."""
        return structures.legacy_types(self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The structure of the static shapes."""
        return structures.legacy_shapes(self.element_spec)

    @property
    def output_classes(self) -> Any:
        """The structure of the classes, `tf.Tensor` or `tf.SparseTensor`."""
        return structures.legacy_classes(self.element_spec)

    @property
    def flat(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The types and the shapes of the components, attributes of most ops."""
        specs = self.element_spec
        return structures.flat_types(specs), structures.flat_shapes(specs)

    @property
    def _flat_structure(self) -> dict[str, list[Any]]:
        """The types and the shapes of the components, by the names of attributes."""
        return {"output_shapes": self._flat_shapes, "output_types": self._flat_types}

    @property
    def _flat_types(self) -> list[Any]:
        return list(self.flat[0])

    @property
    def _flat_shapes(self) -> list[Any]:
        return list(self.flat[1])

    @functools.cached_property
    def _variant_tracker(self) -> VariantTracker:
        return VariantTracker(self._variant_tensor)

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        return [TrackableReference("_variant_tracker", self._variant_tracker)]

    def _lookup_dependency(self, name: str) -> Any:
        return self._variant_tracker if name == "_variant_tracker" else None

    @property
    def _graph(self) -> Graph:
        return self._variant_tensor.graph

    def _converted_for(self, loop: ForLoop) -> Variables:
        """Run a loop over the elements that AutoGraph has converted."""
        from tfteach.lib.data.converted_loops import over_dataset

        return over_dataset(self, loop)  # type: ignore[arg-type]

    def _as_variant_tensor(self) -> Tensor:
        return self._variant_tensor

    def _inputs(self) -> list[DatasetBase]:
        return self._input_datasets

    def _functions(self) -> list[StructuredFunction]:
        return self._wrapped_functions

    def __repr__(self) -> str:
        shapes = str(structures.mapped(str, self.output_shapes)).replace("'", "")
        types = str(structures.mapped(repr, self.output_types)).replace("'", "")
        return f"<{self.type_name} shapes: {shapes}, types: {types}>"

    # ---- options

    def options(self) -> Options:
        """The options of this dataset and of those it reads."""
        if self._own_options is not None:
            return self._own_options
        found = Options()
        for source in self._input_datasets:
            found = found.merge(source.options())
        return found

    def _applied_options(self) -> tuple[Tensor, Any]:
        """The tensor after the datasets that options add."""
        options = self.options()
        options.check_supported()
        found = self._variant_tensor
        types, shapes = self.flat
        threads = options.experimental_threading
        if threads.max_intra_op_parallelism is not None:
            limit = int64_tensor(
                threads.max_intra_op_parallelism, "max_intra_op_parallelism"
            )
            found = MaxIntraOpParallelismDataset(types, shapes)(found, limit)
        if threads.private_threadpool_size is not None:
            count = int64_tensor(threads.private_threadpool_size, "num_threads")
            found = PrivateThreadPoolDataset(types, shapes)(found, count)
        names = options._static_optimizations()
        if names and self._captures_reference():
            warnings.warn(
                "tf.data static optimizations are not compatible with tf.Variable. "
                f"The following optimizations will be disabled: {', '.join(names)}. To "
                "enable optimizations, use resource variables instead by calling "
                "`tf.enable_resource_variables()` at the start of the program.",
                stacklevel=3,
            )
        elif names:
            which = convert(names, string, "optimizations")
            op = OptimizeDataset(types, shapes, options._static_optimization_configs())
            found = op(found, which)
        tuning = options.experimental_optimization
        if tuning.autotune is not False:
            model = ModelDataset(
                tuning.autotune_algorithm or 0,
                tuning.autotune_cpu_budget or 0,
                types,
                shapes,
            )
            found = model(found)
        stats = options.experimental_stats
        if stats.aggregator is not None:
            record = SetStatsAggregatorDataset(types, shapes)
            resource = stats.aggregator._resource
            found = record(found, resource, stats.prefix, stats.counter_prefix)
        return found, self.element_spec

    def _captures_reference(self) -> bool:
        captured = [t for f in self._wrapped_functions for t in f.captured_inputs]
        seen = set(captured)
        for tensor in captured:  # grows
            if isinstance(tensor, EagerTensor):
                continue
            if tensor.dtype.is_ref:
                return True
            new = [t for t in tensor.op.inputs if t not in seen]
            seen.update(new)
            captured += new
        return any(source._captures_reference() for source in self._input_datasets)


def int64_tensor(value: TensorLike, name: str) -> Tensor:
    """A number as an int64 tensor."""
    return convert(value, int64, name)


register_type_spec_from_value_converter(
    DatasetBase, DatasetSpec.from_value, allow_subclass=True
)
register_composite(DatasetBase, DatasetSpec.from_value)
