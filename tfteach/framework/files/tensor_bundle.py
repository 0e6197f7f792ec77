"""Checkpoints of version 2: tensors in data files, and an index of them.

    PREFIX.index                  a table: name -> type, shape, place, checksum
    PREFIX.data-00000-of-00001    the tensors' bytes, one after another

The key "" has the header.  A partitioned variable has an entry that lists its slices,
and one for each of them, under the slice's key.

Source: core/util/tensor_bundle/tensor_bundle.cc, core/protobuf/tensor_bundle.proto.
"""

from __future__ import annotations

import functools
import math
import os
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO, NoReturn, Self, TypeVar

import numpy as np

from tfteach.framework.dtypes import DType, as_dtype, string, variant
from tfteach.framework.errors import (
    DataLossError,
    NotFoundError,
    OpError,
    UnimplementedError,
    invalid_argument,
)
from tfteach.framework.files import file_system
from tfteach.framework.files.crc32c import Crc32c, masked
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.files.os_errors import os_errors_translated
from tfteach.framework.files.pending_file import MARK
from tfteach.framework.files.table import Table
from tfteach.framework.files.tensor_slice import (
    SliceSpec,
    TensorSlice,
    joined_slices,
)
from tfteach.framework.protos import pool
from tfteach.framework.protos.wire_format import read_varint
from tfteach.framework.type_aliases import Proto

_T = TypeVar("_T")

HEADER_KEY = b""
VERSION = 1
LITTLE_ENDIAN = 0
# Of one piece while it is read: it is still in the cache when its checksum is computed.
_PIECE_BYTES = 1 << 20
_UINT32_MAX = (1 << 32) - 1


def index_path(prefix: str) -> str:
    """The file that has the index of a checkpoint."""
    return f"{prefix}.index"


def data_path(prefix: str, shard: int, shards: int) -> str:
    """The file that has the tensors of a shard of a checkpoint."""
    return f"{prefix}.data-{shard:05d}-of-{shards:05d}"


