"""The ops of a Saver's graph.

The kernels, which read and write TensorFlow's checkpoint files, are not implemented
yet; running them raises UnimplementedError.
Source: core/ops/io_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import UnimplementedError
from tfteach.framework.op import MultiOutputOp, NoOutputOp, StatefulOp
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import KernelContext


class _FileOp(StatefulOp, abstract=True):
    on_gpu: ClassVar[bool] = False

    def compute(self, ctx: KernelContext, *inputs: Any) -> Any:
        raise UnimplementedError(
            None,
            None,
            f"{self.op_type}: checkpoint files are not implemented yet. Fetch the "
            "variables with session.run and save them with numpy.savez.",
        )


class SaveV2(_FileOp, NoOutputOp):
    """Write tensors to a checkpoint.  Source: core/ops/io_ops.cc, SaveV2."""

    signature = (
        "prefix: string, tensor_names: string, shape_and_slices: string, "
        "tensors: *dtypes ->"
    )

    def infer_shape(
        self,
        prefix: Shape,
        tensor_names: Shape,
        shape_and_slices: Shape,
        tensors: list[Shape],
    ) -> list[Shape]:
        shapes.merge(prefix, ())
        shapes.merge(shapes.merge(tensor_names, shape_and_slices), (len(tensors),))
        return []


class RestoreV2(_FileOp, MultiOutputOp):
    """Read tensors from a checkpoint.  Source: core/ops/io_ops.cc, RestoreV2."""

    signature = (
        "prefix: string, tensor_names: string, shape_and_slices: string -> "
        "tensors: *dtypes"
    )
    dtypes: tuple[DType, ...]
    minimum: ClassVar[dict[str, int]] = {"dtypes": 1}
    by_value_or_shape = ("shape_and_slices",)

    def infer_shape(
        self, prefix: Shape, tensor_names: Shape, shape_and_slices: Any
    ) -> list[Shape]:
        shapes.merge(prefix, ())
        is_known = isinstance(shape_and_slices, np.ndarray)
        vector = shape_and_slices.shape if is_known else shape_and_slices
        shapes.merge(shapes.merge(tensor_names, vector), (len(self.dtypes),))
        if not is_known:
            return [None] * len(self.dtypes)
        return [_shape_of_slice(spec.decode()) for spec in shape_and_slices]


def _shape_of_slice(spec: str) -> Shape:
    """The shape of a slice such as "4 2 0,2:-", which is [2, 2]; None for ""."""
    if not spec:
        return None
    *sizes, parts = spec.split(" ")
    try:
        return tuple(
            int(size if part == "-" else part.partition(",")[2])
            for size, part in zip(sizes, parts.split(":"), strict=True)
        )
    except ValueError:
        raise ValueError(
            f"Expected a shape and a slice such as '4 2 0,2:-', got '{spec}'"
        ) from None


class MergeV2Checkpoints(_FileOp, NoOutputOp):
    """Merge a checkpoint's shards.  Source: io_ops.cc, MergeV2Checkpoints."""

    signature = "checkpoint_prefixes: string, destination_prefix: string ->"
    delete_old_dirs: bool = True

    def infer_shape(
        self, checkpoint_prefixes: Shape, destination_prefix: Shape
    ) -> list[Shape]:
        shapes.merge(destination_prefix, ())
        return []
