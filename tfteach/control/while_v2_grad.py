"""The gradient of a While node: a While node that iterates in reverse.

Values that an iteration computed are pushed onto tensor lists, further variables of the
loop, from which the iterations of the gradient's loop pop them.
Source: python/ops/while_v2.py (_WhileGrad).
"""

from __future__ import annotations

from typing import Any

from tfteach.autodiff.gradient_registry import gradient_of
from tfteach.autodiff.gradients import UnconnectedGradients, gradients
from tfteach.control.automatic_control import returned
from tfteach.control.control_flow_v2 import (
    FlowGraph,
    added,
    function_name,
    lowered,
    types_of,
)
from tfteach.control.gradient_graph import (
    GradientGraph,
    dense,
    forward_graph,
    replace_op,
    rewritten,
)
from tfteach.framework import dtypes
from tfteach.framework.constant_values import constant_value
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import Gradient
from tfteach.ops.core.constant import constant
from tfteach.ops.core.fill import zeros_like
from tfteach.ops.core.identity_reshape import Identity, identity
from tfteach.ops.functions.control_flow import StatelessWhile, While
from tfteach.ops.math.binary import Add, AddV2
from tfteach.ops.state.tensor_list_ops import (
    EmptyTensorList,
    TensorListPopBack,
    TensorListPushBack,
    element_shape_input,
)


class LoopGradientGraph(GradientGraph):
    """The graph of the body of a loop's gradient.

    Args:
      name: the function's name.
      forward: the graph of the loop's body.
      op: the loop.

    Attributes:
      accumulators: the lists that the loop gets as further inputs.
      popped: captured tensor -> the list after its value was popped.
    """

    def __init__(self, name: str, forward: FuncGraph, op: Operation) -> None:
        super().__init__(name, forward)
        self._loop = op
        self.accumulators: list[Tensor] = []
        self.popped: dict[Tensor, Tensor] = {}
        self._lists: dict[Tensor, int] = {}  # tensor -> the loop's output with its list
        self._outer: dict[Tensor, int] = {}  # captured tensor -> the loop's output
        for i, (x, y) in enumerate(zip(forward.inputs, forward.outputs, strict=True)):
            if x is y:
                self._outer[x] = i
            elif isinstance(y.op.spec, TensorListPushBack) and y.op.inputs[0] is x:
                self._lists[y.op.inputs[1]] = i
        if self._lists:  # in earlier plans they may be stacks, which one loop empties
            op.graph.record_mutation()

    def is_intermediate(self, tensor: Tensor) -> bool:
        return tensor not in self._outer

    def value_of(self, tensor: Tensor) -> Tensor:
        if tensor.op.spec.holds_value:
            with self.as_default():
                return constant(constant_value(tensor), tensor.dtype)
        source = tensor
        while isinstance(source.op.spec, Identity):
            source = source.op.inputs[0]
        if source not in self._lists:
            self._lists[source] = len(self.forward.outputs)
            self._accumulate(source)
        holder = self.variant_capture(tensor)
        self._outer[tensor] = self._lists[source]
        with self.as_default():
            pop = TensorListPopBack(tensor.dtype.base_dtype)
            self.popped[tensor], value = pop(holder, -1)
        value.set_shape(tensor.static_shape)
        return value

    def _accumulate(self, tensor: Tensor) -> None:
        """Let the loop push the tensor's value onto a new list in each iteration."""
        op, forward = self._loop, self.forward
        with op.graph.as_default():
            make = EmptyTensorList(tensor.dtype.base_dtype)
            shape = element_shape_input(tensor.static_shape)
            name = f"{tensor.op.name}_{tensor.value_index}/accumulator"
            made = make(shape, op.inputs[1], name=name)
        self.accumulators.append(made)
        with forward.as_default():
            forward.outputs.append(TensorListPushBack()(made, tensor))

    def captured_outputs(self) -> list[Tensor]:
        """The loop's inputs for the captures, its accumulated lists included."""
        outputs = self._loop.outputs
        return [
            outputs[self._outer[t]] if t in self._outer else t for t in self.captures
        ]


