"""Branches: `cond`.

A branch is built between Switch ops, which pass values in only if it is taken, and
Merge ops, which forward the results of the branch that ran.
Source: python/ops/control_flow_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.control.control_flow_v2_toggles import is_functional
from tfteach.control.inner_summaries import call_with_summaries
from tfteach.control.tensor_array import arrays_again, flow_of
from tfteach.framework import dtypes, nest
from tfteach.framework.constant_values import constant_value, folded_value
from tfteach.framework.control_flow_context import (
    ControlFlowContext,
    contains,
    is_loop_exit,
)
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.control_flow_ops import (
    Merge,
    NextIteration,
    RefMerge,
    RefSwitch,
    Switch,
    forward,
    is_slices,
    with_dependencies,
)
from tfteach.ops.core.identity_reshape import Identity
from tfteach.ops.math.cast import cast

Branch = Callable[[], Any]


class CondContext(ControlFlowContext):
    """One branch of a cond.

    Attributes:
      pred: the condition, a bool Tensor.
      pivot: a Tensor that is alive only if this branch is taken.
      branch: the output index of its Switch ops: 1 if `pred` is true, 0 if false.
    """

    def __init__(self, pred: Tensor, pivot: Tensor, branch: int) -> None:
        super().__init__("cond_text")
        self.pred, self.pivot, self.branch = pred, pivot, branch
        self.values.update((pred, pivot))
        self.external_values[pred] = pred
        pivot.op.control_flow_context = self

    @property
    def control_pivot(self) -> Tensor:
        return self.pivot

    @property
    def is_cond(self) -> bool:
        return True

    @property
    def back_prop(self) -> bool:
        loop = self.while_context
        return bool(getattr(loop, "back_prop", False))

    def add_value(self, value: Tensor) -> Tensor:
        if value in self.values:
            return self.external_values.get(value, value)
        self.values.add(value)
        result = value
        if self.outer_context is not None:
            result = self.outer_context.add_value(value)
            self.values.add(result)
            self.external_values[result] = result
        with self.graph.control_dependencies(None):
            result = switch_colocated(result, self.pred)[self.branch]
            if self.outer_context is not None:
                self.outer_context.add_inner_op(result.op)
        self.graph.prevent_fetching(result.op)
        result.op.control_flow_context = self
        self._record([result])
        self.external_values[value] = result
        return result

    def _record(self, tensors: Sequence[Tensor]) -> None:
        context: ControlFlowContext | None = self
        while context is not None:
            context.values.update(tensors)
            context = context.outer_context

    def add_op(self, op: Operation) -> None:
        if op.inputs:
            carry_in(self, op)
            self.keep_inner_control_inputs(op)
            if op.spec.waits_for_context:
                op._add_control_input(self.pivot.op)
        else:
            self.keep_inner_control_inputs(op)
            if not any(
                contains(self, c.control_flow_context) for c in op.control_inputs
            ):
                op._add_control_input(self.pivot.op)
        self._record(op.outputs)
        if self.outer_context is not None or not is_loop_exit(op):
            self.graph.prevent_fetching(op)
        if self.outer_context is not None:
            self.outer_context.add_inner_op(op)

    def build(self, function: Branch) -> tuple[Any, Any]:
        """Call the branch's function: its result, and that as tensors of the branch."""
        result = call_with_summaries(function)
        if result is None:
            return None, None
        tensors = nest.map_structure(self._output, result, expand_composites=True)
        if not isinstance(tensors, list | tuple):
            tensors = [tensors]
        return result, tensors

    def _output(self, value: Any) -> Tensor:
        if isinstance(value, Operation):
            return with_dependencies([value], self.pivot)
        tensor = convert(flow_of(value))
        if tensor in self.values:
            return self.external_values.get(tensor, tensor)
        # A value from outside, returned unchanged, must be dead if the branch is.
        self.values.add(tensor)
        carried = tensor
        if self.outer_context is not None:
            carried = self.outer_context.add_value(tensor)
            self.values.add(carried)
            self.external_values[carried] = carried
        carried = switch_colocated(carried, self.pred)[self.branch]
        self.external_values[tensor] = carried
        return carried


def carry_in(context: ControlFlowContext, op: Operation) -> None:
    for index, tensor in enumerate(op.inputs):
        if type(op.spec) is Merge and type(tensor.op.spec) is NextIteration:
            continue  # a loop's back edge is left unchanged
        inside = context.add_value(tensor)
        if inside is not tensor:
            op._update_input(index, inside)


