"""Loops: `while_loop`.

Each loop variable has a cycle of Merge, Switch and NextIteration, entered through Enter
and left through Exit; one LoopCond drives all Switch ops.
Source: python/ops/control_flow_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.branch import carry_in, merge, switch_colocated
from tfteach.control.control_flow_v2_toggles import is_functional
from tfteach.control.inner_summaries import call_with_summaries
from tfteach.control.loop_eager import run_loop
from tfteach.control.tensor_array import arrays_again, flow_of
from tfteach.framework import nest
from tfteach.framework.control_flow_context import (
    ControlFlowContext,
    is_constant_enter,
    is_loop_exit,
    output_context,
)
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import c_name
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape, TensorShape, is_within
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import (
    Exit,
    LoopCond,
    NextIteration,
    enter,
    forward,
    is_slices,
)
from tfteach.ops.core.identity_reshape import Identity
from tfteach.ops.core.shape_ops import Rank, Shape_, Size
from tfteach.ops.math.compare import LogicalAnd


class WhileContext(ControlFlowContext):
    """A loop.

    Attributes:
      maximum_iterations: a Tensor, or None.
      parallel_iterations, back_prop, swap_memory: as given to `tf.while_loop`.
      pivot: whether the loop continues, the output of its LoopCond.
      loop_enters, loop_exits: the tensors passed into the loop and out of it.
      grad_state: for a gradient's loop, its connection to the forward loop.
    """

    def __init__(
        self,
        maximum_iterations: Tensor | None = None,
        parallel_iterations: int = 10,
        back_prop: bool = True,
        swap_memory: bool = False,
        name: str = "while_context",
        grad_state: Any = None,
    ) -> None:
        super().__init__(name)
        self.maximum_iterations = maximum_iterations
        self.parallel_iterations = parallel_iterations
        self.back_prop = back_prop
        self.swap_memory = swap_memory
        self.grad_state = grad_state
        self.pivot: Tensor | None = None
        self.pivot_for_pred: Tensor | None = None
        self.pivot_for_body: Tensor | None = None
        self.loop_enters: list[Tensor] = []
        self.loop_exits: list[Tensor] = []

    @property
    def control_pivot(self) -> Tensor | None:
        return (
            self.pivot_for_pred
            if self.pivot_for_body is None
            else (self.pivot_for_body)
        )

    @property
    def while_context(self) -> ControlFlowContext:
        return self

    @property
    def is_while(self) -> bool:
        return True

    def add_value(self, value: Tensor) -> Tensor:
        if value in self.values or value.op.control_flow_context is self:
            return self.external_values.get(value, value)
        self.values.add(value)
        real = self._from_forward_loop(value)
        if real is not None:
            self.external_values[value] = real
            return real
        result = value
        if self.outer_context is not None:
            result = self.outer_context.add_value(value)
        with self.graph.control_dependencies(None):
            entered = self._enter(result, is_constant=True)
        self._take_over([entered])
        self.values.add(entered)
        self.external_values[value] = entered
        return entered

    def _from_forward_loop(self, value: Tensor) -> Tensor | None:
        """The counterpart of a forward value in the gradient's loop."""
        state = _grad_state(self.graph)
        if state is not None:
            context = output_context(value.op)
            loop = None if context is None else context.while_context
            if loop is state.forward_context:
                real: Tensor = state.real_value(value)
                return real
        return None

    def _enter(
        self, value: Tensor, is_constant: bool, keep_shape: bool = True
    ) -> Tensor:
        entered = enter(
            value, self.name, is_constant, self.parallel_iterations, keep_shape
        )
        self.graph.prevent_feeding(entered)
        if self.outer_context is not None:
            self.outer_context.add_inner_op(entered.op)
        return entered

    def add_op(self, op: Operation) -> None:
        if isinstance(op.spec, Shape_ | Size | Rank):
            # The size of a forward value is recorded instead of the value itself.
            state = _grad_state(self.graph)
            theirs = op.inputs[0].op.control_flow_context
            loop = None if theirs is None else theirs.while_context
            if state is not None and loop is state.forward_context:
                op.control_flow_context = theirs
                if theirs.is_while:
                    theirs._add_op(op)
                else:
                    theirs.add_op(op)
                return
        self._add_op(op)

    def _add_op(self, op: Operation) -> None:
        if op.inputs:
            carry_in(self, op)
            dropped = self.keep_inner_control_inputs(op)
            free = not op.control_inputs and (
                op.spec.waits_for_context
                or all(is_constant_enter(t.op) for t in op.inputs)
            )
        else:
            dropped = self.keep_inner_control_inputs(op)
            free = not op.control_inputs
        if free and self.control_pivot is not None:
            op._add_control_input(self.control_pivot.op)
        self.values.update(op.outputs)
        if dropped:
            self._wait_inside(op, dropped)
        if self.outer_context is not None or not is_loop_exit(op):
            self.graph.prevent_fetching(op)
            for tensor in op.outputs:
                self.graph.prevent_feeding(tensor)
        if self.outer_context is not None:
            self.outer_context.add_inner_op(op)

    def _wait_inside(self, op: Operation, outside: list[Operation]) -> None:
        """Wait for ops outside the loop, through values passed into it."""
        with self.graph.control_dependencies(None), self:
            carried = [
                Identity()(other.outputs[0]).op for other in outside if other.outputs
            ]
        op._add_control_inputs(carried)

    def _take_over(self, enters: list[Tensor]) -> None:
        """Add Enter ops to the loop, with the outer context's control inputs."""
        scopes = self.graph.scopes.state
        loop = None if self.outer_context is None else self.outer_context.while_context
        for entered in enters:
            kept = []
            for op in scopes.control_inputs_for({entered.op.inputs[0].op}):
                theirs, mine = output_context(op), self.outer_context
                while mine is not theirs and mine is not None and mine is not loop:
                    mine = mine.outer_context
                if mine is theirs:
                    kept.append(op)
            entered.op.control_flow_context = self
            if kept:
                entered.op._add_control_inputs(kept)
            for scope in scopes.control:
                scope.add(entered.op)

    # ---- building

    def build(
        self,
        cond: Callable[..., Any],
        body: Callable[..., Any],
        loop_vars: Any,
        invariants: list[TensorShape] | None,
    ) -> tuple[Any, list[Tensor]]:
        """Create the loop's nodes; returns `body`'s result and the Exit tensors."""
        values = [flow_of(v) for v in nest.flatten(loop_vars)]
        values = [v if is_slices(v) else convert(v) for v in values]
        tensors = nest.flatten(values, expand_composites=True)
        given: list[Any] = invariants or [None] * len(values)
        kept: list[Shape] = []
        for value, shape in zip(values, given, strict=True):
            kept += _invariants_of(value, shape)
        with self:
            return self._build(cond, body, loop_vars, tensors, kept)

    def _build(
        self,
        cond: Callable[..., Any],
        body: Callable[..., Any],
        loop_vars: Any,
        tensors: list[Tensor],
        invariants: list[Shape],
    ) -> tuple[Any, list[Tensor]]:
        merges = self._begin(tensors, invariants)
        originals = nest.flatten(loop_vars, expand_composites=True)

        def packed(flat: list[Tensor]) -> Any:
            values = arrays_again(originals, flat)
            return nest.pack_sequence_as(loop_vars, values, expand_composites=True)

        self.pivot = LoopCond()(convert(cond(*packed(merges))), name="LoopCond")
        switches = [switch_colocated(m, self.pivot) for m in merges]
        inside = [forward(Identity(), s[1]) for s in switches]
        self.pivot_for_body = inside[0]
        result = call_with_summaries(body, *packed(inside))
        if not nest.is_nested(result) and not is_slices(result):
            result = [result]
        nest.assert_same_structure(
            list(packed(inside)), list(result), expand_composites=True
        )
        flat_result = nest.flatten(result, expand_composites=True)
        nexts = [convert(flow_of(v)) for v in flat_result]
        if len(merges) != len(nexts):
            raise ValueError(
                "Number of inputs and outputs of body must match loop_vars: "
                f"{len(merges)}, {len(nexts)}"
            )
        for merged, value in zip(merges, nexts, strict=True):
            _close(merged, forward(NextIteration(), value))
        self.loop_exits = [forward(Exit(), s[0]) for s in switches]
        self.exit_result(self.loop_exits)
        return result, self.loop_exits

    def _begin(self, tensors: list[Tensor], invariants: list[Shape]) -> list[Tensor]:
        """Create the Enter and Merge ops of the loop variables."""
        self.values = set(tensors)
        outer = self.outer_context
        if outer is not None:
            tensors = [outer.add_value(t) for t in tensors]
        with self.graph.control_dependencies(None):
            enters = [self._enter(t, False, keep_shape=False) for t in tensors]
        pivot = None
        while outer is not None and pivot is None:
            pivot, outer = outer.control_pivot, outer.outer_context
        for entered in enters:
            if pivot is not None and is_constant_enter(entered.op.inputs[0].op):
                entered.op._add_control_input(pivot.op)
        for tensor, inner, shape in zip(tensors, enters, invariants, strict=True):
            _set_invariant(tensor, inner, shape)
        self._take_over(enters)
        self.values = set(enters)
        self.loop_enters = enters
        merges = [merge([e, e])[0] for e in enters]
        self.pivot_for_pred = merges[0]
        return merges


