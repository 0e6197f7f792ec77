"""Inputs of imported nodes: their names, and the tensors that replace them.

Source: core/graph/graph_constructor.cc, python/framework/importer.py.
"""

from __future__ import annotations

import re
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor


def mapped_inputs(
    graph: Graph, input_map: dict[Any, Any], name: str | None
) -> dict[str, Tensor]:
    """The tensors of an `input_map` by the names of the inputs that they replace."""
    keys = [k.decode() if isinstance(k, bytes) else k for k in input_map]
    values = list(input_map.values())
    if not all(isinstance(v, Tensor) for v in values):
        if name == "":
            raise ValueError(
                "tf.import_graph_def() requires a non-empty `name` if `input_map` "
                "contains non-Tensor values. Try calling tf.convert_to_tensor() on "
                "`input_map` values before calling tf.import_graph_def()."
            )
        with graph.name_scope("_inputs"):
            values = [convert(v) for v in values]
    found: dict[str, Tensor] = {}
    for key, value in zip(keys, values, strict=True):
        if not key.startswith("^"):
            key = "{}:{}".format(*tensor_name(key))
        found[key] = value
    return found


def tensor_name(name: str) -> tuple[str, int]:
    """The node and the output of a tensor's name."""
    op_name, colon, index = name.partition(":")
    if colon and not index.isdigit():
        raise ValueError(f"Cannot convert {name!r} to a tensor name.")
    return op_name, int(index or 0)


_NO_OUTPUT = 1 << 31  # more than any node has
_INPUT = re.compile(r"(.*):([0-9]+)\Z", re.DOTALL)


def source_of(source: str) -> tuple[str, int]:
    """The node and the output that an input names: 0 if it does not end in a number."""
    found = _INPUT.match(source)
    if found is None:
        return source, 0
    digits = found[2]
    return found[1], int(digits) if len(digits) < 10 else _NO_OUTPUT


def op_of(element: Tensor | Operation) -> Operation:
    """The operation itself, or that of a tensor."""
    return element.op if isinstance(element, Tensor) else element
