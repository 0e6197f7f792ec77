"""Conversion to tensors: the registry behind `tf.convert_to_tensor`.

Source: python/framework/ops.py (`internal_convert_to_tensor`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.export import export_value
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import DTypeLike

# (value, dtype, name, as_ref) -> Tensor, or NotImplemented to try the next one.
Converter = Callable[..., Any]

_converters: list[tuple[int, int, Any, Converter]] = []
_by_type: dict[type, list[Converter]] = {}


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...],
    conversion_func: Converter,
    priority: int = 100,
) -> None:
    """Register a conversion function for a type with `convert_to_tensor`.

    Args:
      base_type: the type or types to convert, including subclasses.
      conversion_func: `f(value, dtype=None, name=None, as_ref=False)`, which returns a
        Tensor or NotImplemented.
      priority: lower numbers are tried first; the built-in converters have 100.

    Raises:
      TypeError: `base_type` is not a type, or the function is not callable.
    """
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError("base_type must be a type or a tuple of types.")
    if not callable(conversion_func):
        raise TypeError("conversion_func must be callable.")
    _converters.append((priority, len(_converters), base_type, conversion_func))
    _converters.sort(key=lambda row: row[:2])
    _by_type.clear()


def _converters_for(kind: type) -> list[Converter]:
    found = _by_type.get(kind)
    if found is None:
        found = [row[3] for row in _converters if issubclass(kind, row[2])]
        _by_type[kind] = found
    return found


def convert_to_tensor(
    value: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    dtype_hint: DTypeLike | None = None,
) -> Tensor:
    """`value` as a Tensor: itself, a constant, or the result of a registered converter.

    Args:
      value: a Tensor, a Variable, an array, numbers, strings, nested lists of them.
      dtype: the required element type.
      name: the name of the constant, if one is created.
      preferred_dtype: a type to try first when `dtype` is None.
      dtype_hint: newer name of `preferred_dtype`.

    Returns:
      A Tensor.

    Raises:
      TypeError: the value cannot be converted to a tensor of that type.
      ValueError: it is a Tensor of another type, or None, or of another graph; both
        names of the hint are given.

    Example:
      >>> tf.convert_to_tensor([1.0, 2.0])
      <tf.Tensor 'Const:0' shape=(2,) dtype=float32>
    """
    if preferred_dtype is not None and dtype_hint is not None:
        raise ValueError("Cannot specify both 'preferred_dtype' and 'dtype_hint'")
    hint = dtype_hint if preferred_dtype is None else preferred_dtype
    return convert(value, dtype, name, hint)


def convert(
    value: Any,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    as_ref: bool = False,
) -> Tensor:
    """`convert_to_tensor` that can also return a variable's reference."""
    if dtype is not None:
        dtype = as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and not dtype.is_compatible_with(value.dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with "
                f"dtype {value.dtype.name}: {value!r}"
            )
        return _captured(value, name) if type(value) is EagerTensor else value
    if preferred_dtype is not None:
        preferred_dtype = as_dtype(preferred_dtype)
    for converter in _converters_for(type(value)):
        result: Any = NotImplemented
        if dtype is None and preferred_dtype is not None:
            try:
                result = converter(
                    value, dtype=preferred_dtype, name=name, as_ref=as_ref
                )
            except (TypeError, ValueError):
                result = NotImplemented
        if result is NotImplemented:
            result = converter(value, dtype=dtype, name=name, as_ref=as_ref)
        if result is NotImplemented:
            continue
        found: Any = result
        if not isinstance(found, Tensor):
            raise RuntimeError(
                f"Conversion function {converter!r} for type {type(value)} returned "
                f"non-Tensor: {result!r}"
            )
        if dtype is not None and not dtype.is_compatible_with(result.dtype):
            raise RuntimeError(
                f"Conversion function {converter!r} for type {type(value)} returned "
                f"incompatible dtype: requested = {dtype.base_dtype.name}, actual = "
                f"{result.dtype.base_dtype.name}"
            )
        return found
    raise TypeError(
        f"Cannot convert {value!r} with type {type(value)} to Tensor: no conversion "
        "function registered."
    )


# TensorFlow's text, line by line.
LEAKED = """An op outside of the function building code is being passed
a "Graph" tensor. It is possible to have Graph tensors
leak out of the function building context by including a
tf.init_scope in your function building code.
For example, the following function will fail:
  @tf.function
  def has_init_scope():
    my_constant = tf.constant(1.)
    with tf.init_scope():
      added = my_constant * 2
The graph tensor has name: {}"""


def with_value(tensor: Tensor) -> EagerTensor:
    """A tensor that has a value.

    Raises:
      TypeError: it is a tensor of a graph.
    """
    if not isinstance(tensor, EagerTensor):
        raise TypeError(LEAKED.format(tensor.name))
    return tensor


def _captured(value: EagerTensor, name: str | None) -> Tensor:
    """A tensor with a value; in the body of a function, what stands for it.

    Raises:
      RuntimeError: a graph is being built that is no function's body.
    """
    graph = get_default_graph()
    if graph.is_eager:
        return value
    if not graph.building_function:
        raise RuntimeError(
            "Attempting to capture an EagerTensor without building a function. The "
            "tensor was computed eagerly: in a graph, build it there, or use its "
            "`.numpy()`."
        )
    return graph.capture(value, name)


def _refuse_operation(
    value: Operation,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    as_ref: bool = False,
) -> NoReturn:
    raise TypeError(
        f"Can't convert Operation '{value.name}' to Tensor (target dtype={dtype!r}, "
        f"name={name!r}, as_ref={as_ref!r}). Take one of its outputs."
    )


register_tensor_conversion_function(Operation, _refuse_operation, 0)


def convert_n_to_tensor(
    values: Sequence[Any],
    dtype: DTypeLike | None = None,
    name: str | None = None,
    preferred_dtype: DTypeLike | None = None,
    as_ref: bool = False,
) -> list[Tensor]:
    """Convert each of several values; the names are `name_0`, `name_1`, ..."""
    if not isinstance(values, Sequence):
        raise TypeError(f"values must be a sequence. Got {values!r}")
    return [
        convert(
            v, dtype, None if name is None else f"{name}_{i}", preferred_dtype, as_ref
        )
        for i, v in enumerate(values)
    ]


def default_dtype(values: Sequence[Any]) -> DType | None:
    """The element type of the first tensor among `values`, if there is one."""
    for value in values:
        dtype = getattr(value, "dtype", None)
        if isinstance(dtype, DType):
            return dtype.base_dtype
    return None


export_value(
    __name__, convert_to_tensor="convert_to_tensor",
    register_tensor_conversion_function="register_tensor_conversion_function",
)  # fmt: skip
