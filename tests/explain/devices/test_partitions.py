from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.devices.partitions import Partitions, partitions

Feed = dict[str, object]
THREE = tf.ConfigProto(device_count={"CPU": 3})


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    """Two towers; what is fetched last waits for the second."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [4, 3], name="x")
        with tf.device("/cpu:0"):
            w = tf.Variable(tf.ones([3, 2]), name="w")
            parts = tf.split(x, 2, name="parts")
        losses = []
        for i in range(2):
            with tf.device(f"/cpu:{i + 1}"), tf.name_scope(f"tower_{i}"):
                losses.append(tf.reduce_sum(tf.matmul(parts[i], w), name="loss"))
        with tf.device("/cpu:0"):
            tf.add_n(losses, name="loss")
            with tf.control_dependencies([losses[1]]):
                tf.identity(x, name="later")
        yield graph


FETCHES, FEEDS = ["loss:0", "later:0"], ["x:0"]


def executed(
    session: tf.Session, fetches: list[str], feed: dict[str, object]
) -> set[str]:
    """The nodes of a run's partition graphs, each with its device and inputs."""
    metadata = tf.RunMetadata()
    options = tf.RunOptions(output_partition_graphs=True)
    session.run(fetches, feed, options=options, run_metadata=metadata)
    return {
        f"{node.device}: {node.name} = {node.op}({', '.join(node.input)})"
        for part in metadata.partition_graphs
        for node in part.node
    }


def planned(found: Partitions) -> set[str]:
    return {f"{part.device}: {node}" for part in found.parts for node in part.nodes}


def test_the_graphs_are_those_that_the_run_executes(graph: tf.Graph) -> None:
    with tf.Session(graph=graph, config=THREE) as session:
        session.run("w/Assign")
        found = partitions(session, FETCHES, FEEDS)
        assert planned(found) == executed(session, FETCHES, {"x:0": np.ones([4, 3])})


def test_loops_are_cut_as_the_run_is() -> None:
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:1"):
            scale = tf.random_uniform([2], name="scale")

        def body(i: tf.Tensor, total: tf.Tensor) -> list[tf.Tensor]:
            with tf.device("/cpu:0"):
                return [i + 1, total + scale]

        loop = tf.while_loop(lambda i, _: i < 3, body, [0, tf.zeros([2])], name="loop")
        total = tf.identity(loop[1], name="total")
    with tf.Session(graph=graph, config=THREE) as session:
        found = partitions(session, total)
        assert planned(found) == executed(session, ["total:0"], {})
        assert {link.tensor for link in found.links} == {"scale:0"}
        assert len(found.rows()) == sum(len(part.nodes) for part in found.parts)


def test_each_send_belongs_to_one_recv(graph: tf.Graph) -> None:
    with tf.Session(graph=graph, config=THREE) as session:
        found = partitions(session, FETCHES, FEEDS)
    links = {
        (link.tensor, link.source[-5:], link.target[-5:], link.what, link.readers)
        for link in found.links
    }
    assert links == {
        ("parts:0", "CPU:0", "CPU:1", "float32 [2, 3], 24 B", ("tower_0/MatMul",)),
        ("parts:1", "CPU:0", "CPU:2", "float32 [2, 3], 24 B", ("tower_1/MatMul",)),
        ("w/read:0", "CPU:0", "CPU:1", "float32 [3, 2], 24 B", ("tower_0/MatMul",)),
        ("w/read:0", "CPU:0", "CPU:2", "float32 [3, 2], 24 B", ("tower_1/MatMul",)),
        ("tower_0/loss:0", "CPU:1", "CPU:0", "float32 [], 4 B", ("loss",)),
        ("tower_1/loss:0", "CPU:2", "CPU:0", "float32 [], 4 B", ("loss",)),
        ("^tower_1/loss", "CPU:2", "CPU:0", "order only", ("tower_1/loss/_15",)),
    }
    for link in found.links:
        ends = found.of(link.source).nodes, found.of(link.target).nodes
        assert [n.op_type for n in ends[0] if n.name == link.send] == ["_Send"]
        assert [n.op_type for n in ends[1] if n.name == link.recv] == ["_Recv"]
    assert found.summary == (
        "3 graphs: 17 nodes on CPU:0, 6 nodes on CPU:1, 8 nodes on CPU:2; "
        "6 values sent, 104 B a run; 1 control edge between them"
    )


def test_sizes_of_a_run_replace_unknown_ones() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with tf.device("/cpu:1"):
            tf.square(x, name="y")
    with tf.Session(graph=graph, config=THREE) as session:
        before = partitions(session, "y", ["x"])
        assert before.links[0].what == "float32 [?, 3], unknown size"
        assert "at least 0 B a run" in before.summary
        session.run("y:0", {"x:0": np.ones([5, 3])})
        after = partitions(session, "y:0", ["x:0"])
    assert [
        (link.tensor, link.size_bytes, link.is_measured) for link in after.links
    ] == [
        ("x:0", 60, True),
        ("y:0", 60, True),
    ]


def test_rows_join_what_is_sent_with_what_is_received(graph: tf.Graph) -> None:
    with tf.Session(graph=graph, config=THREE) as session:
        rows = partitions(session, FETCHES, FEEDS).rows()
    at = {row.name: i for i, row in enumerate(rows)}
    received = rows[at["CPU:1/parts/_1"]]
    assert received.inputs == [at["CPU:0/parts/_0"], 0]
    assert received.outputs == [("float32", [2, 3])]
    product = rows[at["CPU:1/tower_0/MatMul"]]
    assert product.inputs == [at["CPU:1/parts/_1"], 0, at["CPU:1/w/read/_3"], 0]
    assert product.more["source"][3].startswith("losses.append(")
    assert rows[at["CPU:1/tower_0/Const"]].more["value"] == "[0, 1]"


def test_one_device_has_one_graph_and_text_lists_all() -> None:
    with tf.Graph().as_default() as graph:
        tf.square(tf.placeholder(tf.float32, [2], name="x"), name="y")
    with tf.Session(graph=graph) as session:
        found = partitions(session, "y:0", ["x:0"])
    assert found.links == ()
    assert str(found).splitlines() == [
        "1 graph: 3 nodes on CPU:0",
        "",
        "/job:localhost/replica:0/task:0/device:CPU:0",
        "  _arg_x_0_0 = _Arg()",
        "  y = Square(_arg_x_0_0)",
        "  _retval_y_0_0 = _Retval(y)",
    ]
    assert found.to_text(most=1).splitlines()[-1] == "  ... and 2 more"
    with pytest.raises(KeyError, match="these do: CPU:0"):
        found.of("GPU:0")
    with pytest.raises(tf.errors.InvalidArgumentError, match="closed"):
        partitions(session, "y:0", ["x:0"])


def test_a_folded_graph_is_cut_where_asked_unfolded() -> None:
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:1"):
            a = tf.constant([1.0, 2.0], name="a")
            doubled = tf.add(a, a, name="doubled")
        with tf.device("/cpu:0"):
            tf.square(doubled, name="y")
    with tf.Session(graph=graph, config=THREE) as session:
        assert len(partitions(session, "y:0").parts) == 1
        found = partitions(session, "y:0", unfolded=True)
    assert [part.label for part in found.parts] == ["CPU:0", "CPU:1"]
    assert [link.tensor for link in found.links] == ["doubled:0"]
