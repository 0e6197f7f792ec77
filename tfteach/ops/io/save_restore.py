"""The ops by which a graph saves and restores tensors.

Source: core/ops/io_ops.cc, core/kernels/save_restore_v2_ops.cc, save_op.cc,
restore_op.cc, save_restore_tensor.cc.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.dtypes import DType, c_name, variant
from tfteach.framework.errors import (
    InvalidArgumentError,
    UnimplementedError,
    invalid_argument,
)
from tfteach.framework.files.checkpoint import is_version_2, read_checkpoint
from tfteach.framework.files.saved_tensor_slices import (
    TensorSliceReader,
    write_tensor_slices,
)
from tfteach.framework.files.tensor_bundle_writer import (
    BundleWriter,
    delete_scratch,
    is_scratch,
    merge_bundles,
)
from tfteach.framework.files.tensor_slice import SliceSpec
from tfteach.framework.op import MultiOutputOp, NoOutputOp, Op, StatefulOp
from tfteach.framework.shape import Shape
from tfteach.framework.transaction import running
from tfteach.framework.type_aliases import Array, ArrayModule, KernelContext


class _FileOp(StatefulOp, abstract=True):
    on_gpu: ClassVar[bool] = False
    uses_files: ClassVar[bool] = True


class _SaveOp(_FileOp, NoOutputOp, abstract=True):
    """Writes tensors to a file."""


def _require_names(
    filename: Array, names: Array, count: int, specs: Array | None = None
) -> tuple[str, list[str], list[str]]:
    """The file's name, the tensors' names and their slices, as text."""
    if filename.size != 1:
        raise invalid_argument(
            "Input prefix should be a single element: expected shape [], got "
            f"{shapes.text(filename.shape)}"
        )
    for what, found in (("tensor_names", names), ("shape_and_slices", specs)):
        if found is not None and found.shape != (count,):
            raise invalid_argument(
                f"Expected {count} elements in {what}, one for each tensor: got shape "
                f"{shapes.text(found.shape)}"
            )
    texts = [name.decode() for name in names]
    slices = [""] * count if specs is None else [spec.decode() for spec in specs]
    return filename.reshape(-1)[0].decode(), texts, slices


class SaveV2(_SaveOp):
    """Write tensors to a checkpoint.  Source: core/ops/io_ops.cc, SaveV2."""

    signature = (
        "prefix: string, tensor_names: string, shape_and_slices: string, "
        "tensors: *dtypes ->"
    )
    minimum: ClassVar[dict[str, int]] = {"dtypes": 1}
    writes_scratch_files: ClassVar[bool] = True

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

    def compute(
        self,
        ctx: KernelContext,
        prefix: Array,
        tensor_names: Array,
        shape_and_slices: Array,
        *tensors: Array,
    ) -> tuple[()]:
        path, names, specs = _require_names(
            prefix, tensor_names, len(tensors), shape_and_slices
        )
        if is_scratch(path) and running.transaction is not None:
            # TensorFlow leaves these files where a save fails.
            running.transaction.on_failure(lambda: delete_scratch(path))
        with BundleWriter(path) as writer:
            dtypes = [tensor.dtype for tensor in ctx.op.inputs[3:]]
            rows = zip(names, specs, tensors, dtypes, strict=True)
            for name, spec, tensor, dtype in rows:
                if spec:
                    writer.add_slice(name, SliceSpec.parse(spec), tensor)
                elif dtype is variant:
                    writer.add_variant(name, _message_of(name, tensor))
                else:
                    writer.add(name, tensor)
        return ()


def _message_of(name: str, tensor: Any) -> bytes:
    """The message of a scalar variant, such as that of an iterator's position."""
    found = tensor.item() if isinstance(tensor, np.ndarray) and not tensor.ndim else 0
    if not isinstance(found, bytes):
        raise UnimplementedError(
            None,
            None,
            f"{name} cannot be saved: no variants but positions of iterators",
        )
    return found


