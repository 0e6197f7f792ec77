"""Calls of a function that an attribute names.

A step has the body's ops in place of the call (engine/plan/inline_functions.py).
Source: core/ops/functional_ops.cc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from tfteach.framework.device import merge_names
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import InternalError, NotFoundError, invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import Body, body_of, defined_in
from tfteach.framework.graph import Graph
from tfteach.framework.list_elements import ListElements, list_elements
from tfteach.framework.op import MultiOutputOp
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape

_EXECUTORS = ("", "DEFAULT", "SINGLE_THREADED_EXECUTOR")


def _forwarded(tensor: Tensor) -> Tensor:
    """The tensor whose handle a tensor of a body is a copy of."""
    while tensor.op.spec.passes_handle:
        tensor = tensor.op.inputs[0]
    return tensor


class _Call(MultiOutputOp, abstract=True):
    """The results of a function."""

    calls_function: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False

    def infer_shape(self, *args: Any) -> list[Shape]:
        spec: Any = self  # each type states its attributes in TensorFlow's order
        return [None] * len(spec.Tout)

    def compute(self, context: Any, *args: Any) -> Any:
        """Of a function that calls itself, or that is not to be inlined."""
        spec: Any = self
        return tuple(context.function(spec.f)(args))

    def returned_by_call(self, op: Operation, index: int) -> Tensor | None:
        spec: Any = self
        defined = op.graph.functions.get(spec.f.name)
        if defined is None:
            return None
        body = defined.body(spec.f)
        found = body.outputs[index]
        for i, argument in enumerate(body.inputs):
            if argument is _forwarded(found):
                return op.inputs[i]
        return found

    def list_elements(self, op: Operation) -> ListElements | None:
        returned = self.returned_by_call(op, 0)
        return None if returned is None else list_elements(returned)

    def function_body(self, op: Operation) -> Body | None:
        spec: Any = self
        if defined_in(op.graph, spec.f, op).keeps_calls:
            return None
        return body_of(op, spec.f)


class _PartitionedCall(_Call, abstract=True):
    """A call whose function may be divided among devices."""

    signature = "args: *Tin -> output: *Tout"
    Tin: tuple[DType, ...]
    Tout: tuple[DType, ...]
    f: Function
    config: str = ""
    config_proto: str = ""
    executor_type: str = ""

    def called_shapes(
        self, graph: Graph, inputs: Sequence[Tensor]
    ) -> Sequence[Shape] | None:
        defined = graph.functions.get(self.f.name)
        if defined is None:
            return None
        return defined.output_shapes(graph, self.f, [t.static_shape for t in inputs])

    def function_body(self, op: Operation) -> Body | None:
        if self.executor_type not in _EXECUTORS:
            raise NotFoundError(
                None,
                None,
                "No executor factory registered for the given executor type: "
                f"{self.executor_type} Registered factories are "
                "{SINGLE_THREADED_EXECUTOR, , DEFAULT}.",
            ).at(op)
        return super().function_body(op)


class PartitionedCall(_PartitionedCall):
    """The results of a function without state.

    Source: functional_ops.cc, PartitionedCall.
    """


class StatefulPartitionedCall(_PartitionedCall):
    """The results of a function with state, whose effects happen on every call.

    Source: functional_ops.cc, StatefulPartitionedCall.
    """

    is_stateful: ClassVar[bool] = True


class SymbolicGradient(_Call):
    """The gradients of a function's arguments, given those of its results.

    The inputs are the function's, then a gradient of each result.
    Source: functional_ops.cc, SymbolicGradient.
    """

    signature = "input: *Tin -> output: *Tout"
    Tin: tuple[DType, ...]
    Tout: tuple[DType, ...]
    f: Function

    minimum: ClassVar[Mapping[str, int]] = {"Tin": 1, "Tout": 1}
    waits_for_context: ClassVar[bool] = True

    def infer_shape(self, input: list[Shape]) -> list[Shape]:
        return input[: len(self.Tout)]


class RemoteCall(_Call):
    """The results of a function on a device that a tensor names.

    Source: functional_ops.cc, RemoteCall.
    """

    signature = "target: string, args: *Tin -> output: *Tout"
    Tin: tuple[DType, ...]
    Tout: tuple[DType, ...]
    f: Function

    is_stateful: ClassVar[bool] = True
    host_inputs: ClassVar[tuple[str, ...]] = ("target",)
    minimum: ClassVar[Mapping[str, int]] = {"Tin": 1, "Tout": 1}

    def compute(self, context: Any, target: Any, *args: Any) -> Any:
        name = target[()].decode()
        try:
            wanted = merge_names(name, context.device.name)
        except ValueError:
            raise invalid_argument(
                f"Could not parse {name} into a device specification."
            ) from None
        if wanted not in [device.name for device in context.session.list_devices()]:
            raise InternalError(
                None,
                None,
                f"Currently don't support instantiating functions on device: {wanted}",
            )
        return super().compute(context, *args)

    def function_body(self, op: Operation) -> None:
        return None  # its device is known when it runs
