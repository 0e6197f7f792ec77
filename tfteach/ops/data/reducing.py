"""Values of whole datasets: reduce, the single element, the number of elements.

Source: core/kernels/data/dataset_ops.cc, iterator_ops.cc (ReduceDataset,
DatasetToSingleElement).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any, ClassVar

import numpy as np

from tfteach.framework.dtypes import DType
from tfteach.framework.errors import invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.op import MultiOutputOp, Op, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule, Gradient, KernelContext
from tfteach.ops.data.dataset import BoundFunction, Dataset, Running


class DatasetCardinality(Op):
    """The number of elements.  Source: dataset_ops.cc, DatasetCardinality."""

    signature = "input_dataset: variant -> cardinality: int64"
    on_gpu: ClassVar[bool] = False
    is_foldable: ClassVar[bool] = False
    stops_gradients: ClassVar[bool] = True

    def infer_shape(self, input_dataset: Shape) -> Shape:
        return ()

    def compute(self, xp: ArrayModule, input_dataset: Dataset) -> Any:
        return np.int64(input_dataset.cardinality())


class _WholeDataset(StatefulOp, MultiOutputOp, abstract=True):
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, *inputs: Any) -> list[Shape]:
        own: Any = self
        return list(own.output_shapes)

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


class ReduceDataset(_WholeDataset):
    """A state, folded over all elements.  Source: dataset_ops.cc, ReduceDataset."""

    signature = (
        "input_dataset: variant, initial_state: *Tstate, other_arguments: *Targuments "
        "-> components: *output_types"
    )
    f: Function
    Tstate: tuple[DType, ...]
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    use_inter_op_parallelism: bool = True
    minimum: ClassVar[Mapping[str, int]] = {
        "Tstate": 1, "output_types": 1, "output_shapes": 1,
    }  # fmt: skip

    def compute(self, context: KernelContext, source: Dataset, *arguments: Any) -> Any:
        count = len(self.Tstate)
        function = BoundFunction(context, self.f, arguments[count:])
        state = tuple(arguments[:count])
        with closing(Running(context)) as running:
            call = running.call(function)
            for element in source.elements(running):
                context.check_open()
                state = tuple(call((*state, *element)))
        return state


class DatasetToSingleElement(_WholeDataset):
    """The one element.  Source: dataset_ops.cc, DatasetToSingleElement."""

    signature = "dataset: variant -> components: *output_types"
    output_types: tuple[DType, ...]
    output_shapes: tuple[Shape, ...]
    minimum: ClassVar[Mapping[str, int]] = {"output_types": 1, "output_shapes": 1}

    def compute(self, context: KernelContext, dataset: Dataset) -> Any:
        with closing(Running(context)) as running:
            elements = dataset.elements(running)
            found = next(elements, None)
            if found is None:
                raise invalid_argument("Dataset was empty.")
            if next(elements, None) is not None:
                raise invalid_argument("Dataset had more than one element.")
            return found