class SaveSlices(_SaveOp):
    """Write slices to a checkpoint of version 1.  Source: io_ops.cc, SaveSlices."""

    signature = (
        "filename: string, tensor_names: string, shapes_and_slices: string, data: *T ->"
    )
    minimum: ClassVar[dict[str, int]] = {"T": 1}

    def infer_shape(
        self,
        filename: Shape,
        tensor_names: Shape,
        shapes_and_slices: Shape,
        data: list[Shape],
    ) -> list[Shape]:
        shapes.merge(filename, ())
        shapes.merge(shapes.merge(tensor_names, shapes_and_slices), (len(data),))
        return []

    def compute(
        self,
        ctx: KernelContext,
        filename: Array,
        tensor_names: Array,
        shapes_and_slices: Array,
        *data: Array,
    ) -> tuple[()]:
        path, names, specs = _require_names(
            filename, tensor_names, len(data), shapes_and_slices
        )
        parsed = [SliceSpec.parse(spec) if spec else None for spec in specs]
        write_tensor_slices(path, names, parsed, [np.asarray(d) for d in data])
        return ()


class Save(_SaveOp):
    """Write tensors to a checkpoint of version 1.  Source: io_ops.cc, Save."""

    signature = "filename: string, tensor_names: string, data: *T ->"
    minimum: ClassVar[dict[str, int]] = {"T": 1}

    def infer_shape(
        self, filename: Shape, tensor_names: Shape, data: list[Shape]
    ) -> list[Shape]:
        shapes.merge(filename, ())
        shapes.merge(tensor_names, (len(data),))
        return []

    def compute(
        self, ctx: KernelContext, filename: Array, tensor_names: Array, *data: Array
    ) -> tuple[()]:
        path, names, _ = _require_names(filename, tensor_names, len(data))
        arrays = [np.asarray(d) for d in data]
        write_tensor_slices(path, names, [None] * len(names), arrays)
        return ()


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
        return [_shape_of_slice(spec) for spec in shape_and_slices]

    def compute(
        self,
        ctx: KernelContext,
        prefix: Array,
        tensor_names: Array,
        shape_and_slices: Array,
    ) -> tuple[Any, ...]:
        path, names, specs = _require_names(
            prefix, tensor_names, len(self.dtypes), shape_and_slices
        )

        def read(reader: Any) -> tuple[Any, ...]:
            return tuple(
                _restored(reader, name, spec, dtype, path)
                for name, spec, dtype in zip(names, specs, self.dtypes, strict=True)
            )

        return read_checkpoint(path, read)


def _shape_of_slice(spec: bytes) -> Shape:
    """The shape of a slice such as "4 2 0,2:-", which is [2, 2]; None for ""."""
    if not spec:
        return None
    try:
        return SliceSpec.parse(spec.decode()).part_shape()
    except InvalidArgumentError as error:
        raise ValueError(error.message) from None


def _restored(reader: Any, name: str, spec: str, dtype: DType, path: str) -> Array:
    """A tensor of a checkpoint, of the type that the graph expects."""
    found = reader.dtype_of(name)
    if found is not dtype:
        if is_version_2(path):
            raise invalid_argument(
                f"tensor_name = {name}; expected dtype {c_name(dtype)} does not equal "
                f"original dtype {c_name(found)}"
            )
        raise invalid_argument(
            f"Expected to restore a tensor of type {c_name(dtype)}, got a tensor of "
            f"type {c_name(found)} instead: tensor_name = {name}"
        )
    array: Array = (
        reader.read_slice(name, SliceSpec.parse(spec)) if spec else reader.read(name)
    )
    return array


class _RestoreV1Op(_FileOp, Op, abstract=True):
    dt: DType
    preferred_shard: int = -1

    def _compute(self, pattern: Array, name: Array, spec: Array | None) -> Array:
        inputs = ("file_pattern", pattern), ("tensor_name", name)
        for i, (what, found) in enumerate(inputs):
            if found.size != 1:  # TensorFlow's message lacks the blank, too
                raise invalid_argument(
                    f"Input {i} ({what}) must be a string scalar; got a tensor of "
                    f"{found.size}elements"
                )
        path, key = pattern.reshape(-1)[0].decode(), name.reshape(-1)[0].decode()
        text = "" if spec is None else spec.reshape(-1)[0].decode()
        with TensorSliceReader(path) as reader:
            return _restored(reader, key, text, self.dt, path)


