"""What steps have in place of If, Case, While and For nodes.

Each body is a graph of calls inside the branches and loops of `tf.cond` and
`tf.while_loop`, as TensorFlow lowers these nodes.
Source: core/common_runtime/lower_if_op.cc, lower_case_op.cc, lower_while_op.cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any, ClassVar

from tfteach.control.branch import cond
from tfteach.control.loop import while_loop
from tfteach.control.loop_accumulators import Accumulators, accumulators_of
from tfteach.engine.optimize.stack_and_array_uses import PAIRED
from tfteach.framework import dtypes
from tfteach.framework.dtypes import DType, c_name
from tfteach.framework.errors import InternalError, invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import Body, body_of, body_rule
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.op import MultiOutputOp, Op
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import Shape, TensorShape
from tfteach.framework.shape_checks import require_scalar
from tfteach.framework.type_aliases import Array, ArrayModule
from tfteach.ops.core.identity_reshape import identity, reshape
from tfteach.ops.core.loop_stacks import StackPopV2, StackPushV2, StackV2
from tfteach.ops.core.shape_ops import size
from tfteach.ops.functions.calls import PartitionedCall, StatefulPartitionedCall
from tfteach.ops.functions.control_flow import (
    LOWERED,
    Case,
    For,
    If,
    StatelessIf,
    StatelessWhile,
    While,
)
from tfteach.ops.math.compare import Equal, NotEqual
from tfteach.ops.state.tensor_list_ops import EmptyTensorList


def _body_graph(op: Operation) -> tuple[FuncGraph, list[Tensor]]:
    """A graph with a placeholder for each input of the node."""
    graph = FuncGraph(op.name, op.graph, op.graph.functions)
    graph.functional_flow = False  # its branches and loops are what the node becomes
    inputs = [
        graph.add_input(t.dtype.base_dtype, t.static_shape, "input") for t in op.inputs
    ]
    return graph, inputs


class BodyCall(MultiOutputOp, abstract=True):
    """A call of a body that is no function of the library."""

    op_type: ClassVar[str] = "PartitionedCall"  # as it is reported
    signature = "input: *Tin -> output: *Tout"
    Tin: tuple[DType, ...]
    Tout: tuple[DType, ...]
    body: Body

    calls_function: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False

    def infer_shape(self, input: list[Shape]) -> list[Shape]:
        return [tensor.static_shape for tensor in self.body.outputs]

    def function_body(self, op: Operation) -> Body:
        return self.body


def _finished(op: Operation, graph: FuncGraph, outputs: Sequence[Tensor]) -> Body:
    """The body with these outputs, and others that follow the functions' effects.

    Ops in a branch that is not taken are dead, those in a loop run once in each
    iteration: what waits for the node waits for outputs of the branch or loop instead.
    """
    count = len(op.outputs)
    graph.outputs = list(outputs[:count])
    for tensor, out in zip(graph.outputs, op.outputs, strict=True):
        tensor.set_shape(out.shape)
    # Bodies of nodes have no name: calls that lead back to one are found by the names
    # of the functions that it calls.
    effects = tuple(tensor.op for tensor in outputs[count:])
    return graph.as_body()._replace(name="", effects=effects)


def _function_body(op: Operation, function: Function) -> Body:
    """The body of one of the node's functions, with the effects that must happen.

    TensorFlow lowers the nodes of `tf.cond` and `tf.while_loop` before it prunes the
    graph: an effect that no result depends on is pruned.  The kernels of other nodes
    run whole functions.
    """
    body = body_of(op, function)
    is_lowered = (op.extra_attrs or {}).get(LOWERED)
    return body._replace(effects=()) if is_lowered else body


def _after(call: Operation, value: Tensor) -> Tensor:
    """The value, once a call and its effects have ended."""
    with call.graph.control_dependencies([call]):
        return identity(value)


def _call(
    op: Operation, function: Function, inputs: Sequence[Tensor], name: str
) -> list[Any]:
    """A call of one of the node's functions, named after the attribute.

    Returns:
      The results; the Operation if there are none.
    """
    body = _function_body(op, function)
    types = tuple(t.dtype.base_dtype for t in inputs)
    results = tuple(t.dtype.base_dtype for t in body.outputs)
    call: Any
    if body.effects:
        call = StatefulPartitionedCall(types, results, function)
    elif body == body_of(op, function):
        call = PartitionedCall(types, results, function)
    else:
        call = BodyCall(types, results, body)
    made = call(list(inputs), name=f"{name}/")
    return made if isinstance(made, list) else [made]


def _call_and(
    op: Operation,
    function: Function,
    inputs: Sequence[Tensor],
    name: str,
    done: Tensor | None,
) -> list[Tensor]:
    """The results of a call, and the value of `done` after it; no value if None."""
    made = _call(op, function, inputs, name)
    if done is None:
        return made
    call = made[0].op if isinstance(made[0], Tensor) else made[0]
    return [*(t for t in made if isinstance(t, Tensor)), _after(call, done)]


# ---- branches


def _truth(value: Tensor) -> Tensor:
    """Whether a predicate of any type counts as true."""
    if value.static_shape not in (None, ()):
        return NotEqual()(size(value), 0)
    if value.dtype.base_dtype is dtypes.bool_:
        return value
    zero: Any = "" if value.dtype.base_dtype is dtypes.string else 0
    return NotEqual()(reshape(value, []), zero)


def _signal(
    op: Operation, functions: Sequence[Function], value: Tensor
) -> Tensor | None:
    """The value that a branch outputs after its effects; None if none has effects."""
    if op.outputs and not any(_function_body(op, f).effects for f in functions):
        return None  # a run computes only the results that it needs
    return value


def _check_branch(op: Operation, function: Function) -> None:
    """Refuse a branch whose results are not those that the node states."""
    found = [t.dtype.base_dtype for t in body_of(op, function).outputs]
    wanted = [t.dtype.base_dtype for t in op.outputs]
    for i, (dtype, other) in enumerate(zip_longest(wanted, found)):
        if dtype is not other:
            names = [c_name(kind) if kind else "missing" for kind in (dtype, other)]
            raise InternalError(
                None,
                None,
                f"Expect {i}-th output is of type {names[0]} but get {names[1]}: "
                f"function {function.name}",
            ).at(op)


@body_rule(If, StatelessIf)
def if_body(op: Operation) -> Body:
    """One of two calls."""
    spec: Any = op.spec
    for function in (spec.then_branch, spec.else_branch):
        _check_branch(op, function)
    graph, (choice, *inputs) = _body_graph(op)
    with graph.as_default():
        truth = _truth(choice)
        done = _signal(op, (spec.then_branch, spec.else_branch), truth)
        outputs = cond(
            truth,
            lambda: _call_and(op, spec.then_branch, inputs, "then_branch", done),
            lambda: _call_and(op, spec.else_branch, inputs, "else_branch", done),
            strict=True,
            name="cond",
        )
    return _finished(op, graph, outputs)


@body_rule(Case)
def case_body(op: Operation) -> Body:
    """One call of several: a chain of branches."""
    spec: Any = op.spec
    for function in spec.branches:
        _check_branch(op, function)
    graph, (index, *inputs) = _body_graph(op)
    done = _signal(op, spec.branches, index)

    def chosen(number: int) -> Any:
        name, function = f"branches_{number}", spec.branches[number]
        if number == len(spec.branches) - 1:
            return _call_and(op, function, inputs, name, done)
        return cond(
            Equal()(index, number),
            lambda: _call_and(op, function, inputs, name, done),
            lambda: chosen(number + 1),
            strict=True,
        )

    with graph.as_default():
        outputs = chosen(0)
    return _finished(op, graph, outputs)


# ---- loops


def _check_results(op: Operation, function: Function, kind: str) -> None:
    """Refuse a loop's body whose results are not the node's variables."""
    found = [t.dtype.base_dtype for t in body_of(op, function).outputs]
    wanted = [t.dtype.base_dtype for t in op.outputs]
    if len(found) != len(wanted):
        raise invalid_argument(
            f"{kind} loop body returned {len(found)} arguments. Expected: {len(wanted)}"
        ).at(op)
    for i, (dtype, other) in enumerate(zip(wanted, found, strict=True)):
        if dtype is not other:
            number = i + (kind == "For")  # the body's first argument is the number
            raise invalid_argument(
                f"Expects arg[{number}] to be {c_name(dtype)} but {c_name(other)} is "
                "provided"
            ).at(op)


@body_rule(While, StatelessWhile)
def while_body(op: Operation) -> Body:
    """A loop of two calls.  Values that the body returns unchanged are invariants."""
    lists = accumulators_of(op)
    if lists.pushed or lists.popped:
        return _LoopWithStacks(op, lists).body()
    return _Loop(op).body()


def _dependent(tensors: set[Tensor]) -> set[Tensor]:
    """The tensors of a body that depend on some of its inputs, and these."""
    found = set(tensors)
    for op in next(iter(tensors)).graph.operations if tensors else ():
        if any(tensor in found for tensor in op.inputs):
            found.update(op.outputs)
    return found


class _Loop:
    """The loop of a While node.

    Attributes:
      changing: the numbers of the variables that are variables of the loop in the step.
      fixed: the numbers of those that get the same value in every iteration.
      inputs: the placeholders of the node's inputs.
    """

    def __init__(self, op: Operation) -> None:
        self.op = op
        spec: Any = op.spec
        _check_results(op, spec.body, "While")
        tests = len(body_of(op, spec.cond).outputs)
        if tests != 1:
            raise invalid_argument(
                "Expected a single scalar return value from WhileOp cond, got "
                f"{tests} tensors."
            ).at(op)
        self.graph, self.inputs = _body_graph(op)
        self.function = _function_body(op, spec.body)
        pairs = zip(self.function.inputs, self.function.outputs, strict=True)
        self.changing = [i for i, (x, y) in enumerate(pairs) if x is not y]
        varying = _dependent({self.function.inputs[i] for i in self.changing})
        self.fixed = {
            i for i in self.changing if self.function.outputs[i] not in varying
        }

    def every(self, changed: Sequence[Tensor]) -> list[Tensor]:
        """The values of all variables, given those of the changing ones."""
        values = list(self.inputs)
        for i, tensor in zip(self.changing, changed, strict=True):
            values[i] = tensor
        return values

    def test(self, values: list[Tensor]) -> Tensor:
        """Whether the loop goes on with these values."""
        spec: Any = self.op.spec
        return _truth(_call(self.op, spec.cond, values, "cond")[0])

    def step(self, values: list[Tensor]) -> list[Tensor]:
        """The changing variables' values after an iteration with these values."""
        spec: Any = self.op.spec
        after = _call(self.op, spec.body, values, "body")
        found = self.in_turn(values, [after[i] for i in self.changing])
        if self.function.effects:
            found[0] = _after(after[0].op, found[0])
        return found

    def in_turn(self, values: list[Tensor], found: list[Tensor]) -> list[Tensor]:
        """The changing variables' values, each once the one before is there.

        Otherwise those that are the same in all iterations would begin them for ever.
        """
        return [
            _after(values[i].op, value) if i in self.fixed else value
            for i, value in zip(self.changing, found, strict=True)
        ]

    def body(self) -> Body:
        op, changing = self.op, self.changing

        def step(*changed: Tensor) -> list[Tensor]:
            found = self.step(self.every(changed))
            for i, tensor in zip(changing, found, strict=True):
                tensor.set_shape(TensorShape(shapes[i]))
            return found

        spec: Any = op.spec
        shapes = spec.output_shapes_of(len(op.inputs))
        for i in changing:
            self.inputs[i].set_shape(TensorShape(shapes[i]))
        with self.graph.as_default():
            found: Any = while_loop(
                lambda *changed: self.test(self.every(changed)),
                step,
                [self.inputs[i] for i in changing],
                shape_invariants=[TensorShape(shapes[i]) for i in changing],
                parallel_iterations=spec.parallel_iterations,
            )
        outputs = self.every(found if isinstance(found, list | tuple) else [found])
        if self.function.effects:
            outputs.append(outputs[changing[0]])
        return _finished(op, self.graph, self.outputs(outputs))

    def outputs(self, values: list[Tensor]) -> list[Tensor]:
        """The node's outputs, given the last values of all variables."""
        return values


