"""Positions of iterators as variants, to be saved in checkpoints.

TensorFlow saves the buffers of a pipeline.  Here its position and the seed of its
random orders are enough: the elements before the position are drawn again.
Source: core/kernels/data/iterator_ops.cc, SerializeIteratorOp.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.errors import invalid_argument
from tfteach.framework.op import NoOutputOp
from tfteach.framework.protos.encoded_variant import EncodedVariant
from tfteach.framework.protos.wire_format import chunk
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext
from tfteach.ops.data.iterators import DatasetIterator, IteratorOp, IteratorState

_TYPE = b"tfteach::IteratorState"
_HEAD = chunk(b"\x0a", _TYPE) + b"\x12\x10"  # type_name, metadata: 16 bytes


class SerializeIterator(IteratorOp):
    """The position of an iterator.  Source: dataset_ops.cc, SerializeIterator."""

    signature = "resource_handle: resource -> serialized: variant"

    def infer_shape(self, resource_handle: Shape) -> Shape:
        return None

    def compute(self, context: KernelContext, iterator: DatasetIterator) -> Any:
        data = _HEAD + struct.pack("<QQ", *iterator.state(context))
        return np.array(EncodedVariant(data), object)


class DeserializeIterator(IteratorOp, NoOutputOp):
    """Set the position of an iterator.  Source: DeserializeIterator."""

    signature = "resource_handle: resource, serialized: variant ->"

    def infer_shape(self, resource_handle: Shape, serialized: Shape) -> list[Shape]:
        shapes.with_rank(resource_handle, 0)
        return []

    def compute(
        self, context: KernelContext, iterator: DatasetIterator, serialized: Any
    ) -> Any:
        data = np.asarray(serialized, object).item()
        if not isinstance(data, bytes) or not data.startswith(_HEAD):
            raise invalid_argument(
                "The checkpoint has no state of an iterator that tfteach saved: one of "
                "TensorFlow's own, with the buffers of its pipeline, cannot be read."
            )
        state = IteratorState(*struct.unpack("<QQ", data[len(_HEAD) :]))
        iterator.restore(context, state)
        return ()
