"""Pruning, ordering, optimizing and compiling a step, without a session."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.devices.devices import Device
from tfteach.engine.execute.compile import compile_step
from tfteach.engine.execute.generated_source import generate
from tfteach.engine.execute.kernel_context import Resources
from tfteach.engine.execute.program import HOT_AFTER_RUNS, Program
from tfteach.engine.optimize import optimize
from tfteach.engine.plan.build_step import build_step
from tfteach.engine.plan.place import place
from tfteach.engine.plan.prune import prune
from tfteach.engine.plan.step import Step


def names(things: object) -> list[str]:
    return [thing.name for thing in things]  # type: ignore[attr-defined]


def step_of(fetches: list[tf.Tensor], feeds: list[tf.Tensor]) -> Step:
    step = build_step(prune(fetches, feeds), fetches, feeds)
    place(step, [Device("CPU", 0)], False)
    return step


def program_of(step: Step) -> Program:
    return Program(compile_step(step, Resources()))


# ---- prune


def test_prune_stops_at_feeds_and_takes_control_inputs() -> None:
    a = tf.constant(1.0, name="a")
    b = tf.add(a, 1.0, name="b")
    with tf.control_dependencies([tf.no_op(name="first")]):
        c = tf.multiply(b, 2.0, name="c")
    tf.add(c, 1.0, name="unused")
    needed = prune([c]).needed
    assert sorted(names(needed)) == ["a", "b", "b/y", "c", "c/y", "first"]
    cut = prune([c], [b])
    assert sorted(names(cut.needed)) == ["c", "c/y", "first"]
    assert list(cut.cut) == [b]
    both = prune([c, b], [c])
    assert sorted(names(both.needed)) == ["a", "b", "b/y"]
    assert list(both.cut) == [c]
    assert names(prune([c.op], [c]).needed)[0] == "c"  # an operation runs, fed or not


def test_prune_is_not_recursive() -> None:
    x = y = tf.constant(0.0)
    for _ in range(5000):
        y = tf.add(y, x)
    assert len(prune([y]).needed) == 5001
    with tf.Session() as sess:
        assert sess.run(y) == 0.0


# ---- order


def test_reads_come_before_writes() -> None:
    v = tf.Variable(1.0, name="v")
    bump = v.assign_add(1.0)
    late = tf.multiply(v, 10.0, name="late")
    step = step_of([bump, late], [])
    order = names(step.nodes)
    assert order.index("v/read") < order.index(bump.op.name)
    with tf.Session() as sess:
        sess.run(v.initializer)
        for i in range(1, 15):
            assert sess.run([bump, late]) == [i + 1.0, 10.0 * i]


def test_a_cycle_is_named() -> None:
    a = tf.constant(1.0, name="a")
    b = tf.identity(a, name="b")
    a.op._add_control_input(b.op)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            sess.run(b)
        assert "Graph is invalid, contains a cycle with" in str(caught.value)
        assert re.search(r"a.*b|b.*a", str(caught.value))
        with pytest.raises(tf.errors.InvalidArgumentError, match="contains a cycle"):
            sess.run(tf.constant(2.0))  # TF looks at the whole graph


# ---- optimize


def test_each_pass_says_what_it_did_and_why() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    c = tf.add(tf.constant([1.0, 2.0], name="p"), [3.0, 4.0], name="c")
    one = tf.multiply(x, c, name="one")
    two = tf.multiply(x, c, name="two")
    y = tf.add(tf.identity(one, name="id"), two, name="y")
    step = step_of([y], [x])
    optimize(step)
    log = {(change.pass_name, change.node): change.reason for change in step.log}
    assert log["fold_constants", "c"] == "all its inputs are constant"
    assert log["merge_duplicates", "two"] == "computes the same as one"
    assert log["remove_identities", "id"] == "hands on one unchanged"
    assert log["remove_dead", "p"] == "nothing needs its value"
    assert names(step.nodes) == ["c", "one", "y"]
    assert program_of(step).run([np.float32([1, 1])])[0].tolist() == [8.0, 12.0]


def test_passes_can_be_left_out() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    c = tf.add(1.0, 2.0, name="c")
    y = tf.add(tf.multiply(x, c, name="m1"), tf.multiply(x, c, name="m2"), name="y")
    step = step_of([y], [x])
    optimize(step, fold=False, merge=False)
    assert {"m1", "m2", "c"} <= set(names(step.nodes))
    assert {change.pass_name for change in step.log} <= {
        "remove_identities",
        "remove_dead",
    }
    assert program_of(step).run([np.float32(2.0)]) == [12.0]


def test_merging_keeps_devices_and_random_ops_apart() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/cpu:0"):
        a = tf.multiply(x, 2.0, name="a")
    with tf.device("/cpu:1"):
        b = tf.multiply(x, 2.0, name="b")
    r = tf.random_uniform([4], seed=None)
    s = tf.random_uniform([4], seed=None)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        step = sess.planner.plan([a, b], (x,))
        assert {"a", "b"} <= set(names(step.nodes))
        first, second = sess.run([r, s])
        assert (first != second).any()


def test_large_constants_are_not_folded() -> None:
    wide = tf.fill([3000, 1000], 1.0, name="wide")
    step = step_of([tf.reduce_sum(wide)], [])
    optimize(step)
    assert "wide" not in {c.node for c in step.log if c.pass_name == "fold_constants"}


# ---- compile and run


def test_source_of_a_hot_program() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.add(tf.multiply(x, 2.0, name="m"), 3.0, name="y")
    step = step_of([y], [x])
    optimize(step)
    program = program_of(step)
    source = generate(program.compiled).source
    assert source.startswith("def step(")
    assert source.count("\n") == 3  # two instructions and the return
    for i in range(HOT_AFTER_RUNS + 5):
        assert program.run([np.float32(i)]) == [2.0 * i + 3.0]
    assert program.hot


def test_registers_are_freed_at_their_last_use() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    a = tf.multiply(x, 2.0, name="a")
    b = tf.multiply(a, 2.0, name="b")
    c = tf.add(a, b, name="c")
    compiled = compile_step(step_of([c, b], [x]), Resources())
    freed = [slot for i in compiled.instructions for slot in i.frees]
    assert len(freed) == len(set(freed))
    kept = {slot for slot, _ in compiled.fetches}
    assert not kept & set(freed)
    by_name = {i.node.name: i for i in compiled.instructions}
    assert by_name["a"].outputs[0] in by_name["c"].frees
    assert compiled.feeds[0] in by_name["a"].frees


def test_programs_fed_with_ever_new_shapes_become_source_too() -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    total = tf.reduce_sum(x * tf.to_float(tf.size(x)), name="total")
    with tf.Session() as sess:
        for n in range(1, 60):
            assert sess.run(total, {x: np.ones(n)}) == n * n
        ((program, _),) = sess._programs.values()
        assert program.hot_for_any is not None
        assert not program.hot
        for _ in range(HOT_AFTER_RUNS):
            assert sess.run(total, {x: np.ones(7)}) == 49
        (special,) = program.hot.values()
        assert len(special.source) < len(program.hot_for_any.source)
        assert sess.run(total, {x: np.ones(8)}) == 64


def test_what_comes_behind_a_write_sees_what_was_written() -> None:
    variable = tf.Variable(1.0)
    before = variable * 10.0
    write = variable.assign_add(1.0)
    with tf.control_dependencies([write]):
        behind = [tf.identity(variable), variable * 1.0, tf.identity(before)]
        again = variable.assign_add(1.0)
    with tf.control_dependencies([again]):
        last = variable + 0.0
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(behind) == [2.0, 2.0, 10.0]
        # A read that is fetched shows the end of the run, one that is used does not.
        assert session.run([last, *behind]) == [4.0, 4.0, 3.0, 20.0]


def test_a_branch_behind_a_write_sees_what_was_written() -> None:
    variable = tf.Variable(1.0)
    with tf.control_dependencies([variable.assign(5.0)]):
        chosen = tf.cond(tf.constant(True), lambda: variable * 2.0, lambda: 0.0)
        plain = tf.identity(variable)
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(plain) == 5.0
        assert session.run([chosen, plain])[1] == 5.0


def test_neutral_arithmetic_is_bypassed_unless_it_depends_on_a_feed() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    r = tf.random_normal([2], name="r")
    kept = tf.exp(x * 1.0 + 0.0)
    gone = tf.exp((0.0 + r / 1.0) * tf.ones([2]) - 0.0, name="gone")
    wider = tf.exp(r * tf.ones([3, 2]), name="wider")
    step = step_of([kept, gone, wider], [x])
    optimize(step)
    kinds = [node.op.type for node in step.nodes if node.values is None]
    assert sorted(kinds) == sorted(
        ["RandomStandardNormal", "Mul", "AddV2", "Exp", "Exp", "Mul", "Exp"]
    )
    log = {change.reason for change in step.log if change.pass_name == "fold_constants"}
    assert "hands on r/RandomStandardNormal unchanged" in log
