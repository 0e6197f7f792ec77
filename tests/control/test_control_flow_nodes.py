"""Questions about the nodes of branches and loops, with TensorFlow 1.15's answers."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tfteach.compat.internals import inner
from tfteach.control import control_flow_nodes as util


@pytest.fixture(scope="module")
def graph() -> Any:
    """A branch with a loop with a branch."""
    with tf.Graph().as_default() as graph:
        x, k = tf.placeholder(tf.int32, name="x"), tf.constant(2, name="k")

        def body(x):
            with tf.name_scope("B"):
                return tf.cond(x < 100, lambda: x + 1, lambda: x + k)

        def loop():
            with tf.name_scope("L"):
                return tf.while_loop(lambda x: x < 10, body, [x])

        with tf.name_scope("A"):
            tf.cond(x < 1000, loop, lambda: x + 2)
    return graph


# Question -> the ops of which it is true, below A/cond.
ANSWERS = {
    "IsCondSwitch": "L/while/B/cond/Switch L/while/B/cond/add/Switch "
    "L/while/B/cond/add_1/Switch L/while/B/cond/add_1/Switch_1 "
    "L/while/B/cond/add_1/Switch_2 L/while/Switch Switch add/Switch",
    "IsLoopSwitch": "L/while/Switch_1",
    "IsMerge": "L/while/B/cond/Merge L/while/Merge Merge",
    "IsCondMerge": "L/while/B/cond/Merge Merge",
    "IsLoopMerge": "L/while/Merge",
    "IsLoopEnter": "L/while/B/cond/add_1/Enter L/while/Enter",
    "IsLoopConstantEnter": "L/while/B/cond/add_1/Enter",
    "IsLoopExit": "L/while/Exit",
}


@pytest.mark.parametrize("question", ANSWERS)
def test_answers(graph: Any, question: str) -> None:
    found = [op.name for op in graph.get_operations() if getattr(util, question)(op)]
    assert {name.removeprefix("A/cond/") for name in found} == set(
        ANSWERS[question].split()
    )


def test_a_switch_is_of_a_branch_or_of_a_loop(graph: Any) -> None:
    switches = [op for op in graph.get_operations() if util.IsSwitch(op)]
    assert len(switches) == 9
    for op in switches:
        assert util.IsCondSwitch(op) != util.IsLoopSwitch(op)


def test_contexts(graph: Any) -> None:
    inner_add = graph.get_operation_by_name("A/cond/L/while/B/cond/add")
    branch = inner_add.control_flow_context
    loop = util.GetContainingWhileContext(branch)
    outer = util.GetContainingCondContext(loop)
    assert branch.is_cond
    assert loop.is_while
    assert outer.is_cond
    assert util.GetContainingWhileContext(branch, loop) is None
    assert util.GetContainingWhileContext(outer) is None
    assert util.IsContainingContext(branch, outer)
    assert not util.IsContainingContext(outer, branch)
    assert util.IsInCond(inner_add)
    assert util.IsInWhileLoop(inner_add)
    x = graph.get_operation_by_name("x")
    assert not util.IsInCond(x)
    assert not util.IsInWhileLoop(x)
    leaves = graph.get_operation_by_name("A/cond/L/while/Exit")
    assert util.GetOutputContext(leaves) is outer


def test_the_switch_to_version_2_is_read_and_set_by_its_old_name() -> None:
    module = inner("ops.control_flow_util")
    assert module.ENABLE_CONTROL_FLOW_V2 is False
    tf.enable_control_flow_v2()
    try:
        assert module.ENABLE_CONTROL_FLOW_V2 is True
        module.ENABLE_CONTROL_FLOW_V2 = False
        assert not tf.control_flow_v2_enabled()
        module.ENABLE_CONTROL_FLOW_V2 = True
        assert tf.control_flow_v2_enabled()
    finally:
        tf.disable_control_flow_v2()
    assert module.ENABLE_CONTROL_FLOW_V2 is False
