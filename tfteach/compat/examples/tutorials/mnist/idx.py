"""The idx format of MNIST's files: a magic number, sizes, bytes.

Source: yann.lecun.com/exdb/mnist, "File formats for the MNIST database".
"""

from __future__ import annotations

import gzip
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

# Training and test images and labels.
FILES = (
    ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"),
    ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz"),
)


def read(file: Any, magic: int, what: str) -> Any:
    """Read the uint8 array in an open file, gzipped or not.

    Args:
      file: a binary file; errors name it.
      magic: the expected first number; its last byte is the number of dimensions.
      what: "image" or "label".

    Raises:
      ValueError: the file is damaged, or has other contents.
    """
    again = "Delete it to have it downloaded again, or put a sound copy in its place."
    data = file.read()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as err:
            raise ValueError(
                f"The gzip file {file.name} is damaged: {err}. {again}"
            ) from None
    found = int.from_bytes(data[:4], "big")
    if len(data) < 4 or found != magic:
        raise ValueError(
            f"Invalid magic number {found} in MNIST {what} file: {file.name}. A file "
            f"of {what}s begins with {magic}, this one with the bytes {data[:4]!r}. "
            f"{again}"
        )
    dimensions = magic & 255
    head = 4 + 4 * dimensions
    if len(data) < head:
        raise ValueError(f"The file {file.name} ends in its header. {again}")
    shape = struct.unpack(f">{dimensions}I", data[4:head])
    size = int(np.prod(shape, dtype=np.int64))
    if len(data) - head < size:
        raise ValueError(
            f"The file {file.name} is not complete: its header says {list(shape)}, "
            f"{size} bytes, and {len(data) - head} follow. {again}"
        )
    # A copy: an array over the file's bytes would be read-only.
    return np.frombuffer(data, np.uint8, size, head).reshape(shape).copy()


def write(path: Path, array: Any) -> None:
    """Write a uint8 array as a gzipped idx file."""
    head = struct.pack(f">I{array.ndim}I", 2048 + array.ndim, *array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes(), 6, mtime=0))
