"""What users get wrong: the error's class, TF's words, and that nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from google.protobuf.message import DecodeError

import tfteach as tf
from tfteach.explain.graphs.graph_rows import rows_of_graph_def
from tfteach.ops.core import constant


def cycle() -> Any:
    proto = tf.GraphDef()
    t = "attr { key: 'T' value { type: DT_FLOAT } }"
    text_format.Parse(
        f"node {{ name: 'a' op: 'Identity' input: 'b' {t} }} "
        f"node {{ name: 'b' op: 'Identity' input: 'a' {t} }}",
        proto,
    )
    return proto


def foreign() -> Any:
    with tf.Graph().as_default():
        return tf.constant(1.0, name="elsewhere")


def run_closed() -> None:
    session = tf.Session()
    session.close()
    session.run("x:0")


def feed_unfeedable() -> None:
    x = tf.get_default_graph().get_tensor_by_name("x:0")
    x.graph.prevent_feeding(x)
    tf.Session().run(x, {x: 2.0})


BUILDING: list[tuple[Callable[[], Any], type[BaseException], str]] = [
    (lambda: tf.device("/foo:1").__enter__(), ValueError, "Unknown attribute: 'foo'"),
    (
        lambda: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 4])),
        ValueError,
        "Dimensions must be equal, but are 3 and 2 for 'MatMul' (op: 'MatMul')",
    ),
    (
        lambda: tf.add(tf.constant(1), tf.constant(1.0)),
        TypeError,
        "Input 'y' of 'Add' Op has type float32 that does not match type int32",
    ),
    (lambda: tf.import_graph_def(cycle()), ValueError, "cycle"),
    (lambda: tf.GraphDef.FromString(b"\x0a\xff\xff"), DecodeError, "Error parsing"),
    (lambda: tf.import_graph_def(b"\x0a\x02"), TypeError, "must be a GraphDef proto"),
    (lambda: tf.constant(1, name="a b"), ValueError, "not a valid node name"),
    (lambda: tf.identity(1, name="<b>"), ValueError, "not a valid scope name"),
    (lambda: tf.name_scope("a:b").__enter__(), ValueError, "not a valid scope name"),
    (
        lambda: tf.add(tf.get_default_graph().get_tensor_by_name("x:0"), foreign()),
        ValueError,
        "must be from the same graph as",
    ),
    (lambda: tf.Session().run(foreign()), ValueError, "not an element of this graph"),
    (run_closed, RuntimeError, "Attempted to use a closed Session."),
    (feed_unfeedable, ValueError, "may not be fed"),
]


@pytest.mark.parametrize(("attempt", "kind", "words"), BUILDING)
def test_refused_and_nothing_lost(attempt, kind, words) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.constant(2.0, name="x")
        before = {op.name for op in graph.get_operations()}
        with pytest.raises(kind) as caught:
            attempt()
        assert words in str(caught.value)
        added = {op.name for op in graph.get_operations()} - before
        assert not any(op.split("/")[0] in ("import", "MatMul", "Add") for op in added)
        assert session.run(x) == 2.0
        assert tf.add(x, x, name="sum").name == "sum:0"


def test_an_absent_device_names_op_devices_and_line() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fine = tf.constant(1.0)
        with tf.device("/gpu:7"):
            tf.constant(2.0, name="lost")
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run("lost:0")
        message = str(caught.value)
        assert "Cannot assign a device for operation lost" in message
        assert "/device:GPU:7" in message
        assert "/job:localhost/replica:0/task:0/device:CPU:0" in message
        assert 'tf.constant(2.0, name="lost")' in message
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Session(graph=fine.graph, config=config) as session:
        assert session.run("lost:0") == 2.0


def test_huge_constants_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constant, "MAX_CONSTANT_BYTES", 4000)
    with tf.Graph().as_default() as graph:
        tf.constant(np.zeros(999, np.float32))
        with pytest.raises(ValueError, match="larger than 2GB"):
            tf.constant(np.zeros(1000, np.float32))
        assert len(graph.get_operations()) == 1


def test_html_in_names_stays_data() -> None:
    hostile = "<img src=x onerror=alert(1)>"
    proto = tf.GraphDef()
    proto.node.add(name=hostile, op="NoOp")
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match="contains invalid characters"):
            tf.import_graph_def(proto, name="")
        assert not graph.get_operations()
    (row,) = rows_of_graph_def(proto)
    assert hostile in row


def test_sizes_without_bounds_ask_for_no_memory() -> None:
    with tf.Graph().as_default() as graph:
        many = tf.constant(2**31 - 1)
        # As a vector of sizes it would be of 8 GB, were it computed.
        with pytest.raises(ValueError, match="too many dimensions"):
            tf.fill(tf.fill([2**31 - 1], 1), 0.0)
        array = tf.TensorArray(tf.float32, many)
        growing = tf.TensorArray(tf.float32, 0, dynamic_size=True).write(many, 1.0)
        x = tf.placeholder(tf.float32, [2**32, 3])
        proto = tf.GraphDef()
        node = proto.node.add(name="s", op="Shape", input=["x"])
        node.attr["T"].type = 1
        [sizes] = tf.import_graph_def(proto, {"x": x}, ["s:0"])
        assert tf.fill(sizes, 0.0).shape.ndims == 2
    with tf.Session(graph=graph) as session:
        for fetch in (array.size(), growing.size()):
            with pytest.raises(tf.errors.ResourceExhaustedError, match="TensorArray"):
                session.run(fetch)
