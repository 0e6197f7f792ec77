"""No-ops, groups, and the six ops that loops and conds consist of.

`Switch` forwards its input to one of two outputs and leaves the other dead; `Merge`
forwards its live input; `Enter`, `NextIteration` and `Exit` pass a value into a loop's
frame, to the next iteration, and out of the frame.  The executor implements these
rules; the kernels here only forward.
Source: core/ops/control_flow_ops.cc, python/ops/control_flow_ops.py.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, ClassVar, overload

from tfteach.framework import nest
from tfteach.framework import shape as shapes
from tfteach.framework.convert import convert
from tfteach.framework.errors import AbortedError
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op import MultiOutputOp, NoOutputOp, Op
from tfteach.framework.op_traits import Flow, Int32Kernel, Role
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import ArrayModule, Gradient, TensorLike
from tfteach.ops.core.identity_reshape import Identity


class NoOp(NoOutputOp, role=Role.NO_OP):
    """No computation: a common point for control edges.  Source: no_op.cc, NoOp."""

    signature = "->"
    does_nothing: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    is_expensive: ClassVar[bool] = False
    host_on_gpu: ClassVar[bool] = True

    def infer_shape(self) -> list[Shape]:
        return []

    def compute(self, xp: ArrayModule) -> tuple[()]:
        return ()


class ControlTrigger(NoOutputOp):
    """A NoOp that runs even when its control inputs are dead.

    Source: core/ops/control_flow_ops.cc, ControlTrigger.
    """

    signature = "->"
    does_nothing: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    is_expensive: ClassVar[bool] = False
    flow: ClassVar[Flow | None] = Flow.CONTROL_TRIGGER
    host_on_gpu: ClassVar[bool] = True

    def infer_shape(self) -> list[Shape]:
        return []

    def compute(self, xp: ArrayModule) -> tuple[()]:
        return ()


class Abort(NoOutputOp):
    """End the step with an error, or silently.  Source: control_flow_ops.cc, Abort."""

    signature = "->"
    error_msg: str = ""
    exit_without_error: bool = False
    is_foldable: ClassVar[bool] = False

    def infer_shape(self) -> list[Shape]:
        return []

    def compute(self, xp: ArrayModule) -> tuple[()]:
        # TensorFlow ends the whole process here; a notebook's kernel must survive.
        message = f"Abort_op intentional failure; {self.error_msg}"
        raise AbortedError(None, None, message)


class _Flow(Op, abstract=True):
    """Inputs that are forwarded unchanged or are dead."""

    aliases: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False
    is_expensive: ClassVar[bool] = False


class _Forward(_Flow, abstract=True):
    """One input, forwarded."""

    def infer_shape(self, data: Shape) -> Any:
        return data

    def compute(self, xp: ArrayModule, data: Any) -> Any:
        return data


class Switch(_Flow, MultiOutputOp):
    """`data` on the output that `pred` selects; the other output is dead.

    Source: core/ops/control_flow_ops.cc, Switch.
    """

    signature = "data: T, pred: bool -> output_false: T, output_true: T"
    host_inputs: ClassVar[tuple[str, ...]] = ("pred",)
    flow: ClassVar[Flow | None] = Flow.SWITCH
    passes_handle: ClassVar[bool] = True
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, data: Shape, pred: Shape) -> list[Shape]:
        shapes.with_rank(pred, 0)
        return [data, data]

    def compute(self, xp: ArrayModule, data: Any, pred: Any) -> tuple[Any, Any]:
        return (None, data) if pred else (data, None)


class RefSwitch(Switch):
    """Switch on a reference edge.  Source: control_flow_ops.cc, RefSwitch."""

    signature = "data: ref T, pred: bool -> output_false: ref T, output_true: ref T"


class Merge(_Flow, MultiOutputOp):
    """The one live input, and its index.

    Source: core/ops/control_flow_ops.cc, Merge.
    """

    signature = "inputs: N*T -> output: T, value_index: int32"
    flow: ClassVar[Flow | None] = Flow.MERGE
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, inputs: list[Shape]) -> list[Shape]:
        return [functools.reduce(shapes.common, inputs), ()]

    def compute(self, xp: ArrayModule, *inputs: Any) -> tuple[Any, Any]:
        index = next(i for i, value in enumerate(inputs) if value is not None)
        return inputs[index], xp.int32(index)


class RefMerge(Merge):
    """Merge on reference edges.  Source: control_flow_ops.cc, RefMerge."""

    signature = "inputs: ref N*T -> output: ref T, value_index: int32"


class Enter(_Forward):
    """`data` as a value inside a loop's frame.  Source: control_flow_ops.cc, Enter."""

    signature = "data: T -> output: T"
    frame_name: str
    is_constant: bool = False
    parallel_iterations: int = 10
    flow: ClassVar[Flow | None] = Flow.ENTER
    passes_handle: ClassVar[bool] = True
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, data: Shape) -> Shape:
        # The shape of a value that may change from iteration to iteration.
        return data if self.is_constant else None


