"""What a checkpoint has of an iterator: its position.

Source: python/data/ops/iterator_ops.py, _IteratorSaveable.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import colocate_with
from tfteach.lib.files.saveable_object import SaveableObject, SaveSpec
from tfteach.ops.data.iterator_state import DeserializeIterator, SerializeIterator


class IteratorSaveable(SaveableObject):
    """The position of an iterator.

    Args:
      resource: the iterator's handle.
      name: the name in the checkpoint.
      suffix: what follows it there.
    """

    def __init__(self, resource: Tensor, name: str, suffix: str = "") -> None:
        spec = SaveSpec(SerializeIterator()(resource), "", name + suffix)
        super().__init__(resource, [spec], name)

    def restore(
        self, restored_tensors: Sequence[Tensor], restored_shapes: Any
    ) -> Operation:
        with colocate_with(self.op):
            return DeserializeIterator()(self.op, restored_tensors[0])
