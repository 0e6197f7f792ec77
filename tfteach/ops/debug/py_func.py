"""Python functions as ops: py_func and numpy_function; the op of py_function.

A graph keeps its functions alive; nodes refer to them by a token, as in TF, so that a
graph with such a node can be exported but runs only in this process.
Source: core/ops/script_ops.cc, python/ops/script_ops.py.
"""

from __future__ import annotations

import itertools
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import errors, nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import DType, as_dtype, c_name, string
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.op import MultiOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.transaction import outside_transactions
from tfteach.framework.type_aliases import (
    ArrayModule,
    DTypeLike,
    Gradient,
    KernelContext,
)


class Registered:
    """A function with its token; nodes find it while this object is alive."""

    __slots__ = ("__weakref__", "call", "token")

    def __init__(self, call: Callable[..., Any], token: str) -> None:
        self.call, self.token = call, token


_functions: weakref.WeakValueDictionary[str, Registered] = weakref.WeakValueDictionary()
_numbers = itertools.count()
# Tokens of eager calls whose functions are gone.  Each token has an op, forever.
_free_tokens: list[str] = []

# Python exception -> the OpError that TF raises for it.
_CLASSES: tuple[tuple[tuple[type[BaseException], ...], type[errors.OpError]], ...] = (
    ((ValueError, TypeError), errors.InvalidArgumentError),
    ((StopIteration,), errors.OutOfRangeError),
    ((MemoryError,), errors.ResourceExhaustedError),
    ((NotImplementedError,), errors.UnimplementedError),
    ((BaseException,), errors.UnknownError),
)
_UNSUPPORTED = {
    "M": "NPY_DATETIME",
    "m": "NPY_TIMEDELTA",
    "g": "NPY_LONGDOUBLE",
    "G": "NPY_CLONGDOUBLE",
}


def registered(call: Callable[..., Any]) -> Registered:
    """Assign a token to a function."""
    if not get_default_graph().is_eager:
        function = Registered(call, f"pyfunc_{next(_numbers)}")
    else:
        token = _free_tokens.pop() if _free_tokens else f"pyfunc_{next(_numbers)}"
        function = Registered(call, token)
        weakref.finalize(function, _free_tokens.append, token)
    _functions[function.token] = function
    return function


def function_of(op: Operation) -> Callable[..., Any]:
    """The function that an op calls."""
    token: str = op.spec.token  # type: ignore[attr-defined]
    return _functions[token].call


def kept_alive(function: Registered, results: Any) -> None:
    """Let a function live as long as its graph, or the results of an eager call."""
    graph = get_default_graph()
    if not graph.is_eager:
        vars(graph).setdefault("_py_funcs_used_in_graph", []).append(function)
        return
    for tensor in results or ():
        tensor.__dict__["py_function"] = function


