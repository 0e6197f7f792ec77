"""Calls of functions, replaced by the ops of the functions' bodies.

While a step is planned, a node whose work is a body (`Op.function_body`) is expanded
into copies of the body's ops, which are named "call/op".  From then on they are ops
like all others: pruned, placed, optimized, fused, traced.  The expansion of a call is
cached on it.
Source: core/common_runtime/function.cc (InlineFunctionBody: names, control edges).
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any, NamedTuple

from tfteach.framework.control_flow_context import is_constant_enter
from tfteach.framework.device import merge_names
from tfteach.framework.errors import invalid_argument
from tfteach.framework.functions.body import Body
from tfteach.framework.graph import Graph
from tfteach.framework.op import ROLES, Op
from tfteach.framework.op_traits import Flow, Role
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import merge
from tfteach.framework.shape_inference import infer
from tfteach.framework.topological_order import topological_order


class InlinedOperation(Operation):
    """A copy of a body's op, in the place of a call.

    Attributes:
      caller: the op that it was inlined for, which may be inlined itself.
      original: the op of the body.
      order: its place among the ops of the step: that of the caller, then its own.
    """

    __slots__ = ("caller", "order", "original")

    caller: Operation
    original: Operation | None
    order: tuple[int, ...]


class Inlined(NamedTuple):
    """The expansion of one call.

    Attributes:
      ops: the copies, in the order of the body.
      outputs: the tensors that replace the call's outputs; each may be an input of it.
      effects: those of the ops that run whenever the call does.
      end: an op that runs after all that the call does, in place of the call itself.
      name: the function's name.
    """

    ops: tuple[InlinedOperation, ...]
    outputs: tuple[Tensor, ...]
    effects: tuple[Operation, ...]
    end: InlinedOperation
    name: str


def order_of(op: Operation) -> tuple[int, ...]:
    """The place of an op of a step in the order in which ops were built."""
    return op.order if isinstance(op, InlinedOperation) else (op.node_id,)


def inlined(op: Operation) -> Inlined | None:
    """The expansion of a node; None if it calls no function, or its kernel does.

    Raises:
      NotFoundError: the function is not in the graph's library.
    """
    if not op.spec.calls_function:
        return None
    graph = op.graph
    cached: tuple[int, Inlined | None] | None = getattr(op, "inlined", None)
    if cached is not None and cached[0] == graph.mutations:
        return cached[1]
    with graph.lock:
        cached = getattr(op, "inlined", None)
        if cached is None or cached[0] != graph.mutations:
            body = op.spec.function_body(op)
            found = None
            if body is not None and not (body.name and body.name in _open_calls(op)):
                found = _Inliner(op, body).run()
            cached = graph.mutations, found
            op.inlined = cached  # type: ignore[attr-defined]
    return cached[1]


def call_of(op: Operation) -> InlinedOperation | None:
    """The copy of a body's op that `op` is, or None."""
    return op if isinstance(op, InlinedOperation) else None


def _open_calls(op: Operation) -> set[str]:
    """The functions whose bodies the op is in."""
    found = set()
    while isinstance(op, InlinedOperation):
        op = op.caller
        cached: Any = getattr(op, "inlined", None)
        found.add(op.inlining if cached is None else cached[1].name)  # type: ignore[attr-defined]
    return found


def inlinings(ops: Iterable[Operation]) -> list[tuple[str, str]]:
    """The calls that ops of a step were inlined for, with what became of each.

    Args:
      ops: the ops of the step.

    Returns:
      (name, text) for each call, outer calls first.
    """
    counts: dict[Operation, int] = {}
    for op in ops:
        while isinstance(op, InlinedOperation):
            counts[op.caller] = counts.get(op.caller, 0) + (op.original is not None)
            op = op.caller
    found = []
    for call in sorted(counts, key=order_of):
        expansion = inlined(call)
        if expansion is not None:
            what = f"the function {expansion.name}" if expansion.name else call.type
            count, total = counts[call], _size(expansion)
            found.append((call.name, f"{count} of the {total} ops of {what}"))
    return found


