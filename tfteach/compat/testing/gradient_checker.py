"""Compares gradients computed by the graph with finite differences.

Source: python/ops/gradient_checker.py (API and nodes).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfteach.autodiff.gradients import gradients
from tfteach.framework import dtypes
from tfteach.framework.defaults import get_default_session
from tfteach.framework.export import export
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import identity

_TYPES = tuple(
    dtypes.as_dtype(name)
    for name in "float16 bfloat16 float32 float64 complex64 complex128".split()
)


@export("test.compute_gradient")
def compute_gradient(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> Any:
    """The Jacobian of `y` with respect to `x`, from the graph and by differences.

    Needs a default session.  A complex number counts as two.

    Args:
      x: float or complex Tensor, or a list of such.
      x_shape: its shape as a list of ints; for a list of Tensors, a list of shapes.
      y: float or complex Tensor.
      y_shape: its shape.
      x_init_value: the point at which to differentiate, an array or list of arrays; by
        default random numbers in [0, 1).
      delta: the step of the differences, to each side.
      init_targets: Operations to run first.
      extra_feed_dict: further feeds.

    Returns:
      (from the graph, by differences): arrays [size of x, size of y]; for a list of
      Tensors, a list of such pairs.

    Example:
      >>> x = tf.placeholder(tf.float64, [2])
      >>> with tf.Session():
      ...   a, b = tf.test.compute_gradient(x, [2], x * x, [2])
      >>> abs(a - b).max() < 1e-6
      True
    """
    several = isinstance(x, list)
    xs, shapes = (x, x_shape) if several else ([x], [x_shape])
    starts = x_init_value if several and x_init_value is not None else [x_init_value]
    starts = starts * len(xs) if x_init_value is None else starts
    for init in init_targets or ():
        init.run()
    feeds = extra_feed_dict or {}
    made = [_gradient_nodes(one, y, y_shape) for one in xs]
    pairs = []
    for one, shape, start, (grad, seed) in zip(xs, shapes, starts, made, strict=True):
        value = _start(one, shape, start)
        pairs.append(
            (
                _from_graph(one, value, grad, seed, y_shape, feeds),
                _from_differences(one, value, y, y_shape, delta, feeds),
            )
        )
    return pairs if several else pairs[0]


@export("test.compute_gradient_error")
def compute_gradient_error(
    x: Any,
    x_shape: Any,
    y: Any,
    y_shape: Any,
    x_init_value: Any = None,
    delta: float = 1e-3,
    init_targets: Any = None,
    extra_feed_dict: Any = None,
) -> Any:
    """The largest difference between the two Jacobians of `compute_gradient`.

    Example:
      >>> x = tf.placeholder(tf.float64, [2])
      >>> with tf.Session():
      ...   tf.test.compute_gradient_error(x, [2], tf.exp(x), [2]) < 1e-5
      True
    """
    pairs = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    error: Any = 0
    for graph, differences in [pairs] if isinstance(pairs, tuple) else pairs:
        if graph.size:
            error = np.maximum(error, np.fabs(graph - differences).max())
    return error


def _gradient_nodes(x: Any, y: Any, y_shape: Any) -> tuple[Any, Any]:
    """The gradient, and the constant through which dy is fed."""
    for name, tensor in (("x", x), ("y", y)):
        if tensor.dtype.base_dtype not in _TYPES:
            raise AssertionError(f"Don't support type {tensor.dtype.name} for {name}")
    with x.graph.as_default():
        seed = constant(1.0, shape=y_shape, dtype=y.dtype)
        dy = identity(seed)
    (grad,) = gradients(y, x, dy)
    if grad is None:
        raise ValueError(
            f"compute_gradient: no gradient flows from {y.name} to {x.name}."
        )
    return grad, seed


def _start(x: Any, shape: Any, given: Any) -> Any:
    kind = x.dtype.as_numpy_dtype
    if given is not None:
        given = np.asarray(given)
        if list(shape) != list(given.shape):
            raise AssertionError(
                f"x_shape = {shape}, init_data shape = {list(given.shape)}"
            )
        return given.astype(kind)
    value = np.random.random_sample(shape).astype(kind)
    if x.dtype.is_complex:
        value.imag = np.random.random_sample(shape)
    return value


def _session() -> Any:
    session = get_default_session()
    if session is None:
        raise ValueError(
            "compute_gradient needs a default session: call it inside `with "
            "tf.Session():`."
        )
    return session


def _parts(array: Any) -> Any:
    """The real numbers of an array; complex ones as pairs."""
    flat = np.ascontiguousarray(array).reshape(-1)
    return flat.view(flat.real.dtype)


def _from_graph(
    x: Any, value: Any, grad: Any, seed: Any, y_shape: Any, feeds: Any
) -> Any:
    dy = np.zeros(y_shape, seed.dtype.as_numpy_dtype)
    columns = _parts(dy)
    jacobian = np.zeros((_parts(value).size, columns.size), _parts(value).dtype)
    for column in range(columns.size):
        columns[:] = 0
        columns[column] = 1
        fed = {**feeds, x: value, seed: columns.view(dy.dtype).reshape(dy.shape)}
        if isinstance(grad, IndexedSlices):
            rows, slices = _session().run([grad.indices, grad.values], fed)
            dense = np.zeros_like(value)
            np.add.at(dense, rows, slices)
        else:
            dense = _session().run(grad, fed)
        jacobian[:, column] = _parts(dense)
    return jacobian


def _from_differences(
    x: Any, value: Any, y: Any, y_shape: Any, delta: float, feeds: Any
) -> Any:
    count = math.prod(y_shape) * (2 if y.dtype.is_complex else 1)
    jacobian = np.zeros((_parts(value).size, count), _parts(value).dtype)

    def moved(row: int, step: float) -> Any:
        numbers = _parts(value).copy()
        numbers[row] += step
        there = numbers.view(value.dtype).reshape(value.shape)
        return _parts(_session().run(y, {**feeds, x: there}))

    for row in range(len(jacobian)):
        up, down = moved(row, delta), moved(row, -delta)
        jacobian[row] = (up - down) / up.dtype.type(2 * delta)
    return jacobian
