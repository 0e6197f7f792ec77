from __future__ import annotations

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.graphs.difference import Change, difference


def build(width: int = 3, extra: bool = False) -> tf.Graph:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, width], name="x")
        with tf.name_scope("layer"):
            y = tf.square(x, name="y")
            if extra:
                y = tf.nn.relu(y, name="relu")
        if extra:
            with tf.name_scope("penalty"):
                tf.add(tf.constant(1.0, name="one"), 2.0, name="sum")
        tf.reduce_sum(y, name="total")
    return graph


def test_the_same_graph() -> None:
    found = difference(build(), build().as_graph_def())
    assert (found.added, found.removed, found.changed) == ({}, {}, [])
    assert str(found) == "The graphs are the same: 4 ops."


def test_added_ops_and_the_reader_that_changed() -> None:
    found = difference(build(), build(extra=True))
    assert list(found.added) == [
        "layer/relu", "penalty/one", "penalty/sum/y", "penalty/sum",
    ]  # fmt: skip
    # The extra op is built before it: the rank of what is summed is the same.
    assert found.changed == [Change("total", ("input 0: layer/y -> layer/relu",))]
    assert str(found) == (
        "4 ops added, 0 removed, 1 changed, 3 the same\n"
        "+ layer/relu (Relu)\n"
        "+ penalty/ (3 ops)\n"
        "~ total: input 0: layer/y -> layer/relu"
    )


def test_the_scopes_of_both_that_hold_it() -> None:
    assert difference(build(), build(extra=True)).scopes() == ["layer/"]


def test_removed_is_added_the_other_way() -> None:
    one, other = build(), build(extra=True)
    assert difference(other, one).removed == difference(one, other).added


def test_attributes_devices_types_and_control_inputs() -> None:
    def make(tweak: bool) -> tf.Graph:
        with tf.Graph().as_default() as graph:
            values = np.arange(12.0) + tweak
            big = tf.constant(values, name="big")
            guard = tf.no_op(name="guard")
            wait = [guard] if tweak else []
            with tf.control_dependencies(wait), tf.device("/cpu:0" if tweak else None):
                (tf.exp if tweak else tf.square)(big, name="f")
        return graph

    found = difference(make(False), make(True))
    assert found.changed == [
        Change("big", ("value: other values (12 values)",)),
        Change(
            "f",
            (
                "type: Square -> Exp",
                "waits for: nothing -> guard",
                "device: none -> /device:CPU:0",
            ),
        ),
    ]


def test_a_shape() -> None:
    (change,) = difference(build(3), build(4)).changed
    assert change.name == "x"
    assert change.what == ("shape: ['?', 3] -> ['?', 4]",)


def test_long_lists_are_cut() -> None:
    with tf.Graph().as_default() as graph:
        for _ in range(50):
            tf.constant(1.0)
    found = difference(tf.Graph(), graph)
    assert len(found.to_text(None).splitlines()) == 51
    assert found.to_text(10).endswith("\n  and 40 more")


def test_other_things_are_refused() -> None:
    with pytest.raises(TypeError, match=r"compares tf\.Graphs and GraphDefs, not int"):
        difference(tf.Graph(), 3)
