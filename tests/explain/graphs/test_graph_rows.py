from __future__ import annotations

import numpy as np
import pytest
from tensorboard.compat.proto.graph_pb2 import GraphDef

import tfteach as tf
from tests.jupyter.fixtures import golden
from tfteach.explain.graphs.graph_rows import (
    needed_rows,
    row_of,
    rows_of_graph,
    rows_of_graph_def,
    value_text,
)
from tfteach.explain.graphs.scope_tree import (
    lane_of,
    make_tree,
    opened,
    own_constants,
    visible,
)


def test_rows_of_a_live_graph() -> None:
    with tf.Graph().as_default() as graph:
        a = tf.constant([1.0, 2.0], name="a")
        with tf.control_dependencies([a]), tf.device("/cpu:0"):
            tf.add(tf.placeholder(tf.float32, [None, 2], name="x"), a, name="y")
    a_row, x_row, y_row = rows_of_graph(graph)
    assert a_row.outputs == [("float32", [2])]
    assert a_row.more["value"] == "[1, 2]"
    assert x_row.outputs == [("float32", [-1, 2])]
    assert x_row.controls == [0]
    assert y_row.inputs == [1, 0, 0, 0]
    assert y_row.more["device"] == "/device:CPU:0"
    file, line, function, text = y_row.more["source"]
    assert file == "test_graph_rows.py"
    assert line > 1
    assert function == "test_rows_of_a_live_graph"
    assert 'name="y"' in text


def test_a_row_without_attributes_still_has_its_value() -> None:
    with tf.Graph().as_default():
        op = tf.constant(3.0).op
    assert row_of(op, attrs=False).more["value"] == "3"
    assert "attrs" not in row_of(op, attrs=False).more
    assert row_of(op).more["attrs"]["dtype"] == "float32"


def test_rows_of_a_graph_def() -> None:
    rows = {row.name: row for row in rows_of_graph_def(golden("linear_regression"))}
    assert rows["weights"].outputs == [("float32_ref", [])]
    assert rows["GradientDescent"].outputs == []
    assert len(rows["gradients/sub_grad/BroadcastGradientArgs"].outputs) == 2
    assert rows["GradientDescent/learning_rate"].more["value"] == "0.001"


def test_a_graph_def_with_a_missing_node_says_which() -> None:
    graph_def = GraphDef()
    graph_def.node.add(name="a", op="Identity", input=["nowhere"])
    with pytest.raises(ValueError, match=r"'a' has the input 'nowhere'.* no node"):
        rows_of_graph_def(graph_def)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float32(0.1), "0.1"),
        (np.array([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
        (np.zeros([3, 4]), "3×4 values"),
        (np.array(b"abc", object), "'abc'"),
        (np.array(True), "True"),
        (np.array(b"a" * 50, object), f"'{'a' * 39}'…"),  # a cut says so
    ],
)
def test_values_in_few_words(value: object, text: str) -> None:
    assert value_text(value) == text


def test_needed_rows_and_unknown_names() -> None:
    rows = rows_of_graph_def(golden("linear_regression"))
    needed, unknown = needed_rows(rows, ["add:0", "nothing"], ["X:0"])
    assert [rows[i].name for i in sorted(needed)] == [
        "weights", "weights/read", "bias", "bias/read", "mul", "add",
    ]  # fmt: skip
    assert unknown == ["nothing"]


def test_the_tree_and_what_opens_first() -> None:
    rows = rows_of_graph_def(golden("softmax_regression_adam"))
    root = make_tree(rows)
    assert opened(root, rows, depth=2) == {"model/", "loss/", "accuracy/"}
    assert opened(root, rows, depth=2, most=5) == set()
    assert opened(root, rows, expanded=["train/"]) == {"train/"}
    lanes = {box.id: lane_of(box, rows) for box in visible(root, set())}
    assert lanes["train/"] == "training"
    assert lanes["init"] == "aside"
    assert lanes["model/"] == "main"


def test_an_op_and_the_constants_that_came_with_it() -> None:
    rows = rows_of_graph_def(golden("while_loop"))
    boxes = {box.id: box for box in visible(make_tree(rows), {"while/"})}
    constants = own_constants(boxes["while/Less/"], rows)
    assert [c.name for c in constants] == ["while/Less/y"]
    assert own_constants(boxes["while/"], rows) == []
    assert boxes["while/Less/"].label == "Less"