class RefEnter(Enter):
    """Enter on a reference edge.  Source: control_flow_ops.cc, RefEnter."""

    signature = "data: ref T -> output: ref T"


class Exit(_Forward):
    """A loop's final value, outside the loop.  Source: control_flow_ops.cc, Exit."""

    signature = "data: T -> output: T"
    flow: ClassVar[Flow | None] = Flow.EXIT
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"


class RefExit(Exit):
    """Exit on a reference edge.  Source: control_flow_ops.cc, RefExit."""

    signature = "data: ref T -> output: ref T"


class NextIteration(_Forward):
    """A value for the next iteration.  Source: control_flow_ops.cc, NextIteration."""

    signature = "data: T -> output: T"
    closes_loop: ClassVar[bool] = True
    flow: ClassVar[Flow | None] = Flow.NEXT_ITERATION
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad]


class RefNextIteration(NextIteration):
    """NextIteration on a reference edge.  Source: control_flow_ops.cc."""

    signature = "data: ref T -> output: ref T"


class RefIdentity(_Forward):
    """A reference, unchanged.  Source: core/ops/array_ops.cc, RefIdentity."""

    signature = "input: ref T -> output: ref T"
    strings_on_gpu: ClassVar[bool] = True
    int32_on_gpu: ClassVar[Int32Kernel] = "host"

    def infer_shape(self, input: Shape) -> Shape:
        return input

    def compute(self, xp: ArrayModule, input: Any) -> Any:
        return input

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [grad]


class LoopCond(_Forward):
    """Whether a loop continues.  Source: control_flow_ops.cc, LoopCond."""

    signature = "input: bool -> output: bool"
    host_inputs: ClassVar[tuple[str, ...]] = ("input",)
    flow: ClassVar[Flow | None] = Flow.LOOP_COND
    host_on_gpu: ClassVar[bool] = True

    def infer_shape(self, input: Shape) -> Shape:
        return shapes.with_rank(input, 0)

    def compute(self, xp: ArrayModule, input: Any) -> Any:
        return input

    def gradient(self, op: Operation, grad: Tensor) -> list[Gradient]:
        return [None]


class RefSelect(_Flow):
    """The reference that `index` picks.  Source: control_flow_ops.cc, RefSelect."""

    signature = "index: int32, inputs: ref N*T -> output: ref T"
    host_inputs: ClassVar[tuple[str, ...]] = ("index",)

    def infer_shape(self, index: Shape, inputs: list[Shape]) -> Shape:
        shapes.merge(index, ())
        return inputs[0] if all(s == inputs[0] for s in inputs) else None

    def compute(self, xp: ArrayModule, index: Any, *inputs: Any) -> Any:
        return inputs[int(index)]


# ---- functions


_REF_FORM: dict[type[Op], type[Op]] = {
    Identity: RefIdentity,
    Enter: RefEnter,
    Exit: RefExit,
    NextIteration: RefNextIteration,
}


def forward(op: Op, data: Any, name: str | None = None) -> Any:
    """`data` through an Identity, Enter, Exit or NextIteration.

    References pass through the op's Ref form; IndexedSlices and SparseTensors part by
    part.
    """
    if is_slices(data):
        return map_slices(lambda t: forward(op, t), data)
    tensor = convert(data, as_ref=True)
    if tensor.dtype.is_ref:
        op = _REF_FORM[type(op)](*op.attributes)
    return op(tensor, name=name)


def enter(
    value: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    keep_shape: bool = True,
    name: str | None = None,
) -> Tensor:
    """`value` inside the frame of a loop."""
    op = Enter(frame_name, is_constant, parallel_iterations)
    entered: Tensor = forward(op, value, name)
    if keep_shape:
        entered.set_shape(value.shape)
    return entered


def is_slices(value: Any) -> bool:
    """Whether `value` is a tensor of several parts (IndexedSlices, SparseTensor)."""
    return (
        not isinstance(value, Tensor)
        and hasattr(value, "indices")
        and hasattr(value, "values")
    )


def map_slices(function: Any, value: Any) -> Any:
    """An IndexedSlices or SparseTensor with `function` applied to each part."""
    cls = type(value)
    shape = value.dense_shape
    shape = None if shape is None else function(shape)
    if cls.__name__ == "SparseTensor":
        return cls(function(value.indices), function(value.values), shape)
    return cls(function(value.values), function(value.indices), shape)


@export("no_op")
def no_op(name: str | None = None) -> Operation:
    """An operation that computes nothing, for control dependencies.

    Args:
      name: the op's name.

    Returns:
      The Operation.

    Example:
      >>> tf.no_op(name="ready").name
      'ready'

    Source: NoOp in core/ops/no_op.cc.
    """
    return NoOp()(name=name)