class ListStack(StackV2, abstract=True):
    """A new stack in place of a list."""

    signature = "max_size: int32 -> handle: variant"

    def infer_shape(self, max_size: Shape) -> Shape:
        return ()


class ListPush(StackPushV2, abstract=True):
    """Push `elem` onto a stack in place of a list."""

    signature = "handle: variant, elem: T -> output: T"


class ListPop(StackPopV2, abstract=True):
    """Remove the top value of a stack in place of a list."""

    signature = "handle: variant -> elem: elem_type"


class _LoopWithStacks(_Loop):
    """The loop of a While node some of whose lists are stacks: loop invariants."""

    def __init__(self, op: Operation, lists: Accumulators) -> None:
        super().__init__(op)
        self.lists = lists
        self.changing = [
            i for i in self.changing if i not in lists.pushed and i not in lists.popped
        ]
        self.plain = [
            i
            for i in range(len(op.inputs))
            if i not in lists.pushed and i not in lists.popped
        ]
        with self.graph.as_default():
            for i, value in lists.pushed.items():
                stack = ListStack(value.dtype.base_dtype)(-1)
                # What is pushed once in each iteration is popped once in each.
                stack.op.extra_attrs = {PAIRED: True}
                self.inputs[i] = stack

    def call(
        self,
        name: str,
        body: Body,
        values: list[Tensor],
        more: dict[Tensor, Tensor],
        outputs: Sequence[Tensor],
    ) -> list[Tensor]:
        """The outputs of a body, given all variables, and some tensors of the body."""
        inputs = [values[i] for i in self.plain] + list(more.values())
        inner = [body.inputs[i] for i in self.plain] + list(more)
        made = BodyCall(
            tuple(t.dtype.base_dtype for t in inputs),
            tuple(t.dtype.base_dtype for t in outputs),
            body._replace(inputs=tuple(inner), outputs=tuple(outputs)),
        )
        return made(inputs, name=f"{name}/")

    def test(self, values: list[Tensor]) -> Tensor:
        spec: Any = self.op.spec
        body = body_of(self.op, spec.cond)
        return _truth(self.call("cond", body, values, {}, body.outputs)[0])

    def step(self, values: list[Tensor]) -> list[Tensor]:
        lists, function = self.lists, self.function
        popped: dict[Tensor, Tensor] = {}
        for j, pop in lists.popped.items():
            value = pop.outputs[1]
            popped[value] = ListPop(value.dtype.base_dtype)(values[j])
            popped[value].set_shape(value.shape)
        wanted = [function.outputs[i] for i in self.changing]
        wanted += lists.pushed.values()
        found = self.call("body", function, values, popped, wanted)
        pushed = zip(lists.pushed, found[len(self.changing) :], strict=True)
        uses = [ListPush()(values[i], value).op for i, value in pushed]
        uses += [tensor.op for tensor in popped.values()]
        found = self.in_turn(values, found[: len(self.changing)])
        with self.graph.control_dependencies(uses):
            found[0] = identity(found[0])
        if function.effects:
            found[0] = _after(found[1].op, found[0])
        return found

    def outputs(self, values: list[Tensor]) -> list[Tensor]:
        with self.graph.as_default():
            for j, pop in self.lists.popped.items():  # as many as were pushed
                spec: Any = pop.spec
                values[j] = EmptyTensorList(spec.element_dtype)(-1, -1)
        return values


