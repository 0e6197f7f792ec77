"""Comparison of protos: the first field in which two differ."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, MutableSequence
from typing import Any

from tfteach.framework.export import export

# The decimals by which numbers are compared: those of floats, of doubles.
_FLOAT, _DOUBLE = 6, 5  # protobuf's CPPTYPE_FLOAT, CPPTYPE_DOUBLE
_DECIMALS = {_FLOAT: 6, _DOUBLE: 7}


def assert_protos_equal(expected: Any, message: Any, msg: Any = None) -> None:
    """Raise AssertionError with a diff unless two protos are equal.

    Floats are compared by 6 decimals, doubles by 7.

    Args:
      expected: a proto, or its text format.
      message: a proto.
      msg: appended to the error message.
    """
    from google.protobuf import text_format

    if isinstance(expected, str):
        expected = text_format.Merge(expected, type(message)())
    if not isinstance(expected, type(message)):
        raise AssertionError(
            f"Can't compare protos of type {type(expected)} and {type(message)}. "
            f"{msg or ''}"
        )
    want, got = _rounded(expected), _rounded(message)
    if want != got:
        want, got = (text_format.MessageToString(m).splitlines() for m in (want, got))
        diff = difflib.unified_diff(want, got, "expected", "actual", lineterm="")
        raise AssertionError("\n".join([str(msg or "Protos differ:"), *diff]))


def _rounded(message: Any) -> Any:
    """A copy of a proto with rounded numbers."""
    found = type(message)()
    found.CopyFrom(message)
    _round(found)
    return found


def _round(message: Any) -> None:
    """Round the numbers of a proto and of those in it."""
    for field, value in message.ListFields():
        is_map = isinstance(value, Mapping)
        if field.cpp_type == field.CPPTYPE_MESSAGE:
            if is_map:
                parts = list(value.values())
            else:
                is_list = isinstance(value, MutableSequence)
                parts = list(value) if is_list else [value]
            for part in parts:
                if hasattr(part, "ListFields"):
                    _round(part)
            continue
        decimals = _DECIMALS.get(field.cpp_type)
        if decimals is None:
            continue
        if isinstance(value, MutableSequence):
            value[:] = [round(number, decimals) for number in value]
        else:
            setattr(message, field.name, round(value, decimals))


@export("test.assert_equal_graph_def")
def assert_equal_graph_def(
    actual: Any,
    expected: Any,
    checkpoint_v2: bool = False,
    hash_table_shared_name: bool = False,
) -> None:
    """Raise AssertionError unless two GraphDefs have the same nodes.

    Their order and that of control inputs do not count, nor do versions.

    Args:
      actual: a GraphDef.
      expected: a GraphDef.
      checkpoint_v2: ignore the random names of temporary checkpoint files.
      hash_table_shared_name: ignore the shared names of hash tables.

    Raises:
      TypeError: an argument is not a GraphDef.

    Source: python/framework/test_util.py; core/util/equal_graph_def.cc (messages).
    """
    from tfteach.framework import protos

    for name, graph_def in (("actual", actual), ("expected", expected)):
        if not isinstance(graph_def, protos.GraphDef):
            raise TypeError(
                f"Expected tf.GraphDef for {name}, got {type(graph_def).__name__}"
            )
    found = {node.name: node for node in actual.node}
    for want in expected.node:
        if want.name not in found:
            raise AssertionError(
                f"Did not find expected node '{_summary(want)}'. Nodes there: "
                f"{sorted(found)[:20]}"
            )
        _same_node(found.pop(want.name), want, checkpoint_v2, hash_table_shared_name)
    if found:
        raise AssertionError(
            f"Found unexpected node '{_summary(next(iter(found.values())))}'"
        )


def _summary(node: Any) -> str:
    return f"{{{{node {node.name}}}}} = {node.op}({', '.join(node.input)})"


def _same_node(got: Any, want: Any, checkpoint_v2: bool, tables: bool) -> None:
    for what, one, other in (
        ("op", got.op, want.op),
        ("device", got.device, want.device),
        ("inputs", _data_inputs(got), _data_inputs(want)),
        ("control inputs", _control_inputs(got), _control_inputs(want)),
    ):
        if one != other:
            raise AssertionError(
                f"Node named '{want.name}' has {what} {one!r} that does not match "
                f"expected {what} {other!r}"
            )
    passed_over = set()
    if tables and want.op in ("HashTable", "HashTableV2"):
        passed_over = {"shared_name"}
    if checkpoint_v2 and "_temp" in str(want.attr.get("value", "")):
        passed_over = {"value"}
    for name in sorted((set(got.attr) | set(want.attr)) - passed_over):
        if name.startswith("_") and not (name in got.attr and name in want.attr):
            continue
        if name not in got.attr or name not in want.attr:
            where = "actual" if name in got.attr else "expected"
            raise AssertionError(
                f"Node named '{want.name}': attribute '{name}' is only in {where}"
            )
        assert_protos_equal(
            want.attr[name],
            got.attr[name],
            f"Node named '{want.name}' has attr '{name}' that does not match expected:",
        )


def _data_inputs(node: Any) -> list[str]:
    return [i.removesuffix(":0") for i in node.input if not i.startswith("^")]


def _control_inputs(node: Any) -> list[str]:
    return sorted(i for i in node.input if i.startswith("^"))
