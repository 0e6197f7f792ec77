"""The ops of a Saver's graph.

Their kernels, which read and write TensorFlow's checkpoint files, are not there yet: a
run that reaches one says so.
Source: core/ops/io_ops.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType
from tfteach.framework.errors import UnimplementedError
from tfteach.framework.op import StatefulOp
from tfteach.framework.shape import Shape


class _FileOp(StatefulOp, abstract=True):
    on_gpu: ClassVar[bool] = False

    def compute(self, ctx: Any, *inputs: Any) -> Any:
        raise UnimplementedError(
            None,
            None,
            f"{self.op_type}: checkpoint files are not implemented yet. Fetch the "
            "variables with session.run and keep them with numpy.savez.",
        )


class SaveV2(_FileOp):
    """Tensors into a checkpoint.  Source: core/ops/io_ops.cc, SaveV2."""

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


class RestoreV2(_FileOp):
    """Tensors out of a checkpoint.  Source: core/ops/io_ops.cc, RestoreV2."""

    signature = (
        "prefix: string, tensor_names: string, shape_and_slices: string -> "
        "tensors: *dtypes"
    )
    dtypes: tuple[DType, ...]
    minimum: ClassVar[dict[str, int]] = {"dtypes": 1}

    def infer_shape(
        self, prefix: Shape, tensor_names: Shape, shape_and_slices: Shape
    ) -> list[Shape]:
        shapes.merge(prefix, ())
        shapes.merge(shapes.merge(tensor_names, shape_and_slices), (len(self.dtypes),))
        return [None] * len(self.dtypes)


class MergeV2Checkpoints(_FileOp):
    """Shards of a checkpoint into one.  Source: io_ops.cc, MergeV2Checkpoints."""

    signature = "checkpoint_prefixes: string, destination_prefix: string ->"
    delete_old_dirs: bool = True

    def infer_shape(
        self, checkpoint_prefixes: Shape, destination_prefix: Shape
    ) -> list[Shape]:
        shapes.merge(destination_prefix, ())
        return []
