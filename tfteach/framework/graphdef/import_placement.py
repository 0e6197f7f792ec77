"""Placement of imported nodes: devices and colocation groups.

Source: python/framework/importer.py (_ProcessNewOps), graph_constructor.cc.
"""

from __future__ import annotations

from tfteach.framework.device import canonical_name, merge_names
from tfteach.framework.operation import Operation
from tfteach.framework.protos.attr_value import is_empty_list

_GROUP = b"loc:@"


def colocated(op: Operation) -> list[str]:
    """The names of the ops that this one is colocated with."""
    groups = (op.extra_attrs or {}).get("_class")
    if not isinstance(groups, list):
        return []
    return [
        group[len(_GROUP) :].decode() for group in groups if group.startswith(_GROUP)
    ]


def rename_groups(
    op: Operation, renamed: dict[str, str], scope: str, extends: bool
) -> None:
    """Rename the groups in the node's `_class` to the nodes' new names.

    Args:
      op: the node.
      renamed: old name -> new name.
      scope: prefix of the new names.
      extends: whether a group may be led by a node that was in the graph before.

    Raises:
      ValueError: a group's node is not imported, or it is not a list.
    """
    extra = op.extra_attrs
    if not extra or "_class" not in extra:
        return
    groups = extra["_class"]
    if not isinstance(groups, list):
        if is_empty_list(groups):
            extra["_class"] = []
            return
        raise ValueError(
            f"Node '{op.name.removeprefix(scope)}' has an attribute '_class' "
            "that is no list of strings"
        )
    # A branch's ops may be colocated with ops of the graph around it.
    may_be_outside = extends or (op.graph.building_function and not scope)
    found = []
    for group in groups:
        if group.startswith(_GROUP):
            old = group[len(_GROUP) :].decode("utf-8", "replace")
            if old not in renamed and not may_be_outside:
                raise ValueError(
                    f"Node '{op.name.removeprefix(scope)}' expects to be "
                    f"colocated with unknown node '{old}'"
                )
            group = _GROUP + renamed.get(old, old).encode()
        found.append(group)
    extra["_class"] = found


def put_on_device(op: Operation, scope: str) -> None:
    """The device requested by the node and the open scopes; none if colocated."""
    scopes = op.graph.scopes.state
    if any(name != op.name for name in colocated(op)):
        op.device = ""  # determined by its group
        return
    try:
        own = canonical_name(op.device)
    except ValueError as error:
        raise ValueError(f"{error} (node '{op.name.removeprefix(scope)}')") from None
    if scopes.fixed_device is not None:
        fixed = scopes.fixed_device
        op.device = merge_names(own, fixed) if own and fixed else own or fixed
    elif own:
        with op.graph.device(own):
            op.device = op.graph.scopes.state.device_of(op)
    else:
        op.device = scopes.device_of(op)
