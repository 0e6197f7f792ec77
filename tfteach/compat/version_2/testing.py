"""`tf.compat.v2.test`: gradients of functions compared with differences.

Source: python/ops/gradient_checker_v2.py (API, form of the results).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.autodiff.gradient_functions import gradients_function
from tfteach.compat.testing.protos import assert_equal_graph_def
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_session
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.indexed_slices import IndexedSlices
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Array, Proto, TensorLike
from tfteach.ops.core.placeholder import placeholder

Function = Callable[..., Any]


@export(v2="test.compute_gradient")
def compute_gradient(
    f: Function, x: Sequence[TensorLike], delta: float = 0.001
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """The Jacobian matrices of a function, by its gradients and by differences.

    Args:
      f: a function of tensors that returns a tensor; in a graph there must be a
        default session.
      x: its arguments, a list of floating or complex tensors.
      delta: how far an element is moved for the differences.

    Returns:
      (theoretical, numerical): for each argument a matrix [elements of the argument,
      elements of the result]; complex elements are two.

    Raises:
      ValueError: `x` isn't a list.

    Example:
      >>> tf.enable_eager_execution()
      >>> exact, numeric = tf.compat.v2.test.compute_gradient(tf.square, [[1.0, 3.0]])
      >>> exact[0].tolist()
      [[2.0, 0.0], [0.0, 6.0]]

    Source: python/ops/gradient_checker_v2.py.
    """
    if not isinstance(x, list):
        raise ValueError(
            f"`x` must be a list of Tensors (arguments to `f`), not a {type(x)}"
        )
    tensors = [convert(value) for value in x]
    values = [np.array(_value(tensor)) for tensor in tensors]
    types = [tensor.dtype.base_dtype for tensor in tensors]
    call = _callable(f, types)
    result = np.asarray(call(*values))
    exact, numeric = [], []
    for i in range(len(values)):
        exact.append(_by_gradients(f, i, result, values, types))
        numeric.append(_by_differences(call, i, values, delta))
    return tuple(exact), tuple(numeric)


def _parts(array: Array) -> Array:
    """The real numbers of an array, as a view where it is contiguous."""
    flat = array.reshape(-1)
    return flat.view(flat.real.dtype)


def _value(tensor: Any) -> Any:
    if hasattr(tensor, "numpy"):
        return tensor.numpy()
    if isinstance(tensor, IndexedSlices):
        tensor = convert(tensor)
        return _value(tensor)
    session = get_default_session()
    assert session is not None, "compute_gradient needs a default session"
    return session.run(tensor)


def _callable(f: Function, types: Sequence[Any]) -> Callable[..., Any]:
    """The function on arrays, which in a graph is built once."""
    if get_default_graph().is_eager:
        return lambda *values: _value(f(*map(convert, values)))
    inputs = [placeholder(dtype) for dtype in types]
    found = f(*inputs)
    session = get_default_session()
    assert session is not None, "compute_gradient needs a default session"
    return lambda *values: session.run(found, dict(zip(inputs, values, strict=True)))


def _by_gradients(
    f: Function, i: int, result: Array, values: list[Array], types: list[Any]
) -> Array:
    gradient = gradients_function(f, [i])

    def backwards(upstream: Tensor, *inputs: Tensor) -> Tensor:
        return convert(gradient(*inputs, dy=upstream)[0])

    dy = np.zeros_like(result)
    call = _callable(backwards, [result.dtype, *types])
    columns = []
    for j in range(_parts(dy).size):
        _parts(dy)[j] = 1
        columns.append(_parts(np.asarray(call(dy, *values))))
        _parts(dy)[j] = 0
    if not columns:
        return np.zeros([_parts(values[i]).size, 0], _parts(values[i]).dtype)
    return np.stack(columns, 1)


def _by_differences(
    call: Callable[..., Any], i: int, values: list[Array], delta: float
) -> Array:
    elements = _parts(values[i])
    rows = []
    for j, element in enumerate(elements.copy()):
        elements[j] = element + elements.dtype.type(delta)
        above = np.asarray(call(*values))
        elements[j] = element - elements.dtype.type(delta)
        below = np.asarray(call(*values))
        elements[j] = element
        scale = above.real.dtype.type(2 * delta)
        rows.append(_parts((above - below) / scale))
    return np.array(rows, elements.dtype)


@export(v2="test.assert_equal_graph_def")
def assert_equal_graph_def_v2(expected: Proto, actual: Proto) -> None:
    """`tf.test.assert_equal_graph_def`: the expected GraphDef comes first."""
    assert_equal_graph_def(actual, expected, True, True)
