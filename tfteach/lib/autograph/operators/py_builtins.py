"""Built-in functions of Tensors.

Source: python/autograph/operators/py_builtins.py (API and messages).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.control.branch import cond
from tfteach.control.case import Assert
from tfteach.framework.dtypes import float32, int32, string
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.lib.autograph.operators.tensors import (
    is_tensor,
    is_tensor_array,
    is_tensor_list,
)
from tfteach.ops.core.constant import constant
from tfteach.ops.core.shape_ops import rank as rank_of
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.debug.py_func import py_func
from tfteach.ops.math.binary import maximum
from tfteach.ops.math.cast import cast
from tfteach.ops.math.complex import abs as tf_abs
from tfteach.ops.math.range import range as tf_range
from tfteach.ops.state.tensor_list_ops import TensorListLength
from tfteach.ops.text.string_conversion import as_string, string_to_number
from tfteach.ops.text.string_ops import string_join

UNSPECIFIED: Any = object()


def abs_(x: Any) -> Any:
    """`abs(x)`."""
    return tf_abs(x) if is_tensor(x) else builtins.abs(x)


def float_(x: Any = 0) -> Any:
    """`float(x)`; of a Tensor a float32 one."""
    return _number(x, float32) if is_tensor(x) else builtins.float(x)


def int_(x: Any = 0, base: Any = UNSPECIFIED) -> Any:
    """`int(x)`; of a Tensor an int32 one.

    Raises:
      NotImplementedError: it is a Tensor, and the base is not 10.
    """
    if not is_tensor(x):
        return builtins.int(x) if base is UNSPECIFIED else builtins.int(x, base)
    if base not in (10, UNSPECIFIED):
        raise NotImplementedError(f"base {base} not supported for int")
    return _number(x, int32)


def _number(x: Any, dtype: Any) -> Tensor:
    return string_to_number(x, dtype) if x.dtype == string else cast(x, dtype)


def len_(s: Any) -> Any:
    """`len(s)`; of a Tensor its first size: an int, if that is known.

    Raises:
      ValueError: it is a scalar Tensor.
    """
    if is_tensor_array(s):
        return s.size()
    if is_tensor_list(s):
        return TensorListLength()(s)
    if not is_tensor(s):
        return builtins.len(s)
    known = s.shape.as_list() if s.shape.ndims is not None else None
    if known and known[0] is not None:
        return known[0]
    shape = shape_of(s)
    if known == []:
        raise ValueError(f"len requires a non-scalar tensor, got one of shape {shape}")
    if known:
        return shape_of(s)[0]
    rank = rank_of(s)

    def refuse() -> Tensor:
        message = string_join(["len requires non-zero rank, got ", as_string(rank)])
        with get_default_graph().control_dependencies([Assert(False, [message])]):
            return constant(0, dtype=int32)

    return cond(rank > 0, lambda: shape_of(s)[0], refuse)


def print_(*objects: Any, **kwargs: Any) -> Any:
    """`print(*objects)`; with a Tensor an op that prints its value.

    Raises:
      ValueError: there is a keyword argument that `print` does not have.
    """
    unknown = tuple({*kwargs} - {"sep", "end", "file", "flush"})
    if unknown:
        raise ValueError(f"invalid keyword arguments: {unknown}")
    if not builtins.any(map(is_tensor, objects)):
        return builtins.print(*objects, **kwargs)
    kwargs.setdefault("flush", True)

    def show(*values: Any) -> Any:
        left = iter(values)
        shown = [next(left) if is_tensor(value) else value for value in objects]
        texts = [v.decode() if isinstance(v, bytes) else v for v in shown]
        builtins.print(*texts, **kwargs)
        return np.int32(1)

    return py_func(show, [value for value in objects if is_tensor(value)], int32)


def range_(start_or_stop: Any, stop: Any = UNSPECIFIED, step: Any = UNSPECIFIED) -> Any:
    """`range(...)`; of Tensors `tf.range`, which is empty as Python's."""
    given = [v for v in (start_or_stop, stop, step) if v is not UNSPECIFIED]
    if not builtins.any(map(is_tensor, given)):
        return builtins.range(*given)
    if step is not UNSPECIFIED:
        return tf_range(start_or_stop, stop, step)
    # With constants, tf.range would refuse what is empty.
    if stop is not UNSPECIFIED:
        return tf_range(start_or_stop, maximum(start_or_stop, stop))
    return tf_range(maximum(start_or_stop, 0))


def enumerate_(s: Any, start: Any = 0) -> Any:
    """`enumerate(s)`; of a dataset a dataset of pairs."""
    return s.enumerate(start) if _is_dataset(s) else builtins.enumerate(s, start)


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """`zip(*iterables)`; of datasets a dataset of tuples, never `strict`."""
    if iterables and builtins.all(map(_is_dataset, iterables)):
        return iterables[0].zip(iterables)
    return builtins.zip(*iterables, strict=strict)


def _is_dataset(value: Any) -> bool:
    # Datasets are imported by the programs that use them.
    return hasattr(value, "_converted_for") and hasattr(value, "enumerate")


OVERLOADS: dict[Callable[..., Any], Callable[..., Any]] = {
    builtins.abs: abs_,
    builtins.enumerate: enumerate_,
    builtins.float: float_,
    builtins.int: int_,
    builtins.len: len_,
    builtins.print: print_,
    builtins.range: range_,
    builtins.zip: zip_,
}


def overload_of(f: Any) -> Any:
    """The function that stands for a built-in one; `f` itself, if it has none."""
    try:
        return OVERLOADS.get(f, f)
    except TypeError:  # not hashable
        return f
