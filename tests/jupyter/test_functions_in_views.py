"""Functions of a graph in views and magics: scopes that open, and steps into them."""

from __future__ import annotations

from typing import Any

import pytest

import tfteach as tf
from tests.jupyter.test_all_magics import CALLS
from tests.jupyter.test_magics import run, shell  # noqa: F401
from tfteach.explain import explain_optimizing, explain_run, record
from tfteach.jupyter.widgets.graph import GraphView
from tfteach.jupyter.widgets.step import StepView

BUILD = """
from tfteach.lib.functions.defun import Defun
from tfteach.ops.functions.control_flow import If

with tf.Graph().as_default() as graph:
    x = tf.placeholder(tf.float32, [None], name="x")
    z = tf.placeholder(tf.float32, [None], name="z")
    w = tf.Variable(2.0, name="w")
    e = tf.Variable([1.0, 2.0], name="e")

    @Defun(tf.float32, func_name="Layer")
    def layer(a):
        return tf.nn.relu(a * w), tf.reduce_sum(a)

    @Defun(tf.float32, func_name="Twice")
    def twice(a):
        return layer(layer(a)[0] + 1.0)[0]

    kinds = (tf.float32,) * 2, (tf.float32,)
    chosen = If(*kinds, "Twice", "Twice")(tf.reduce_sum(z) > 0.0, [x, w], name="if")
    loss = tf.add(twice(x, name="call"), chosen[0], name="loss")
sess = tf.Session(graph=graph)
other = tf.Session(graph=graph)
sess.run([w.initializer, e.initializer])
feed = {x: [1.0], z: [2.0]}
"""


@pytest.fixture
def made() -> dict[str, Any]:
    found: dict[str, Any] = {"tf": tf}
    exec(BUILD, found)
    return found


@pytest.mark.parametrize("magic", sorted(set(CALLS) - {"%checkpoint"}))
def test_every_magic_shows_a_graph_with_functions(shell: Any, magic: str) -> None:  # noqa: F811
    run(shell, "import tfteach as tf" + BUILD)
    run(shell, CALLS[magic].format(""))


def test_calls_are_scopes_with_the_functions_ops(made: dict[str, Any]) -> None:
    view = GraphView(made["graph"])
    rows = {row.name: row for row in view._rows}
    assert rows["call"].type == "Twice"
    assert rows["call/Layer/mul"].type == "Mul"
    assert rows["if/else_branch/Layer_1/Relu"].type == "Relu"
    assert rows["call"].more["source"][1] > 0
    assert "call/  " in str(view)
    ops = made["graph"].get_operations()
    assert [row.name for row in view._rows][: len(ops)] == [op.name for op in ops]


def test_a_step_goes_into_functions(made: dict[str, Any]) -> None:
    view = StepView(record(made["sess"], made["loss"], made["feed"]))
    drawn = {row.name for row in view._rows}
    ran = {step.op for step in view.run}
    for name in ("call/Layer/mul", "call/Layer_1/Relu", "if/then_branch/Layer/mul"):
        assert name in ran
        assert name in drawn
    assert not any(name.startswith("if/else_branch") for name in ran)


def test_the_log_of_inlining(made: dict[str, Any]) -> None:
    log = explain_optimizing(made["sess"], made["loss"], [made["x"], made["z"]])
    first = log["inline_functions"]
    names = [node.name for node in first.before]
    assert {"call", "if"} <= set(names)
    assert not any("/Layer" in name for name in names)
    reasons = {change.node: change.reason for change in first.changes}
    assert reasons["call/Layer"].endswith("ops of the function Layer")
    assert reasons["if"].endswith("ops of If")
    assert "calls of functions become the functions' ops" in str(log)


def test_a_call_is_needed_as_an_op(made: dict[str, Any]) -> None:
    found = explain_run(made["graph"], made["loss"], [made["x"], made["z"]])
    assert {"call", "if", "loss", "w"} <= {r.op.name for r in found.reasons if r.needed}
