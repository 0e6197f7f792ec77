"""Gradients of If, Case and While nodes: nodes of the same kind.

The gradient of a branch needs values that the branch computed: these become further
outputs of the node, as optionals, since only one branch has them. Those of a loop's
iterations are pushed onto tensor lists, from which the gradient's loop pops them.
Source: python/ops/cond_v2.py (_IfGrad), while_v2.py (_WhileGrad).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.autodiff.gradient_registry import gradient_of
from tfteach.autodiff.gradients import gradients
from tfteach.control.control_flow_v2 import (
    FlowGraph,
    added,
    function_name,
    is_stateful,
    lowered,
    match_inputs,
    shapes_of,
    types_of,
)
from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import body_of
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.indexed_slices import quietly
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Gradient
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros, zeros_like
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.functions.control_flow import (
    Case,
    If,
    StatelessIf,
    StatelessWhile,
    While,
)
from tfteach.ops.functions.optionals import (
    OptionalFromValue,
    OptionalGetValue,
    OptionalNone,
)
from tfteach.ops.state.resource_variables import VariableShape
from tfteach.ops.state.tensor_list_ops import (
    EmptyTensorList,
    TensorListPopBack,
    TensorListPushBack,
)


class GradientGraph(FlowGraph):
    """The graph of a gradient function, which reads tensors of the forward one's.

    Attributes:
      forward: the graph of the function that is differentiated.
      intermediates: tensors computed in it that the gradient needs.
      gradient_scope: the name scope of the call of `tf.gradients` around it.
    """

    def __init__(self, name: str, forward: FuncGraph) -> None:
        super().__init__(name)
        self.forward = forward
        self.intermediates: dict[Tensor, Tensor] = {}
        outer = self.outer_graph
        tokens = outer.get_name_scope().split("/")
        scopes = [i for i, t in enumerate(tokens) if t.startswith("gradients")]
        own = "/".join(tokens[: scopes[-1] + 1]) if scopes else "gradients"
        self.gradient_scope: str = getattr(outer, "gradient_scope", own)
        self._ends = {*forward.inputs, *forward.outputs}

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if tensor.op.graph is self:
            return tensor
        found = self.intermediates.get(tensor)
        if found is not None:
            return found
        if tensor.op.graph is self.forward and tensor not in self.captures:
            if tensor.op.spec.holds_value:
                with self.as_default(), self.control_dependencies(None):
                    found = tensor.op.spec(name=tensor.op.name)
                self.intermediates[tensor] = found
                return found
            if self.is_intermediate(tensor):
                found = self.intermediates[tensor] = self.value_of(tensor)
                return found
        found = self.captures.get(tensor)
        return self._add_capture(tensor, name) if found is None else found

    def is_intermediate(self, tensor: Tensor) -> bool:
        """Whether a tensor of the forward graph is none of the node's ends."""
        return tensor not in self._ends

    def value_of(self, tensor: Tensor) -> Tensor:
        """The value of an intermediate tensor."""
        with self.as_default(), self.control_dependencies(None):
            holder = self._capture_placeholder_of(dtypes.variant, (), tensor.op.name)
            kinds = (tensor.dtype.base_dtype,), (tensor.static_shape,)
            found: Tensor = OptionalGetValue(*kinds)(holder)[0]
        self.captures[tensor] = holder
        self.inputs.append(holder)
        return found


def _forward_graph(op: Operation, function: Function) -> FuncGraph:
    graph = body_of(op, function).graph
    assert isinstance(graph, FuncGraph)
    _ = op.graph.functions[function.name].definition  # as it is before it is changed
    return graph


def _rewritten(op: Operation, graph: FuncGraph, function: Function) -> Function:
    """The function of a graph that has got more outputs."""
    name = f"{function.name}_rewritten"
    while name in op.graph.functions:
        name += "_rewritten"
    graph.name = name
    from tfteach.framework.functions.defined_function import DefinedFunction

    DefinedFunction(name, graph).add_to_graph(op.graph)
    return Function(name)


def _changed(op: Operation, spec: Any, more: int) -> None:
    """Replace a node's op by one with more outputs, all of them variants."""
    known = op.graph.known
    if known is not None:
        known.forget(op)
    op.spec = spec
    for _ in range(more):
        op.outputs.append(Tensor(op, len(op.outputs), dtypes.variant, ()))
    op.graph.record_mutation()