def _size(expansion: Inlined) -> int:
    """The number of ops of an expansion, with those of the calls in it."""
    total = 0
    for op in expansion.ops:
        inner = inlined(op)
        total += 1 if inner is None else _size(inner)
    return total


def resolved(tensor: Tensor, fed: Container[Tensor]) -> Tensor:
    """The tensor that has the value of `tensor`: fed, or of no inlined call."""
    while tensor.op.spec.calls_function and tensor not in fed:
        found = inlined(tensor.op)
        if found is None:
            break
        tensor = found.outputs[tensor.value_index]
    return tensor


def resolved_op(op: Operation) -> Operation:
    """The last op to run of a call's expansion; the op itself if it is no call."""
    if not op.spec.calls_function:
        return op
    found = inlined(op)
    return op if found is None else found.end


def _may_be_dead(op: Operation) -> bool:
    """Whether the op, or one that it is inlined for, is in a graph with branches."""
    while isinstance(op, InlinedOperation):
        if op.original is not None and _has_flow(op.original.graph):
            return True
        op = op.caller
    return _has_flow(op.graph)


def _has_flow(graph: Graph) -> bool:
    """Whether a graph, maybe an imported one, has branches or loops."""
    if graph.has_control_flow:
        return True
    size = len(graph.operations)
    known: tuple[int, bool] = getattr(graph, "flow_up_to", (0, False))
    if known[0] != size:
        new = graph.operations[known[0] :]
        known = size, known[1] or any(op.spec.flow is not None for op in new)
        graph.flow_up_to = known  # type: ignore[attr-defined]
    return known[1]


def _sources_of(op: Operation) -> list[Operation]:
    """The ops that precede an op of a body: all but the back edges of loops."""
    data = [t.op for t in op.inputs if not t.op.spec.closes_loop]
    return data + op.control_inputs if op.control_inputs else data


