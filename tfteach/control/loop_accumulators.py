"""Lists that a loop fills for its gradient, which steps replace by stacks.

The gradient of a While node gives the node a list for each value that the backward loop
needs: the loop appends an element in each iteration, and the backward loop removes one
in each of as many iterations.  Where nothing else uses the list, a stack does the same
in place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tfteach.framework.constant_values import constant_value
from tfteach.framework.functions.body import Body, body_of
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.shape import compatible, is_full
from tfteach.ops.core.identity_reshape import Identity
from tfteach.ops.functions.control_flow import StatelessWhile, While
from tfteach.ops.math.binary import Add, AddV2
from tfteach.ops.math.compare import Less, LogicalAnd
from tfteach.ops.state.tensor_list_ops import (
    EmptyTensorList,
    TensorListPopBack,
    TensorListPushBack,
    given_shape,
)


class Accumulators(NamedTuple):
    """The loop variables of a While node that are stacks in its steps.

    Attributes:
      pushed: the variable's number -> the value that the body appends.
      popped: the variable's number -> the op of the body that removes an element.
    """

    pushed: dict[int, Tensor]
    popped: dict[int, Operation]


def accumulators_of(op: Operation) -> Accumulators:
    """The lists of a While node that stacks replace."""
    # Of a function's op, the copy in a step has no record of its consumers.
    op = getattr(op, "original", None) or op
    pushed = {i: push.inputs[1] for i, (push, _, _) in _pairs(op).items()}
    popped = {}
    for j, tensor in enumerate(op.inputs):
        if isinstance(tensor.op.spec, While | StatelessWhile):
            found = _pairs(tensor.op).get(tensor.value_index)
            if found is not None and found[1] is op:
                popped[j] = found[2]
    return Accumulators(pushed, popped)


_Pair = tuple[Operation, Operation, Operation]


def _pairs(op: Operation) -> dict[int, _Pair]:
    """Variable of a loop -> (its push, the loop that pops, its pop)."""
    spec: Any = op.spec
    lists = [
        i
        for i, tensor in enumerate(op.inputs)
        if isinstance(tensor.op.spec, EmptyTensorList)
    ]
    if not lists:
        return {}
    body, test = body_of(op, spec.body), body_of(op, spec.cond)
    if not _counts(op, body):
        return {}
    found = {}
    for i in lists:
        push = _push(op, body, test, i)
        pair = None if push is None else _pop(op, push, i)
        if push is not None and pair is not None:
            found[i] = push, *pair
    return found


def _push(op: Operation, body: Body, test: Body, i: int) -> Operation | None:
    """The op that appends to the list `i`, if the loop does nothing else with it."""
    empty = op.inputs[i].op
    element_shape = constant_value(empty.inputs[0])
    x, push = body.inputs[i], body.outputs[i].op
    if (
        not isinstance(push.spec, TensorListPushBack)
        or push.inputs[0] is not x
        or x.consumers() != [push]
        or body.outputs.count(body.outputs[i]) > 1
        or body.outputs[i].consumers()
        or test.inputs[i].consumers()
        or empty.outputs[0].consumers() != [op]
        or _is_returned(empty.outputs[0])
        or element_shape is None
        or not _is_long_enough(op, empty.inputs[1], test)
    ):
        return None
    shape, element = given_shape(element_shape), push.inputs[1].static_shape
    fits = (
        shape is None
        or shape == element
        or (is_full(element) and compatible(shape, element))
    )
    return push if fits else None


def _is_long_enough(op: Operation, most: Tensor, test: Body) -> bool:
    """Whether no iteration can exceed the list's largest number of elements."""
    value = constant_value(most)
    if value is not None and int(value) < 0:
        return True
    last = test.outputs[0].op
    bound = last.inputs[0].op if isinstance(last.spec, LogicalAnd) else last
    limits = test.inputs[0], test.inputs[1]
    return (
        most is op.inputs[1]
        and isinstance(bound.spec, Less)
        and (bound.inputs[0], bound.inputs[1]) == limits
    )


def _pop(op: Operation, push: Operation, i: int) -> tuple[Operation, Operation] | None:
    """The one loop that uses the list after the loop, and the op that removes."""
    output = op.outputs[i]
    users = output.consumers()
    if len(users) != 1 or _is_returned(output):
        return None
    (user,) = users
    if not isinstance(user.spec, While | StatelessWhile):
        return None
    if [t is output for t in user.inputs].count(True) != 1:
        return None
    j = user.inputs.index(output)
    spec: Any = user.spec
    body, test = body_of(user, spec.body), body_of(user, spec.cond)
    x, rest = body.inputs[j], body.outputs[j]
    pop = rest.op
    if (
        not isinstance(pop.spec, TensorListPopBack)
        or pop.spec.element_dtype is not push.inputs[1].dtype.base_dtype
        or rest.value_index != 0
        or x.consumers() != [pop]
        or rest.consumers()
        or body.outputs.count(rest) > 1
        or test.inputs[j].consumers()
        or any(c.consumers() for c in _after(user, j))
        or constant_value(pop.inputs[1]) != -1
        or not _counts(user, body)
    ):
        return None
    bound = _source(test.outputs[0]).op
    ends = user.inputs[2:3] == (op.outputs[0],) and (
        isinstance(bound.spec, Less)
        and (bound.inputs[0], bound.inputs[1]) == (test.inputs[0], test.inputs[2])
        and body.inputs[2] is _source(body.outputs[2])
    )
    return (user, pop) if ends else None


def _after(op: Operation, j: int) -> list[Tensor]:
    """What the value of a loop's variable becomes after the loop."""
    users = op.outputs[j].consumers()
    if all(isinstance(user.spec, Identity) for user in users):
        return [user.outputs[0] for user in users]
    return [op.outputs[j]]


def _counts(op: Operation, body: Body) -> bool:
    """Whether the loop's first variable counts its iterations from 0."""
    step = _source(body.outputs[0]).op
    return (
        constant_value(op.inputs[0]) == 0
        and isinstance(step.spec, Add | AddV2)
        and step.inputs[0] is body.inputs[0]
        and constant_value(step.inputs[1]) == 1
    )


def _source(tensor: Tensor) -> Tensor:
    while isinstance(tensor.op.spec, Identity):
        tensor = tensor.op.inputs[0]
    return tensor


def _is_returned(tensor: Tensor) -> bool:
    """Whether calls of the function whose body it is in return the tensor."""
    graph = tensor.op.graph
    if not isinstance(graph, FuncGraph):
        return False
    returned = any(tensor is other for other in graph.outputs)
    return returned or tensor in graph.read_by_gradients