def _differentiable(tensor: Tensor) -> bool:
    base = tensor.dtype.base_dtype
    return base.is_floating or base.is_complex


def _is_variant(tensor: Tensor) -> bool:
    return tensor.dtype.base_dtype is dtypes.variant


def _zeros_like(x: Tensor, like: Tensor | None) -> Tensor:
    """The gradient of an input on which nothing depends."""
    if x.dtype.base_dtype is not dtypes.resource:
        return zeros_like(x)
    assert like is not None
    return zeros(VariableShape()(x), like.dtype.base_dtype)


def _dense(grad: Gradient) -> Tensor | None:
    if grad is None or isinstance(grad, Tensor):
        return grad
    with quietly():
        return convert(grad)


# ---- branches


@gradient_of(If, StatelessIf)
def if_gradient(op: Operation, *grads: Tensor) -> list[Gradient]:
    """A node whose branches compute the gradients of the branches."""
    spec: Any = op.spec
    functions = [spec.then_branch, spec.else_branch]

    def make(names: Sequence[Function], **types: Any) -> Any:
        return {"then_branch": names[0], "else_branch": names[1], **types}

    return _branch_gradient(op, functions, grads, make, (If, StatelessIf), None)


@gradient_of(Case)
def case_gradient(op: Operation, *grads: Tensor) -> list[Gradient]:
    """A node whose branches compute the gradients of the branches."""
    spec: Any = op.spec

    def make(names: Sequence[Function], **types: Any) -> Any:
        return {"branches": tuple(names), **types}

    kinds = Case, Case
    return _branch_gradient(op, list(spec.branches), grads, make, kinds, "gradient")


def _branch_gradient(
    op: Operation,
    functions: Sequence[Function],
    grads: Sequence[Tensor],
    make: Any,
    kinds: tuple[Any, Any],
    name: str | None,
) -> list[Gradient]:
    forwards = [_forward_graph(op, function) for function in functions]
    found: list[list[Tensor | None]] = []
    graphs = []
    for forward, function in zip(forwards, functions, strict=True):
        own = function.name.removesuffix("_rewritten")
        graph = GradientGraph(function_name(own, "_grad"), forward)
        pairs = [
            (y, grad)
            for y, grad in zip(forward.outputs, grads, strict=False)
            if grad is not None and (_differentiable(y) or _is_variant(y))
        ]
        with graph.as_default():
            weights = [graph.capture(grad) for _, grad in pairs]
            made = gradients([y for y, _ in pairs], forward.inputs, weights)
            found.append([_dense(grad) for grad in made])
        graphs.append(graph)
    wanted = [
        i
        for i, x in enumerate(forwards[0].inputs)
        if _differentiable(x) or any(row[i] is not None for row in found)
    ]
    for graph, forward, row in zip(graphs, forwards, found, strict=True):
        with graph.as_default():
            values = []
            for i in wanted:
                like = next((other[i] for other in found if other[i] is not None), None)
                value = row[i]
                if value is None:
                    value = _zeros_like(forward.inputs[i], like)
                values.append(value)
            graph.outputs = [identity(value) for value in values]
    _add_optionals(op, forwards, graphs, functions, make)
    inputs = match_inputs(graphs)
    kind = kinds[0] if any(map(is_stateful, graphs)) else kinds[1]
    types = {
        "Tin": types_of(inputs),
        "Tout": types_of(graphs[0].outputs),
        "output_shapes": shapes_of(graphs),
    }
    made_op = kind(**make([added(graph) for graph in graphs], **types))
    results = made_op(op.inputs[0], inputs, name=name)
    results = results if isinstance(results, list) else [results]
    lowered(results[0].op)
    by_input: list[Gradient] = [None] * len(op.inputs)
    for i, tensor in zip(wanted, results, strict=True):
        by_input[i + 1] = identity(tensor)
    return by_input


