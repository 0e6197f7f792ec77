"""Tests that run in a graph and eagerly; the log is what TensorFlow 1.15.5 printed."""

from __future__ import annotations

import gc
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tfteach as tf
from tfteach.engine.eager.context import forget_eager_graph

tfe = tf.contrib.eager


class Logged(tf.test.TestCase):
    log: list[Any]

    def setUp(self) -> None:
        super().setUp()
        self.log.append("setUp")

    def tearDown(self) -> None:
        super().tearDown()
        self.log.append("tearDown")

    def note(self, value: Any = None) -> None:
        self.log.append([tf.executing_eagerly(), value])


def run(cls: type[Logged]) -> tuple[list[Any], unittest.TestResult]:
    cls.log = []
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(cls).run(result)
    assert result.errors == result.failures == []
    return cls.log, result


@pytest.fixture(autouse=True)
def nothing_eager_remains() -> Iterator[None]:
    yield
    assert not tf.executing_eagerly()
    forget_eager_graph()


def test_a_method_runs_twice() -> None:
    class Variables(Logged):
        def setUp(self) -> None:
            super().setUp()
            tf.constant(1.0)

        @tfe.run_test_in_graph_and_eager_modes
        def testVariable(self) -> None:
            assert self.evaluate(tf.add(1, 2)) == 3
            initializer = tf.random_uniform_initializer()
            v = tf.get_variable("v", [2], initializer=initializer, use_resource=True)
            self.evaluate(tf.global_variables_initializer())
            self.note([round(float(x), 6) for x in self.evaluate(v)])

    log, _ = run(Variables)
    assert log == [
        "setUp",
        [False, [0.483941, 0.506203]],
        "tearDown",
        "setUp",
        [True, [0.583637, 0.29723]],
        "tearDown",
    ]


def test_options() -> None:
    class Options(Logged):
        @tfe.run_test_in_graph_and_eager_modes(use_gpu=False)
        def testDevice(self) -> None:
            self.note(tf.add(1, 2).device)

        @tfe.run_test_in_graph_and_eager_modes(reset_test=False)
        def testOnce(self) -> None:
            self.note()

        @tfe.run_test_in_graph_and_eager_modes
        def testSkipped(self) -> None:
            if not tf.executing_eagerly():
                self.skipTest("eagerly only")
            self.note()

    log, result = run(Options)
    host = "/job:localhost/replica:0/task:0/device:CPU:0"
    device = [[False, "/device:CPU:0"], "tearDown", "setUp", [True, host]]
    once = [[False, None], [True, None]]
    skipped = ["tearDown", "setUp", [True, None]]
    between = ["tearDown", "setUp"]
    assert log == [*("setUp", *device, *between, *once, *between, *skipped, "tearDown")]
    assert len(result.skipped) == 1  # only `test_session`


def test_a_class_runs_twice() -> None:
    @tfe.run_all_tests_in_graph_and_eager_modes
    class Whole(Logged):
        def testAll(self) -> None:
            self.note("all")

        def testSkipEagerly(self) -> None:
            self.note("skips")

    log, _ = run(Whole)
    noted = [entry for entry in log if isinstance(entry, list)]
    assert noted == [[False, "all"], [True, "all"], [False, "skips"]]


def test_what_is_refused() -> None:
    decorate: Callable[..., Any] = tfe.run_test_in_graph_and_eager_modes
    with pytest.raises(ValueError, match="Did you mean to use `run_all_in_graph"):
        decorate(Logged)


def test_what_an_eager_test_leaves_behind() -> None:
    left: list[Any] = []

    class Leaving(tf.test.TestCase):
        @tfe.run_test_in_graph_and_eager_modes(assert_no_eager_garbage=True)
        def testNothing(self) -> None:
            variable = tfe.Variable(2.0)
            with tf.GradientTape() as tape:
                loss = variable * variable
            tape.gradient(loss, variable)

        @tfe.run_test_in_graph_and_eager_modes(assert_no_eager_garbage=True)
        def testTensor(self) -> None:
            left.append(tf.constant(1.0))

        @tfe.run_test_in_graph_and_eager_modes(assert_no_eager_garbage=True)
        def testCycle(self) -> None:
            cycle: list[Any] = []
            cycle.append(cycle)

        @tfe.run_test_in_graph_and_eager_modes(assert_no_eager_garbage=True)
        def testError(self) -> None:
            raise KeyError("its own")

    flags, garbage = gc.get_debug(), len(gc.garbage)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Leaving).run(result)
    assert (gc.get_debug(), len(gc.garbage)) == (flags, garbage)
    failed = {test.id().rpartition(".")[2]: text for test, text in result.failures}
    assert failed.keys() == {"testTensor", "testCycle"}
    assert "1 Tensors not deallocated after test: [" in failed["testTensor"]
    assert "by reference cycles: {'list': 1}" in failed["testCycle"]
    assert [test.id().rpartition(".")[2] for test, _ in result.errors] == ["testError"]


def test_functions_are_evaluated_eagerly() -> None:
    class Called(Logged):
        @tfe.run_test_in_graph_and_eager_modes
        def testMean(self) -> None:
            mean = tfe.metrics.Mean()
            update = mean([1.0, 2.0])
            self.evaluate([v.initializer for v in mean.variables])
            self.evaluate(update)
            self.note(float(self.evaluate(mean.value())))

    log, _ = run(Called)
    assert [entry for entry in log if isinstance(entry, list)][-1] == [True, 1.5]
