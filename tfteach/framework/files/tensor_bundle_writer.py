"""Writing checkpoints of version 2; tensor_bundle.py describes their format.

A checkpoint consists of several files, which no system replaces at once.  All are first
written beside their places; then the data files are put there, at last the index.  A
writer that is killed in between leaves the new index beside its place, where
`read_bundle` finds it.

Source: core/util/tensor_bundle/tensor_bundle.cc, BundleWriter and MergeBundles.
"""

from __future__ import annotations

import contextlib
import re
import struct
import threading
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from tfteach.framework.dtypes import as_dtype, string, variant
from tfteach.framework.errors import OpError, invalid_argument
from tfteach.framework.files import file_system
from tfteach.framework.files.crc32c import Crc32c, masked
from tfteach.framework.files.file_system import resolve
from tfteach.framework.files.pending_file import PendingFile, make_folder_of
from tfteach.framework.files.table import TableBuilder
from tfteach.framework.files.tensor_bundle import (
    HEADER_KEY,
    VERSION,
    BundleReader,
    data_path,
    index_path,
    packed_lengths,
)
from tfteach.framework.files.tensor_slice import SliceSpec, mismatch
from tfteach.framework.protos import pool
from tfteach.framework.protos.wire_format import varint

_PIECE_BYTES = 1 << 20
# As the nodes of a sharded `tf.train.Saver` name the files that they write first; in a
# SavedModel of TensorFlow 2 without a number.
_SCRATCH = re.compile(r"_temp(_[0-9a-f]{32})?/part-\d{5,}-of-\d{5,}\Z")


