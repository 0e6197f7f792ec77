"""Text files with one entry a line, such as a vocabulary.

Source: core/kernels/lookup_util.cc, TextFileLineIterator;
core/lib/io/inputbuffer.cc, ReadLine.
"""

from __future__ import annotations

from tfteach.framework.errors import OutOfRangeError, invalid_argument
from tfteach.framework.files.file_system import read_file

ALL = -1  # as the number of lines


def vocabulary_lines(path: str, size: int = ALL) -> list[bytes]:
    """The lines of a file, without their ends; carriage returns are dropped.

    Args:
      path: the file.
      size: how many lines to read; ALL for the whole file.

    Raises:
      NotFoundError: there is no such file.
      OutOfRangeError: the file is empty, or `size` is 0.
      InvalidArgumentError: a line is empty, or the file has fewer lines than `size`.
    """
    data = read_file(path)
    if size == 0:
        raise OutOfRangeError(None, None, f"Finished reading 0 of lines from {path}")
    if not data and size == ALL:
        raise OutOfRangeError(None, None, "Read less bytes than requested")
    found: list[bytes] = []
    position = 0
    for line in data.removesuffix(b"\n").split(b"\n") if data else ():
        if len(found) == size:
            break
        position = min(position + len(line) + 1, len(data))
        text = line.replace(b"\r", b"")
        if not text:
            raise invalid_argument(
                f"Invalid content in {path}: empty line found at position {position}."
            )
        found.append(text)
    if len(found) < size:
        raise invalid_argument(
            f"Invalid vocab_size in {path}: expected {size} but got {len(found)}"
        )
    return found
