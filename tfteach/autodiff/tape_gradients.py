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

# By enum value: the test is made for each recorded op, and types hash in Python.
_TRAINABLE = frozenset(
    dtype.as_datatype_enum for base in TRAINABLE for dtype in (base, base.as_ref)
)


class Recorded(NamedTuple):
    """A computation that a tape has recorded.

    Attributes:
      outputs: its results.
      inputs: what they depend on.
      backward: from the gradients of the outputs to those of the inputs; an `Operation`
        stands for its own rule.
      unneeded: the inputs whose gradients the tape does not need.
      needs_no_zeros: the outputs for which `backward` accepts None if they have no
        gradient; None for all.
    """

    outputs: Sequence[Tensor]
    inputs: Sequence[Tensor]
    backward: Callable[..., Any] | Operation
    unneeded: Sequence[int]
    needs_no_zeros: Sequence[int] | None


WATCHED = -1  # in place of the number of a record: a tensor that the user watches


class RecordedTape:
    """The computations that depend on watched tensors, in order.

    Attributes:
      variables: the variables that were watched, by handle, in the order of their
        first reading.
    """

    def __init__(self, watches_variables: bool = True) -> None:
        self.variables: dict[Tensor, Any] = {}
        self._watches_variables = watches_variables
        # The tensors that gradients flow through, by id, which takes a third of the
        # time of their hash: the index in `_records` of what made them, or WATCHED.
        self._made_by: dict[int, int] = {}
        self._records: list[Recorded] = []
        self._kept: list[Tensor] = []  # whose ids would be reused otherwise

    def watch(self, tensor: Tensor) -> None:
        """Record what depends on a tensor from now on."""
        self._kept.append(tensor)
        self._made_by.setdefault(id(tensor), WATCHED)

    def watch_variable(self, variable: Any) -> None:
        """Watch a variable by its handle."""
        handle = variable.handle
        if handle not in self.variables:
            self.variables[handle] = variable
            self.watch(handle)

    def record_variable(self, variable: Any) -> None:
        if self._watches_variables and variable.trainable:
            self.watch_variable(variable)

    def record(self, op: Operation) -> None:
        made_by = self._made_by
        depends, unneeded = False, []
        for i, tensor in enumerate(op.inputs):
            if id(tensor) not in made_by:
                unneeded.append(i)
            elif tensor.dtype.as_datatype_enum in _TRAINABLE:
                depends = True
        if depends:
            unread = op.spec.needs_no_zeros
            self._append(Recorded(op.outputs, op.inputs, op, unneeded, unread))

    def record_more_outputs(self, op: Operation, outputs: Sequence[Tensor]) -> None:
        number = (
            self._made_by.get(id(op.outputs[0]), WATCHED) if op.outputs else WATCHED
        )
        if number != WATCHED:
            self._kept += outputs
            self._made_by.update(dict.fromkeys(map(id, outputs), number))

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
        # A tensor that is captured again was made before.
        is_known = outputs and self._made_by.get(id(outputs[0]), WATCHED) != WATCHED
        if not is_known and self.depends(inputs):
            unread = None if takes_none else ()
            self._append(Recorded(outputs, inputs, backward, (), unread))

    def depends(self, inputs: Iterable[Tensor]) -> bool:
        """Whether one of the tensors depends on what is watched."""
        made_by = self._made_by
        for tensor in inputs:
            if id(tensor) in made_by and tensor.dtype.as_datatype_enum in _TRAINABLE:
                return True
        return False

    def _append(self, record: Recorded) -> None:
        number = len(self._records)
        self._records.append(record)
        for tensor in record.outputs:
            self._made_by[id(tensor)] = number

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
        arrived: dict[int, list[Gradient]] = {}  # by the tensor's id
        for target, weight in zip(targets, weights, strict=True):
            if weight is None and target.dtype.base_dtype is not dtypes.string:
                weight = _ones(target)
            if weight is not None:
                arrived.setdefault(id(target), []).append(weight)
        wanted = set(map(id, sources))
        made_by = self._made_by
        seen = {made_by.get(key, WATCHED) for key in arrived} - {WATCHED}
        queue = [-number for number in seen]
        heapq.heapify(queue)
        seen.add(WATCHED)
        while queue:  # the last one first: all that use its results are done by then
            record = self._records[-heapq.heappop(queue)]
            traversal.results = record.outputs
            grads, is_reached = [], False
            for output in record.outputs:
                grad = _sum(arrived, id(output), id(output) in wanted)
                is_reached |= grad is not None
                grads.append(grad)
            if not is_reached:  # but other outputs, which it got later
                continue
            # A loop may have got more inputs, lists of values that its gradient reads.
            for tensor, grad in zip(record.inputs, _sent(record, grads), strict=False):
                number = None if grad is None else made_by.get(id(tensor))
                if number is None:
                    continue
                arrived.setdefault(id(tensor), []).append(grad)
                if number not in seen:
                    seen.add(number)
                    heapq.heappush(queue, -number)
        traversal.results = sources
        return [_sum(arrived, id(source), True) for source in sources]


def _sent(record: Recorded, grads: list[Gradient]) -> Sequence[Gradient]:
    """The gradients of the inputs of a computation, given those of its outputs."""
    unread = record.needs_no_zeros
    if unread is not None:
        for i, grad in enumerate(grads):
            if grad is None and i not in unread:
                output = record.outputs[i]
                if output.dtype.as_datatype_enum in _TRAINABLE:
                    grads[i] = zeros(output)
    backward = record.backward
    if isinstance(backward, Operation):
        found = _apply_rule(backward, record.unneeded, grads)
    else:
        found = backward(*grads)
    if found is None:
        return ()
    return found if isinstance(found, list | tuple) else [found]


def _apply_rule(
    op: Operation, unneeded: Sequence[int], grads: Sequence[Gradient]
) -> Any:
    """The gradients of an op's inputs by the rule of its type; None if it has none."""
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
    if not unneeded:
        return rule(op, *grads)
    op.unneeded_gradients = unneeded
    try:
        return rule(op, *grads)
    finally:
        op.unneeded_gradients = ()


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


def _sum(arrived: dict[int, list[Gradient]], key: int, keep: bool) -> Gradient:
    """The sum of the gradients of the tensor with this id."""
    found = arrived.get(key) if keep else arrived.pop(key, None)
    if found is None:
        return None
    if len(found) > 1:
        slices = any(isinstance(g, IndexedSlices) for g in found)
        found[:] = [sum_slices(found) if slices else AddN()(found)]
    return found[0]
