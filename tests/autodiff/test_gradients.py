"""tf.gradients: arguments, registered rules, errors.

Whole graphs and their numbers are held against TensorFlow in tests/training.
"""

import numpy as np
import pytest

import tfteach as tf
from tfteach.autodiff import gradient_registry
from tfteach.framework.op import OPS


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture
def registered(monkeypatch):
    """Rules registered in a test are gone after it."""
    monkeypatch.setattr(gradient_registry, "_registered", {})


def evaluate(tensors, feed_dict=None):
    with tf.Session() as sess:
        return sess.run(tensors, feed_dict)


def test_the_rules_of_calculus():
    x = tf.constant(3.0)
    (first,) = tf.gradients(x * x * x, x)
    (second,) = tf.gradients(first, x)
    assert evaluate([first, second]) == [27.0, 18.0]


def test_a_feed_on_the_way_is_what_the_gradient_sees():
    x = tf.constant(2.0)
    y = tf.square(x)
    (grad,) = tf.gradients(y * y, x)
    assert evaluate(grad, {y: 5.0}) == 2 * 5.0 * 2 * 2.0


def test_several_ys_are_summed():
    x = tf.constant([1.0, 2.0])
    grads = tf.gradients([x * 2.0, x * 3.0], [x], grad_ys=[None, [10.0, 100.0]])
    np.testing.assert_array_equal(evaluate(grads[0]), [32.0, 302.0])


def test_the_names_are_below_the_given_scope(graph):
    x = tf.constant(1.0, name="x")
    before = len(graph.get_operations())
    with tf.name_scope("outer"):
        tf.gradients(tf.exp(x, name="y"), x, name="back")
    names = [op.name for op in graph.get_operations()[before + 1 :]]
    assert names == [f"outer/back/{n}" for n in ("Shape", "grad_ys_0", "Fill")] + [
        "outer/back/outer/y_grad/mul"
    ]


@pytest.mark.parametrize("as_list", [False, True])
def test_variables_of_both_kinds(as_list):
    v = tf.Variable([1.0, 2.0])
    u = tf.Variable([3.0, 4.0], use_resource=True)
    grads = (
        tf.gradients(v * u, [v, u])
        if as_list
        else [tf.gradients(v * u, x)[0] for x in (v, u)]
    )
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = sess.run(grads)
    np.testing.assert_array_equal(found, [[3.0, 4.0], [1.0, 2.0]])