def switch_colocated(data: Any, pred: Tensor) -> list[Tensor]:
    """`data` through a Switch that is colocated with `data`."""
    tensor = convert(data, name="data")
    op = RefSwitch() if tensor.dtype.is_ref else Switch()
    with tensor.graph.colocate_with(tensor, ignore_existing=True):
        return op(tensor, pred, name="Switch")


def switch(data: Any, pred: Any, name: str | None = None) -> Any:
    """`data` as a pair (false, true), of which `pred` selects the live one."""
    if is_slices(data):
        parts = nest.flatten(data, expand_composites=True)
        pairs = [Switch()(part, pred) for part in parts]
        return tuple(
            nest.pack_sequence_as(data, [p[i] for p in pairs], expand_composites=True)
            for i in (0, 1)
        )
    return tuple(Switch()(convert(data, as_ref=True), pred, name=name))


def merge(inputs: Sequence[Any], name: str | None = None) -> tuple[Tensor, Tensor]:
    """The live one of `inputs`, and its index."""
    tensors = [convert(i, as_ref=True) for i in inputs]
    op = RefMerge() if all(t.dtype.is_ref for t in tensors) else Merge()
    value, index = op(tensors, name=name or "Merge")
    return value, index


def _unpack_single(result: Any) -> Any:
    if isinstance(result, list | tuple) and len(result) == 1:
        return result[0]
    return result


@export("cond")
def cond(
    pred: TensorLike,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Branch | None = None,
    fn2: Branch | None = None,
) -> Any:
    """The results of `true_fn` if `pred` is true in the run, otherwise of `false_fn`.

    Ops created inside a function run only if its branch is taken; ops created before
    the call always run.

    Args:
      pred: a bool scalar Tensor.
      true_fn: a function without arguments, returns tensors (or operations) in any
          nest.
      false_fn: returns the same structure with the same types.
      strict: do not unpack lists of one element.
      name: the name scope of the new operations.
      fn1: older name of `true_fn`.
      fn2: older name of `false_fn`.

    Returns:
      Tensors in the structure that the functions return.  In an eager program whatever
      the chosen function returns, the only one that is called.

    Raises:
      TypeError: `pred` is a Python bool in a graph, a function is missing or not
        callable, or the functions return different structures.
      ValueError: they return nothing, or tensors of different types or number.

    Example:
      >>> x = tf.placeholder(tf.float32, [])
      >>> y = tf.cond(x > 0, lambda: x, lambda: -x)

    Source: python/ops/control_flow_ops.py, cond; Switch and Merge.
    """
    true_fn = _either("true_fn", true_fn, "fn1", fn1)
    false_fn = _either("false_fn", false_fn, "fn2", fn2)
    if get_default_graph().is_eager:
        with name_scope(name, "cond", [pred]):
            result = true_fn() if pred else false_fn()
        return result if strict else _unpack_single(result)
    if is_functional():
        from tfteach.control.cond_v2 import cond_v2

        return cond_v2(pred, true_fn, false_fn, name)
    with name_scope(name, "cond", [pred]):
        if isinstance(pred, bool):
            raise TypeError(
                "pred must not be a Python bool. Such a choice is made in Python: "
                "write an if statement."
            )
        if_false, if_true = switch(pred, pred)
        pivot_true = forward(Identity(), if_true, "switch_t")
        pivot_false = forward(Identity(), if_false, "switch_f")
        choice: Tensor = forward(Identity(), pred, "pred_id")
        graph = choice.graph
        for tensor in (if_true, if_false, pivot_true, pivot_false, choice):
            graph.prevent_fetching(tensor.op)
        on_true = _build_branch("true_fn", true_fn, choice, pivot_true, 1, strict)
        on_false = _build_branch("false_fn", false_fn, choice, pivot_false, 0, strict)
        on_true, on_false = _same_indices(on_true, on_false)
        _check_same_results(on_true, on_false)
        flat = [nest.flatten(r[2], expand_composites=True) for r in (on_false, on_true)]
        merges = [merge(pair)[0] for pair in zip(*flat, strict=True)]
        originals = nest.flatten(on_true[1], expand_composites=True)
        merges = arrays_again(originals, merges)
        if on_true[0].outer_context is None:
            graph.add_to_collection(GraphKeys.COND_CONTEXT, on_true[0])
            graph.add_to_collection(GraphKeys.COND_CONTEXT, on_false[0])
        result = nest.pack_sequence_as(on_true[1], merges, expand_composites=True)
        return result if strict else _unpack_single(result)


