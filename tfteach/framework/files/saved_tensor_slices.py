"""Checkpoints of version 1: one table with the values of tensors as messages.

The key "" has a message about all tensors: names, types, shapes, slices.  The values of
each slice are under the slice's key, those of a whole tensor under that of its full
slice.  The slices of a tensor may be in several files.

Source: core/util/{tensor_slice_writer,tensor_slice_reader,saved_tensor_slice_util}.cc,
core/util/saved_tensor_slice.proto.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from tfteach.framework.dtypes import DType, as_dtype
from tfteach.framework.errors import (
    DataLossError,
    NotFoundError,
    OpError,
    invalid_argument,
)
from tfteach.framework.files import file_system
from tfteach.framework.files.file_system import resolve
from tfteach.framework.files.pending_file import PendingFile
from tfteach.framework.files.table import Table, TableBuilder
from tfteach.framework.files.tensor_slice import (
    SliceSpec,
    TensorSlice,
    joined_slices,
    mismatch,
)
from tfteach.framework.protos import pool
from tfteach.framework.protos.tensor_proto import make_ndarray, make_tensor_proto

_META_KEY = b""
_VERSION = 1


class SavedTensor(NamedTuple):
    """What the files say of a tensor, and in which table each of its slices is."""

    dtype: DType
    shape: tuple[int, ...]
    slices: dict[TensorSlice, Table]


class TensorSliceReader:
    """The tensors of the files that match a pattern.

    Args:
      pattern: a path, perhaps with `*`, `?` or `[...]`.

    Raises:
      NotFoundError: no file matches.
      DataLossError: one is damaged, or of another format.

    Attributes:
      tensors: what the files contain, by name.
    """

    def __init__(self, pattern: str) -> None:
        self.pattern = resolve(pattern)
        paths = file_system.glob(self.pattern)
        if not paths:
            raise NotFoundError(
                None,
                None,
                "Unsuccessful TensorSliceReader constructor: Failed to find any "
                f"matching files for {self.pattern}",
            )
        self.tensors: dict[str, SavedTensor] = {}
        self._files: list[Any] = []
        try:
            for path in paths:
                self._open(path)
        except BaseException:
            self.close()
            raise

    def _open(self, path: str) -> None:
        try:
            file = file_system.open_file(path, "rb")
            self._files.append(file)
            table = Table(file, path)
        except OpError as error:
            raise DataLossError(
                None,
                None,
                f"Unable to open table file {path}: {_status(error)}: perhaps your "
                "file is in a different file format and you need to use a different "
                "restore operator?",
            ) from None
        data = table.get(_META_KEY)
        message = _parsed(data or b"", path)
        if data is None or not message.HasField("meta"):
            raise DataLossError(
                None, None, f"Unable to find the meta data of the tensors in {path}"
            )
        for saved in message.meta.tensor:
            shape = tuple(dim.size for dim in saved.shape.dim)
            known = self.tensors.setdefault(
                saved.name, SavedTensor(as_dtype(saved.type), shape, {})
            )
            if (known.dtype, known.shape) != (as_dtype(saved.type), shape):
                raise invalid_argument(
                    f"{path}: {saved.name} has type {as_dtype(saved.type).name} and "
                    f"shape {list(shape)}, in another file {known.dtype.name} and "
                    f"{list(known.shape)}"
                )
            for proto in saved.slice:
                known.slices[TensorSlice.from_proto(proto)] = table

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()
        self._files.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __contains__(self, name: str) -> bool:
        return name in self.tensors

    def types_and_shapes(self) -> dict[str, tuple[DType, tuple[int, ...]]]:
        """The tensors, sorted by name."""
        return {
            name: (saved.dtype, saved.shape)
            for name, saved in sorted(self.tensors.items())
        }

    def count_slices(self, name: str) -> int:
        """The number of slices that a tensor is saved in; 0 if it is whole."""
        slices = self._find(name).slices
        return 0 if all(part.is_full() for part in slices) else len(slices)

    def dtype_of(self, name: str) -> DType:
        """The type of a tensor; NotFoundError if it is in none of the files."""
        return self._find(name).dtype

    def read(self, name: str) -> np.ndarray[Any, Any]:
        """A tensor; see `read_slice`."""
        shape = self._find(name).shape
        return self.read_slice(name, SliceSpec(shape, TensorSlice.full(len(shape))))

    def read_slice(self, name: str, spec: SliceSpec) -> np.ndarray[Any, Any]:
        """A part of a tensor.

        Raises:
          NotFoundError: the tensor is in none of the files.
          InvalidArgumentError: it has another shape, or a slice is missing.
          DataLossError: the data is damaged.
        """
        saved = self._find(name)
        if saved.shape != spec.shape:
            raise invalid_argument(
                f"tensor_name = {name}; shape in shape_and_slice spec "
                f"{list(spec.shape)} does not match the shape stored in checkpoint: "
                f"{list(saved.shape)}"
            )
        return joined_slices(
            name,
            spec,
            saved.dtype.numpy_dtype,
            saved.slices,
            lambda part: self._part(name, saved, part),
        )

    def _find(self, name: str) -> SavedTensor:
        saved = self.tensors.get(name)
        if saved is None:
            raise NotFoundError(
                None,
                None,
                f'Tensor name "{name}" not found in checkpoint files {self.pattern}',
            )
        return saved

    def _part(
        self, name: str, saved: SavedTensor, part: TensorSlice
    ) -> np.ndarray[Any, Any]:
        data = saved.slices[part].get(part.key(name))
        where = f"tensor {name}, slice {part} in {self.pattern}"
        if data is None:
            raise DataLossError(None, None, f"The values are missing: {where}")
        proto = _parsed(data, where).data.data
        shape = SliceSpec(saved.shape, part).part_shape()
        proto.dtype = saved.dtype.as_datatype_enum
        proto.ClearField("tensor_shape")
        proto.tensor_shape.SetInParent()
        for size in shape:
            proto.tensor_shape.dim.add(size=size)
        try:
            return np.array(make_ndarray(proto))
        except (TypeError, ValueError) as error:
            raise DataLossError(None, None, f"{error}: {where}") from None


def _status(error: OpError) -> str:
    """An error as TensorFlow quotes a status: `Data loss: ...`."""
    words = type(error).__name__.removesuffix("Error")
    spaced = "".join(f" {c.lower()}" if c.isupper() else c for c in words).strip()
    return f"{spaced.capitalize()}: {error.message}"


def _parsed(data: bytes, where: str) -> Any:
    from google.protobuf.message import DecodeError

    try:
        return pool.message("SavedTensorSlices").FromString(data)
    except DecodeError as error:
        raise DataLossError(None, None, f"{error}: {where}") from None


def write_tensor_slices(
    path: str,
    names: Sequence[str],
    specs: Sequence[SliceSpec | None],
    arrays: Sequence[np.ndarray[Any, Any]],
) -> None:
    """Write a file of version 1.

    Args:
      path: the file.
      names: of the tensors.
      specs: for each, of which slice the array has the values; None for all of it.
      arrays: the values.

    Raises:
      InvalidArgumentError: an array has not its slice's shape.
    """
    meta = pool.message("SavedTensorSlices")()
    meta.meta.versions.producer = _VERSION
    described: dict[str, Any] = {}
    values: dict[bytes, bytes] = {}
    for name, spec, array in zip(names, specs, arrays, strict=True):
        whole = SliceSpec(array.shape, TensorSlice.full(array.ndim))
        shape, part = spec or whole
        if spec is not None and spec.part_shape() != array.shape:
            raise mismatch(spec, array.shape)
        dtype = as_dtype(array.dtype)
        tensor = described.get(name)
        if tensor is None:
            tensor = described[name] = meta.meta.tensor.add(
                name=name, type=dtype.as_datatype_enum
            )
            tensor.shape.SetInParent()
            for size in shape:
                tensor.shape.dim.add(size=size)
        part.add_to(tensor.slice.add())
        values[part.key(name)] = _serialized(name, part, dtype, array)
    with PendingFile(path) as pending:
        builder = TableBuilder(pending)
        builder.add(_META_KEY, meta.SerializeToString())
        for key in sorted(values):
            builder.add(key, values[key])
        builder.finish()


def _serialized(
    name: str, part: TensorSlice, dtype: DType, array: np.ndarray[Any, Any]
) -> bytes:
    message = pool.message("SavedTensorSlices")()
    message.data.name = name
    message.data.slice.SetInParent()
    part.add_to(message.data.slice)
    # A constant array's strides would shorten it to one value, which readers refuse.
    full = np.ascontiguousarray(array).reshape(array.shape)
    proto = make_tensor_proto(full, dtype, as_list=True)
    proto.ClearField("dtype")
    proto.ClearField("tensor_shape")
    message.data.data.CopyFrom(proto)
    data: bytes = message.SerializeToString()
    return data