class RangeStart(Op, abstract=True):
    """The first number of a For node's range, once its limits are checked."""

    op_type: ClassVar[str] = "For"  # as it is reported

    signature = "start: int32, limit: int32, delta: int32 -> first: int32"

    is_foldable: ClassVar[bool] = False
    host_inputs: ClassVar[tuple[str, ...]] = ("start", "limit", "delta")

    def infer_shape(self, start: Shape, limit: Shape, delta: Shape) -> Shape:
        return ()

    def compute(self, xp: ArrayModule, start: Array, limit: Array, delta: Array) -> Any:
        require_scalar(start.shape, "start must be a scalar, but %s")
        require_scalar(limit.shape, "limit must be a scalar, but %s")
        require_scalar(delta.shape, "delta must be a scalar, but %s")
        left = int(limit) - int(start)
        if left and left * int(delta) <= 0:
            raise invalid_argument(
                f"Invalid start/limit/delta: {start} {limit} {delta}"
            )
        return start


@body_rule(For)
def for_body(op: Operation) -> Body:
    """A loop over the numbers of a range."""
    spec: Any = op.spec
    _check_results(op, spec.body, "For")
    graph, (start, limit, delta, *inputs) = _body_graph(op)
    with graph.as_default():
        # For errors in a run: TensorFlow's come from the node's kernel.
        start = RangeStart()(start, limit, delta)
        limit, delta = reshape(limit, []), reshape(delta, [])
        found: Any = while_loop(
            lambda *values: (limit - values[-1]) * delta > 0,
            lambda *values: _call_and(
                op,
                spec.body,
                [values[-1], *values[:-1]],
                "body",
                values[-1] + delta,
            ),
            [*inputs, start],
            shape_invariants=[TensorShape(None)] * len(inputs) + [TensorShape([])],
        )
    return _finished(op, graph, found)