def call_function(
    token: str, types: tuple[DType, ...], arguments: Sequence[Any]
) -> tuple[Any, ...]:
    """Call the function with that token: its results as arrays of the given types."""
    function = _functions.get(token)
    if function is None:
        raise errors.invalid_argument(
            f"ValueError: callback {token} is not found: a py_func exists only in the "
            "process, and during the lifetime, of the graph that created it"
        )
    try:
        with outside_transactions():
            result = function.call(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # in TensorFlow sys.exit() also ends just the run
        kind = next(k for classes, k in _CLASSES if isinstance(error, classes))
        frames = traceback.format_tb(error.__traceback__)[1:]
        raise kind(
            None,
            None,
            f"{type(error).__name__}: {error}\nTraceback (most recent call last):\n"
            f"{''.join(frames)}{type(error).__name__}: {error}\n",
        ) from error
    values = (
        list(result)
        if isinstance(result, list | tuple)
        else ([] if result is None else [result])
    )
    if len(values) != len(types):
        raise errors.invalid_argument(
            f"{token} returns {len(values)} values, but expects to see {len(types)} "
            "values."
        )
    return tuple(
        _from_python(token, i, value, dtype)
        for i, (value, dtype) in enumerate(zip(values, types, strict=True))
    )


def _for_python(value: Any) -> Any:
    """An array that the function may keep or modify; NumPy scalars; or bytes."""
    if isinstance(value, np.generic):
        return value
    array = np.asarray(value)
    return array[()] if array.ndim == 0 else array.copy()


def _from_python(token: str, index: int, value: Any, dtype: DType) -> Any:
    array = np.array(value, order="C")  # the function may still modify its array
    if array.dtype.kind in "SUO":
        array = _byte_strings(value, array)
    if array.dtype == dtype.numpy_dtype:
        return array
    try:
        got = string if array.dtype == object else as_dtype(array.dtype)
    except TypeError:
        if array.dtype.kind == "V":
            raise errors.InternalError(
                None, None, "Unsupported numpy data type"
            ) from None
        kind = _UNSUPPORTED.get(array.dtype.char, array.dtype.name)
        raise errors.InternalError(
            None, None, f"Unsupported numpy type: {kind} (returned by {token})"
        ) from None
    if got is not dtype:
        names = [c_name(t) for t in (got, dtype)]
        raise errors.invalid_argument(
            f"{index}-th value returned by {token} is {names[0]}, but expects "
            f"{names[1]}"
        )
    return array


def _byte_strings(value: Any, array: Any) -> Any:
    """An array of strings or objects as one of bytes."""
    flat = [v.encode() if isinstance(v, str) else v for v in array.ravel().tolist()]
    if isinstance(value, bytes):
        flat = [value]  # NumPy drops trailing zero bytes
    for item in flat:
        if not isinstance(item, bytes):
            raise errors.InternalError(
                None, None, f"Unsupported object type {type(item).__name__}"
            )
    boxed = np.empty(len(flat), object)
    boxed[:] = flat
    return boxed.reshape(array.shape)


class PyFunc(StatefulOp, MultiOutputOp):
    """The results of a Python function.  Source: core/ops/script_ops.cc, PyFunc."""

    signature = "input: *Tin -> output: *Tout"
    token: str
    Tout: tuple[DType, ...]
    on_gpu: ClassVar[bool] = False
    calls_python: ClassVar[bool] = True

    def infer_shape(self, input: list[Shape]) -> list[Shape]:
        return [None] * len(self.Tout)

    def compute(self, ctx: KernelContext, *inputs: Any) -> tuple[Any, ...]:
        return call_function(self.token, self.Tout, [_for_python(i) for i in inputs])

    def gradient(self, op: Any, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


class EagerPyFunc(StatefulOp, MultiOutputOp):
    """The results of a Python function of tensors, called eagerly.

    `control/py_function.py` registers functions for it, and its gradient.
    Source: core/ops/script_ops.cc, EagerPyFunc.
    """

    signature = "input: *Tin -> output: *Tout"
    token: str
    is_async: bool = False
    Tout: tuple[DType, ...]  # type: ignore[misc]  # TensorFlow's order
    on_gpu: ClassVar[bool] = False
    calls_python: ClassVar[bool] = True

    def infer_shape(self, input: list[Shape]) -> list[Shape]:
        return [None] * len(self.Tout)

    def compute(self, ctx: KernelContext, *inputs: Any) -> tuple[Any, ...]:
        types = [tensor.dtype.base_dtype for tensor in ctx.op.inputs]
        pairs = list(zip(inputs, types, strict=True))
        return call_function(self.token, self.Tout, pairs)


class PyFuncStateless(MultiOutputOp):
    """A Python function without side effects.  Source: script_ops.cc."""

    signature = "input: *Tin -> output: *Tout"
    token: str
    Tout: tuple[DType, ...]
    on_gpu: ClassVar[bool] = False
    calls_python: ClassVar[bool] = True

    def infer_shape(self, input: list[Shape]) -> list[Shape]:
        return [None] * len(self.Tout)

    def compute(self, xp: ArrayModule, *inputs: Any) -> tuple[Any, ...]:
        return call_function(self.token, self.Tout, [_for_python(i) for i in inputs])

    def gradient(self, op: Any, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)


@export("py_func")
def py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: DTypeLike | Sequence[DTypeLike],
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """A Python function of arrays as an op.

    Args:
      func: accepts one NumPy array (or scalar; bytes for strings) per input, returns an
        array, or a list with one per type of `Tout`.
      inp: the input tensors.
      Tout: the type of the result, or a list of types.
      stateful: False if equal inputs always produce equal results.
      name: the op's name.

    Returns:
      A Tensor of unknown shape; a list of them if `Tout` is a list (an Operation for an
      empty list).  In an eager program what `func` returns, as Tensors of their own
      types: a single one, or a flat list.

    Raises:
      ValueError: `func` is not callable.
      OpError: in the run, `func` raised; the class depends on the exception's.  In an
        eager program the exception itself is raised.

    Example:
      >>> y = tf.py_func(lambda a: np.sinh(a), [x], tf.float32)

    Source: PyFunc in core/ops/script_ops.cc.
    """
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    if get_default_graph().is_eager:
        found = [
            x if x is None else convert(x)
            for x in nest.flatten(func(*[_value_of(x) for x in inp]))
        ]
        return found[0] if len(found) == 1 else found
    is_list = isinstance(Tout, list | tuple)
    types = tuple(
        as_dtype(t) for t in (Tout if isinstance(Tout, list | tuple) else [Tout])
    )
    function = registered(func)
    kept_alive(function, ())
    kind = PyFunc if stateful else PyFuncStateless
    op = kind(function.token, types)
    result = op(inp, name=name)
    if not types:
        return result
    return result if is_list else result[0]


def _value_of(value: Any) -> Any:
    tensor: Any = convert(value)
    return tensor.numpy()


@export("numpy_function")
def numpy_function(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: DTypeLike | Sequence[DTypeLike],
    name: str | None = None,
) -> Any:
    """A Python function of arrays as an op; `tf.py_func` with `stateful=True`.

    Args:
      func: see `tf.py_func`.
      inp: the input tensors.
      Tout: the type of the result, or a list of types.
      name: the op's name.

    Returns:
      See `tf.py_func`.

    Source: PyFunc in core/ops/script_ops.cc.
    """
    return py_func(func, inp, Tout, stateful=True, name=name)