def test_none_where_nothing_depends():
    x, z = tf.constant(1.0), tf.constant(2.0)
    y = tf.cast(tf.cast(z, tf.int32), tf.float32) + x  # integers stop gradients
    assert tf.gradients(y, [x, z])[1] is None
    assert tf.gradients(tf.stop_gradient(z), z) == [None]
    assert tf.gradients(tf.constant(1), tf.constant(1)) == [None]
    (zero,) = tf.gradients(x, z, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert evaluate(zero) == 0.0


def test_integers_pass_only_to_themselves():
    n = tf.constant(2)
    assert tf.gradients(n * 2, n) == [None]
    assert tf.gradients(n, n)[0].op.type == "Fill"


def test_static_shapes_come_from_the_inputs():
    x = tf.placeholder(tf.float32, [None, 3])
    (grad,) = tf.gradients(tf.reshape(x, [-1]), x)
    assert grad.shape.as_list() == [None, 3]


def test_an_unused_x_of_a_used_op():
    a, b = tf.unstack(tf.constant([1.0, 2.0]))
    assert [evaluate(g) for g in tf.gradients(a * 3.0, [a])] == [3.0]
    assert tf.gradients(a * 3.0, [b]) == [None]


# ---- rules of the user


def test_a_registered_rule(registered, graph):
    @tf.RegisterGradient("Tenfold")
    def tenfold(op, grad):
        assert op.type == "Identity"
        return 10.0 * grad

    x = tf.constant(1.0)
    with graph.gradient_override_map({"Identity": "Tenfold"}):
        y = tf.identity(x)
    assert evaluate(tf.gradients(tf.identity(y), x)[0]) == 10.0
    assert y.op.get_attr("_gradient_op_type") == b"Tenfold"


def test_another_ops_rule(graph):
    x = tf.constant([-1.0, 2.0])
    with graph.gradient_override_map({"Sign": "Identity"}):
        y = tf.sign(x)
    np.testing.assert_array_equal(evaluate(tf.gradients(y, x)[0]), [1.0, 1.0])


def test_a_rule_for_an_op_without_one(registered):
    @tf.RegisterGradient("SoftsignGrad")
    def softsign_grad(op, grad):
        return [grad, None]

    x = tf.constant(1.0)
    y = OPS["SoftsignGrad"]()(x, tf.constant(1.0))
    assert evaluate(tf.gradients(y, x)[0]) == 1.0


def test_not_differentiable(registered, graph):
    tf.NotDifferentiable("Never")
    x = tf.constant(1.0)
    with graph.gradient_override_map({"Identity": "Never"}):
        y = tf.identity(x)
    assert tf.gradients(y, x) == [None]


def test_registering_twice(registered):
    tf.RegisterGradient("Once")(lambda op, grad: grad)
    for name in ("Once", "Relu"):
        with pytest.raises(KeyError, match=f"two gradient with name '{name}'"):
            tf.RegisterGradient(name)(lambda op, grad: grad)
    with pytest.raises(KeyError, match="Once"):
        tf.NotDifferentiable("Once")
    with pytest.raises(TypeError, match="op_type must be a string"):
        tf.RegisterGradient(lambda op, grad: grad)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda op, g: [g, g], "Num gradients 2 generated for op"),
        (lambda op, g: tf.constant([1.0, 2.0, 3.0]), "Incompatible shapes between op"),
    ],
)
def test_a_wrong_rule(registered, graph, rule, words):
    tf.RegisterGradient("Wrong")(rule)
    x = tf.constant([1.0, 2.0])
    with graph.gradient_override_map({"Identity": "Wrong"}):
        y = tf.identity(x)
    with pytest.raises(ValueError, match=words):
        tf.gradients(y, x)
    assert graph.get_name_scope() == ""


def test_no_rule(registered, graph):
    x = tf.constant(1.0)
    y = OPS["SoftsignGrad"]()(x, x, name="bend")
    words = r"No gradient defined for operation 'bend' \(op type: SoftsignGrad\)"
    with pytest.raises(LookupError, match=words):
        tf.gradients(y, x)
    with graph.gradient_override_map({"Identity": "Missing"}):
        z = tf.identity(x)
    with pytest.raises(LookupError, match=r"\(op type: Identity\)"):
        tf.gradients(z, x)


# ---- wrong arguments


@pytest.mark.parametrize(
    ("error", "words", "arguments"),
    [
        (ValueError, "Passed 2 grad_ys for 1 ys", {"grad_ys": [1.0, 2.0]}),
        (ValueError, "Unknown value for unconnected", {"unconnected_gradients": "x"}),
        (ValueError, "Invalid aggregation_method", {"aggregation_method": 7}),
        (TypeError, "complex128 generated for real", {"grad_ys": [np.complex128(1)]}),
    ],
)
def test_wrong_arguments(error, words, arguments):
    x = tf.constant(1.0)
    with pytest.raises(error, match=words):
        tf.gradients(x * 2.0, x, **arguments)


def test_ys_without_gradients():
    with pytest.raises(TypeError, match="complex tensors must set grad_ys"):
        tf.gradients(tf.constant(1j), tf.constant(1j))
    with pytest.raises(TypeError):
        tf.gradients(tf.constant("text"), tf.constant(1.0))


def test_tensors_of_two_graphs():
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        y = tf.constant(1.0)
        with pytest.raises(ValueError, match="must be from the same graph"):
            tf.gradients(y, x)


def test_a_second_derivative_that_would_be_wrong():
    x = tf.constant([[1.0, 2.0]])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0], logits=x)
    (first,) = tf.gradients(loss, x)
    with pytest.raises(LookupError, match="no way to take the second derivative"):
        tf.gradients(first, x)


# ---- row gradients