def _add_optionals(
    op: Operation,
    forwards: Sequence[FuncGraph],
    graphs: Sequence[GradientGraph],
    functions: Sequence[Function],
    make: Any,
) -> None:
    """Let the node output the intermediate values; tells the gradients' captures."""
    outer: dict[Tensor, Tensor] = {}
    needed: list[tuple[int, Tensor]] = []
    for k, (forward, graph) in enumerate(zip(forwards, graphs, strict=True)):
        outer.update(zip(forward.inputs, op.inputs[1:], strict=True))
        for y, output in zip(forward.outputs, op.outputs, strict=False):
            if y not in outer:
                outer[y] = output
        needed += [
            (k, t) for t in graph.captures if t.op.graph is forward and t not in outer
        ]
    if needed:
        first = len(op.outputs)
        for k, forward in enumerate(forwards):
            with forward.as_default():
                for branch, tensor in needed:
                    own = OptionalFromValue()([tensor]) if branch == k else None
                    forward.outputs.append(OptionalNone()() if own is None else own)
        spec: Any = op.spec
        shapes = spec.output_shapes or (None,) * first
        changes = make(
            [_rewritten(op, f, n) for f, n in zip(forwards, functions, strict=True)],
            Tout=(*spec.Tout, *[dtypes.variant] * len(needed)),
            output_shapes=(*shapes, *[()] * len(needed)),
        )
        _changed(op, spec.replace(**changes), len(needed))
        for i, (_, tensor) in enumerate(needed):
            outer[tensor] = op.outputs[first + i]
    for graph in graphs:
        graph.captures = {outer.get(t, t): p for t, p in graph.captures.items()}


# ---- loops


class LoopGradientGraph(GradientGraph):
    """The graph of the body of a loop's gradient.

    Attributes:
      lists: intermediate tensor -> (its list, the list after the value was popped).
      invariants: inputs of the forward body that it returns unchanged.
    """

    def __init__(self, name: str, forward: FuncGraph) -> None:
        super().__init__(name, forward)
        self.lists: dict[Tensor, tuple[Tensor, Tensor]] = {}
        pairs = zip(forward.inputs, forward.outputs, strict=True)
        self.invariants = {x for x, y in pairs if x is y}

    def is_intermediate(self, tensor: Tensor) -> bool:
        return tensor not in self.invariants

    def value_of(self, tensor: Tensor) -> Tensor:
        with self.as_default(), self.control_dependencies(None):
            holder = self._capture_placeholder_of(dtypes.variant, (), tensor.op.name)
            shape = [-1 if n is None else n for n in tensor.static_shape or ()]
            size = -1 if tensor.static_shape is None else shape
            pop = TensorListPopBack(tensor.dtype.base_dtype)
            rest, value = pop(holder, constant(size, dtypes.int32))
            value.set_shape(tensor.static_shape)
        self.lists[tensor] = holder, rest
        return value