@export("group")
def group(*inputs: Tensor | Operation | Any, **kwargs: Any) -> Operation:
    """An operation that finishes once all `inputs` have run.

    Args:
      *inputs: operations and tensors, also in nested structures.
      **kwargs: `name`, the operation's name.

    Returns:
      The Operation; it has no outputs.  None in an eager program.

    Raises:
      ValueError: a keyword other than `name`.
      TypeError: an input is neither an operation nor a tensor.

    Example:
      >>> step = tf.group(tf.no_op(), tf.no_op(), name="step")

    Source: python/ops/control_flow_ops.py, group; NoOp.
    """
    if get_default_graph().is_eager:
        return no_op()
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    with name_scope(name, "group_deps", inputs) as scope:
        if not inputs:
            return no_op(name=scope)
        by_device: dict[Any, list[Any]] = {}
        for item in nest.flatten(inputs, expand_composites=True):
            if not hasattr(item, "device"):
                raise TypeError(
                    "Expected tf.group() expected Tensor arguments not "
                    f"'{item}' with type '{type(item)}'"
                )
            by_device.setdefault(item.device, []).append(item)
        if len(by_device) == 1:
            [(device, items)] = by_device.items()
            return _no_op_after(device, items, scope)
        parts = [
            _no_op_after(device, by_device[device], None)
            for device in sorted(by_device, key=lambda d: d or "")
        ]
        with get_default_graph().control_dependencies(parts):
            return no_op(name=scope)


def _no_op_after(device: Any, items: list[Any], name: str | None) -> Operation:
    graph = get_default_graph()
    with graph.control_dependencies(items):
        if device is None:
            return no_op(name=name)
        with graph.device(device):
            return no_op(name=name)


@export("tuple")
def tuple_(
    tensors: Iterable[Any],
    name: str | None = None,
    control_inputs: Iterable[Any] | None = None,
) -> list[Any]:
    """The same tensors, each available only once all of them are.

    Args:
      tensors: tensors, IndexedSlices, operations; None is returned as None.
      name: a name scope for the new operations.
      control_inputs: further operations and tensors to wait for.

    Returns:
      A list with one entry per entry of `tensors`; in an eager program the same.

    Raises:
      ValueError: `tensors` contains nothing but None.
      TypeError: an entry of `control_inputs` is neither an operation nor a tensor.

    Source: python/ops/control_flow_ops.py, tuple; Identity.
    """
    items = list(tensors)
    if get_default_graph().is_eager:
        return items
    with name_scope(name, "tuple", items):
        items = [
            t if t is None or isinstance(t, Operation) or is_tensor(t) else convert(t)
            for t in items
        ]
        gates = {
            t if isinstance(t, Operation) else t.op for t in items if t is not None
        }
        for item in control_inputs or ():
            if not isinstance(item, Tensor | Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
            gates.add(item.op if isinstance(item, Tensor) else item)
        if not gates:
            raise ValueError(f"Must have at least one Tensor: {items}")
        gate = group(*sorted(gates, key=lambda op: op.node_id))
        found: list[Any] = []
        for item in items:
            if item is None:
                found.append(None)
            elif isinstance(item, Operation):
                with get_default_graph().control_dependencies([gate]):
                    found.append(group(item))
            else:
                found.append(with_dependencies([gate], item))
        return found


def is_tensor(value: Any) -> bool:
    """Whether `value` is a tensor, variable, IndexedSlices or SparseTensor."""
    return (
        isinstance(value, Tensor)
        or is_slices(value)
        or getattr(value, "_is_dense_tensor_like", False)
        or (hasattr(value, "op") and hasattr(value, "dtype"))
    )


@overload
def with_dependencies(
    dependencies: Iterable[Any], output_tensor: IndexedSlices, name: str | None = ...
) -> IndexedSlices: ...
@overload
def with_dependencies(
    dependencies: Iterable[Any], output_tensor: TensorLike, name: str | None = ...
) -> Tensor: ...
@export("with_dependencies")
def with_dependencies(
    dependencies: Iterable[Any], output_tensor: Any, name: str | None = None
) -> Any:
    """`output_tensor`, available only after `dependencies` have run.

    Args:
      dependencies: operations and tensors to wait for.
      output_tensor: a Tensor or IndexedSlices.
      name: the Identity's name.

    Returns:
      A Tensor (IndexedSlices) with the same value.

    Source: python/ops/control_flow_ops.py, with_dependencies; Identity.
    """
    graph = get_default_graph()
    if graph.is_eager:
        return output_tensor
    waits = list(dependencies)
    with (
        name_scope(name, "control_dependency", [*waits, output_tensor]) as scope,
        graph.colocate_with(output_tensor),
        graph.control_dependencies(waits),
    ):
        if is_slices(output_tensor):
            return type(output_tensor)(
                forward(Identity(), output_tensor.values, scope),
                output_tensor.indices,
                output_tensor.dense_shape,
            )
        return forward(Identity(), convert(output_tensor), scope)