class _Inliner:
    def __init__(self, call: Operation, body: Body) -> None:
        self.call, self.body = call, body
        self.tensors: dict[Tensor, Tensor] = {}
        self.copies: dict[Operation, InlinedOperation] = {}
        self.pivot: Operation | None = None
        self.extra: list[InlinedOperation] = []
        self.back: list[InlinedOperation] = []
        call.inlining = body.name  # type: ignore[attr-defined]

    def run(self) -> Inlined:
        call, body = self.call, self.body
        if len(body.inputs) != len(call.inputs):
            raise invalid_argument(
                f"Expects {len(body.inputs)} arguments, but {len(call.inputs)} is "
                f"provided: function {body.name} of node {call.name}"
            ).at(call)
        self.tensors.update(zip(body.inputs, call.inputs, strict=True))
        # Gradients may have changed calls in the body since the call of it was built.
        for name, function in body.graph.functions.items():
            if name not in call.graph.functions:
                call.graph.add_function(function)
        placeholders = {tensor.op for tensor in body.inputs}
        for op in topological_order(body.graph.operations, _sources_of):
            if op not in placeholders:
                self.copy(op)
        for op in self.back:
            assert op.original is not None
            op.inputs = tuple(self.tensors[t] for t in op.original.inputs)
        outputs = tuple(self.tensors[tensor] for tensor in body.outputs)
        effects = tuple(self.copies[op] for op in body.effects if op in self.copies)
        end = self.new(ROLES[Role.NO_OP](), (), call.name, None)
        ends = dict.fromkeys(
            [*effects] + [tensor.op for tensor in outputs] + list(call.control_inputs)
        )
        end.control_inputs = list(ends)
        ops = (*self.extra, *self.copies.values())
        return Inlined(ops, outputs, effects, end, body.name)

    def copy(self, op: Operation) -> None:
        """Add the copy of one op of the body."""
        spec = op.spec
        if spec.flow is Flow.ENTER:  # loops of two calls are not one loop
            frame = spec.frame_name  # type: ignore[attr-defined]
            spec = spec.replace(frame_name=f"{self.call.name}/{frame}")
        known = [t for t in op.inputs if t in self.tensors]
        inputs = tuple(self.tensors.get(t, t) for t in op.inputs)
        if len(known) < len(inputs):  # a loop's back edge, of an op that follows
            first = self.tensors[known[0]]
            inputs = tuple(self.tensors.get(t, first) for t in op.inputs)
        made = self.new(spec, inputs, f"{self.call.name}/{op.name}", op)
        if len(known) < len(inputs):
            self.back.append(made)
        own = [*(t.op for t in op.inputs), *op.control_inputs]
        if not any(other in self.copies for other in own):
            made.control_inputs = list(self.call.control_inputs)
            if all(is_constant_enter(t.op) for t in inputs):
                made.control_inputs += self.liveness()
        # A call in the body hands them on to its ops: they must be complete now.
        made.control_inputs += [
            self.copies[c] for c in op.control_inputs if c in self.copies
        ]
        self.copies[op] = made
        self.tensors.update(zip(op.outputs, made.outputs, strict=True))
        if made.spec.calls_function and len(known) == len(inputs):
            nested = inlined(made)
            if nested is not None:  # no run can feed its outputs
                for tensor, inner in zip(made.outputs, nested.outputs, strict=True):
                    tensor._shape = inner._shape

    def liveness(self) -> list[Operation]:
        """What ops wait for, so that they run only if the call does.

        Of use for those without inputs, or with invariants of a loop only.
        """
        call = self.call
        if not call.inputs or call.control_inputs or not _may_be_dead(call):
            return []
        if self.pivot is None:
            tensor = call.inputs[0]
            name = f"{call.name}/input_control_node"
            pivot = self.new(ROLES[Role.IDENTITY](), (tensor,), name, None)
            self.extra.append(pivot)
            self.pivot = pivot
        return [self.pivot]

    def new(
        self,
        spec: Op,
        inputs: tuple[Tensor, ...],
        name: str,
        original: Operation | None,
    ) -> InlinedOperation:
        call = self.call
        op = InlinedOperation.__new__(InlinedOperation)
        op.graph, op.name, op.spec, op.inputs = call.graph, name, spec, inputs
        op.caller, op.original = call, original
        number = len(self.body.graph.operations) + 1
        if original is not None or inputs:
            number = len(self.copies)
        op.node_id = call.node_id
        op.order = (*order_of(call), number)
        dtypes, shapes = self.types(op, original)
        op.outputs = [
            Tensor(op, i, dtype, shape)
            for i, (dtype, shape) in enumerate(zip(dtypes, shapes, strict=True))
        ]
        op.control_inputs = []
        op.control_flow_context = call.control_flow_context
        op.extra_attrs = None if original is None else self.attrs(original)
        device = "" if original is None else original.device
        op.device = merge_names(device, call.device) if call.device else device
        op._origin = call._origin if original is None else original._origin
        if op._origin is None:
            op._origin = call._origin
        return op

    def types(self, op: Operation, original: Operation | None) -> Any:
        """The output types, and the shapes that the call's inputs determine."""
        try:
            dtypes, inferred = infer(op.spec, op.inputs, op.name)
            shapes = list(inferred)  # the original is cached with the op
        except ValueError:
            if original is None:
                raise
            # Of shapes that a run will refuse.
            dtypes = [t.dtype for t in original.outputs]
            shapes = [t.static_shape for t in original.outputs]
        if original is not None:
            known = [t.static_shape for t in original.outputs]
            if op.spec.flow is not None:
                shapes = known
            for i, (shape, other) in enumerate(zip(shapes, known, strict=True)):
                try:
                    shapes[i] = merge(shape, other)
                except ValueError:
                    shapes[i] = shape
        return dtypes, shapes

    def attrs(self, original: Operation) -> dict[str, Any] | None:
        """The extra attributes, with colocation groups named as the copies are."""
        extra = original.extra_attrs
        if not extra or "_class" not in extra:
            return extra
        groups = []
        for group in extra["_class"]:
            name = group.removeprefix(b"loc:@").decode()
            other = self.body.graph.find_operation(name)
            if other is None:
                groups.append(group)
            elif other in self.copies:
                groups.append(b"loc:@" + f"{self.call.name}/{name}".encode())
        return {**extra, "_class": groups}
