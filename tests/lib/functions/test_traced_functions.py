"""Lives of traced functions: garbage, threads, copies, recursion, observers."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from typing import Any

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.lib.functions.eager_defun import defun_with_attributes, register
from tfteach.lib.functions.function import Call, observe_calls

pytestmark = pytest.mark.usefixtures("eagerly")


def test_a_dead_function_frees_its_traces() -> None:
    made = tf.function(lambda x: x + 1.0)
    made(tf.constant(1.0))
    function, trace = weakref.ref(made), weakref.ref(made.traces[0].graph)
    del made
    assert function() is None  # without the garbage collector, as in TensorFlow
    gc.collect()
    assert trace() is None


def test_many_functions_leave_nothing_behind() -> None:
    def use_some() -> None:
        for _ in range(50):
            tf.function(lambda x: x + 1.0)(tf.constant(1.0))

    use_some()
    gc.collect()
    before = len(gc.get_objects())
    use_some()
    gc.collect()
    assert len(gc.get_objects()) <= before + 50


def test_a_method_does_not_keep_its_object_alive() -> None:
    class Model:
        @tf.function
        def double(self, x: Any) -> Any:
            return x * 2.0

    model = Model()
    assert model.double(tf.constant(2.0)).numpy() == 4.0
    reference = weakref.ref(model)
    del model
    gc.collect()
    assert reference() is None


def test_threads_share_a_trace() -> None:
    traced = []

    @tf.function
    def f(x: Any) -> Any:
        traced.append(x)
        return x * 2.0

    found: list[float] = []
    start = threading.Barrier(4)

    def work(number: int) -> None:
        start.wait()
        found.append(f(tf.constant(float(number))).numpy())

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0.0, 2.0, 4.0, 6.0]
    assert len(traced) == 1


def test_copies_and_pickles() -> None:
    f = tf.function(lambda x: x + 1.0)
    f(tf.constant(1.0))
    deep = copy.deepcopy(f)
    assert deep.traces == []
    assert deep(tf.constant(2.0)).numpy() == 3.0
    assert copy.copy(f).traces == f.traces
    for refused in (f, f.traces[0], tf.contrib.eager.defun(lambda x: x)):
        with pytest.raises(TypeError, match="cannot pickle"):
            pickle.dumps(refused)


def test_a_function_cannot_contain_itself() -> None:
    @tf.function
    def endless(x: Any) -> Any:
        return endless(x)

    with pytest.raises(RecursionError, match="'endless' calls itself"):
        endless(tf.constant(1.0))

    @tf.function
    def factorial(x: Any, n: int) -> Any:
        return x if n == 0 else n * factorial(x, n - 1)

    assert factorial(tf.constant(1.0), 5).numpy() == 120.0


def test_a_function_that_failed_to_trace_can_be_called_again() -> None:
    fails = [True]

    @tf.function
    def f(x: Any) -> Any:
        if fails[0]:
            raise KeyError("x")
        return x

    for _ in range(2):
        with pytest.raises(KeyError):
            f(tf.constant(1.0))
    fails[0] = False
    assert f(tf.constant(1.0)).numpy() == 1.0


def test_observers_see_which_calls_trace() -> None:
    seen: list[Call] = []
    stop = observe_calls(seen.append)
    f = tf.function(lambda x: x + 1.0)
    g = tf.contrib.eager.defun(lambda x: x * 2.0)
    for function in (f, g):
        for value in (1.0, 2.0, [1.0]):
            function(tf.constant(value))
    stop()
    f(tf.constant(1.0))
    assert [call.is_new for call in seen] == [True, False, True] * 2
    assert [call.function for call in seen] == [f] * 3 + [g] * 3
    assert seen[2].concrete is f.traces[1]
    assert seen[2].arguments.args[0].numpy().tolist() == [1.0]


def test_observers_see_the_trace_that_uses_the_variables() -> None:
    kept: list[Any] = []

    def f(x: Any) -> Any:
        if not kept:
            kept.append(tf.Variable(1.0))
        return x + kept[0]

    seen: list[Call] = []
    stop = observe_calls(seen.append)
    made = tf.function(f)
    made(tf.constant(1.0))
    made(tf.constant(2.0))
    stop()
    assert [(call.function, call.is_new) for call in seen] == [
        (made, True), (made, False)
    ]  # fmt: skip
    assert seen[0].concrete is made.traces[0]


def test_equal_calls_skip_the_binding_of_arguments() -> None:
    f = tf.function(lambda x, y=2.0: x + y)
    assert f(tf.constant(1.0)).numpy() == 3.0
    assert f(tf.constant(1.0), 3.0).numpy() == 4.0
    assert f(tf.constant(2.0), 3.0).numpy() == 5.0
    assert f(tf.constant(2.0)).numpy() == 4.0
    with tf.GradientTape() as tape:
        x = tf.constant(1.0)
        tape.watch(x)
        y = f(x, 3.0) * 2.0
    assert tape.gradient(y, x).numpy() == 2.0
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess.run(f(tf.constant(1.0), 3.0)) == 4.0


def test_attributes_of_a_function() -> None:
    f = defun_with_attributes(
        lambda x: x + 1.0,
        attributes={"func_name": "more", "n": 3, "b": True, "f": 0.5, "s": "text"},
    )
    concrete = f.get_concrete_function(tf.constant(1.0))
    assert concrete.graph.name == "more"
    attrs = concrete.function_def.attr
    assert (attrs["n"].i, attrs["b"].b, attrs["f"].f) == (3, True, 0.5)
    assert attrs["s"].s == b"text"
    with pytest.raises(ValueError, match="Unsupported attribute type for bad"):
        defun_with_attributes(lambda x: x, attributes={"bad": [1]})(1)


def test_registered_functions_are_in_the_library() -> None:
    f = tf.contrib.eager.defun(lambda x: x * x)
    with tf.Graph().as_default() as graph:
        concrete = register(f, tf.constant(2.0))
        names = [function.signature.name for function in
                 graph.as_graph_def().library.function]  # fmt: skip
    assert concrete.name.decode() in names
    assert len(names) == 3
    assert sum(name.startswith("__forward_") for name in names) == 1
    with pytest.raises(ValueError, match="Only defun function is allowed"):
        register(lambda x: x, 1)


def test_run_functions_eagerly() -> None:
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        seen.append(x)
        return x + 1.0

    tf.config.experimental_run_functions_eagerly(True)
    try:
        assert f(tf.constant(1.0)).numpy() == 2.0
        assert f(tf.constant(1.0)).numpy() == 2.0
    finally:
        tf.config.experimental_run_functions_eagerly(False)
    assert [t.numpy() for t in seen] == [1.0, 1.0]
    f(tf.constant(1.0))
    f(tf.constant(1.0))
    assert len(seen) == 3
