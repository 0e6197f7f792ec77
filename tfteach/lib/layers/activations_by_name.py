"""Arguments of layers: functions given by name, and numbers that represent tuples.

Source: python/keras/activations.py, initializers.py, utils/conv_utils.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tfteach.ops.math import exponential
from tfteach.ops.nn import activations, softmax
from tfteach.variables.initializers import (
    Constant,
    GlorotNormal,
    GlorotUniform,
    Identity,
    Ones,
    Orthogonal,
    RandomNormal,
    RandomUniform,
    TruncatedNormal,
    Zeros,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)

_ACTIVATIONS: dict[str, Callable[..., Any]] = {
    "linear": lambda x: x,
    "relu": activations.relu,
    "elu": activations.elu,
    "selu": activations.selu,
    "softplus": activations.softplus,
    "softsign": activations.softsign,
    "sigmoid": exponential.sigmoid,
    "tanh": exponential.tanh,
    "exponential": exponential.exp,
    "softmax": softmax.softmax,
}

_INITIALIZERS: dict[str, Callable[..., Any]] = {
    "zeros": Zeros,
    "ones": Ones,
    "constant": Constant,
    "random_uniform": lambda: RandomUniform(-0.05, 0.05),
    "random_normal": lambda: RandomNormal(0.0, 0.05),
    "truncated_normal": lambda: TruncatedNormal(0.0, 0.05),
    "orthogonal": Orthogonal,
    "identity": Identity,
    "glorot_uniform": GlorotUniform,
    "glorot_normal": GlorotNormal,
    "he_normal": he_normal,
    "he_uniform": he_uniform,
    "lecun_normal": lecun_normal,
    "lecun_uniform": lecun_uniform,
}


def activation(given: Any) -> Any:
    """A function from a Tensor to a Tensor, or None; names are looked up."""
    if given is None or callable(given):
        return given
    if not isinstance(given, str):
        raise TypeError(
            f"Could not interpret activation function identifier: {given!r}"
        )
    if given not in _ACTIVATIONS:
        raise ValueError(f"Unknown activation function:{given}")
    return _ACTIVATIONS[given]


def initializer(given: Any) -> Any:
    """An initializer or None; classes are instantiated, names looked up."""
    if isinstance(given, str):
        if given not in _INITIALIZERS:
            raise ValueError(f"Unknown initializer:{given}")
        return _INITIALIZERS[given]()
    if given is not None and not callable(given):
        raise ValueError(f"Could not interpret initializer identifier: {given!r}")
    return given() if inspect.isclass(given) else given


def function(kind: str, given: Any) -> Any:
    """A regularizer or constraint: a function or None."""
    if given is None or callable(given):
        return given
    blank = "" if kind == "regularizer" else " "
    raise ValueError(f"Unknown {kind}:{blank}{given}. Give a function of the variable.")


def numbers(value: Any, count: int, name: str) -> tuple[int, ...]:
    """`count` ints from one int or a sequence of them."""
    if isinstance(value, int):
        return (value,) * count
    message = f"The `{name}` argument must be a tuple of {count} integers. Received: "
    try:
        found = tuple(value)
    except TypeError:
        raise ValueError(f"{message}{value}") from None
    if len(found) != count:
        raise ValueError(f"{message}{value}")
    for item in found:
        try:
            int(item)
        except (ValueError, TypeError):
            raise ValueError(
                f"{message}{value} including element {item} of type {type(item)}"
            ) from None
    return found


def data_format(value: Any) -> str:
    """ "channels_first" or "channels_last", the default."""
    found = "channels_last" if value is None else value.lower()
    if found not in ("channels_first", "channels_last"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", '
            f'"channels_last". Received: {value}'
        )
    return found


def op_format(value: str, rank: int) -> str:
    """A data format in the ops' notation: "NHWC" for channels last and rank 4."""
    space = {3: "W", 4: "HW", 5: "DHW"}[rank]
    return f"NC{space}" if value == "channels_first" else f"N{space}C"


def padding(value: Any) -> str:
    """ "valid", "same" or "causal"."""
    if isinstance(value, list | tuple):
        raise NotImplementedError(
            "padding as a list of numbers: pad with tf.pad, then use padding='valid'."
        )
    if value.lower() not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" '
            f'(or "causal", only for `Conv1D). Received: {value.lower()}'
        )
    result: str = value.lower()
    return result


def window_count(
    size: int | None, window: int, padding: str, stride: int, dilation: int = 1
) -> int | None:
    """Output size of a convolution or a pooling along one axis."""
    if size is None:
        return None
    if padding == "valid":
        size -= (window - 1) * dilation
    return (size + stride - 1) // stride


def spread_size(size: Any, window: int, padding: str, stride: int) -> Any:
    """Output size of a transposed convolution, for an int or a Tensor."""
    if size is None:
        return None
    if padding == "valid":
        return size * stride + max(window - stride, 0)
    return size * stride