@gradient_of(While, StatelessWhile)
def while_gradient(op: Operation, *grads: Tensor) -> list[Gradient]:
    """A loop over the iterations in reverse."""
    spec: Any = op.spec
    shapes = spec.output_shapes or tuple(t.static_shape for t in op.outputs)
    forward = forward_graph(op, spec.body, shapes)
    for x, tensor in zip(forward.inputs, op.inputs, strict=True):
        forward.stands_for(x, tensor)
    _check_counter(op, forward)
    counter = constant(0, dtypes.int32, name="grad_counter")
    kept = [i for i, grad in enumerate(grads) if grad is not None]
    graph = LoopGradientGraph(function_name(spec.body.name, "_grad"), forward, op)
    first = [counter, op.inputs[1], op.outputs[0], *(grads[i] for i in kept)]
    with graph.as_default():
        inner = [graph.add_input(t.dtype.base_dtype, t.static_shape) for t in first]
        found = gradients(
            [forward.outputs[i] for i in kept],
            [forward.inputs[i] for i in kept],
            inner[3:],
            unconnected_gradients=UnconnectedGradients.ZERO,
        )
        sums = [
            zeros_like(forward.inputs[i]) if grad is None else dense(grad)
            for i, grad in zip(kept, found, strict=True)
        ]
        results = [inner[0] + 1, *inner[1:3], *(s for s in sums if s is not None)]
    _add_accumulators(op, forward, graph)
    graph.outputs = [
        *returned(graph, results),
        *[graph.popped.get(t, holder) for t, holder in graph.captures.items()],
    ]
    test = FlowGraph(function_name(op.spec.cond.name, "_grad"))  # type: ignore[attr-defined]
    with test.as_default():
        arguments = [
            test.add_input(t.dtype.base_dtype, t.static_shape) for t in graph.inputs
        ]
        test.outputs = [identity(arguments[0] < arguments[2])]
    made: Any = While(
        T=types_of(graph.inputs),
        cond=added(test),
        body=added(graph),
        output_shapes=tuple(t.static_shape for t in graph.inputs),
        parallel_iterations=spec.parallel_iterations,
    )([*first, *graph.captured_outputs()], name=f"{op.name}_grad")
    lowered(made[0].op)
    values = [identity(tensor) for tensor in made]
    by_input: list[Gradient] = [None] * len(op.inputs)
    for i, value in zip(kept, values[3:], strict=False):
        by_input[i] = value
    return by_input


def _check_counter(op: Operation, forward: FuncGraph) -> None:
    """Raise unless the loop's first variable counts its iterations."""
    step = forward.outputs[0] if len(forward.outputs) > 1 else None
    while step is not None and isinstance(step.op.spec, Identity):
        step = step.op.inputs[0]
    if (
        step is None
        or not isinstance(step.op.spec, Add | AddV2)
        or step.op.inputs[0] is not forward.inputs[0]
        or constant_value(step.op.inputs[1]) != 1
    ):
        raise NotImplementedError(
            f"The gradient of the loop '{op.name}', which tf.while_loop did not build: "
            "its first variable is no counter of its iterations."
        )


def _add_accumulators(
    op: Operation, forward: FuncGraph, graph: LoopGradientGraph
) -> None:
    """Give the loop its further variables, the lists of intermediate values."""
    more = graph.accumulators
    if not more:
        return
    spec: Any = op.spec
    test = forward_graph(op, spec.cond, [t.static_shape for t in op.inputs])
    for tensor in more:
        test.capture(tensor)
    changed = spec.replace(
        T=(*spec.T, *types_of(more)),
        cond=rewritten(op, test, spec.cond),
        body=rewritten(op, forward, spec.body),
        output_shapes=tuple(t.static_shape for t in forward.outputs),
    )
    op._change_edges((*op.inputs, *more), op.control_inputs)
    replace_op(op, changed, len(more))
    op.extra_attrs = {**(op.extra_attrs or {}), "_num_original_outputs": len(op.inputs)}
