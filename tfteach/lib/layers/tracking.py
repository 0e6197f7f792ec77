"""Updates and losses recorded by layers: dependencies and collections.

Source: python/keras/utils/tf_utils.py, python/layers/base.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor


def op_of(update: Any) -> Operation:
    return update.op if hasattr(update, "op") else convert(update).op


def depends(op: Operation, tensors: Iterable[Any]) -> bool:
    """Whether an op is computed from one of the tensors."""
    wanted = {t.op for t in tensors if isinstance(t, Tensor)}
    seen: set[Operation] = set()
    pending = [op]
    while pending:
        found = pending.pop()
        if found in wanted:
            return True
        if found not in seen:
            seen.add(found)
            pending += [tensor.op for tensor in found.inputs]
    return False


def collect(members: list[Any], key: str) -> None:
    """Add members that are not in a collection yet."""
    graph = get_default_graph()
    known = {id(member) for member in graph.collection_list(key)}
    for member in members:
        if id(member) not in known:
            graph.add_to_collection(key, member)
