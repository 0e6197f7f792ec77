"""Values that consist of tensors, such as SparseTensors and datasets.

Source: python/framework/composite_tensor.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def is_rows(value: Any) -> bool:
    """Whether it is a SparseTensor or IndexedSlices."""
    return (
        hasattr(value, "indices")
        and hasattr(value, "values")
        and hasattr(value, "dense_shape")
    )


# Other classes of values that consist of tensors -> a function from one to its spec.
_composites: list[tuple[type, Callable[[Any], Any]]] = []


def register_composite(kind: type, spec_of: Callable[[Any], Any]) -> None:
    """Let `expand_composites` replace the values of a class by their tensors.

    Args:
      kind: the class.
      spec_of: from a value to its `tf.TypeSpec`.
    """
    _composites.append((kind, spec_of))


def spec_of_composite(value: Any) -> Any:
    """The `tf.TypeSpec` of a value that consists of tensors, or None.

    A spec stands for such a value, too; a `tf.TensorSpec` for a tensor.
    """
    for kind, spec_of in _composites:
        if isinstance(value, kind):
            return spec_of(value)
    if hasattr(type(value), "_component_specs"):
        return None if value._component_specs is value else value
    return None


def is_composite(value: Any) -> bool:
    """Whether a value consists of tensors, or is the spec of such values."""
    return is_rows(value) or spec_of_composite(value) is not None
