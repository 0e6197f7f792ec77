"""`tf.function`: traces, their calls, their gradients.  Source: TensorFlow 1.15.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly
from tfteach.framework.errors import InvalidArgumentError

eager = pytest.mark.usefixtures("eagerly")


def described(op: tf.Operation) -> str:
    inputs = [t.op.name for t in op.inputs]
    inputs += sorted(f"^{c.name}" for c in op.control_inputs)
    return f"{op.name} = {op.type}({', '.join(inputs)})"


def traces_of(function: Any) -> int:
    return len(function.traces)


@eager
def test_python_code_runs_while_tracing_only() -> None:
    seen = []

    @tf.function
    def double(x: Any) -> Any:
        seen.append(x)
        return x * 2.0

    assert double(tf.constant(1.0)).numpy() == 2.0
    assert double(tf.constant(2.0)).numpy() == 4.0
    assert len(seen) == 1
    double(tf.constant([1.0, 2.0]))
    assert len(seen) == 2


@eager
def test_what_a_trace_depends_on() -> None:
    @tf.function
    def scaled(x: Any, factor: Any = 2.0, **rest: Any) -> Any:
        return x * factor

    x = tf.constant(1.0)
    for arguments in ((x,), (x, 2.0)):  # defaults are arguments, too
        scaled(*arguments)
    assert traces_of(scaled) == 1
    scaled(x, factor=3.0)
    scaled(x, tf.constant(3.0))
    scaled(x, tf.constant(4.0))
    scaled(np.array(1.0, np.float32), tf.constant(4.0))
    assert traces_of(scaled) == 3
    with pytest.raises(TypeError, match="functions must be hashable"):
        scaled(x, {1, 2})


@eager
def test_the_trace_has_tensorflows_nodes() -> None:
    v, c, many = tf.Variable(2.0), tf.constant(5.0), tf.ones([200])

    def f(x: Any, y: Any = 2) -> Any:
        v.assign_add(1.0)
        a = x * v + c
        results = [x + tf.cast(y, tf.float32), None]
        return {"a": a, "b": results, "c": tf.reduce_sum(many)}

    made = tf.function(f)
    concrete = made.get_concrete_function(tf.constant(1.0))
    found = concrete(tf.constant(2.0))
    assert found["a"].numpy() == 11.0
    assert found["b"][0].numpy() == 4.0
    assert found["b"][1] is None
    assert found["c"].numpy() == 200.0
    assert [described(op) for op in concrete.graph.get_operations()] == [
        "x = Placeholder()",
        "Const = Const()",
        "AssignAddVariableOp/resource = Placeholder()",
        "AssignAddVariableOp = "
        "AssignAddVariableOp(AssignAddVariableOp/resource, Const)",
        "mul/ReadVariableOp = ReadVariableOp(AssignAddVariableOp/resource, "
        "^AssignAddVariableOp)",
        "mul = Mul(x, mul/ReadVariableOp)",
        "add/y = Const()",
        "add = AddV2(mul, add/y)",
        "Cast/x = Const()",
        "Cast = Cast(Cast/x)",
        "add_1 = AddV2(x, Cast)",
        "Const_1 = Const()",
        "Sum/input = Placeholder()",
        "Sum = Sum(Sum/input, Const_1)",
        "Identity = Identity(add, ^AssignAddVariableOp, ^mul/ReadVariableOp)",
        "Identity_1 = Identity(add_1, ^AssignAddVariableOp, ^mul/ReadVariableOp)",
        "Identity_2 = Identity(Sum, ^AssignAddVariableOp, ^mul/ReadVariableOp)",
    ]
    assert concrete.output_dtypes == {
        "a": tf.float32, "b": [tf.float32, None], "c": tf.float32,
    }  # fmt: skip
    (specs, keywords) = concrete.structured_input_signature
    assert specs[0] == tf.TensorSpec([], tf.float32, "x")
    assert specs[1] == 2
    assert keywords == {}


@eager
def test_a_signature_has_one_trace() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32, name="inp")])
    def more(a: Any) -> Any:
        return a + 1.0

    assert more([1.0, 2.0]).numpy().tolist() == [2.0, 3.0]
    assert more(tf.ones([3])).numpy().tolist() == [2.0, 2.0, 2.0]
    assert traces_of(more) == 1
    assert more.get_concrete_function().inputs[0].name == "inp:0"
    for arguments, error, message in (
        (([[1.0]],), ValueError, "Python inputs incompatible with input_signature"),
        ((tf.constant([1]),), ValueError, "Python inputs incompatible with"),
        ((), ValueError, "Structure of Python function inputs does not match"),
        (([1.0], [2.0]), TypeError, "When input_signature is provided, only pass"),
    ):
        with pytest.raises(error, match=message):
            more(*arguments)


@eager
def test_relaxed_shapes_stop_retracing() -> None:
    function = tf.function(lambda x: x + 1.0, experimental_relax_shapes=True)
    for size in (1, 2, 3, 4):
        assert function(tf.ones([size])).numpy().tolist() == [2.0] * size
    assert traces_of(function) == 2


@eager
def test_variables_are_made_by_the_first_call() -> None:
    class Model:
        w: Any = None

        @tf.function
        def scale(self, x: Any) -> Any:
            if self.w is None:
                self.w = tf.Variable(3.0, name="w")
            return self.w * x

    one, other = Model(), Model()
    assert one.scale(2.0).numpy() == 6.0
    one.w.assign(4.0)
    assert one.scale(2.0).numpy() == 8.0
    assert other.scale(2.0).numpy() == 6.0
    assert one.scale is one.scale

    @tf.function
    def always() -> Any:
        return tf.Variable(1.0)

    with pytest.raises(ValueError, match="tried to create variables on non-first call"):
        always()


@eager
def test_effects_happen_in_the_order_of_the_program() -> None:
    v = tf.Variable(1.0)

    @tf.function
    def f() -> Any:
        before = v.read_value()
        v.assign_add(1.0)
        between = v.read_value()
        v.assign(10.0 * v)
        return before, between, v.read_value()

    assert [t.numpy() for t in f()] == [1.0, 2.0, 20.0]
    assert [t.numpy() for t in f()] == [20.0, 21.0, 210.0]


@eager
def test_what_a_function_must_return() -> None:
    with pytest.raises(TypeError, match="must return zero or more Tensors"):
        tf.function(lambda x: object())(1.0)
    assert tf.function(lambda: None)() is None


@eager
def test_arguments_of_a_trace() -> None:
    concrete = tf.function(lambda x: x + 1.0).get_concrete_function(tf.constant(1.0))
    assert concrete(x=tf.constant(3.0)).numpy() == 4.0
    with pytest.raises(ValueError, match=r"the 0-th input \(3.0\) was not a Tensor"):
        concrete(3.0)
    with pytest.raises(TypeError, match=r"Expected argument names \['x'\]"):
        concrete()
    with pytest.raises(InvalidArgumentError, match="expected to be a float"):
        concrete(tf.constant(1))


# ---- gradients


@eager
def test_gradients_through_calls_and_of_higher_order() -> None:
    cube = tf.function(lambda x: x * x * x)
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        first = inner.gradient(y, x)
    assert first.numpy() == 12.0
    assert outer.gradient(first, x).numpy() == 12.0


@eager
def test_gradients_of_variables_that_a_function_reads() -> None:
    v = tf.Variable(3.0)
    f = tf.function(lambda x: x * v * v)
    with tf.GradientTape() as tape:
        y = f(tf.constant(2.0))
    assert tape.watched_variables() == (v,)
    assert tape.gradient(y, v).numpy() == 12.0


@eager
def test_a_scalar_of_a_trace_finds_the_trace_of_one_with_a_value() -> None:
    """As in TensorFlow, where a vector does not."""
    double = tf.function(lambda x: x * 2.0)
    outer = tf.function(lambda x: double(x))
    for value, traces in ((1.0, 1), ([1.0], 3)):
        double(tf.constant(value))
        outer(tf.constant(value))
        assert traces_of(double) == traces


@eager
def test_functions_call_functions() -> None:
    cube = tf.function(lambda x: x * x * x)
    ninth = tf.function(lambda x: cube(cube(x)))
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = ninth(x)
    assert y.numpy() == 512.0
    assert tape.gradient(y, x).numpy() == 9.0 * 2.0**8


@eager
def test_random_numbers_of_the_forward_call_serve_the_gradient() -> None:
    @tf.function
    def noisy(x: Any) -> Any:
        noise = tf.random.normal([1000])
        return tf.reduce_sum(x * noise), noise

    x = tf.ones([1000])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, noise = noisy(x)
    np.testing.assert_array_equal(tape.gradient(y, x).numpy(), noise.numpy())


@eager
def test_a_training_step_with_its_tape_inside() -> None:
    v = tf.Variable(5.0)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = v * v
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    losses = [step().numpy() for _ in range(30)]
    np.testing.assert_allclose(losses, [25.0 * 0.64**i for i in range(30)], rtol=1e-4)


@eager
def test_branches_and_loops() -> None:
    absolute = tf.function(lambda x: tf.cond(x > 0.0, lambda: x, lambda: -x))
    assert absolute(tf.constant(-2.0)).numpy() == 2.0
    powers = tf.function(
        lambda x: tf.while_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, a * 2.0), [0, x]
        )
    )
    i, a = powers(tf.constant(2.0))
    assert (i.numpy(), a.numpy()) == (3, 16.0)
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        _, y = powers(x)
    assert tape.gradient(y, x).numpy() == 8.0


# ---- graphs


def test_a_call_in_a_graph_is_a_node() -> None:
    with tf.Graph().as_default() as graph:
        square = tf.function(lambda x: x * x)
        x = tf.constant(3.0)
        y = square(x)
        (dy,) = tf.gradients(y, x)
        assert y.op.type == "PartitionedCall"
        assert dy.op.type == "PartitionedCall"
        with tf.Session(graph=graph) as sess:
            assert sess.run([y, dy]) == [9.0, 6.0]
        restored = tf.Graph()
        with restored.as_default():
            tf.import_graph_def(graph.as_graph_def(), name="")
            with tf.Session() as sess:
                assert sess.run([y.name, dy.name]) == [9.0, 6.0]


def test_gradients_in_a_graph_reuse_the_forward_call() -> None:
    with tf.Graph().as_default():

        @tf.function
        def noisy(x: Any) -> Any:
            noise = tf.random.normal([1000])
            return tf.reduce_sum(x * noise), noise

        x = tf.ones([1000])
        y, noise = noisy(x)
        (dx,) = tf.gradients(y, x)
        with tf.Session() as sess:
            np.testing.assert_array_equal(*sess.run([dx, noise]))


@eager
def test_running_the_python_code_for_debugging() -> None:
    seen = []

    @tf.function
    def f(x: Any) -> Any:
        seen.append(x.numpy())
        return x

    tf.config.experimental_run_functions_eagerly(True)
    try:
        f(tf.constant(1.0))
        f(tf.constant(2.0))
    finally:
        tf.config.experimental_run_functions_eagerly(False)
    assert seen == [1.0, 2.0]


def test_there_is_no_xla() -> None:
    with pytest.raises(NotImplementedError, match="experimental_compile"):
        tf.function(lambda: None, experimental_compile=True)


def test_gradients_of_rows_stay_slices() -> None:
    with tf.Graph().as_default():
        table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        row = tf.function(lambda x: tf.gather_nd(x, [[1]]))
        (found,) = tf.gradients(row(table), table)
        assert isinstance(found, tf.IndexedSlices)
        with tf.Session() as sess:
            assert sess.run(found).values.tolist() == [[1.0, 1.0]]


@eager
def test_higher_orders_inside_a_function() -> None:
    v = tf.Variable(2.0)
    f = tf.function(lambda: v * v * v * v)

    def derivative(f: Any) -> Any:
        def g() -> Any:
            with tf.GradientTape() as tape:
                y = f()
            return tape.gradient(y, v)

        return g

    for expected in (16.0, 32.0, 48.0, 48.0):
        assert f().numpy() == expected
        assert tf.function(f)().numpy() == expected
        f = derivative(f)


@eager
def test_each_tape_of_a_function_sees_its_variables() -> None:
    v = tf.Variable(3.0)

    @tf.function
    def twice() -> Any:
        with tf.GradientTape() as first:
            y = v * v
        with tf.GradientTape() as second:
            z = v * v * v
        return first.gradient(y, v), second.gradient(z, v)

    assert [t.numpy() for t in twice()] == [6.0, 27.0]
