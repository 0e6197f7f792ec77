from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.explain.devices.placement import placement
from tfteach.explain.profiling.timing import times_and_stats, times_of
from tfteach.explain.runs.folding import explain_folding, unfolded
from tfteach.explain.runs.runs import watch_runs
from tfteach.explain.steps.stepping import record

ALL_SEVEN = "All 7 ops were computed once, when the run was compiled: constants only."
PLANNED = ALL_SEVEN.replace("were", "are").replace("was", "is")


def towers() -> Any:
    """Two matrix products of constants, each on a GPU, added on the CPU."""
    products = []
    for device in ("/gpu:0", "/gpu:1"):
        with tf.device(device):
            a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
            products.append(tf.matmul(a, tf.constant([[1.0], [2.0]])))
    with tf.device("/cpu:0"):
        return tf.add_n(products, name="total")


@pytest.fixture
def two_gpus() -> Any:
    tf.simulate_gpus(2)
    yield
    tf.simulate_gpus(0)


@pytest.mark.usefixtures("two_gpus")
def test_a_run_that_is_folded_away_says_so_and_can_be_seen() -> None:
    with tf.Graph().as_default():
        total = towers()
        with tf.Session() as session:
            planned = placement(session, total)
            assert planned.copies == ()
            assert PLANNED in str(planned)
            whole = placement(session, total, unfolded=True)
            assert [copy.tensor.name for copy in whole.copies] == [
                "MatMul:0",
                "MatMul_1:0",
            ]
            assert "The session itself leaves out all of them." in str(whole)

            run = record(session, total)
            assert len(run) == 0
            assert str(run).startswith(ALL_SEVEN)
            assert "--unfolded" in str(run)
            run = record(session, total, unfolded=True)
            kinds = [step.op_type for step in run]
            assert kinds.count("_Recv") == 2
            assert kinds[-1] == "AddN"
            assert run.result.tolist() == [[10.0], [22.0]]

            times, stats = times_and_stats(session, total, runs=1)
            assert str(times).startswith(f"Nothing was timed: no op ran.\n{ALL_SEVEN}")
            assert "before the run" in times_of(stats).summary  # all that this knows
            times, _ = times_and_stats(session, total, runs=1, unfolded=True)
            assert {op.name for op in times.ops} >= {"MatMul", "MatMul_1", "total"}
            assert "op type" in str(times)


def test_what_becomes_of_each_op() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        six = tf.multiply(2.0, 3.0, name="six")
        same = tf.identity(x, name="same")
        twice = [tf.multiply(same, six, name=name) for name in ("one", "other")]
        y = tf.add_n(twice, name="y")
        with tf.Session() as session:
            found = explain_folding(session, y, [x])
            session.run(y, {x: [1.0, 2.0]})
        assert found.summary == (
            "Of 7 ops 3 are computed once, when the run is compiled, 1 is merged with "
            "an equal one, 1 is dropped or bypassed."
        )
        assert set(found.constants) == {"six", "six/x", "six/y"}
        assert found.why("six") == (
            "It is computed once, when the run is compiled: all its inputs are "
            "constant."
        )
        assert found.why("six/x").endswith("it is a constant.")
        assert found.why("other") == "It is left out: it computes the same as one."
        assert found.why("same") == "It is left out: it hands on x:0 unchanged."
        assert found.why(graph.get_operation_by_name("y")) == ""
        assert "six    all its inputs" in str(found)
        assert not found.is_whole


def test_a_constant_that_an_op_reads_is_not_worth_a_word() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, name="x")
        with tf.Session() as session:
            found = explain_folding(session, x + 2.0, [x])
            assert found.sentence() == ""
            assert str(found) == "Nothing is folded: 2 ops, all of which run."
            assert str(record(session, x + 2.0, {x: 1.0})).count("\n") == 0


