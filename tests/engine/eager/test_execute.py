"""Ops that run at once: values as in a session, TensorFlow's errors, devices, seeds."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.engine.test_every_op import CASES, assert_same, every_case, run
from tests.ops.case import Case
from tfteach.framework import errors
from tfteach.framework.dtypes import as_dtype, string
from tfteach.framework.eager_tensor import EagerTensor

pytestmark = pytest.mark.usefixtures("eagerly")


def run_eagerly(case: Case) -> list[Any]:
    """The outputs of the case's op, called with tensors that have values."""
    flat = iter(
        tf.constant(a, string if a.dtype == object else as_dtype(a.dtype))
        for a in case.flat
    )
    values = [
        [next(flat) for _ in value] if arg.is_sequence else next(flat)
        for arg, value in zip(type(case.op).inputs, case.inputs, strict=True)
    ]
    found = case.op(*values)
    return [t.numpy() for t in (found if isinstance(found, list) else [found])]


@every_case
def test_an_op_gives_what_a_session_gives(case: Case) -> None:
    expected, _ = run(case)
    assert_same(case, run_eagerly(case), expected, 1e-6)


def test_all_ops_are_tried() -> None:
    assert len({case.op.op_type for case in CASES}) > 400


# ---- tensors


def test_a_tensor_has_the_protocols_of_its_value() -> None:
    x = tf.constant([[1, 2], [3, 4]])
    assert len(x) == 2
    assert [row.numpy().tolist() for row in x] == [[1, 2], [3, 4]]
    assert np.asarray(x).tolist() == [[1, 2], [3, 4]]
    assert list(range(5))[tf.constant(3)] == 3
    assert int(tf.constant(2.5)) == 2
    assert float(tf.constant(2.5)) == 2.5
    assert f"{tf.constant(2.5):.3f}" == "2.500"
    assert not tf.constant(False)
    assert x.shape.as_list() == [2, 2]
    assert x.ndim == 2
    copied = pickle.loads(pickle.dumps(x))
    assert isinstance(copied, EagerTensor)
    assert copied.numpy().tolist() == [[1, 2], [3, 4]]


def test_a_tensor_prints_its_value() -> None:
    x = tf.constant([1.0, 2.0])
    assert str(x) == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"
    text = repr(x)
    assert text.startswith("<tf.Tensor: id=")
    assert text.endswith(
        "shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    )
    assert str(tf.constant(1.0)) == "tf.Tensor(1.0, shape=(), dtype=float32)"
    assert str(tf.constant("a")) == "tf.Tensor(b'a', shape=(), dtype=string)"


def test_numpy_returns_a_copy() -> None:
    x = tf.constant([1.0, 2.0])
    x.numpy()[0] = 9.0
    given = np.array([1.0, 2.0], np.float32)
    y = tf.constant(given)
    given[0] = 9.0
    assert x.numpy().tolist() == y.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("name", ["op", "graph", "name", "value_index"])
def test_what_only_tensors_of_graphs_have(name: str) -> None:
    with pytest.raises(
        AttributeError,
        match=f"Tensor.{name} is meaningless when eager execution is enabled",
    ):
        getattr(tf.constant(1.0), name)


def test_scalars_have_no_length_and_eval_is_refused() -> None:
    x = tf.constant(1.0)
    with pytest.raises(TypeError, match=r"Scalar tensor has no `len\(\)`"):
        len(x)
    with pytest.raises(TypeError, match="Cannot iterate over a scalar tensor"):
        next(iter(x))
    with pytest.raises(NotImplementedError, match=r"is .numpy\(\) what"):
        x.eval()
    with pytest.raises(ValueError, match="is not compatible"):
        x.set_shape([2])


# ---- errors


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: tf.matmul([[1.0, 2.0]], [[3.0, 4.0]]),
            errors.InvalidArgumentError,
            "Matrix size-incompatible: In[0]: [1,2], In[1]: [1,2] [Op:MatMul] name: "
            "MatMul/",
        ),
        (
            lambda: tf.constant([1, 2]) + tf.constant([1, 2, 3]),
            errors.InvalidArgumentError,
            "Incompatible shapes: [2] vs. [3] [Op:AddV2] name: add/",
        ),
        (
            lambda: tf.reshape([1, 2, 3], [2, 2]),
            errors.InvalidArgumentError,
            "Input to reshape is a tensor with 3 values, but the requested shape has "
            "4 [Op:Reshape]",
        ),
        (
            lambda: tf.gather([1, 2, 3], [5]),
            errors.InvalidArgumentError,
            "indices[0] = 5 is not in [0, 3) [Op:GatherV2]",
        ),
        (
            lambda: tf.cast("a", tf.int32),
            errors.UnimplementedError,
            "Cast string to int32 is not supported [Op:Cast] name: Cast/",
        ),
    ],
)
def test_errors_are_tensorflows(call: Any, error: Any, message: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert caught.value.message == message
    assert caught.value.op is None


def test_tensors_of_graphs_and_of_eager_programs_do_not_mix() -> None:
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        y = tf.constant(2.0)
        assert not tf.executing_eagerly()
        with pytest.raises(RuntimeError, match="Attempting to capture an EagerTensor"):
            tf.add(x, 1.0)
    for call in (lambda: y + 1.0, lambda: tf.add(y, x), lambda: tf.add(x, y)):
        with pytest.raises(TypeError, match='is being passed\na "Graph" tensor'):
            call()


def test_a_graph_is_built_inside_of_an_eager_program() -> None:
    with tf.Graph().as_default() as graph:
        y = tf.constant(2.0) * 3.0
    assert tf.Session(graph=graph).run(y) == 6.0
    assert tf.executing_eagerly()


# ---- random numbers


def test_random_numbers_are_tensorflows() -> None:
    tf.set_random_seed(1)
    found = [tf.random.normal([2]), tf.random.normal([2])]
    found += [tf.random.normal([2], seed=3), tf.random.normal([2], seed=3)]
    expected = [
        [-1.1012203, 1.5457517],
        [0.40308788, -1.0880208],
        [-0.67086124, 0.22357145],
        [-1.5412978, 0.6792056],
    ]
    np.testing.assert_allclose([t.numpy() for t in found], expected, rtol=1e-6)
    tf.set_random_seed(1)
    again = tf.random.normal([2]).numpy()
    np.testing.assert_allclose(again, expected[0], rtol=1e-6)