@gradient_of(While, StatelessWhile)
def while_gradient(op: Operation, *grads: Tensor) -> list[Gradient]:
    """A loop over the iterations in reverse."""
    spec: Any = op.spec
    forward = _forward_graph(op, spec.body)
    name = spec.body.name.removesuffix("_rewritten")
    graph = LoopGradientGraph(function_name(name, "_grad"), forward)
    kept = [
        i
        for i, x in enumerate(forward.inputs)
        if _differentiable(x) and grads[i] is not None
    ]
    handles = [
        i
        for i, x in enumerate(forward.inputs)
        if x.dtype.base_dtype is dtypes.resource and x in graph.invariants
    ]
    count = _counter(op)
    with graph.as_default():
        turn = graph.add_input(dtypes.int32, (), None)
        total = graph.add_input(dtypes.int32, (), None)
        before = [
            graph.add_input(grads[i].dtype.base_dtype, forward.inputs[i].static_shape)
            for i in kept
        ]
        every = [*kept, *handles]
        found = [
            _dense(grad)
            for grad in gradients(
                [forward.outputs[i] for i in kept],
                [forward.inputs[i] for i in every],
                before,
            )
        ]
        handles = [
            i
            for i, g in zip(every, found, strict=True)
            if i in handles and g is not None
        ]
        sums = {}
        for i, grad in zip(every, found, strict=True):
            if i in handles:
                assert grad is not None
                known = graph.add_input(grad.dtype.base_dtype, grad.static_shape)
                before.append(known)
                sums[i] = known + grad
            elif i in kept:
                sums[i] = zeros_like(forward.inputs[i]) if grad is None else grad
        wanted = [*kept, *handles]
        results = [turn + 1, identity(total), *[identity(sums[i]) for i in wanted]]
    invariants = _outer_of(op, forward, graph)
    starts = _start_lists(op, forward, graph)
    own = [turn, total, *before]
    holders = [holder for holder, _ in graph.lists.values()]
    graph.inputs = [*own, *graph.captures.values(), *holders]
    graph.outputs = [
        *results,
        *graph.captures.values(),
        *[rest for _, rest in graph.lists.values()],
    ]
    test = FlowGraph(function_name(f"{spec.cond.name}", "_grad"))
    with test.as_default():
        arguments = [
            test.add_input(t.dtype.base_dtype, t.static_shape) for t in graph.inputs
        ]
        test.outputs = [identity(arguments[0] < arguments[1])]
    first: list[Any] = [constant(0, dtypes.int32, name="grad_counter"), count]
    first += [grads[i] for i in kept]
    for i, placeholder in zip(handles, before[len(kept) :], strict=True):
        first.append(zeros(VariableShape()(op.inputs[i]), placeholder.dtype.base_dtype))
    inputs = [*first, *invariants, *starts]
    made: Any = While(
        T=types_of(graph.inputs),
        cond=added(test),
        body=added(graph),
        output_shapes=tuple(t.static_shape for t in graph.inputs),
        parallel_iterations=spec.parallel_iterations,
    )(inputs, name="while_grad")
    lowered(made[0].op)
    made[0].op.extra_attrs["_is_gradient"] = True
    values = [identity(tensor) for tensor in made]
    by_input: list[Gradient] = [None] * len(op.inputs)
    for i, value in zip(wanted, values[2:], strict=False):
        by_input[i] = value
    return by_input


def _counter(op: Operation) -> Tensor:
    """The number of iterations of a loop."""
    extra = op.extra_attrs or {}
    if extra.get("_is_gradient"):
        raise TypeError("Second-order gradient for while loops not supported.")
    if "_num_original_outputs" not in extra:
        raise NotImplementedError(
            f"The gradient of the loop '{op.name}', which tf.while_loop did not build: "
            "its first variable is no counter of its iterations."
        )
    return identity(op.outputs[0], name="iterations")


def _outer_of(
    op: Operation, forward: FuncGraph, graph: LoopGradientGraph
) -> list[Tensor]:
    """The tensors around the loop that the gradient's captures stand for."""
    inputs = dict(zip(forward.inputs, op.outputs, strict=True))
    return [inputs.get(tensor, tensor) for tensor in graph.captures]


def _start_lists(
    op: Operation, forward: FuncGraph, graph: LoopGradientGraph
) -> list[Tensor]:
    """Let the loop push the intermediate values; returns the full lists."""
    if not graph.lists:
        return []
    spec: Any = op.spec
    test = _forward_graph(op, spec.cond)
    first = len(op.outputs)
    with op.graph.as_default(), op.graph.control_dependencies(None):
        empty = []
        for tensor in graph.lists:
            make = EmptyTensorList(tensor.dtype.base_dtype)
            shape = tensor.static_shape
            sizes = None if shape is None else [-1 if n is None else n for n in shape]
            given = constant(-1 if sizes is None else sizes, dtypes.int32)
            empty.append(make(given, -1, name=f"{op.name}_accumulator"))
    for tensor in graph.lists:
        holder = forward.add_input(dtypes.variant, ())
        test.add_input(dtypes.variant, ())
        with forward.as_default():
            forward.outputs.append(TensorListPushBack()(holder, tensor))
    for each in (forward, test):  # the lists are the last inputs
        own = len(graph.lists)
        start = len(each.inputs) - len(each.captures) - own
        lists = each.inputs[start : start + own]
        del each.inputs[start : start + own]
        each.inputs += lists
    count = len(empty)
    shapes = spec.output_shapes or (None,) * first
    changed = spec.replace(
        T=(*spec.T, *[dtypes.variant] * count),
        cond=_rewritten(op, test, spec.cond),
        body=_rewritten(op, forward, spec.body),
        output_shapes=(*shapes, *[()] * count),
    )
    op._change_edges((*op.inputs, *empty), op.control_inputs)
    _changed(op, changed, count)
    return op.outputs[first:]
