"""The inputs of a `SequenceQueueingStateSaver` as tensors.

Source: contrib/training/python/training/sequence_queueing_state_saver.py (names of
nodes, messages).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from tfteach.control.checks.values import assert_greater_equal
from tfteach.framework import dtypes
from tfteach.framework.convert import convert
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import control_dependencies
from tfteach.framework.type_aliases import TensorLike
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.math.cast import cast

Tensors = OrderedDict[str, Tensor]


def named_tensors(values: Mapping[str, Any], what: str) -> Tensors:
    """Tensors, converted in the order given, in the order of their keys.

    Raises:
      TypeError: a key is no string.
    """
    for key in values:
        if not isinstance(key, str):
            wanted = "name must be a" if what == "state" else "key must be"
            raise TypeError(f"{what} {wanted} string: {key}")
    found = {key: convert(value, name=f"{what}_{key}") for key, value in values.items()}
    return OrderedDict(sorted(found.items()))


class SequenceInputWrapper:
    """The inputs of a state saver as tensors.

    Attributes:
      length: of the sequence, an int32 scalar.
      key: its name, a string scalar.
      sequences: tensors of which each row is a step.
      context: tensors that belong to the whole sequence.

    Raises:
      TypeError: the types are others, or a name is no string.
      ValueError: there is no sequence.
    """

    def __init__(
        self,
        length: TensorLike,
        key: TensorLike,
        sequences: Mapping[str, TensorLike],
        context: Mapping[str, TensorLike],
    ) -> None:
        self.length = convert(length, name="length")
        self.key = convert(key, name="key")
        for name, found, wanted in (
            ("length", self.length.dtype, dtypes.int32),
            ("key", self.key.dtype, dtypes.string),
        ):
            if found is not wanted:
                raise TypeError(
                    f"{name} dtype must be {wanted.name}, but received: {found}"
                )
        if not sequences:
            raise ValueError("must have at least one sequence tensor")
        self.sequences = named_tensors(sequences, "sequence")
        self.context = named_tensors(context, "context")


def if_it_fits(key: TensorLike, capacity: int, batch_size: TensorLike) -> TensorLike:
    """`key`, if `capacity` is not less than `batch_size`."""
    if isinstance(batch_size, Tensor):
        check = assert_greater_equal(
            cast(capacity, dtypes.int64),
            cast(batch_size, dtypes.int64),
            message="capacity needs to be >= batch_size.",
        )
        with control_dependencies([check]):
            return identity(key)
    size: Any = batch_size
    if capacity < size:
        raise ValueError(f"capacity {capacity} needs to be >= batch_size {size}")
    return key