class BundleWriter:
    """A checkpoint of one data file, which exists once `finish` returns.

    As a context manager it finishes if no exception is raised, and otherwise leaves the
    checkpoint that may have that prefix as it was.

    Args:
      prefix: the checkpoint's path.  Its directory is created if it does not exist.

    Raises:
      FailedPreconditionError: a part of the path is a file.
      PermissionDeniedError: nothing can be written there.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = resolve(prefix)
        make_folder_of(self.prefix)
        self._entries: dict[bytes, Any] = {}
        self._offset = 0
        self._data = PendingFile(data_path(self.prefix, 0, 1))

    def add(self, name: str, array: np.ndarray[Any, Any]) -> None:
        """Write a tensor.

        Raises:
          InvalidArgumentError: there is one of that name already, or the name is empty.
          ResourceExhaustedError: the disk is full.
        """
        if not name:
            raise invalid_argument("A tensor in a checkpoint needs a name")
        self._add(name.encode(), name, array)

    def add_slice(self, name: str, spec: SliceSpec, part: Any) -> None:
        """Write a part of a partitioned tensor.

        Raises:
          InvalidArgumentError: the part has not the shape that `spec` says, another
            part implies another shape or type of the tensor, or the slice exists.
        """
        array = np.asarray(part)
        if spec.part_shape() != array.shape:
            raise mismatch(spec, array.shape)
        if spec.slice.is_full():
            self.add(name, array)
            return
        whole = self._entries.get(name.encode())
        if whole is None:
            whole = self._new_entry(name.encode(), name)
            whole.dtype = as_dtype(array.dtype).as_datatype_enum
            _set_shape(whole, spec.shape)
        shape = tuple(dim.size for dim in whole.shape.dim)
        dtype = as_dtype(whole.dtype)
        if shape != spec.shape or dtype is not as_dtype(array.dtype):
            raise invalid_argument(
                f"The slices of {name} belong to different tensors: of type "
                f"{dtype.name} and shape {list(shape)}, and of type "
                f"{as_dtype(array.dtype).name} and shape {list(spec.shape)}"
            )
        self._add(spec.slice.key(name), name, array)
        spec.slice.add_to(whole.slices.add())

    def finish(self) -> None:
        """Complete the checkpoint."""
        index = PendingFile(index_path(self.prefix))
        try:
            _write_index(index, self._entries, 1)
            index.close()
            self._data.commit()
            index.commit()
        except BaseException:
            index.discard()
            raise

    def discard(self) -> None:
        """Delete what was written."""
        self._data.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self.finish()
        finally:
            self._data.discard()  # nothing, if it was committed

    def _new_entry(self, key: bytes, name: str) -> Any:
        if key in self._entries:
            raise invalid_argument(f"Adding duplicate key: {name}")
        entry = self._entries[key] = pool.message("BundleEntryProto")()
        entry.shape.SetInParent()
        return entry

    def _add(self, key: bytes, name: str, array: Any) -> None:
        array = np.asarray(array)
        dtype = as_dtype(array.dtype)
        entry = self._new_entry(key, name)
        entry.dtype = dtype.as_datatype_enum
        _set_shape(entry, array.shape)
        entry.offset = self._offset
        crc = Crc32c()
        if dtype is string:
            self._write_strings(array, crc)
        else:
            flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
            self._write(flat.data, crc)
        entry.size = self._offset - entry.offset
        entry.crc32c = masked(crc.value)

    def add_variant(self, name: str, data: bytes) -> None:
        """Add a scalar variant.

        Args:
          name: its name.
          data: a serialized VariantTensorDataProto.
        """
        entry = self._new_entry(name.encode(), name)
        entry.dtype = variant.as_datatype_enum
        entry.offset = self._offset
        head = varint(len(data))
        content = Crc32c()
        content.update(struct.pack("<Q", len(data)))
        content.update(data)
        tail = masked(content.value).to_bytes(4, "little")
        self._data.write(head + data + tail)
        self._offset += len(head) + len(data) + len(tail)
        entry.size = self._offset - entry.offset
        content.update(tail)
        entry.crc32c = masked(content.value)

    def _write(self, data: memoryview, crc: Crc32c) -> None:
        if len(data) <= _PIECE_BYTES:
            crc.update(data)
            self._data.write(data)
        else:
            self._data.reserve(len(data))
            # Both functions release the interpreter's lock.
            checking = threading.Thread(target=crc.update, args=(data,))
            checking.start()
            try:
                for start in range(0, len(data), _PIECE_BYTES):  # Ctrl-C is in time
                    self._data.write(data[start : start + _PIECE_BYTES])
            finally:
                checking.join()
        self._offset += len(data)

    def _write_strings(self, array: Any, crc: Crc32c) -> None:
        values = [v if isinstance(v, bytes) else str(v).encode() for v in array.flat]
        lengths = [len(v) for v in values]
        crc.update(packed_lengths(lengths))
        check = masked(crc.value).to_bytes(4, "little")
        head = b"".join(map(varint, lengths)) + check
        crc.update(check)
        self._data.write(head)
        self._offset += len(head)
        self._write(memoryview(b"".join(values)), crc)


def _set_shape(entry: Any, shape: Sequence[int]) -> None:
    for size in shape:
        entry.shape.dim.add(size=size)


def _write_index(index: PendingFile, entries: dict[bytes, Any], shards: int) -> None:
    header = pool.message("BundleHeaderProto")(num_shards=shards)
    header.version.producer = VERSION
    builder = TableBuilder(index)
    builder.add(HEADER_KEY, header.SerializeToString())
    for key in sorted(entries):
        builder.add(key, entries[key].SerializeToString())
    builder.finish()


def merge_bundles(
    prefixes: Sequence[str], destination: str, deletes_folders: bool = True
) -> None:
    """Make one checkpoint of several, whose data files become its shards.

    Args:
      prefixes: the checkpoints; they do not exist afterwards.
      destination: the prefix of the new one.
      deletes_folders: whether the directories of the old ones are deleted if they are
        empty afterwards.

    Raises:
      InvalidArgumentError: two of them have the same tensor, or different slices of
        tensors that differ in type or shape.
    """
    entries: dict[bytes, Any] = {}
    moves: list[tuple[str, str]] = []
    sources = [BundleReader(prefix) for prefix in prefixes]
    target = resolve(destination)
    shards = sum(source.shards for source in sources)
    first = 0
    for source in sources:
        _merge_entries(entries, source, first)
        for shard in range(source.shards):
            old = data_path(source.prefix, shard, source.shards)
            moves.append((old, data_path(target, first + shard, shards)))
        first += source.shards
    make_folder_of(target)
    with PendingFile(index_path(target)) as index:
        _write_index(index, entries, shards)
        index.close()
        for old, new in moves:
            file_system.rename(old, new)
    for source in sources:
        with contextlib.suppress(OpError):
            file_system.remove(index_path(source.prefix))
    if deletes_folders:
        for folder in {file_system.dirname(source.prefix) for source in sources}:
            with contextlib.suppress(OpError):
                file_system.rmdir(folder)


def is_scratch(prefix: str) -> bool:
    """Whether a prefix is that of a shard which a sharded save merges at its end."""
    return _SCRATCH.search(prefix) is not None


def delete_scratch(prefix: str) -> None:
    """Delete a shard that will not be merged; with the last one its directory, too."""
    prefix = resolve(prefix)
    for delete, path in (
        (file_system.remove, index_path(prefix)),
        (file_system.remove, data_path(prefix, 0, 1)),
        (file_system.rmdir, file_system.dirname(prefix)),
    ):
        with contextlib.suppress(OpError):
            delete(path)


def _merge_entries(
    entries: dict[bytes, Any], source: BundleReader, first_shard: int
) -> None:
    """Add the entries of a checkpoint whose shards will begin with this number."""
    for key, entry in source.entries():
        entry.shard_id += first_shard
        known = entries.get(key)
        if known is None:
            entries[key] = entry
        elif not (known.slices and entry.slices):
            raise invalid_argument(f"Merging duplicate key {key!r}")
        elif known.dtype != entry.dtype or known.shape != entry.shape:
            raise invalid_argument(
                f"Two slices of {key!r} belong to tensors of different types or shapes"
            )
        else:
            known.slices.extend(entry.slices)