class BundleReader:
    """An open checkpoint.

    Args:
      prefix: its path, without ".index".
      index: the file to read as its index, if it is another.

    Raises:
      NotFoundError: there is no such checkpoint.
      DataLossError: its index is damaged.

    Attributes:
      names: the tensors, sorted.
    """

    def __init__(self, prefix: str, index: str | None = None) -> None:
        self.prefix = resolve(prefix)
        self._index = index or index_path(self.prefix)
        self._files: dict[int, BinaryIO] = {}
        with os_errors_translated(self._index), open_file(self._index, "rb") as file:
            table = Table(file, self._index)
            self._entries = dict(table)
        header = self._parsed("BundleHeaderProto", HEADER_KEY)
        if header.endianness != LITTLE_ENDIAN:
            raise UnimplementedError(
                None,
                None,
                f"{self._index}: written on a big-endian machine; only little-endian "
                "checkpoints can be read",
            )
        if header.version.min_consumer > VERSION:
            raise invalid_argument(
                f"{self._index}: the checkpoint's version requires readers of version "
                f"{header.version.min_consumer}, this one has {VERSION}"
            )
        self.shards: int = header.num_shards
        # The keys of slices begin with a zero byte, which no tensor's name contains.
        self.names = [
            key.decode() for key in self._entries if key and not key.startswith(b"\0")
        ]

    def close(self) -> None:
        """Close the data files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __contains__(self, name: str) -> bool:
        return bool(name) and name.encode() in self._entries

    def entry(self, name: str) -> Proto:
        """The BundleEntryProto of a tensor: `dtype`, `shape`, `slices`, ...

        Raises:
          NotFoundError: it is not in the checkpoint.
        """
        if name not in self:
            raise NotFoundError(None, None, f"Key {name} not found in checkpoint")
        return self._parsed("BundleEntryProto", name.encode())

    def entries(self) -> Iterator[tuple[bytes, Proto]]:
        """The keys of tensors and of slices, sorted, with their BundleEntryProtos."""
        for key in self._entries:
            if key != HEADER_KEY:
                yield key, self._parsed("BundleEntryProto", key)

    def types_and_shapes(self) -> dict[str, tuple[DType, tuple[int, ...]]]:
        """The tensors, sorted by name."""
        found = ((name, self.entry(name)) for name in self.names)
        return {
            name: (_dtype_of(entry, self._index), _shape_of(entry, self._index))
            for name, entry in found
        }

    def count_slices(self, name: str) -> int:
        """The number of slices that a tensor is saved in; 0 if it is whole."""
        return len(self.entry(name).slices)

    def dtype_of(self, name: str) -> DType:
        """The type of a tensor; NotFoundError if it is not in the checkpoint."""
        return _dtype_of(self.entry(name), self._index)

    def read(self, name: str) -> np.ndarray[Any, Any]:
        """A tensor; its slices joined if it is partitioned.

        Raises:
          NotFoundError: it, or a data file, does not exist.
          DataLossError: it is damaged.
        """
        entry = self.entry(name)
        if not entry.slices:
            return self._array(name, entry)
        shape = _shape_of(entry, self._index)
        return self.read_slice(name, SliceSpec(shape, TensorSlice.full(len(shape))))

    def read_slice(self, name: str, spec: SliceSpec) -> np.ndarray[Any, Any]:
        """A part of a tensor, however that one is partitioned.

        Args:
          name: of the tensor.
          spec: its shape, and which part.

        Raises:
          InvalidArgumentError: the tensor's shape is another, or its slices in the
            checkpoint do not have all of the part.
        """
        entry = self.entry(name)
        shape = _shape_of(entry, self._index)
        if shape != spec.shape:
            raise invalid_argument(
                f"tensor_name = {name}; shape in shape_and_slice spec "
                f"{_listed(spec.shape)} does not match the shape stored in checkpoint: "
                f"{_listed(shape)}"
            )
        wanted = spec.slice.indices(shape)
        if not entry.slices:
            whole = self._array(name, entry)
            return whole if spec.slice.is_full() else whole[wanted].copy()
        return joined_slices(
            name,
            spec,
            _dtype_of(entry, self._index).numpy_dtype,
            map(TensorSlice.from_proto, entry.slices),
            lambda part: self._array(
                name, self._parsed("BundleEntryProto", part.key(name))
            ),
        )

    def _parsed(self, message: str, key: bytes) -> Any:
        from google.protobuf.message import DecodeError

        if key not in self._entries:
            what = "header" if key == HEADER_KEY else f"entry {key!r}"
            raise DataLossError(None, None, f"{self._index}: the {what} is missing")
        try:
            return pool.message(message).FromString(self._entries[key])
        except DecodeError as error:
            raise DataLossError(
                None, None, f"{self._index}: the entry of {key!r} is damaged: {error}"
            ) from None

    def _array(self, name: str, entry: Any) -> np.ndarray[Any, Any]:
        """The array that an entry describes; its checksum is compared."""
        shape = _shape_of(entry, self._index)
        dtype = _dtype_of(entry, self._index)
        path = data_path(self.prefix, entry.shard_id, self.shards)
        file = self._data_file(entry.shard_id, path)
        lost = functools.partial(_lost, name, path, entry)
        size = file.seek(0, os.SEEK_END)
        if entry.offset + entry.size > size:
            lost(f"Read less bytes than requested: {entry.size}, the file has {size}")
        file.seek(entry.offset)
        if dtype is string:
            return _read_strings(file, entry, shape, lost)
        if dtype is variant and not shape:
            return _read_variant(file, entry, lost)
        if not dtype.is_numpy_compatible:
            raise UnimplementedError(
                None, None, f"{name} in {path}: tensors of type {dtype.name}"
            )
        if math.prod(shape) * dtype.size != entry.size:
            lost(f"{entry.size} bytes, shape {_listed(shape)}")
        array = np.empty(shape, dtype.numpy_dtype)
        crc = _read_into(file, array, lost)
        if masked(crc) != entry.crc32c:
            lost(_differing(entry.crc32c, masked(crc)))
        return array

    def _data_file(self, shard: int, path: str) -> BinaryIO:
        found = self._files.get(shard)
        if found is None:
            found = self._files[shard] = open_file(path, "rb", buffering=0)
        return found


def read_bundle(prefix: str, read: Callable[[BundleReader], _T]) -> _T:
    """`read(reader)` of a checkpoint that others may replace at the same time.

    Its two files cannot be replaced at once.  If what is read does not fit together, it
    is read again: meanwhile a writer has replaced the other file, too.  If one was
    killed in between, the new index still stands beside its place.

    Args:
      prefix: the checkpoint's path.
      read: reads all that is wanted.

    Raises:
      Exception: raised by `read` or by `BundleReader`.
    """
    for _ in range(_MAX_ATTEMPTS):
        before = _state(prefix)
        try:
            with BundleReader(prefix) as reader:
                return read(reader)
        except (DataLossError, NotFoundError) as error:
            for index in _left_indexes(prefix):
                try:
                    with BundleReader(prefix, index) as reader:
                        return read(reader)
                except (DataLossError, NotFoundError):
                    pass
            if _state(prefix) == before:
                raise error from None
    raise DataLossError(None, None, f"{prefix}: replaced again and again while read")


_MAX_ATTEMPTS = 100


def _state(prefix: str) -> Any:
    """What changes if a checkpoint is replaced."""
    name = resolve(prefix)
    files = index_path(name), data_path(name, 0, 1)
    return [file_system.version(file) for file in files]


def _left_indexes(prefix: str) -> list[str]:
    """Indexes that a killed writer did not put in their place."""
    folder, name = os.path.split(index_path(resolve(prefix)))
    try:
        names = file_system.listdir(folder or ".")
    except OpError:
        return []
    return [os.path.join(folder, n) for n in names if n.startswith(name + MARK)]


def _shape_of(entry: Any, path: str) -> tuple[int, ...]:
    shape = tuple(dim.size for dim in entry.shape.dim)
    if entry.shape.unknown_rank or any(size < 0 for size in shape):
        raise DataLossError(None, None, f"{path}: the entry of a tensor has no shape")
    return shape


def _dtype_of(entry: Any, path: str) -> DType:
    try:
        return as_dtype(entry.dtype)
    except TypeError:
        raise DataLossError(
            None, None, f"{path}: the entry of a tensor has type {entry.dtype}"
        ) from None


def _listed(shape: Sequence[int]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _differing(stored: int, calculated: int) -> str:
    return (
        f"Checksum does not match: stored {stored} vs. calculated on the restored "
        f"bytes {calculated}"
    )


def _lost(name: str, path: str, entry: Any, what: str) -> NoReturn:
    raise DataLossError(
        None, None, f"{what} (tensor {name} at offset {entry.offset} of {path})"
    )


def _read_into(
    file: BinaryIO, array: np.ndarray[Any, Any], lost: Callable[[str], NoReturn]
) -> int:
    """Fill an array from a file: the CRC of its bytes."""
    crc = Crc32c()
    rest = array.reshape(-1).view(np.uint8).data
    readinto: Callable[[memoryview], int] = file.readinto  # type: ignore[attr-defined]
    while rest:
        piece = rest[:_PIECE_BYTES]
        count = readinto(piece)
        if not count:
            lost("Read less bytes than requested: the file became shorter")
        crc.update(piece[:count])
        rest = rest[count:]
    return crc.value


def _read_strings(
    file: BinaryIO,
    entry: Any,
    shape: tuple[int, ...],
    lost: Callable[[str], NoReturn],
) -> np.ndarray[Any, Any]:
    """Strings: their lengths as varints, a checksum of these, their bytes."""
    count = math.prod(shape)
    if count > entry.size:
        lost(f"{entry.size} bytes, {count} strings")
    data = file.read(entry.size)
    lengths, at = [], 0
    try:
        for _ in range(count):
            length, at = read_varint(data, at)
            lengths.append(length)
        (stored,) = struct.unpack_from("<I", data, at)
    except (IndexError, struct.error):
        lost("the lengths of the strings are damaged")
    crc = Crc32c()
    crc.update(packed_lengths(lengths))
    if masked(crc.value) != stored:
        lost(
            f"The length checksum does not match: expected {stored} but actual is "
            f"{masked(crc.value)}"
        )
    crc.update(data[at : at + 4])
    at += 4
    if at + sum(lengths) != entry.size:
        lost(f"{entry.size} bytes, strings of {sum(lengths)}")
    crc.update(data[at:])
    if masked(crc.value) != entry.crc32c:
        lost(_differing(entry.crc32c, masked(crc.value)))
    result = np.empty(count, object)
    for i, length in enumerate(lengths):
        result[i] = data[at : at + length]
        at += length
    return result.reshape(shape)


def _read_variant(
    file: BinaryIO, entry: Any, lost: Callable[[str], NoReturn]
) -> np.ndarray[Any, Any]:
    """A scalar variant: the length of its message, the message, a checksum of both."""
    data = file.read(entry.size)
    try:
        length, at = read_varint(data, 0)
        (stored,) = struct.unpack("<I", data[at + length :])
    except (IndexError, struct.error):
        lost("the length of the variant is damaged")
    crc = Crc32c()
    crc.update(struct.pack("<Q", length))
    crc.update(data[at : at + length])
    if masked(crc.value) != stored:
        lost(_differing(stored, masked(crc.value)))
    crc.update(data[at + length :])
    if masked(crc.value) != entry.crc32c:
        lost(_differing(entry.crc32c, masked(crc.value)))
    return np.array(data[at : at + length], object)


def packed_lengths(lengths: Sequence[int]) -> bytes:
    """The lengths of strings as their checksum sees them."""
    return b"".join(
        struct.pack("<I" if length <= _UINT32_MAX else "<Q", length)
        for length in lengths
    )
