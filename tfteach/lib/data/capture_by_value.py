"""A function's body that copies the ops of outer graphs instead of capturing tensors.

Source: python/framework/function.py, _FuncGraph (capture_by_value).
"""

from __future__ import annotations

from tfteach.framework.build import create
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.data.dataset import DatasetOp


class ByValue(FuncGraph):
    """A body that copies what its ops read of outer graphs.

    Args:
      name: the function's name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, functions=get_default_graph().functions)
        self._copies: dict[Operation, Operation] = {}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if tensor.op.graph is self:
            return tensor
        found = self._copies.get(tensor.op)
        if found is None:
            found = self._copies[tensor.op] = self._copied(tensor.op)
        return found.outputs[tensor.value_index]

    def _copied(self, op: Operation) -> Operation:
        """A copy of an op and of all it reads: one for each use, as in TensorFlow."""
        spec = op.spec
        if spec.is_stateful and not isinstance(spec, DatasetOp):
            raise ValueError(
                f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by "
                "value."
            )
        if spec.must_be_fed:
            raise ValueError(
                f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by "
                "value."
            )
        inputs = tuple(self._copied(t.op).outputs[t.value_index] for t in op.inputs)
        prefix = self.scopes.name
        name = self.unique(f"{prefix}/{op.name}" if prefix else op.name)
        made = create(self, spec, inputs, name)
        made._origin = op._origin
        return made
