from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.runs.optimizing import explain_optimizing
from tfteach.framework import machine_code


@pytest.fixture
def session() -> Iterator[tf.Session]:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 4], name="x")
        a = tf.add(tf.constant(1.0, name="one"), 2.0, name="three")
        b = tf.multiply(x, a, name="b")
        again = tf.multiply(x, a, name="again")
        tf.add(tf.identity(b, name="same"), again, name="sum")
        tf.size(x, name="size")
        with tf.Session() as session:
            yield session


def test_what_each_pass_does(session: tf.Session) -> None:
    log = explain_optimizing(session, "sum", ["x"], [(3, 4)])
    assert log.names == [
        "remove_identities", "fold_constants", "merge_duplicates", "remove_dead",
        "specialize", "fusion",
    ]  # fmt: skip
    reasons = [(c.pass_name, c.reason) for name in ("same", "three", "again")
               for c in log.of(name)[:1]]  # fmt: skip
    assert reasons == [
        ("remove_identities", "hands on b unchanged"),
        ("fold_constants", "all its inputs are constant"),
        ("merge_duplicates", "computes the same as b"),
    ]
    dead = log["remove_dead"]
    assert {"same", "one", "again"} <= set(dead.removed)
    assert [node.name for node in dead.after] == ["three", "b", "sum"]
    assert dead.after[2].inputs == ("b", "b")
    assert log["fold_constants"].after[0].is_constant
    assert str(log).startswith("5 ops asked for, 2 kernels called\nremove_identities: ")
    assert "nothing to do" in str(log["fusion"])
    with pytest.raises(KeyError, match="did not run"):
        log["inline"]


def test_it_says_what_the_run_does(session: tf.Session) -> None:
    log = explain_optimizing(session, "sum", ["x"])
    step = session.planner.plan(
        [session.graph.get_tensor_by_name("sum:0")],
        (session.graph.get_tensor_by_name("x:0"),),
    )
    changes = [c for each in log.passes for c in each.changes]
    # What is worth fusing depends on the number of cores.
    assert [c for c in changes if c.pass_name != "fusion"] == step.log
    assert "specialize" not in log.names  # x has no known shape


def test_shapes_make_more_constant(session: tf.Session) -> None:
    log = explain_optimizing(session, "size", ["x"], [(3, 4)])
    (change,) = log["specialize"].changes
    assert (change.node, change.reason) == ("size", "the shape is known")
    assert log.summary == "1 op asked for, 0 kernels called"
    with pytest.raises(ValueError, match="1 feeds, but 2 shapes"):
        explain_optimizing(session, "size", ["x"], [(), ()])


def test_fusion_says_with_what() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2048, 2048], name="x")
        y = tf.tanh(tf.square(tf.exp(x, name="e"), name="s"), name="t")
        for name in "uvw":
            y = tf.square(y, name=name)
        with tf.Session() as session:
            fusion = explain_optimizing(session, "w", ["x"])["fusion"]
            assert len(fusion.before) == 6
            (kernel,) = fusion.after
            assert kernel.op_type.startswith("fused Exp + Square + Tanh")
            assert fusion.changes[0].reason == "one pass over memory with e, s, t, u, v"


@pytest.mark.skipif(machine_code.vectors() is None, reason="nothing can be compiled")
def test_fusion_says_what_runs_in_the_parts_of_a_convolution() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [64, 28, 28, 1], name="x")
        kernel = tf.placeholder(tf.float32, [5, 5, 1, 8], name="kernel")
        bias = tf.placeholder(tf.float32, [8], name="bias")
        y = tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME", name="conv")
        tf.nn.relu(tf.nn.bias_add(y, bias, name="add"), name="y")
        small = tf.nn.bias_add(tf.nn.relu(x[:1], name="r"), bias[:1], name="small")
        with tf.Session() as session:
            feeds = ["x", "kernel", "bias"]
            fusion = explain_optimizing(session, ["y", small], feeds)["fusion"]
    told = {change.node: change.reason for change in fusion.changes}
    assert told == {
        "y": "runs on each part of conv while that is in the cache, with add",
        "small": "one loop with r",
    }
    kinds = {node.name: node.op_type for node in fusion.after}
    assert kinds["y"] == "fused Conv2D + BiasAdd + Relu"
    assert fusion.asked - fusion.left == 3


def test_options_and_loops() -> None:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    with tf.Graph().as_default():
        i = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)])
        w = tf.Variable(np.ones(3), name="w")
        with tf.Session(config=config) as session:
            assert "switch every pass off" in str(explain_optimizing(session, i))
        with tf.Session() as session:
            names = explain_optimizing(session, i).names
            assert names == ["fold_constants", "merge_duplicates", "specialize"]
            x = tf.placeholder(tf.float32, [None])
            branch = tf.cond(x[0] > 0.0, lambda: x + 1.0, lambda: x * 2.0)
            log = explain_optimizing(session, branch, [x])
            assert log.names[-1] == "remove_dead"  # as the run leaves them out
            assert {"cond/switch_t", "cond/switch_f"} <= {*log["remove_dead"].removed}
            explain_optimizing(session, w.initializer)
            assert session.resources.items() == []  # nothing was made on the way


def test_loops_for_fed_shapes() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")

        def turn(i: tf.Tensor, v: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return i + 1, tf.reshape(v * 2.0, tf.shape(v))

        value = tf.while_loop(lambda i, v: i < 3, turn, [0, x])[1]
        gradient = tf.gradients(value, x)
        log = explain_optimizing(session, gradient, [x], [(5, 2)])
        assert log.names == ["fold_constants", "merge_duplicates", "specialize"]
        special = log["specialize"]
        kinds = {node.op_type for node in special.after if not node.is_constant}
        assert {"Mul", "Switch", "NextIteration"} <= kinds
        assert not {"Shape", "Reshape", "StackPushV2", "StackPopV2"} & kinds
        (shape,) = log.of("while/Shape")
        assert shape.reason == "the shape is known"
        (same,) = log.of("while/Reshape")
        assert same.reason == "hands on while/mul unchanged for these shapes"
        (popped,) = log.of("gradients/while/Reshape_grad/Reshape/StackPopV2")
        assert popped.reason == "every iteration pushes the same on its stack"
        names = {node.name for node in special.after}
        taken = {name.partition(":")[0] for n in special.after for name in n.inputs}
        assert taken - {"x"} <= names
