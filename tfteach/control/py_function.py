"""`tf.py_function`: a Python function of tensors as an op, run eagerly.

Each call is recorded by a tape, from which a second function computes the gradient.
Source: python/ops/script_ops.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.autodiff.gradient_registry import gradient_of
from tfteach.autodiff.gradient_tape import GradientTape
from tfteach.engine.eager.context import eager_mode
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import DTypeLike, Gradient, Structure
from tfteach.ops.core.fill import zeros
from tfteach.ops.debug.py_func import (
    EagerPyFunc,
    function_of,
    kept_alive,
    registered,
)


class EagerFunction:
    """A function of tensors with values, as the kernel of an op calls it.

    Args:
      function: the user's function.
      types: the types of its results.
      is_gradient: whether it may return None for a result, which then is zero.

    Attributes:
      recorded: the tape of the last call, its inputs and its results.
    """

    def __init__(
        self, function: Callable[..., Any], types: Sequence[DType], is_gradient: bool
    ) -> None:
        self._function, self._types = function, types
        self._is_gradient = is_gradient
        self.recorded: tuple[GradientTape, list[EagerTensor], Any] | None = None

    def __call__(self, *inputs: tuple[Any, DType]) -> Any:
        """Call the function.

        Args:
          *inputs: values and their types.

        Returns:
          The values of the results; None, or one or a list, as the function returns.
        """
        tensors = [EagerTensor(_own(value), dtype) for value, dtype in inputs]
        with eager_mode(), GradientTape(persistent=True) as tape:
            tape.watch([t for t in tensors if t.dtype.is_floating])
            found = self._function(*tensors)
            outputs: Any = None  # the kernel counts the results
            if isinstance(found, list | tuple):
                pairs = zip(found, self._types, strict=False)
                outputs = [self._converted(x, dtype) for x, dtype in pairs]
            elif found is not None:
                outputs = self._converted(found, self._types[0])
        self.recorded = tape, tensors, outputs
        if outputs is None:
            return None
        return nest.map_structure(lambda t: t._host_value(), outputs)

    def _converted(self, value: Any, dtype: DType) -> Tensor:
        if hasattr(value, "handle"):
            raise RuntimeError(
                "Attempting to return a variable from an eagerly executed py_func. "
                "Only numeric data structures like Tensors or NumPy arrays should be "
                "returned; to return the value of a variable, make sure to obtain the "
                "Tensor backing it by calling `.read_value()` on the variable in "
                f"question: {value}"
            )
        if value is None and self._is_gradient:
            return zeros([], dtype)
        return convert(value, dtype)

    def gradients(self, *weights: Tensor) -> Any:
        """The gradients of the inputs of the last call."""
        assert self.recorded is not None, "The function has not been called."
        tape, inputs, outputs = self.recorded
        return tape.gradient(nest.flatten(outputs), inputs, list(weights))


def _own(value: Any) -> Any:
    """A value that the engine does not overwrite later."""
    if isinstance(value, bytes):
        return np.array(value, object)
    return value.copy() if isinstance(value, np.ndarray) else value


@export("py_function", "contrib.eager.py_func")
def py_function(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: DTypeLike | Sequence[DTypeLike],
    name: str | None = None,
) -> Structure:
    """A Python function of tensors as an op; its body runs eagerly.

    Unlike that of `tf.py_func`, the result can be differentiated once, by a tape that
    records what the function does.  Variables that it reads get no gradients.

    Args:
      func: accepts a Tensor with a value per input, returns a value convertible to a
        Tensor, a list with one per type of `Tout`, or None.
      inp: the input tensors.
      Tout: the type of the result, or a list of types.
      name: the op's name.

    Returns:
      A Tensor, in a graph of unknown shape; a list of them if `Tout` is a list (in a
      graph an Operation for an empty list).

    Raises:
      ValueError: `func` is not callable.
      OpError: in the run, `func` raised; the class depends on the exception's.

    Example:
      >>> def half_or_triple(n):
      ...     return n // 2 if n % 2 == 0 else 3 * n + 1
      >>> n = tf.py_function(half_or_triple, [tf.constant(7)], tf.int32)  # 22

    Source: EagerPyFunc in core/ops/script_ops.cc.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    if isinstance(Tout, list | tuple):
        return _called(func, inp, Tout, name)
    only: Any = Tout
    return _called(func, inp, [only], name)[0]


def _called(
    func: Callable[..., Any],
    inputs: Sequence[Any],
    types: Sequence[DTypeLike],
    name: str | None = None,
    is_gradient: bool = False,
) -> Any:
    """The results of an op that calls the function."""
    dtypes = tuple(as_dtype(dtype) for dtype in types)
    function = registered(EagerFunction(func, dtypes, is_gradient))
    found = EagerPyFunc(token=function.token, Tout=dtypes)(list(inputs), name=name)
    kept_alive(function, found)
    return found


@gradient_of(EagerPyFunc)
def _gradient(op: Operation, *grads: Any) -> list[Gradient]:
    """An op whose function differentiates what the op's function did last."""
    function = function_of(op)
    assert isinstance(function, EagerFunction)
    wanted = [i for i, t in enumerate(op.inputs) if t.dtype.is_floating]

    def gradients(*weights: Tensor) -> list[Any]:
        found = function.gradients(*weights)
        return [found[i] for i in wanted]

    result: list[Gradient] = [None] * len(op.inputs)
    if not wanted:
        return result
    with get_default_graph().control_dependencies(op.outputs):
        types = [op.inputs[i].dtype.base_dtype for i in wanted]
        made = _called(gradients, grads, types, is_gradient=True)
    for i, tensor in zip(wanted, made, strict=True):
        result[i] = tensor
    return result
