"""Which steps are CUDA graphs, and why others are not, on the stand-in for CuPy."""

from __future__ import annotations

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tfteach.engine.execute.cuda_graph import CAPTURE_AFTER
from tfteach.engine.execute.program import HOT_AFTER_RUNS
from tfteach.explain import explain_cuda_graphs
from tfteach.explain.devices.cuda_graphs import NO_CARD, NOT_HOT


def test_steps_and_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)
    x = tf.placeholder(tf.float32, [None], name="x")
    double = tf.multiply(x, 2.0, name="double")
    python = tf.add(tf.py_func(np.sqrt, [double], tf.float32, name="root"), 1.0, "more")
    loop = tf.while_loop(lambda y: tf.reduce_sum(y) > 1.0, lambda y: y * 0.5, [x])
    tf.negative(x, name="once")
    with tf.Session() as sess:
        for _ in range(HOT_AFTER_RUNS + CAPTURE_AFTER + 1):
            for fetch in (double, python, loop):
                sess.run(fetch, {x: [1.0, 2.0]})
        sess.run("once:0", {x: [1.0]})
        found = explain_cuda_graphs(sess)
    rows = {row.fetches[0]: row for row in found.rows}
    assert rows["double:0"] == (("double:0",), ((2,),), True, "")
    assert rows["more:0"].reason.startswith("the card takes root, which the host")
    condition = "a condition depends on what the run computes"
    assert rows[loop.name].reason == condition
    assert rows["once:0"] == (("once:0",), None, False, NOT_HOT)
    lines = str(found).splitlines()
    assert lines[0] == "double:0, fed [(2,)]: a CUDA graph"
    assert lines[2] == f"{loop.name}, fed [(2,)]: no graph: {condition}"
    assert lines[3] == f"once:0: no graph: {NOT_HOT}"


def test_without_a_card() -> None:
    with tf.Session() as sess:
        assert str(explain_cuda_graphs(sess)) == NO_CARD
