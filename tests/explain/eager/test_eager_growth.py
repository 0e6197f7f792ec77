from __future__ import annotations

import inspect
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.explain.eager.eager_growth import EagerGrowth, watch_eager

pytestmark = pytest.mark.usefixtures("eagerly")


def descent(epochs: int, steps: int, kept: list[Any] | None = None) -> EagerGrowth:
    w = tf.Variable(1.0)
    with watch_eager() as growth:
        for _ in range(epochs):
            for _ in range(steps):
                with tf.GradientTape() as tape:
                    loss = tf.square(w - 3.0)
                w.assign_sub(0.1 * tape.gradient(loss, w))
                if kept is not None:
                    kept.append(loss)
            tf.sqrt(loss)
    return growth


FIRST = inspect.getsourcelines(descent)[1]


def test_each_iteration_runs_ops_and_nothing_grows() -> None:
    growth = descent(2, 3)
    outer, inner = growth.loops
    assert (inner.source.line, inner.iterations) == (FIRST + 4, 6)
    assert (outer.source.line, outer.iterations) == (FIRST + 3, 2)
    assert outer.ops == inner.ops + 2 == growth.ops_ran
    assert inner.ops % 6 == 0
    # as a graph, whose session would run in each iteration, and after each inner loop
    assert growth.runs == 6 + 2
    assert growth.ops_after == growth.added_while_running == growth.size_bytes() == 0
    assert growth.graph.is_eager
    assert inner.first == inner.last
    verdict = growth.verdict
    assert (verdict.kind, verdict.loop, verdict.added) == ("eager", inner, 0)
    said = f"The loop at line {FIRST + 4} ran 6 times, {inner.ops // 6} ops each time"
    assert verdict.headline().startswith(said)
    assert "Memory is flat" in str(growth)
    (line, ops), *_ = growth.lines
    assert (line.text, ops) == ("w.assign_sub(0.1 * tape.gradient(loss, w))", 30)


def test_tensors_that_python_keeps() -> None:
    kept: list[Any] = []
    verdict = descent(1, 5, kept).verdict
    assert verdict.kind == "held"
    assert verdict.loop is not None
    assert verdict.loop.first is not None
    assert verdict.loop.last is not None
    assert verdict.loop.last.tensors - verdict.loop.first.tensors == 4
    assert verdict.loop.last.size_bytes - verdict.loop.first.size_bytes == 16
    assert "`float(loss)`" in verdict.fix()


def test_variables_of_an_iteration() -> None:
    kept = []
    with watch_eager() as growth:
        for _ in range(3):
            v = tf.Variable([1.0, 2.0])
            v.assign_add([1.0, 1.0])
        for _ in range(3):
            kept.append(tf.Variable([1.0, 2.0]))
    one, other = growth.loops
    assert str(one.first) == "1 tensor (8 bytes)"
    assert one.first == one.last
    assert str(other.last) == "4 tensors (32 bytes)"  # v, too
    assert growth.verdict.loop is other


def test_without_a_loop() -> None:
    with watch_eager() as growth:
        pass
    assert str(growth.verdict) == "No op ran eagerly."
    with watch_eager() as growth:
        tf.sqrt(tf.constant(2.0))
    assert (
        str(growth) == "1 op ran eagerly\n1 op ran at once, and added 0 nodes to a "
        f"graph.\n      1  line {inspect.currentframe().f_lineno - 3}: "  # type: ignore[union-attr]
        "tf.sqrt(tf.constant(2.0))"
    )


def test_the_loop_around_a_recording_is_none_of_its_loops() -> None:
    for _ in range(2):
        with watch_eager() as growth:
            for _ in range(3):
                tf.sqrt(2.0)
        assert [loop.iterations for loop in growth.loops] == [3]
        assert growth.runs == 3


def test_the_end_of_a_dataset_is_no_iteration() -> None:
    with watch_eager() as growth:
        for batch in tf.data.Dataset.range(5).batch(2):
            tf.reduce_sum(batch)
    assert [loop.iterations for loop in growth.loops] == [3]
    assert growth.runs == 3
    with watch_eager() as growth:
        for _ in tf.data.Dataset.range(5):
            pass
    assert growth.loops == []
    assert growth.ops_ran > 5


def test_a_line_with_a_generator_is_one() -> None:
    with watch_eager() as growth:
        sum(tf.sqrt(float(n)) for n in range(4))
    ((line, count),) = growth.lines
    assert (line.text, count) == ("sum(tf.sqrt(float(n)) for n in range(4))", 8)


def test_a_call_of_a_traced_function_is_one() -> None:
    double = tf.function(lambda x: x * 2.0 + 1.0)
    x = tf.constant([1.0, 2.0])
    with watch_eager() as growth:
        i = 0
        while i < 4:
            i += 1
            y = double(x)
    (loop,) = growth.loops
    assert (loop.iterations, loop.ops, growth.ops_ran) == (4, 4, 4)
    assert str(loop.first) == "1 tensor (8 bytes)"
    assert loop.first == loop.last
    assert y is not None


def test_in_a_program_of_graphs() -> None:
    with tf.Graph().as_default(), watch_eager() as growth:
        assert tf.executing_eagerly()
        tf.sqrt(2.0)
    assert growth.ops_ran == 1
    assert not growth.is_open
