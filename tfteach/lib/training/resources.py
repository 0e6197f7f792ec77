"""Resources of a graph other than variables: how they are made and reported missing.

Objects such as a forest's trees register themselves in a collection.
Source: python/ops/resources.py.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import (
    add_to_collection,
    device,
    get_collection,
    name_scope,
)
from tfteach.ops.array.gather import boolean_mask
from tfteach.ops.core.constant import constant
from tfteach.ops.core.control_flow_ops import group, no_op
from tfteach.ops.core.stack_unstack import stack
from tfteach.ops.math.compare import logical_not


class _Resource(NamedTuple):
    """A resource: its handle, the op that creates it, and whether that was run."""

    handle: Tensor
    create: Operation
    is_initialized: Tensor


def register_resource(
    handle: Tensor,
    create_op: Operation,
    is_initialized_op: Tensor,
    is_shared: bool = True,
) -> None:
    """Add a resource to the graph's shared ones, or to the local ones."""
    key = GraphKeys.RESOURCES if is_shared else GraphKeys.LOCAL_RESOURCES
    add_to_collection(key, _Resource(handle, create_op, is_initialized_op))


def shared_resources() -> list[Any]:
    """The graph's shared resources."""
    return get_collection(GraphKeys.RESOURCES)


def local_resources() -> list[Any]:
    """The graph's local resources."""
    return get_collection(GraphKeys.LOCAL_RESOURCES)


def initialize_resources(resource_list: list[Any], name: str = "init") -> Operation:
    """An operation that creates the resources."""
    if not resource_list:
        return no_op(name=name)
    return group(*(resource.create for resource in resource_list), name=name)


def report_uninitialized_resources(
    resource_list: list[Any] | None = None,
    name: str = "report_uninitialized_resources",
) -> Tensor:
    """A string Tensor [n]: the names of the resources that are not yet created.

    Args:
      resource_list: the resources; all of the graph if None.
      name: the name scope of its ops.
    """
    if resource_list is None:
        resource_list = shared_resources() + local_resources()
    place = os.environ.get("TF_DEVICE_FOR_UNINITIALIZED_VARIABLE_REPORTING", "/cpu:0")
    with name_scope(name), device(place):
        if not resource_list:
            return constant([], dtype="string")
        missing = logical_not(stack([r.is_initialized for r in resource_list]))
        names = constant([r.handle.name for r in resource_list])
        return boolean_mask(names, missing)
