"""Arithmetic through a session: TensorFlow 1.15's errors and edge values."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.ops.special.erf_lgamma import Digamma, Zeta

INT, J = np.int32, np.float32


def run(build: Any, *values: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = [tf.placeholder(np.asarray(v).dtype) for v in values]
        return session.run(build(*feeds), dict(zip(feeds, values, strict=True)))


def test_no_kernel_casts_strings() -> None:
    with pytest.raises(tf.errors.UnimplementedError, match="Cast string to float"):
        run(lambda: tf.cast(tf.constant("a"), tf.float32))


def test_edge_values_are_tensorflows() -> None:
    assert run(lambda: tf.floordiv(1.0, 0.1)) == 10.0
    assert run(lambda: tf.floormod(-1.0, 0.3)) == np.float32(0.20000005)
    assert run(lambda: tf.pow(0.0, 0.0)) == 1.0
    tenths = run(lambda: tf.range(0.0, 1.0, 0.1))  # delta is added up, in float32
    assert tenths[-3:].tolist() == J([0.70000005, 0.8000001, 0.9000001]).tolist()
    poles = run(lambda: tf.digamma([0.0, -1.0]))
    assert poles.tolist() == [np.inf, np.inf]
    assert run(lambda: tf.math.zeta(1.0, 1.0)) == np.inf


def test_digamma_and_zeta_have_every_digit() -> None:
    """Their recurrences hold, from one known value on."""
    x = np.concatenate([np.linspace(-9.7, 9.7, 389), [1e3]])
    x = x[(x > 0) | (np.abs(x - np.round(x)) > 1e-3)]  # away from the poles
    digamma, zeta = (functools.partial(op.compute, np) for op in (Digamma(), Zeta()))
    np.testing.assert_allclose(digamma(np.float64(1)), -np.euler_gamma, rtol=1e-15)
    np.testing.assert_allclose(digamma(x + 1), digamma(x) + 1 / x, 1e-11, 1e-13)
    s, q = np.meshgrid([1.1, 2, 3.5, 12], [0.1, 1, 2.5, 40])
    np.testing.assert_allclose(zeta(np.float64(2), np.float64(1)), np.pi**2 / 6, 1e-15)
    np.testing.assert_allclose(zeta(s, q), q**-s + zeta(s, q + 1), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_nan_goes_where_tensorflow_lets_it(dtype: type) -> None:
    """Checked with TF 1.15.5 on a CPU: reductions pass NaN over, max(x, NaN) is x."""
    nan, inf = np.nan, np.inf
    x = np.array([[nan, 1.0, 3.0], [2.0, nan, -1.0], [nan, nan, nan]], dtype)
    y = np.array([0.0, nan, 2.0], dtype)
    with tf.Session() as session:
        values = session.run(
            [
                tf.reduce_max(x, 1),
                tf.reduce_min(x, [1]),
                tf.reduce_max(x),
                tf.argmax(x, 1),
                tf.argmin(x, 0),
                tf.maximum(x, y)[0],
                tf.minimum(x[0], dtype(nan)),
                tf.sign(x[0]),
                tf.nn.relu(x[0]),
            ]
        )
    expected = [
        [3.0, 2.0, -inf], [1.0, -1.0, inf], 3.0, [2, 0, 0], [1, 0, 1],
        [nan, 1.0, 3.0], [nan, 1.0, 3.0], [0.0, 1.0, 1.0], [nan, 1.0, 3.0],
    ]  # fmt: skip
    for value, wanted in zip(values, expected, strict=True):
        np.testing.assert_array_equal(value, np.asarray(wanted, value.dtype))
