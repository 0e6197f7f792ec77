"""Small arithmetic between values of the host is computed there, not on a card.

Sizes, loop counters and conditions are in host memory.  An op on them that was placed
on a card would cost two copies, for the second of which the host waits.
Source: core/grappler/optimizers/pin_to_host_optimizer.cc.
"""

from __future__ import annotations

import math

from tfteach.engine.devices.devices import Device
from tfteach.engine.plan.partition import host_arguments
from tfteach.engine.plan.step import Node, Step
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import is_full

TYPES = frozenset(("int32", "int64", "bool"))
MOST_ELEMENTS = 64


def pin_to_host(step: Step, host: Device) -> None:
    """Move such ops of a placed step to the host.

    An op moves if its inputs and outputs are few integers or truth values, which are
    computed and used on the host.

    Args:
      step: its nodes' devices change.
      host: where feeds come from and fetches go to.
    """
    moving: set[Node] = set()
    for node in step.nodes:
        if _may_move(node) and all(
            edge.node in moving or edge.node.device is _host_of(node, host)
            for edge in node.inputs
        ):
            moving.add(node)
    while True:
        needed = _needed_on_cards(step, moving)
        if not needed & moving:
            break
        moving -= needed
    for node in moving:
        node.device = _host_of(node, host)


def _may_move(node: Node) -> bool:
    spec = node.spec
    return (
        node.device.is_asynchronous
        and not node.is_feed
        and node.flow is None
        and not (spec.is_stateful or spec.only_metadata or spec.calls_function)
        and all(map(_is_small, (*node.op.inputs, *node.op.outputs)))
    )


def _is_small(tensor: Tensor) -> bool:
    shape = tensor.static_shape
    return (
        tensor.dtype.name in TYPES
        and is_full(shape)
        and math.prod(shape) <= MOST_ELEMENTS
    )


def _host_of(node: Node, host: Device) -> Device:
    return node.device.host or host


def _needed_on_cards(step: Step, moving: set[Node]) -> set[Node]:
    """The nodes whose values an op on a card takes in its memory."""
    found: set[Node] = set()
    for node in step.nodes:
        if node in moving or node.device.device_type != "GPU":
            continue
        if node.spec.only_metadata:
            continue
        on_host = host_arguments(node)
        found.update(e.node for i, e in enumerate(node.inputs) if i not in on_host)
    return found