def _grad_state(graph: Graph) -> Any:
    """The gradient state of the loop being built, if it is a gradient's loop."""
    context = graph.control_flow_context
    loop = None if context is None else context.while_context
    return None if loop is None else loop.grad_state


def _set_invariant(tensor: Tensor, enter: Tensor, shape: Shape) -> None:
    if not is_within(tensor._shape, shape):
        raise ValueError(
            f"The shape invariant specified for {tensor.name} is not compatible with "
            "the initial shape of the loop variable. It enters the loop with shape "
            f"{tensor.shape}, but the specified shape invariant is "
            f"{TensorShape(shape)}."
        )
    enter.set_shape(shape)


def _close(merged: Tensor, after: Tensor) -> None:
    """Connect the value for the next iteration to the start of the loop."""
    if not is_within(after._shape, merged._shape):
        start = merged.op.inputs[0].op.inputs[0]
        raise ValueError(
            f"Input tensor '{start.name}' enters the loop with shape {start.shape}, "
            f"but has shape {after.shape} after one iteration. To allow the shape to "
            "vary across iterations, use the `shape_invariants` argument of "
            "tf.while_loop to specify a less-specific shape."
        )
    if after.dtype.base_dtype is not merged.dtype.base_dtype:
        raise invalid_argument(
            f"Input 1 of node {merged.op.name} was passed {c_name(after.dtype)} from "
            f"{after.name} incompatible with expected {c_name(merged.dtype)}. A loop "
            "variable keeps its type: cast the value that the body returns."
        )
    merged.op._update_input(1, after)


