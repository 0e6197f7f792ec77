"""Inner functions of control flow, against nodes recorded from TensorFlow 1.15."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import control_flow_names as golden
from tfteach.compat.internals import inner

GOLDEN = json.loads(Path(golden.__file__).with_suffix(".json").read_text())


@pytest.mark.parametrize("name", golden.BUILD)
def test_nodes_are_tensorflows(name: str) -> None:
    ops = inner("ops.control_flow_ops")
    assert golden.nodes(tf, ops, golden.BUILD[name]) == GOLDEN[name]


def test_refused_merges() -> None:
    ops = inner("ops.control_flow_ops")
    with tf.Graph().as_default():
        with pytest.raises(
            ValueError, match="At least one of the merge inputs is None"
        ):
            ops.merge([None])
        with pytest.raises(ValueError, match="don't have the same nested structure"):
            ops.merge([golden.rows(tf), tf.constant([1.0])])


def test_the_live_value_and_its_index() -> None:
    ops = inner("ops.control_flow_ops")
    with tf.Graph().as_default(), tf.Session() as session:
        taken = tf.placeholder_with_default(True, [])
        false, true = ops.switch(golden.sized_rows(tf), taken)
        doubled = tf.IndexedSlices(true.values * 2, true.indices, true.dense_shape)
        value, index = ops.merge([false, doubled])
        found = session.run([value.values, value.indices, index])
        assert [part.tolist() for part in found] == [[2.0], [0], 1]
        false, true = ops.switch(tf.constant(5.0), taken)
        merged = ops.merge([false, true + 1.0])
        assert session.run([merged.output, merged.value_index]) == [6.0, 1]


def test_a_loop_of_single_nodes() -> None:
    ops = inner("ops.control_flow_ops")
    with tf.Graph().as_default(), tf.Session() as session:
        start = ops._Enter(tf.constant(1.0), "loop", use_input_shape=False)
        limit = ops._Enter(tf.constant(50.0), "loop", is_constant=True)
        value = ops.merge([start, start]).output
        out, again = ops.switch(value, ops.loop_cond(value < limit))
        factor = ops._Enter(tf.constant(3.0), "loop", is_constant=True)
        following = ops._NextIteration(again * factor)
        value.op._update_input(1, following)
        assert session.run(ops.exit(out)) == 81.0


def test_contexts_are_classes_of_the_module() -> None:
    ops = inner("ops.control_flow_ops")
    seen = []
    with tf.Graph().as_default() as graph:

        def branch():
            seen.append(graph._get_control_flow_context())
            return tf.constant(1)

        tf.cond(tf.placeholder(tf.bool, []), branch, branch)
        tf.while_loop(lambda i: i < 3, lambda i: i + branch(), [0])
    kinds = [ops.CondContext, ops.CondContext, ops.WhileContext]
    assert [type(context) for context in seen] == kinds
    assert all(isinstance(context, ops.ControlFlowContext) for context in seen)


def test_types_of_references() -> None:
    dtypes = inner("framework.dtypes")
    assert dtypes.float32_ref is tf.float32._as_ref
    assert dtypes.half_ref.name == "float16_ref"
    assert dtypes.string_ref.base_dtype is tf.string
    with pytest.raises(AttributeError, match="no attribute 'nix_ref'"):
        assert dtypes.nix_ref
