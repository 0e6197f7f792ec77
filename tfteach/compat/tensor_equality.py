"""`==` of tensors: of their values, as in TensorFlow 2, or of the objects.

Source: python/framework/ops.py, python/ops/variables.py (when it compares what).
"""

from __future__ import annotations

import sys
from typing import Any

from tfteach.framework.deprecation import is_in_package
from tfteach.framework.export import export
from tfteach.framework.operation import Tensor
from tfteach.ops.math.compare import Equal, NotEqual
from tfteach.variables.base import Variable
from tfteach.variables.creation import makes_eager_variables


def _compares_values() -> bool:
    """Whether a program asks, in eager execution or a function that it traces.

    This package itself asks whether tensors are the same objects.
    """
    return not is_in_package(sys._getframe(2)) and makes_eager_variables()


def _equal(self: Any, other: Any) -> Any:
    return Equal()(self, other) if _compares_values() else self is other


def _not_equal(self: Any, other: Any) -> Any:
    return NotEqual()(self, other) if _compares_values() else self is not other


def _hash(self: Any) -> int:
    if _compares_values():
        kind = "Variable" if isinstance(self, Variable) else "Tensor"
        raise TypeError(
            f"{kind} is unhashable if Tensor equality is enabled. Instead, use "
            "tensor.experimental_ref() as the key."
        )
    return id(self)


_BY_VALUE = {"__eq__": _equal, "__ne__": _not_equal, "__hash__": _hash}
_BY_IDENTITY = {
    kind: {name: getattr(kind, name) for name in _BY_VALUE}
    for kind in (Tensor, Variable)
}


@export("enable_tensor_equality")
def enable_tensor_equality() -> None:
    """Let `==` compare the values of tensors and variables, element by element.

    In graphs that a session runs it compares objects.  Tensors have no hash then, but
    `experimental_ref()` has.

    Example:
      >>> tf.enable_eager_execution()
      >>> tf.compat.v1.enable_tensor_equality()
      >>> tf.constant([1, 2]) == [1, 3]
      <tf.Tensor: id=2, shape=(2,), dtype=bool, numpy=array([ True, False])>

    Source: python/framework/ops.py.
    """
    for kind in _BY_IDENTITY:
        for name, function in _BY_VALUE.items():
            setattr(kind, name, function)


@export("disable_tensor_equality")
def disable_tensor_equality() -> None:
    """Let `==` compare the objects, the default."""
    for kind, functions in _BY_IDENTITY.items():
        for name, function in functions.items():
            setattr(kind, name, function)
