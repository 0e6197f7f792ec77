"""Datasets in SavedModels: their tensors are resources, which functions make anew.

Source: python/data/ops/dataset_ops.py, _VariantTracker.
"""

from __future__ import annotations

import numpy as np

from tfteach.engine.eager.context import eager_graph
from tfteach.framework.build import create
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.errors import FailedPreconditionError
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.trackable import CapturableResource
from tfteach.ops.core.constant import constant
from tfteach.ops.data.dataset import Dataset, functions_of


class VariantTracker(CapturableResource):
    """The tensor of a dataset, which functions capture.

    Args:
      variant: the tensor.
    """

    def __init__(self, variant: Tensor) -> None:
        super().__init__("CPU")
        self._resource_handle = variant

    def _create_resource(self) -> Tensor:
        """The tensor of an equal dataset.

        Raises:
          NotImplementedError: the dataset belongs to a graph.
          FailedPreconditionError: it depends on a resource, or on a state.
        """
        variant = self._resource_handle
        if not isinstance(variant, EagerTensor):
            raise NotImplementedError(
                "Can only export Datasets which were created executing eagerly: this "
                "one belongs to a graph."
            )
        variant.value.check_stateless()
        return _rebuilt(variant.value, eager_graph(), get_default_graph())


def _rebuilt(dataset: Dataset, library: Graph, graph: Graph) -> Tensor:
    """The nodes of a dataset in another graph.

    Args:
      dataset: made by an op.
      library: has the functions that it calls.
      graph: gets the nodes.
    """
    assert dataset.made_of is not None
    spec, values = dataset.made_of
    tensors: list[Tensor] = []
    for value in values:
        if isinstance(value, Dataset):
            tensors.append(_rebuilt(value, library, graph))
        elif isinstance(value, np.ndarray | np.generic):
            tensors.append(constant(value))
        else:
            raise FailedPreconditionError(
                None, None, f"{type(spec).op_type} depends on a resource."
            )
    for function in functions_of(spec):
        graph.add_function(library.functions[function.name])
    node = create(graph, spec, tuple(tensors), graph.unique_name(type(spec).op_type))
    return node.outputs[0]
