"""Functions traced in eager programs: compiled once, with what they captured bound.

What a function captured never changes: values are constants of its program, and the
handles of variables are known while it is compiled, as in a session.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tfteach.engine.eager.context import eager_graph
from tfteach.engine.execute.kernel_context import OpStates
from tfteach.framework.dtypes import DType, string
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.functions.body import Body
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.op import ROLES, Op, StatefulOp
from tfteach.framework.op_traits import Role
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape


class FunctionRun(NamedTuple):
    """A traced function is about to run eagerly.

    Attributes:
      graph: its body.
      inputs: what the inputs of the body stand for, captured tensors included.
      at_end: callbacks for the end; each receives the outputs, or None after an error,
        and the elapsed seconds.
      followers: the engine's step observers; one that is added follows this run,
        instruction by instruction.
    """

    graph: FuncGraph
    inputs: Sequence[Tensor]
    at_end: list[Callable[[Sequence[Tensor] | None, float], Any]]
    followers: list[Any]


class CapturedHandle(StatefulOp, abstract=True):
    """In a program, the handle of a resource that a function captured."""

    op_type: ClassVar[str] = "CapturedHandle"
    signature = "-> handle: resource"
    aliases: ClassVar[bool] = True
    returns_handle: ClassVar[bool] = True
    tensor: EagerTensor

    def __new__(cls, tensor: EagerTensor) -> Self:
        op = object.__new__(cls)
        object.__setattr__(op, "tensor", tensor)
        object.__setattr__(op, "_inferred", {})
        return op

    def infer_shape(self) -> Shape:
        return ()

    def shape_behind(self) -> Any:
        return self.tensor.source.spec.shape_behind()

    @property
    def dtype(self) -> DType:
        """The type of the variable."""
        return self.tensor.source.spec.dtype  # type: ignore[attr-defined,no-any-return]

    def compute(self, context: Any) -> Any:
        return self.tensor.value


class FunctionProgram:
    """A function, or some of its tensors, as a program.

    Args:
      graph: the function's body.
      outputs: the tensors that a call returns.
      effects: the ops that a call runs in any case.

    Attributes:
      arguments: the inputs that a call passes, in order: all but the captured tensors
        that have values.
    """

    def __init__(
        self,
        graph: FuncGraph,
        outputs: Sequence[Tensor],
        effects: Sequence[Operation],
    ) -> None:
        bound: dict[Tensor, Op] = {}
        for outer, inner in graph.captures.items():
            if isinstance(outer, EagerTensor):
                bound[inner] = _bound(outer)
        self.arguments = [t for t in graph.inputs if t not in bound]
        body = Body(
            graph, tuple(graph.inputs), tuple(outputs), tuple(effects), graph.name
        )
        self._graph, self._eager = graph, eager_graph()
        self._runtime = self._eager.runtime
        self.program = self._runtime.planner.program_of(
            body, bound, OpStates(self._runtime.resources), self._runtime
        )
        self._dtypes = [t.dtype.base_dtype for t in outputs]

    def __call__(self, arguments: Sequence[Tensor]) -> list[EagerTensor]:
        """Run once.

        Args:
          arguments: tensors with values, for `self.arguments`.

        Returns:
          A tensor for each output.
        """
        arrays = [t.value for t in arguments]  # type: ignore[attr-defined]
        if self._eager.observers:
            return self._run_observed(arguments, arrays)
        return self._tensors(self.program.run(arrays))

    def _run_observed(
        self, arguments: Sequence[Tensor], arrays: Sequence[Any]
    ) -> list[EagerTensor]:
        """Run once, announced to the observers of eager execution."""
        passed = dict(zip(self.arguments, arguments, strict=True))
        outer_of = {inner: outer for outer, inner in self._graph.captures.items()}
        inputs = [passed[t] if t in passed else outer_of[t] for t in self._graph.inputs]
        run = FunctionRun(self._graph, inputs, [], [])
        for observer in self._eager.observers:
            observer(run)
        began_s, outputs = time.perf_counter(), None
        try:
            outputs = self._tensors(self.program.run(arrays, run.followers))
        finally:
            elapsed_s = time.perf_counter() - began_s
            for callback in run.at_end:
                callback(outputs, elapsed_s)
        return outputs

    def _tensors(self, found: Sequence[Any]) -> list[EagerTensor]:
        pairs = zip(found, self._dtypes, strict=True)
        return [_tensor(value, dtype) for value, dtype in pairs]


def _tensor(value: Any, dtype: DType) -> EagerTensor:
    if dtype is string and isinstance(value, bytes):
        value = np.array(value, object)
    return EagerTensor(value, dtype)


def _bound(tensor: EagerTensor) -> Op:
    """What outputs a captured tensor in a program."""
    if tensor.dtype.is_numpy_compatible:
        make: Any = ROLES[Role.CONSTANT]
        op: Op = make(np.asarray(tensor._host_value()), tensor.dtype)
        return op
    return CapturedHandle(tensor)