def _either(
    name: str, function: Branch | None, old_name: str, old: Branch | None
) -> Branch:
    if old is not None:
        if function is not None:
            raise TypeError(
                f"cond(): {name} and {old_name} may not be set simultaneously."
            )
        function = old
    elif function is None:
        raise TypeError(f"cond(): {name} argument required")
    if not callable(function):
        raise TypeError(f"{name} must be callable.")
    return function


def _build_branch(
    which: str, function: Branch, pred: Tensor, pivot: Tensor, branch: int, strict: bool
) -> tuple[CondContext, Any, Any]:
    """The branch's context, its function's result, and the result as tensors."""
    context = CondContext(pred, pivot, branch)
    with context:
        original, tensors = context.build(function)
        if original is None:
            raise ValueError(f"{which} must have a return value.")
        context.exit_result(tensors)
    return context, original if strict else _unpack_single(original), tensors


def _same_indices(
    on_true: tuple[Any, Any, Any], on_false: tuple[Any, Any, Any]
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """The results; if only one branch has int64 indices, both get them."""
    pairs = zip(nest.flatten(on_true[2]), nest.flatten(on_false[2]), strict=False)
    if all(not _indices_differ(x, y) for x, y in pairs):
        return on_true, on_false
    # TensorFlow casts the functions' original results, too.
    true, false = [on_true[0]], [on_false[0]]
    for x, y in zip(on_true[1:], on_false[1:], strict=True):
        true.append(nest.map_structure(_cast_indices, x, y))
        false.append(nest.map_structure(_cast_indices, y, x))
    return tuple(true), tuple(false)


def _indices_differ(x: Any, y: Any) -> bool:
    both = isinstance(x, IndexedSlices) and isinstance(y, IndexedSlices)
    return both and x.indices.dtype.base_dtype is not y.indices.dtype.base_dtype


def _cast_indices(value: Any, other: Any) -> Any:
    if not _indices_differ(value, other) or value.indices.dtype is dtypes.int64:
        return value
    return IndexedSlices(
        value.values, cast(value.indices, dtypes.int64), value.dense_shape
    )


def _check_same_results(
    on_true: tuple[Any, Any, Any], on_false: tuple[Any, Any, Any]
) -> None:
    nest.assert_same_structure(on_true[1], on_false[1], expand_composites=True)
    flat_true = nest.flatten(on_true[2], expand_composites=True)
    flat_false = nest.flatten(on_false[2], expand_composites=True)
    if not flat_true:
        raise ValueError("true_fn and false_fn must return at least one result.")
    for x, y in zip(flat_true, flat_false, strict=True):
        if x.dtype.base_dtype is not y.dtype.base_dtype:
            raise ValueError(
                "Outputs of true_fn and false_fn must have the same type: "
                f"{x.dtype.name}, {y.dtype.name}"
            )


@export("contrib.framework.smart_cond")
def smart_cond(
    pred: TensorLike,
    true_fn: Branch | None = None,
    false_fn: Branch | None = None,
    name: str | None = None,
) -> Any:
    """`cond` without branches if `pred` is known while the graph is built.

    Args:
      pred: a bool, 0 or 1, or a bool scalar Tensor.
      true_fn: see `tf.cond`.
      false_fn: see `tf.cond`.
      name: see `tf.cond`.

    Returns:
      The result of the chosen function, or of `tf.cond`.

    Raises:
      TypeError: a function is not callable, or `pred` has an unsupported type.

    Source: python/framework/smart_cond.py.
    """
    if not callable(true_fn):
        raise TypeError("`true_fn` must be callable.")
    if not callable(false_fn):
        raise TypeError("`false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is not None:
        return true_fn() if known else false_fn()
    return cond(pred, true_fn, false_fn, name=name)


@export("contrib.framework.smart_constant_value")
def smart_constant_value(pred: TensorLike) -> bool | None:
    """The truth value of `pred`, or None if it is only known at run time."""
    if isinstance(pred, Tensor):
        value = constant_value(pred)
        if value is None:  # TensorFlow's runtime is asked what it can compute
            value = folded_value(pred)
        return None if value is None else bool(value)
    if pred in (0, 1):
        return bool(pred)
    raise TypeError(
        f"`pred` must be a Tensor, or a Python bool, or 1 or 0. Found instead: "
        f"{type(pred)}"
    )