@export("while_loop")
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Sequence[Any],
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: TensorLike | None = None,
    return_same_structure: bool = False,
) -> Any:
    """Run `body` repeatedly while `cond` is true, within one session run.

    Args:
      cond: accepts the loop variables, returns a bool scalar Tensor.
      body: accepts the loop variables, returns their next values in the same structure.
      loop_vars: a list or tuple of tensors, or of nested structures of them.
      shape_invariants: the shapes in all iterations, structured like `loop_vars`; None
        means each variable's initial shape.
      parallel_iterations: the number of iterations that may overlap (without effect on
          values).
      back_prop: whether gradients through the loop are supported.
      swap_memory: whether values stored for the gradient may move to host memory.
      name: the name scope of the new operations.
      maximum_iterations: an int scalar, the maximum number of iterations.
      return_same_structure: return a list even for a single variable.

    Returns:
      The loop variables after the last iteration; a single one is not in a list.
      In an eager program, where this is a loop of Python, a single one is in a list if
      `body` returned it in one, or was never called.

    Raises:
      TypeError: `cond` or `body` is not callable, or `body` changes the structure.
      ValueError: there are no loop variables, or `body` changes a shape.
      InvalidArgumentError: `body` changes a type.

    Example:
      >>> i = tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)])

    Source: python/ops/control_flow_ops.py, while_loop.
    """
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    if not isinstance(parallel_iterations, int):
        raise ValueError(
            f"`parallel_iterations` must be a positive integer: {parallel_iterations}"
        )
    is_eager = get_default_graph().is_eager
    if is_functional() and not is_eager:
        from tfteach.control.while_v2 import while_v2

        return while_v2(
            cond, body, loop_vars, shape_invariants, parallel_iterations,
            maximum_iterations, name, return_same_structure,
        )  # fmt: skip
    with name_scope(name, "while", nest.flatten(loop_vars)):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        single = len(loop_vars) == 1 and not return_same_structure
        limit = None
        if maximum_iterations is not None:
            limit = _scalar_limit(maximum_iterations)
            cond, body, loop_vars = _limited(cond, body, loop_vars, limit, single)
            if shape_invariants is not None:
                inner = shape_invariants[0] if single else shape_invariants
                shape_invariants = (TensorShape([]), inner)
        if is_eager:
            found = run_loop(cond, body, loop_vars, single and limit is None)
            return found if limit is None else found[1]
        invariants = _invariants(loop_vars, shape_invariants)
        context = WhileContext(limit, parallel_iterations, back_prop, swap_memory)
        if context.outer_context is None:
            context.graph.add_to_collection(GraphKeys.WHILE_CONTEXT, context)
        result, exits = context.build(cond, body, loop_vars, invariants)
        flat = arrays_again(nest.flatten(result, expand_composites=True), exits)
        packed = nest.pack_sequence_as(result, flat, expand_composites=True)
        if limit is not None:
            return packed[1]
        return packed[0] if len(exits) == 1 and not return_same_structure else packed


