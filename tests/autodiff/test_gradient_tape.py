"""`tf.GradientTape`, in eager programs and in graphs.  Source: TensorFlow 1.15.5."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.engine.eager.context import eager_graph

eager = pytest.mark.usefixtures("eagerly")


@eager
def test_the_gradient_of_a_watched_tensor() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x + 2.0 * x
    assert tape.gradient(y, x).numpy() == 8.0


@eager
def test_variables_are_watched_when_they_are_read() -> None:
    v, w = tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v * w
    assert tape.watched_variables() == (v,)
    dv, dw = tape.gradient(y, [v, w])
    assert dv.numpy() == 12.0
    assert dw is None
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(w)
        y = v * v * w
    dv, dw = tape.gradient(y, [v, w])
    assert dv is None
    assert dw.numpy() == 4.0


@eager
def test_higher_orders_by_nested_tapes() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        first = inner.gradient(y, x)
    assert first.numpy() == 12.0
    assert outer.gradient(first, x).numpy() == 12.0


@eager
def test_a_persistent_tape_is_asked_again() -> None:
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
        z = tf.exp(x)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0]
    weighted = tape.gradient(z, x, output_gradients=tf.constant([1.0, 0.0]))
    np.testing.assert_allclose(weighted.numpy(), [np.e, 0.0], rtol=1e-6)


@eager
def test_the_structure_of_the_sources_returns() -> None:
    x, other = tf.constant(3.0), tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, other])
        y = x * x
    found = tape.gradient({"a": y}, {"x": x, "other": other})
    assert found["x"].numpy() == 6.0
    assert found["other"] is None
    zero = tape.gradient(y, other, unconnected_gradients="zero")
    assert zero.numpy() == 0.0


@eager
def test_ops_with_several_outputs_get_zeros_for_unused_ones() -> None:
    x = tf.constant([1.0, 2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, _ = tf.split(x, 2)
        y = tf.reduce_sum(first * first)
    assert tape.gradient(y, x).numpy().tolist() == [2.0, 4.0, 0.0, 0.0]


@eager
def test_lookups_have_gradients_of_rows() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [1, 1]))
    found = tape.gradient(y, v)
    assert isinstance(found, tf.IndexedSlices)
    dense = tf.convert_to_tensor(found)
    assert dense.numpy().tolist() == [[0.0, 0.0], [2.0, 2.0]]


@eager
def test_recording_stops_and_starts_anew() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = x * x
        tape.reset()
        tape.watch(x)
        w = 5.0 * x
    assert tape.gradient(y, x) is None
    assert tape.gradient(z, x) is None
    assert tape.gradient(w, x).numpy() == 5.0


@eager
@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: t.__enter__(), ValueError, "Tape is already recording."),
        (
            lambda t: t.watch(3.0),
            ValueError,
            "Passed in object of type <class 'float'>",
        ),
        (
            lambda t: t.gradient(tf.constant(1.0), [], unconnected_gradients="bad"),
            ValueError,
            "Unknown value for unconnected_gradients: 'bad'",
        ),
        (
            lambda t: (t.gradient([], []), t.gradient([], [])),
            RuntimeError,
            "can only be called once on non-persistent tapes",
        ),
    ],
)
def test_misuse(call: Any, error: type[Exception], message: str) -> None:
    with tf.GradientTape() as tape, pytest.raises(error, match=message):
        call(tape)


@eager
def test_a_tape_that_never_recorded() -> None:
    with pytest.raises(ValueError, match="Tape is not recording"):
        tf.GradientTape().reset()
    with (
        pytest.raises(RuntimeError, match="Trying to stop recording"),
        tf.GradientTape().stop_recording(),
    ):
        pass


@eager
def test_integers_have_no_gradients(caplog: pytest.LogCaptureFixture) -> None:
    x = tf.constant(3)
    logging.getLogger("tensorflow").propagate = True
    with caplog.at_level("WARNING", "tensorflow"), tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x) is None
    assert "The dtype of the watched tensor must be floating" in caplog.text


@eager
def test_only_requested_products_are_computed() -> None:
    v, x = tf.Variable([[1.0], [2.0]]), tf.constant([[3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.matmul(x, v)
    ran: list[Any] = []
    with eager_graph().observe(ran.append):
        found = tape.gradient(y, v)
    assert found.numpy().tolist() == [[3.0], [4.0]]
    assert [event.op.type for event in ran].count("MatMul") == 1


def test_a_tape_in_a_graph_adds_gradients_to_it() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        found = tape.gradient(y, x)
        assert found.graph is graph
        with tf.Session() as sess:
            assert sess.run(found) == 6.0


@pytest.mark.usefixtures("eagerly")
def test_second_derivatives_through_a_loop_of_a_function() -> None:
    @tf.function
    def first(x):
        with tf.GradientTape() as inner:
            inner.watch(x)
            _, y = tf.while_loop(
                lambda i, y: i < 2, lambda i, y: (i + 1, y * x), [0, x]
            )
        return inner.gradient(y, x)  # of x cubed

    @tf.function
    def both(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            dy = first.python_function(x)
        return dy, outer.gradient(dy, x)

    x = tf.constant(2.0)
    assert [float(v) for v in both(x)] == [12.0, 12.0]  # TensorFlow 1.15 says 6
    with tf.GradientTape() as tape:
        tape.watch(x)
        dy = first(x)
    assert float(tape.gradient(dy, x)) == 12.0


@eager
def test_a_tape_keeps_what_it_watches() -> None:
    with tf.GradientTape() as tape:
        for _ in range(100):  # the addresses of which others would get
            tape.watch(tf.constant(1.0))
        made = [tf.constant(2.0) for _ in range(100)]
        y = tf.add_n([x * x for x in made])
    assert tape.gradient(y, made) == [None] * 100


@eager
def test_only_the_gradients_that_are_needed_are_computed() -> None:
    x, w = tf.ones([2, 3]), tf.Variable(tf.ones([3, 4]))
    ran: list[Any] = []
    with tf.GradientTape() as tape:
        y = tf.matmul(x, w)
    eager_graph().observers = (ran.append,)
    try:
        tape.gradient(y, w)
    finally:
        eager_graph().observers = ()
    assert [event.op.type for event in ran].count("MatMul") == 1


@eager
def test_gradients_of_a_result_in_between_and_of_what_it_depends_on() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        z = y * y + y
    assert [float(g) for g in tape.gradient(z, [y, x])] == [19.0, 114.0]


@eager
def test_the_watched_variables_of_a_tape_that_has_ended() -> None:
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    with tf.GradientTape() as tape:
        z = w * v
    tape.gradient(z, v)
    assert [variable.name for variable in tape.watched_variables()] == ["v:0", "w:0"]
