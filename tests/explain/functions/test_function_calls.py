from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.explain.functions.function_calls import (
    MOST_CALLS,
    FunctionUse,
    explain_function,
    watch_functions,
)

pytestmark = pytest.mark.usefixtures("eagerly")


def only(log: Any) -> FunctionUse:
    (use,) = log.functions
    assert isinstance(use, FunctionUse)
    return use


def reasons(use: FunctionUse) -> list[str]:
    return [str(trace.reason) for trace in use.traces]


def test_each_call_with_its_trace() -> None:
    @tf.function
    def f(x: Any) -> Any:
        return x + 1.0

    with watch_functions() as log:
        f(tf.constant(1.0))
        f(tf.constant(2.0))
        f(tf.constant([1.0]))
        f(tf.constant(3.0))
    f(tf.constant(3.0))
    use = only(log)
    assert use.name == "f"
    assert use.called_as == "f"
    assert use.count == 4
    assert [call.trace for call in use.calls] == [1, 1, 2, 1]
    assert [call.is_new for call in use.calls] == [True, False, True, False]
    assert [trace.call for trace in use.traces] == [1, 3]
    assert all(call.run_s > 0 for call in use.calls)
    assert all(trace.tracing_s > 0 for trace in use.traces)
    assert use.traces[0].graph is not None
    assert use.traces[0].ops == len(use.traces[0].graph.get_operations())
    line = use.calls[1].line
    assert line is not None
    assert line.text == "f(tf.constant(2.0))"
    assert use.source is not None
    assert use.source.text == "@tf.function"


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        (1, 2, "a is 2, before 1"),
        (True, False, "a is False, before True"),
        ("x", "y", "a is 'y', before 'x'"),
        (np.zeros([2, 3]), np.zeros([4, 3]), "a has shape 4x3, before 2x3"),
        (np.zeros([2, 3]), np.zeros([3]), "a has shape [3], before 2x3"),
        (np.zeros(2, "f4"), np.zeros(2, "f8"), "a is float64, before float32"),
        (
            1,
            np.zeros(2, "f4"),
            "a is a Tensor, float32 [2], before the Python value 1",
        ),
        ([1.0], [1.0, 2.0], "a[1]: 2.0, before not there"),
        ({"k": 1.0}, {"k": 2.0}, "a['k'] is 2.0, before 1.0"),
        (object(), object(), "a is another object object"),
        (None, 3, "a is 3, before None"),
    ],
)
def test_why_a_call_traces_anew(one: Any, other: Any, said: str) -> None:
    @tf.function
    def f(a: Any, b: Any = 0) -> Any:
        return tf.constant(1.0)

    with watch_functions() as log:
        f(one)
        f(other)
    assert reasons(only(log)) == ["the first call", said]
    assert only(log).traces[1].reason.compared == 1


def test_values_that_python_takes_for_equal_share_a_trace() -> None:
    f = tf.function(lambda n: tf.constant(1.0))
    with watch_functions() as log:
        for n in (1, 1.0, True):
            f(n)
    assert len(only(log).traces) == 1


def test_the_most_similar_trace_is_compared() -> None:
    @tf.function
    def f(x: Any, n: int, flag: bool) -> Any:
        return x

    with watch_functions() as log:
        f(tf.constant(1.0), 1, True)
        f(tf.constant([1.0]), 2, False)
        f(tf.constant(1.0), 3, True)
    assert reasons(only(log))[2] == "n is 3, before 1"
    assert only(log).traces[2].reason.compared == 1


def test_a_function_made_again() -> None:
    def f(x: Any) -> Any:
        return x

    with watch_functions() as log:
        for _ in range(2):
            tf.function(f)(tf.constant(1.0))
    assert reasons(only(log)) == [
        "the first call",
        "a new tf.function of the same Python function",
    ]
    assert only(log).makers == 2


def test_a_method_of_each_object() -> None:
    class Model:
        @tf.function
        def call(self, x: Any) -> Any:
            return x

    with watch_functions() as log:
        one, other = Model(), Model()
        for model in (one, other, one):
            model.call(tf.constant(1.0))
    use = only(log)
    assert use.name == "Model.call"
    assert reasons(use) == ["the first call", "the method of another object"]
    assert [call.trace for call in use.calls] == [1, 2, 1]


