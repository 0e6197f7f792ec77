"""The types of nodes' outputs, read from GraphDefs."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tests.golden.model_files import FOLDER
from tfteach.explain.files.model_files import read_model
from tfteach.explain.graphs.graph_rows import rows_of_graph, rows_of_graph_def
from tfteach.explain.graphs.output_types import output_types
from tfteach.framework.protos import NodeDef, OpDef

FLOAT, INT = tf.float32.as_datatype_enum, tf.int32.as_datatype_enum


def node(op: str, **attrs: Any) -> Any:
    made = NodeDef(name="a", op=op)
    for name, value in attrs.items():
        if isinstance(value, list):
            made.attr[name].list.type.extend(value)
            made.attr[name].list.SetInParent()
        elif name == "N":
            made.attr[name].i = value
        else:
            made.attr[name].type = value
    return made


KNOWN = [
    (node("TopKV2", T=FLOAT), ["float32", "int32"]),
    (node("Unpack", T=FLOAT), []),  # without its number
    (node("VarHandleOp", dtype=FLOAT), ["resource"]),
    (node("VariableV2", dtype=FLOAT), ["float32_ref"]),
    (node("ShapeN", T=FLOAT, N=2), ["int32", "int32"]),  # out_type has a default
    (node("Split", T=FLOAT), []),
    (node("IdentityN", T=[INT, FLOAT]), ["int32", "float32"]),
    (node("NoOp", T=FLOAT), []),
    (node("Identity", T=9999), ["type 9999"]),
    (node("Identity"), ["?"]),
]


@pytest.mark.parametrize(("given", "types"), KNOWN, ids=lambda v: getattr(v, "op", ""))
def test_the_definition_of_a_known_op_decides(given: Any, types: list[str]) -> None:
    assert output_types(given, {}, 0) == types


OPAQUE = [
    (node("Strange", Tout=[FLOAT, INT], T=INT), 0, ["float32", "int32"]),
    (node("Strange", T=[INT, FLOAT], dtype=INT), 0, ["int32", "float32"]),
    (node("Strange", Tout=[]), 0, []),
    (node("Strange", T=INT, dtype=FLOAT), 0, ["float32"]),
    (node("Strange", T=FLOAT), 3, ["float32", "?", "?"]),
    (node("Strange", Tidx=INT), 0, ["?"]),
    (node("Strange"), 0, []),
    (node("Strange"), 2, ["?", "?"]),
]


@pytest.mark.parametrize(("given", "read", "types"), OPAQUE)
def test_attributes_suggest_those_of_others(
    given: Any, read: int, types: list[str]
) -> None:
    assert output_types(given, {}, read) == types


def test_a_function_has_the_outputs_of_its_signature() -> None:
    signature = OpDef(name="f")
    signature.output_arg.add(name="x", type=FLOAT)
    signature.output_arg.add(name="n", type_attr="T")
    signature.output_arg.add(name="all", type_attr="T", number_attr="N")
    call = node("f", T=INT, N=2)
    assert output_types(call, {"f": signature}, 0) == ["float32"] + ["int32"] * 3


def test_a_graph_and_its_graph_def_have_the_same_types() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4, 6])
        tf.nn.top_k(x, 2)
        tf.split(x, 3, axis=1)
        tf.unique(tf.argmax(x, 1))
        tf.nn.fused_batch_norm(tf.zeros([1, 2, 2, 3]), [1.0] * 3, [0.0] * 3)
        tf.get_variable("w", [2], tf.float64)
        tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
    live = rows_of_graph(graph)
    read = rows_of_graph_def(graph.as_graph_def())
    for ours, row in zip(live, read, strict=True):
        assert [t for t, _ in row.outputs] == [t for t, _ in ours.outputs], row.name


def test_shapes_beside_types_of_a_real_model() -> None:
    [graph] = read_model(FOLDER / "saved").graphs
    for row in rows_of_graph_def(graph.graph_def):
        assert "?" not in [kind for kind, _ in row.outputs]
