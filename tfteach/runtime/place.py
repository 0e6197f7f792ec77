"""Where each node of a step runs, and why."""

from __future__ import annotations

from typing import NamedTuple

from tfteach.runtime.devices import Device
from tfteach.runtime.step import Step


class Placement(NamedTuple):
    """One op's device: what was asked for, what it got, and the reason."""

    name: str
    op_type: str
    requested: str
    assigned: str
    reason: str


def place(step: Step, devices: list[Device], allow_soft: bool) -> list[Placement]:
    """Give every node of `step` a device."""
    for node in (*step.feeds.values(), *step.nodes):
        node.device = devices[0]
    return [
        Placement(n.name, n.op.type, n.op.device, n.device.name, "default")
        for n in step.nodes
    ]