class Restore(_RestoreV1Op):
    """Read a tensor from files of version 1.  Source: io_ops.cc, Restore."""

    signature = "file_pattern: string, tensor_name: string -> tensor: dt"
    dt: DType
    preferred_shard: int = -1

    def infer_shape(self, file_pattern: Shape, tensor_name: Shape) -> Shape:
        shapes.merge(file_pattern, ())
        shapes.merge(tensor_name, ())
        return None

    def compute(
        self, ctx: KernelContext, file_pattern: Array, tensor_name: Array
    ) -> Any:
        return self._compute(file_pattern, tensor_name, None)


class RestoreSlice(_RestoreV1Op):
    """Read a slice from files of version 1.  Source: io_ops.cc, RestoreSlice."""

    signature = (
        "file_pattern: string, tensor_name: string, shape_and_slice: string -> "
        "tensor: dt"
    )
    dt: DType
    preferred_shard: int = -1
    by_value_or_shape = ("shape_and_slice",)

    def infer_shape(
        self, file_pattern: Shape, tensor_name: Shape, shape_and_slice: Any
    ) -> Shape:
        shapes.merge(file_pattern, ())
        shapes.merge(tensor_name, ())
        if isinstance(shape_and_slice, np.ndarray):
            return _shape_of_slice(shape_and_slice.reshape(-1)[0])
        shapes.merge(shape_and_slice, ())
        return None

    def compute(
        self,
        ctx: KernelContext,
        file_pattern: Array,
        tensor_name: Array,
        shape_and_slice: Array,
    ) -> Any:
        return self._compute(file_pattern, tensor_name, shape_and_slice)


class MergeV2Checkpoints(_FileOp, NoOutputOp):
    """Merge a checkpoint's shards.  Source: io_ops.cc, MergeV2Checkpoints."""

    signature = "checkpoint_prefixes: string, destination_prefix: string ->"
    delete_old_dirs: bool = True

    def infer_shape(
        self, checkpoint_prefixes: Shape, destination_prefix: Shape
    ) -> list[Shape]:
        shapes.with_rank(checkpoint_prefixes, 1)
        shapes.merge(destination_prefix, ())
        return []

    def compute(
        self,
        ctx: KernelContext,
        checkpoint_prefixes: Array,
        destination_prefix: Array,
    ) -> tuple[()]:
        prefixes = [prefix.decode() for prefix in checkpoint_prefixes.reshape(-1)]
        merge_bundles(
            prefixes,
            destination_prefix.reshape(-1)[0].decode(),
            deletes_folders=self.delete_old_dirs,
        )
        return ()


class ShardedFilename(Op):
    """`basename-00003-of-00010`.  Source: core/ops/io_ops.cc, ShardedFilename."""

    signature = "basename: string, shard: int32, num_shards: int32 -> filename: string"
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, basename: Shape, shard: Shape, num_shards: Shape) -> Shape:
        for shape in (basename, shard, num_shards):
            shapes.merge(shape, ())
        return ()

    def compute(
        self, xp: ArrayModule, basename: Array, shard: Array, num_shards: Array
    ) -> Any:
        name, numbers = _text_of(basename), (int(shard), int(num_shards))
        return np.array(b"%s-%05d-of-%05d" % (name, *numbers), object)


class ShardedFilespec(Op):
    """`basename-?????-of-00010`.  Source: core/ops/io_ops.cc, ShardedFilespec."""

    signature = "basename: string, num_shards: int32 -> filename: string"
    on_gpu: ClassVar[bool] = False

    def infer_shape(self, basename: Shape, num_shards: Shape) -> Shape:
        shapes.merge(basename, ())
        shapes.merge(num_shards, ())
        return ()

    def compute(self, xp: ArrayModule, basename: Array, num_shards: Array) -> Any:
        name = _text_of(basename)
        return np.array(b"%s-?????-of-%05d" % (name, int(num_shards)), object)


def _text_of(scalar: Array) -> bytes:
    found: bytes = scalar.reshape(-1)[0]
    return found