def test_row_gradients():
    x = tf.placeholder_with_default([[1.0], [2.0], [3.0]], [None, 1])
    (grad,) = tf.gradients(tf.gather(x, [2, 0, 2]), x)
    assert isinstance(grad, tf.IndexedSlices)
    found = evaluate(grad)
    np.testing.assert_array_equal(found.indices, [2, 0, 2])
    np.testing.assert_array_equal(found.values, np.ones((3, 1)))
    np.testing.assert_array_equal(found.dense_shape, [3, 1])
    with pytest.warns(UserWarning, match="Converting sparse IndexedSlices to a dense"):
        dense = evaluate(tf.convert_to_tensor(grad))
    np.testing.assert_array_equal(dense, [[1.0], [0.0], [2.0]])
    np.testing.assert_array_equal(evaluate(-grad).values, -np.ones((3, 1)))


def test_row_gradients_of_an_unknown_whole():
    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([1, 0]))
    assert "indices" in str(slices)
    with pytest.raises(ValueError, match="IndexedSlices without dense_shape"):
        tf.convert_to_tensor(slices)
    with pytest.raises(ValueError, match="conversion requested dtype float64"):
        tf.convert_to_tensor(slices, tf.float64)


def test_rows_with_both_index_types():
    x = tf.constant([[1.0], [2.0]])
    rows = tf.gather(x, [0]) + tf.gather(x, tf.constant([1], tf.int64))
    (grad,) = tf.gradients(rows, x)
    assert grad.indices.dtype == tf.int64
    np.testing.assert_array_equal(evaluate(tf.convert_to_tensor(grad)), [[1.0], [1.0]])


def test_gated_rows(graph):
    x, b = tf.constant([[1.0], [2.0]]), tf.constant(1.0)
    tf.RegisterGradient("RowsForTwo")(
        lambda op, g: [tf.IndexedSlices(g[:1], tf.constant([0]), tf.shape(x)), None]
    )
    try:
        with graph.gradient_override_map({"Add": "RowsForTwo", "AddV2": "RowsForTwo"}):
            y = x + b
        (grad,) = tf.gradients(y, x, gate_gradients=True)
        assert isinstance(grad, tf.IndexedSlices)
    finally:
        del gradient_registry._registered["RowsForTwo"]


def test_an_output_that_nothing_depends_on_has_zeros() -> None:
    """As in TF: once the op is passed, its other outputs have gradients too."""
    x = tf.constant([1.0, 2.0])
    a, b = tf.unstack(x)
    gradients = tf.gradients(a * 3.0, [x, a, b])
    with tf.Session() as session:
        got = session.run(gradients)
    np.testing.assert_array_equal(got[0], [3.0, 0.0])
    assert got[1:] == [3.0, 0.0]


def test_three_terms_are_accumulated_where_that_is_asked_for() -> None:
    x = tf.constant([1.0, 2.0])
    method = tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N
    (gradient,) = tf.gradients([x * 2.0, x * 3.0, x], x, aggregation_method=method)
    assert gradient.op.type == "AccumulateNV2"
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(gradient), [6.0, 6.0])


def test_gradients_are_summed_by_device_in_the_order_of_the_devices():
    x = tf.placeholder(tf.float32, [2], name="x")
    parts = []
    for i in (2, 0, 1, 2, 1):
        with tf.device(f"/cpu:{i}"):
            parts.append(tf.square(x))
    y = tf.add_n(parts)
    (total,) = tf.gradients(y, x, colocate_gradients_with_ops=True)
    groups = [t.op for t in total.op.inputs]
    assert [op.device for op in groups] == [f"/device:CPU:{i}" for i in range(3)]
    assert [op.type for op in groups] == ["Mul", "AddN", "AddN"]
    assert [t.op.name for op in groups[1:] for t in op.inputs] == [
        f"gradients/Square_{i}grad/Mul_1" for i in ("2_", "4_", "", "3_")
    ]


def test_powers_of_zero_have_finite_slopes():
    x, y = tf.constant([0.0, 2.0, -2.0]), tf.constant([2.0, 3.0, 2.0])
    by_base, by_exponent = evaluate(tf.gradients(tf.pow(x, y), [x, y]))
    assert by_base.tolist() == [0.0, 12.0, -4.0]
    np.testing.assert_allclose(by_exponent, [0.0, 8 * np.log(2.0), 0.0], rtol=1e-6)
