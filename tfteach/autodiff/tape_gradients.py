"""Gradients of what a tape has recorded: each op's rule, from the last op to the first.

Source: core/c/eager/c_api (tape), python/eager/imperative_grad.py, backprop.py.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from tfteach.autodiff.backward_traversal import TRAINABLE
from tfteach.autodiff.gradient_registry import gradient_rule
from tfteach.autodiff.seed_gradients import Gradient, sum_slices
from tfteach.framework import dtypes
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.op_traits import Flow
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.recording import Traversal, tapes
from tfteach.framework.shape import is_full
from tfteach.ops.core.fill import ones, ones_like, zeros_like
from tfteach.ops.math.add_n import AddN
from tfteach.ops.state.resource_gather import variable_shape


class Recorded(NamedTuple):
    """A computation that a tape has recorded.

    Attributes:
      outputs: its results.
      inputs: what they depend on.
      backward: from the gradients of the outputs to those of the inputs.
      needs_no_zeros: the outputs for which `backward` accepts None if they have no
        gradient; None for all.
    """

    outputs: Sequence[Tensor]
    inputs: Sequence[Tensor]
    backward: Callable[..., Any]
    needs_no_zeros: Sequence[int] | None = ()


class RecordedTape:
    """The computations that depend on watched tensors, in order.

    Attributes:
      watched: the tensors that the user watches.
      variables: the variables that were watched, by handle, in the order of their
        first reading.
    """

    def __init__(self, watches_variables: bool = True) -> None:
        self.watched: set[Tensor] = set()
        self.variables: dict[Tensor, Any] = {}
        self._watches_variables = watches_variables
        self._made_by: dict[Tensor, int] = {}  # tensor -> index in `_records`
        self._records: list[Recorded] = []

    def watch(self, tensor: Tensor) -> None:
        self.watched.add(tensor)

    def watch_variable(self, variable: Any) -> None:
        """Watch a variable by its handle."""
        self.variables.setdefault(variable.handle, variable)
        self.watched.add(variable.handle)

    def ordered_variables(self) -> tuple[Any, ...]:
        """The watched variables in the order of their creation."""
        return tuple(sorted(self.variables.values(), key=lambda v: v._creation_number))

    def record_variable(self, variable: Any) -> None:
        if self._watches_variables and variable.trainable:
            self.watch_variable(variable)

    def record(self, op: Operation) -> None:
        if self.depends(op.inputs):
            rule = self._rule_of(op)
            unread = op.spec.needs_no_zeros
            self._append(Recorded(op.outputs, op.inputs, rule, unread))

    def record_more_outputs(self, op: Operation, outputs: Sequence[Tensor]) -> None:
        number = self._made_by.get(op.outputs[0]) if op.outputs else None
        if number is not None:
            self._made_by.update(dict.fromkeys(outputs, number))

    def record_function(
        self,
        outputs: Sequence[Tensor],
        inputs: Sequence[Tensor],
        backward: Callable[..., Any],
        takes_none: bool = False,
    ) -> None:
        """Record a computation whose gradient is a function of its own.

        Args:
          outputs: the results.
          inputs: the tensors they depend on.
          backward: (*grads of the outputs) -> gradients of the inputs.
          takes_none: whether it accepts None for outputs without gradients.
        """
        is_known = outputs and outputs[0] in self._made_by  # a capture used again
        if not is_known and self.depends(inputs):
            unread = None if takes_none else ()
            self._append(Recorded(outputs, inputs, backward, unread))

    def depends(self, inputs: Iterable[Tensor]) -> bool:
        """Whether one of the tensors depends on what is watched."""
        watched, made_by = self.watched, self._made_by
        for tensor in inputs:
            if (
                tensor in watched or tensor in made_by
            ) and tensor.dtype.base_dtype in TRAINABLE:
                return True
        return False

    def _rule_of(self, op: Operation) -> Callable[..., Any]:
        """The op's gradient rule as a function of the gradients of its outputs."""
        watched, made_by = self.watched, self._made_by
        unneeded = [
            i
            for i, tensor in enumerate(op.inputs)
            if tensor not in watched and tensor not in made_by
        ]

        def backward(*grads: Gradient) -> Any:
            rule = gradient_rule(op)
            if rule is None:
                return None
            if op.spec.flow in (Flow.SWITCH, Flow.EXIT):
                raise NotImplementedError(
                    "tf.GradientTape.gradients() does not support graph control flow "
                    "operations like tf.cond or tf.while at this time. Use "
                    "tf.gradients() instead. Or call this in a tf.function, whose "
                    "branches and loops are single ops."
                )
            op.unneeded_gradients = unneeded
            try:
                return rule(op, *grads)
            finally:
                op.unneeded_gradients = ()

        return backward

    def _append(self, record: Recorded) -> None:
        number = len(self._records)
        self._records.append(record)
        for tensor in record.outputs:
            self._made_by[tensor] = number

    # ---- backward

    def gradients(
        self,
        targets: Sequence[Tensor],
        sources: Sequence[Tensor],
        weights: Sequence[Gradient],
    ) -> list[Gradient]:
        """The gradient of the weighted sum of the targets for each source.

        Args:
          targets: what is differentiated.
          sources: with respect to what.
          weights: the gradient of each target; None for ones.
        """
        outer, tapes.backward = tapes.backward, Traversal(self, targets)
        try:
            return self._gradients(tapes.backward, targets, sources, weights)
        finally:
            tapes.backward = outer

    def _gradients(
        self,
        traversal: Traversal,
        targets: Sequence[Tensor],
        sources: Sequence[Tensor],
        weights: Sequence[Gradient],
    ) -> list[Gradient]:
        arrived: dict[Tensor, list[Gradient]] = {}
        for target, weight in zip(targets, weights, strict=True):
            if weight is None and target.dtype.base_dtype is not dtypes.string:
                weight = _ones(target)
            if weight is not None:
                arrived.setdefault(target, []).append(weight)
        wanted = set(sources)
        queue: list[int] = []
        seen: set[int] = set()

        def visit(tensors: Iterable[Tensor]) -> None:
            for tensor in tensors:
                number = self._made_by.get(tensor)
                if number is not None and number not in seen:
                    seen.add(number)
                    heapq.heappush(queue, -number)

        visit(targets)
        while queue:  # the last one first: all that use its results are done by then
            record = self._records[-heapq.heappop(queue)]
            traversal.results = record.outputs
            grads = [_sum(arrived, t, t in wanted) for t in record.outputs]
            if all(g is None for g in grads):
                continue
            self._send(record, grads, arrived)
            visit(record.inputs)
        traversal.results = sources
        return [_sum(arrived, source, True) for source in sources]

    def _send(
        self,
        record: Recorded,
        grads: list[Gradient],
        arrived: dict[Tensor, list[Gradient]],
    ) -> None:
        for i, (grad, output) in enumerate(zip(grads, record.outputs, strict=True)):
            if record.needs_no_zeros is None:
                break
            if i in record.needs_no_zeros:
                continue
            if grad is None and output.dtype.base_dtype in TRAINABLE:
                grads[i] = zeros(output)
        sent = record.backward(*grads)
        if sent is None:
            return
        sent = list(sent) if isinstance(sent, list | tuple) else [sent]
        # A loop may have got more inputs, lists of values that its gradient reads.
        watched, made_by = self.watched, self._made_by
        for tensor, grad in zip(record.inputs, sent, strict=False):
            if grad is not None and (tensor in watched or tensor in made_by):
                arrived.setdefault(tensor, []).append(grad)


def _ones(target: Tensor) -> Tensor:
    if is_full(target.static_shape):
        return ones(list(target.static_shape), target.dtype.base_dtype)
    return ones_like(target)


def zeros(tensor: Tensor) -> Gradient:
    """Zeros of the shape of a tensor, or of the variable of a handle."""
    if tensor.dtype.base_dtype is dtypes.resource:
        return zeros_of_variable(tensor)
    return zeros_like(tensor)


def zeros_of_variable(handle: Tensor) -> Tensor:
    from tfteach.framework.constant_values import handle_dtype
    from tfteach.ops.core.fill import zeros as zeros_of_shape

    return zeros_of_shape(variable_shape(handle), dtype=handle_dtype(handle))


def _sum(arrived: dict[Tensor, list[Gradient]], tensor: Tensor, keep: bool) -> Gradient:
    """The sum of the gradients of a tensor."""
    found = arrived.get(tensor)
    if not found:
        return None
    if len(found) > 1:
        slices = any(isinstance(g, IndexedSlices) for g in found)
        arrived[tensor] = found = [sum_slices(found) if slices else AddN()(found)]
    if not keep:
        del arrived[tensor]
    return found[0]