def test_calls_inside_a_trace() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return x

    @tf.function
    def outer(x: Any) -> Any:
        return inner(x) + inner(x)

    with watch_functions() as log:
        outer(tf.constant(1.0))
    by_name = {use.name: use for use in log.functions}
    assert [call.inside for call in by_name["inner"].calls] == ["outer", "outer"]
    assert [call.inside for call in by_name["outer"].calls] == [""]
    assert len(by_name["inner"].traces) == 1


def test_traces_that_were_asked_for() -> None:
    f = tf.function(lambda x: x)
    f(tf.constant([1.0]))
    for name in ("x", "y"):
        f.get_concrete_function(tf.TensorSpec([1], name=name))
    use = explain_function(f)
    asked = "called in another graph, or made by get_concrete_function"
    assert reasons(use) == ["the first call", asked, asked]
    assert use.verdict.kind == "few"


def test_in_graphs() -> None:
    f = tf.contrib.eager.defun(lambda x: x)
    with watch_functions() as log:
        for _ in range(2):
            with tf.Graph().as_default():
                f(tf.constant([1.0]))
                f(tf.constant([1.0]))
    assert reasons(only(log)) == ["the first call", "called in another graph"]
    assert [call.trace for call in only(log).calls] == [1, 1, 2, 2]
    assert only(log).traces[0].arguments[0].text == "float32 [1], of a graph"


def test_variables_are_made_by_a_trace_before() -> None:
    made: list[Any] = []

    @tf.function
    def f(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(1.0))
        return x + made[0]

    with watch_functions() as log:
        f(tf.constant(1.0))
        f(tf.constant(1.0))
    assert only(log).made_variables
    assert len(only(log).traces) == 1
    assert "traced twice at first" in str(log)


def test_a_trace_made_before_the_recording() -> None:
    f = tf.function(lambda x: x)
    f(tf.constant(1.0))
    with watch_functions() as log:
        f(tf.constant(2.0))
    use = only(log)
    assert [call.is_new for call in use.calls] == [False]
    assert [trace.tracing_s for trace in use.traces] == [0.0]


def test_relaxed_shapes() -> None:
    @tf.function(experimental_relax_shapes=True)
    def f(x: Any) -> Any:
        return x

    with watch_functions() as log:
        for n in (1, 2, 3, 4):
            f(tf.ones([n]))
    assert [call.trace for call in only(log).calls] == [1, 2, 3, 3]


def test_many_calls_are_counted() -> None:
    f = tf.function(lambda x: x)
    x = tf.constant(1.0)
    with watch_functions() as log:
        for _ in range(MOST_CALLS + 5):
            f(x)
    assert only(log).count == MOST_CALLS + 5
    assert len(only(log).calls) == MOST_CALLS


def test_a_call_that_fails() -> None:
    f = tf.function(lambda x: tf.check_numerics(x, "bad"))
    with (
        pytest.raises(tf.errors.InvalidArgumentError),
        watch_functions() as log,
    ):
        f(tf.constant(float("nan")))
    assert only(log).count == 1
    assert only(log).calls[0].run_s > 0


def test_the_traces_that_a_function_has() -> None:
    @tf.function
    def f(x: Any, n: int) -> Any:
        return x * n

    f(tf.constant(1), 2)
    f(tf.constant(1), 3)
    f(tf.constant([1]), 3)
    use = explain_function(f)
    assert use.count == 0
    assert reasons(use) == [
        "the first call",
        "n is 3, before 2",
        "x has shape [1], before scalar",
    ]
    text = str(use)
    assert text.splitlines()[0].endswith("): 3 traces")
    assert "  trace 2: n is 3, before 2\n" in text
    with pytest.raises(TypeError, match=r"explains what tf\.function"):
        explain_function(len)


def test_nothing_was_called() -> None:
    with watch_functions() as log:
        pass
    assert str(log) == "No traced function was called."
    assert log.verdict.kind == "clean"
