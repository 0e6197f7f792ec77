"""Ops that ran eagerly, drawn as a graph: a node for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tfteach.explain.graphs.inner_lines import inner_lines, lines_of
from tfteach.explain.steps.value_summary import WHOLE
from tfteach.framework.call_origin import Origin, SourceLine
from tfteach.framework.dtypes import resource
from tfteach.framework.eager_tensor import HOST, EagerTensor
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import Graph
from tfteach.framework.op import ROLES, Op
from tfteach.framework.op_traits import Role
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.placeholder import Placeholder
from tfteach.ops.functions.calls import PartitionedCall, StatefulPartitionedCall


class DrawnGraph(Graph):
    """A graph that stands for ops that ran: nobody builds or runs it."""

    def _first_observers(self) -> tuple[Any, ...]:
        return ()


class EagerDrawing:
    """A graph that grows with each op that has run eagerly.

    What an op read and no drawn op computed is a constant, if it is small, or a
    placeholder. A variable is its handle, drawn once; an op that uses a variable waits
    for the op that changed it last.

    Attributes:
      graph: the graph.
    """

    def __init__(self) -> None:
        self.graph = DrawnGraph()
        self._drawn: WeakKeyDictionary[Tensor, Tensor] = WeakKeyDictionary()
        self._writers: WeakKeyDictionary[Tensor, Operation] = WeakKeyDictionary()
        self._names = _Names(self.graph)
        self._functions: WeakKeyDictionary[FuncGraph, DefinedFunction]
        self._functions = WeakKeyDictionary()
        self._calls: list[tuple[Operation, FuncGraph]] = []

    def drawn(self, tensor: Tensor) -> Tensor | None:
        """The output in the drawing that stands for a tensor; None if there is none."""
        return self._drawn.get(tensor)

    def new_scope(self, name: str) -> str:
        """A new scope: a name that no other has."""
        return self.graph.unique(name)

    def add(
        self,
        op: Operation,
        name: str,
        origin: Origin | None,
        frames: Sequence[FrameType] = (),
    ) -> Operation:
        """Draw an op.

        Args:
          op: the call.
          name: its name, which gets a suffix if another op has it.
          origin: the user's line.
          frames: of the user's code, by whose names unknown tensors are called.
        """
        name = self._names.unique(name, op.spec.returns_handle)
        inputs = self._inputs(op.spec, op.inputs, name, origin, frames)
        node = self._append(op.spec, name, inputs, op.outputs, origin)
        self._order(node, op.inputs, is_write=not op.outputs)
        return node

    def add_call(
        self,
        body: FuncGraph,
        inputs: Sequence[Tensor],
        name: str,
        origin: Origin | None,
        frames: Sequence[FrameType] = (),
    ) -> Operation:
        """Draw the call of a traced function; `complete` adds its outputs.

        Args:
          body: the function.
          inputs: the values of the body's inputs.
          name, origin, frames: as for `add`.
        """
        function = self._functions.get(body)
        if function is None:
            free = body.name
            while free in self.graph.functions:
                free += "_"
            function = self._functions[body] = DefinedFunction(free, body)
            function.add_to_graph(self.graph)
        is_stateful = any(op.op_def.is_stateful for op in body.operations)
        kind: Any = StatefulPartitionedCall if is_stateful else PartitionedCall
        spec: Op = kind(
            Tin=tuple(t.dtype.base_dtype for t in body.inputs),
            Tout=tuple(t.dtype.base_dtype for t in body.outputs),
            f=Function(function.name),
        )
        name = self._names.unique(name)
        names = [t.op.name for t in body.inputs]
        drawn = self._inputs(spec, inputs, name, origin, frames, names)
        node = self._append(spec, name, drawn, (), origin)
        self._order(node, inputs, is_write=_writes(body))
        self._calls.append((node, body))
        return node

    def complete(self, node: Operation, outputs: Sequence[Tensor]) -> None:
        """Add the results of a call."""
        node.outputs = self._outputs(node, outputs)
        self.graph.record_mutation()

    def inner_lines(self) -> dict[str, SourceLine]:
        """The lines of the ops of traced functions, by their names in the drawing."""
        found: dict[str, SourceLine] = {}
        for node, body in self._calls:
            prefix = f"{node.name}/"
            found |= lines_of(body, prefix)
            found |= {prefix + name: at for name, at in inner_lines(body).items()}
        return found

    # ---- nodes

    def _append(
        self,
        spec: Op,
        name: str,
        inputs: Sequence[Tensor],
        outputs: Sequence[Tensor],
        origin: Origin | None,
    ) -> Operation:
        node = Operation.__new__(Operation)
        node.graph, node.name, node.spec = self.graph, name, spec
        node.inputs, node.control_inputs = tuple(inputs), []
        node.extra_attrs = node.control_flow_context = None
        node.device = next((d for t in outputs if (d := t.device) != HOST), "")
        node._origin = origin
        node.outputs = self._outputs(node, outputs)
        self.graph.append(node)
        return node

    def _outputs(self, node: Operation, values: Sequence[Tensor]) -> list[Tensor]:
        made = []
        for i, value in enumerate(values):
            made.append(Tensor(node, i, value.dtype, value.static_shape))
            self._drawn[value] = made[-1]
        return made

    def _inputs(
        self,
        spec: Op,
        values: Sequence[Tensor],
        name: str,
        origin: Origin | None,
        frames: Sequence[FrameType],
        names: Sequence[str] = (),
    ) -> list[Tensor]:
        found = []
        for i, value in enumerate(values):
            known = self._drawn.get(value)
            if known is None:
                parameter = names[i] if names else _parameter(spec, i)
                known = self._from_outside(value, f"{name}/{parameter}", origin, frames)
            found.append(known)
        return found

    def _from_outside(
        self, value: Any, name: str, origin: Origin | None, frames: Sequence[FrameType]
    ) -> Tensor:
        """A tensor that no drawn op computed."""
        source = value.__dict__.get("source")
        if source is not None and source.spec.returns_handle:
            return self._alone(source.spec, source.name, value, source._origin)
        users = _users_name(value, frames)
        made = self._alone(_constant(value), users or name, value, origin)
        if users is None and not value.static_shape:
            # Python numbers are cached, but each op has its own in a picture.
            del self._drawn[value]
        return made

    def _alone(
        self, spec: Op, name: str, value: Tensor, origin: Origin | None
    ) -> Tensor:
        """The output of a node without inputs."""
        node = self._append(spec, self.graph.unique(name), (), (value,), origin)
        return node.outputs[0]

    def _order(self, node: Operation, inputs: Iterable[Tensor], is_write: bool) -> None:
        """Let an op wait for the last change of the variables that it uses."""
        handles = [t for t in inputs if t.dtype.base_dtype is resource]
        before = [self._writers[t] for t in handles if t in self._writers]
        node.control_inputs = list(dict.fromkeys(before))
        for handle in handles if is_write else ():
            owner = self._drawn.get(handle)
            if owner is None or not node.name.startswith(f"{owner.op.name}/"):
                self._writers[handle] = node  # else it is the variable's initializer


class _Scope:
    """The last scope of a name, and whether the op of that name has come."""

    def __init__(self, name: str, is_complete: bool, is_handle: bool = False) -> None:
        self.name, self.is_complete, self.is_handle = name, is_complete, is_handle


class _Names:
    """Unique names, with what an op needs in the scope of the op's own name.

    The second op `MatMul` that reads a variable is `MatMul_1`, and its reading, which
    comes before it, `MatMul_1/ReadVariableOp`. A variable comes before its initializer.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._scopes: dict[str, _Scope] = {}

    def unique(self, name: str, is_handle: bool = False) -> str:
        """The name that an op gets."""
        own = self._scopes.get(name)
        if own is not None and not own.is_complete:
            own.is_complete, own.is_handle = True, is_handle
            return own.name
        found = self._graph.unique(self._inside(name))
        self._scopes[name] = _Scope(found, True, is_handle)
        return found

    def _inside(self, name: str) -> str:
        """A name in the last scope of the op that it is named after."""
        cut = name.rfind("/")
        while cut > 0 and name[:cut] not in self._scopes:
            cut = name.rfind("/", 0, cut)
        if cut <= 0:
            return name
        scope, rest = self._scopes[name[:cut]], name[cut:]
        if scope.is_complete:
            is_taken = self._graph.find_operation(scope.name + rest) is not None
            if is_taken or not scope.is_handle:
                scope = _Scope(self._graph.unique(name[:cut]), False)
                self._scopes[name[:cut]] = scope
        return scope.name + rest


def _parameter(spec: Op, index: int) -> str:
    """The name of an op's input."""
    inputs = type(spec).inputs
    if index < len(inputs) and not any(arg.is_sequence for arg in inputs[:index]):
        return inputs[index].name
    return f"input_{index}"


def _users_name(value: Tensor, frames: Sequence[FrameType]) -> str | None:
    """What the user's code calls a tensor."""
    for frame in frames:
        for names in (frame.f_locals, frame.f_globals):
            for name, known in list(names.items()):
                if known is value and not name.startswith("_"):
                    return name
    return None


def _constant(value: Any) -> Op:
    """What outputs a value: a constant that holds it if it is small."""
    is_eager = isinstance(value, EagerTensor) and value.dtype.is_numpy_compatible
    if not is_eager or value._num_elements() > WHOLE:
        return Placeholder(value.dtype.base_dtype, value.static_shape)
    make: Any = ROLES[Role.CONSTANT]
    made: Op = make(np.array(value._host_value()), value.dtype)
    return made


def _writes(body: FuncGraph) -> bool:
    """Whether a function changes a variable that it captures."""
    captured = set(body.captures.values())
    return any(not op.outputs and captured & set(op.inputs) for op in body.operations)