def test_a_single_constant() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = explain_folding(session, tf.constant(1.0))
    assert found.summary == (
        "The only op is computed once, when the run is compiled: constants only."
    )


def test_sessions_that_fold_nothing_have_nothing_to_say() -> None:
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.opt_level = -1
    with tf.Graph().as_default():
        y = tf.add(2.0, 5.0, name="y")
        with tf.Session(config=config) as session:
            run = record(session, y)
            assert [step.op for step in run] == ["y/x", "y/y", "y"]
            assert run.folded.sentence() == ""


def test_what_cannot_be_placed_is_not_folded() -> None:
    with tf.Graph().as_default():
        with tf.device("/gpu:7"):
            far = tf.add(1.0, 2.0)
        with tf.Session() as session:
            assert not explain_folding(session, far).is_notable


def test_what_running_again_would_do() -> None:
    with tf.Graph().as_default() as graph:
        names = ["w", "b", "u", "v"]
        variables = [tf.Variable(tf.random_normal([2]), name=name) for name in names]
        init = tf.global_variables_initializer()
        with tf.Session() as session:
            assert explain_folding(session, init).again == (
                "changes w, b, u and 1 more; draws random numbers"
            )
            assert explain_folding(session, variables[0] * 2.0).again == ""
            call = tf.py_func(np.negative, [variables[0]], tf.float32)
            assert explain_folding(session, call).again == "calls Python functions"
            step = tf.train.AdamOptimizer().minimize(variables[0] ** 2.0)
            text = explain_folding(session, step).again
            assert text == "changes w, beta1_power, beta2_power"
    assert graph.get_operations()


def test_unfolded_runs_use_the_same_variables_and_take_effect_once() -> None:
    with tf.Graph().as_default():
        v = tf.Variable(1.0, name="v")
        up = tf.assign_add(v, tf.add(2.0, 3.0, name="five"), name="up")
        with tf.Session() as session:
            session.run(v.initializer)
            assert session.run(up) == 6.0
            run = record(session, up, unfolded=True)
            assert "five" in [step.op for step in run]
            assert run.result == session.run(v) == 11.0
            assert "five" not in [step.op for step in record(session, up)]
            assert session.run(v) == 16.0
            times_and_stats(session, up, runs=2, unfolded=True)  # one more to warm up
            assert session.run(v) == 31.0


def test_random_numbers_go_on_where_they_were() -> None:
    def drawn(*is_unfolded: bool) -> list[float]:
        with tf.Graph().as_default():
            tf.set_random_seed(7)
            r = tf.random_uniform([], seed=3)
            with tf.Session() as session:
                found = []
                for each in is_unfolded:
                    with unfolded(each):
                        found.append(float(session.run(r)))
                return found

    assert drawn(False, True, False) == drawn(False, False, False)


def test_in_the_block_every_run_is_unfolded_and_afterwards_none() -> None:
    with tf.Graph().as_default():
        y = tf.add(2.0, 5.0, name="y")
        with tf.Session() as session:

            def count() -> int:
                return len(record(session, y))

            session.run(y)
            with unfolded(), watch_runs() as seen:
                assert session.run(y) == 7.0
                with unfolded(False):
                    session.run(y)
            assert [run.unfolded for run in seen.runs] == [True, False]
            assert "Unfolded: every op runs." in str(seen)
            assert count() == 0
            with unfolded():
                assert count() == 3


def test_recorded_runs_know_what_was_folded() -> None:
    with tf.Graph().as_default():
        y = tf.add(2.0, 5.0, name="y")
        with tf.Session() as session, watch_runs() as seen:
            for _ in range(2):
                session.run(y)
    (run,) = seen.runs
    assert run.folded.is_whole
    assert "All 3 ops were computed once" in str(seen)
    assert str(run.why("y/x")) == (
        "'y/x' is needed: the fetch 'y' depends on it. It was computed once, when the "
        "run was compiled: it is a constant.\n  y/x\n     y"
    )
