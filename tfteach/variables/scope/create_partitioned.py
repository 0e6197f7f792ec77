"""`tf.create_partitioned_variables`, the older way to create a partitioned variable.

Source: python/ops/partitioned_variables.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.dtypes import float32
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.scope import name_scope
from tfteach.framework.type_aliases import (
    CollectionNames,
    DTypeLike,
    Initializer,
)
from tfteach.variables.scope.get_variable import store_of, variable_scope


@export("create_partitioned_variables")
def create_partitioned_variables(
    shape: Sequence[int],
    slicing: Any,
    initializer: Initializer,
    dtype: DTypeLike = float32,
    trainable: bool = True,
    collections: CollectionNames | None = None,
    name: str | None = None,
    reuse: Any = None,
) -> list[Any]:
    """The partitions of a variable; superseded by `tf.get_variable` with a partitioner.

    Args:
      shape: the whole variable's shape, a list of ints.
      slicing: the number of partitions along each axis.
      initializer: an initializer, or the whole value.
      dtype: the element type.
      trainable, collections: as in `tf.Variable`.
      name: the variable's name (default "PartitionedVariable").
      reuse: as in `tf.variable_scope`.

    Returns:
      A list of Variables.

    Raises:
      ValueError: `shape` and `slicing` have different lengths, or are empty; or the
        open variable scope has a custom getter.
    """
    if len(shape) != len(slicing):
        raise ValueError(
            "The 'shape' and 'slicing' of a partitioned Variable must have the length: "
            f"shape: {shape}, slicing: {slicing}"
        )
    if len(shape) < 1:
        raise ValueError(
            f"A partitioned Variable must have rank at least 1: shape: {shape}"
        )
    with variable_scope(name, "PartitionedVariable", reuse=reuse) as scope:
        if scope.custom_getter is not None:
            raise ValueError(
                "create_partitioned_variables does not call the scope's custom getter "
                f"({scope.custom_getter}): use get_variable with a partitioner instead."
            )
        how = {
            "regularizer": scope.regularizer,
            "reuse": scope.reuse,
            "trainable": trainable,
            "collections": collections,
            "caching_device": scope.caching_device,
            "validate_shape": True,
            "use_resource": scope.use_resource,
            "constraint": scope.constraint,
        }
        if initializer is None:
            initializer = scope.initializer
        store = store_of(get_default_graph())
        with name_scope(None):
            parts = store.partitioned(
                scope.name, lambda **_: slicing, shape, dtype, initializer, how
            )
    return list(parts)