def _limited(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    limit: Tensor,
    single: bool,
) -> tuple[Any, Any, Any]:
    """The loop with a counter as an additional first variable."""
    counter: Any = 0
    if not get_default_graph().is_eager:
        counter = constant(0, dtype=limit.dtype, name="iteration_counter")

    def limited_cond(i: Tensor, values: Any) -> Tensor:
        goes_on = i < limit
        wanted = cond(values) if single else cond(*values)
        return LogicalAnd()(goes_on, wanted)

    def limited_body(i: Tensor, values: Any) -> tuple[Tensor, Any]:
        return i + 1, body(values) if single else body(*values)

    return (
        limited_cond,
        limited_body,
        (counter, loop_vars[0] if single else loop_vars),
    )


def _scalar_limit(maximum_iterations: Any) -> Tensor:
    limit = convert(maximum_iterations, name="maximum_iterations")
    if limit._shape != ():
        raise ValueError(
            f"maximum_iterations must be a scalar, saw shape: {limit.shape}"
        )
    return limit


def _invariants(loop_vars: Any, invariants: Any) -> list[TensorShape] | None:
    """The given shapes, one per loop variable; None if there are none."""
    if invariants is None:
        return None
    flat = nest.flatten(invariants)
    if not all(isinstance(s, TensorShape) for s in flat):
        raise ValueError("`shapes` must be a (possibly nested) list of shapes.")
    nest.assert_same_structure(loop_vars, invariants)
    return flat


def _invariants_of(value: Any, given: TensorShape | None) -> list[Shape]:
    """The shapes of a loop variable's tensors in all iterations."""
    if not is_slices(value):
        return [value._shape if given is None else given.dims_or_none]
    if hasattr(value, "get_shape"):  # a SparseTensor: its dense_shape's shape
        sizes = value.dense_shape._shape if given is None else given.dims_or_none
        if sizes is not None and len(sizes) != 1:
            raise ValueError("Expected a shape with 1 dimension")
        rank = None if sizes is None else sizes[0]
        return [(None, rank), (None,), (rank,)]
    rows = value.values._shape if given is None else given.dims_or_none
    shapes: list[Shape] = [rows, (None,) if rows is None else rows[:1]]
    if value.dense_shape is not None:
        shapes.append((None if rows is None else len(rows),))
    return shapes
