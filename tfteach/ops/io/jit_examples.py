"""Compiled loops over serialized Examples: where features are, and their values.

One pass over the bytes finds the features that are asked for in all records; the keys
may come in any order, and the lists have any length.  A record takes 0.2 us, where
Python needs 100 us.  Only the usual encoding is understood (see example_wire.py for the
messages): each message is what its parent has room for, keys precede their features,
and a list of numbers is packed, or each number has its tag.  For anything else, such as
malformed records, the loops give up, and the caller decodes the records otherwise.
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.loops import compiled_loops
from tfteach.framework.loops.compile_loop import Loop
from tfteach.framework.loops.language import Parameter
from tfteach.framework.machine_code import is_installed
from tfteach.framework.protos.wire_format import read_varint

# What Python does in place of the loops, in operations of NumPy (compiled_loops.CALL):
# for a record whose layout is new, and for a feature of a record or layout.  Records of
# a layout that is known take as long as in the loops.
NEW_LAYOUT, FEATURE = 64, 10
_BYTES, _NUMBERS = np.dtype(np.uint8), np.dtype(np.int64)
_FIELDS = 5  # of a row of `Features.rows`
# Loops may look this far beyond the last record.
_PADDING = bytes(16)

_ready: dict[str, Loop] = {}
_work = 0  # what Python has done so far


class Features(NamedTuple):
    """Where features are in records.

    Attributes:
      data: the records, one after the other.
      rows: int64 [records, keys, 5]: the number of the field of Feature, which is the
        kind of its list, or 0 without one; the first byte of the values, and the one
        after them; their number; and whether each has a tag.
    """

    data: bytes
    rows: Any

    def column(self, key: int) -> tuple[Any, Any]:
        """Kind and number of values of a feature in each record, int64 [records]."""
        return self.rows[:, key, 0], self.rows[:, key, 3]


def find_features(records: Sequence[bytes], keys: Sequence[bytes]) -> Features | None:
    """Where features are in serialized Examples.

    Args:
      records: the Examples.
      keys: the names of the features, all different.

    Returns:
      None if a record is not in the usual encoding, or the loop is not compiled.
    """
    loop = _ready.get("find")
    if loop is None or not records:
        return None
    data = b"".join((*records, _PADDING))
    if len(records) == 1:
        ends = np.array([len(records[0])])
    else:
        ends = np.cumsum([len(record) for record in records])
    rows = np.zeros((len(records), len(keys), _FIELDS), _NUMBERS)
    if loop(np.frombuffer(data, _BYTES), ends, *_names(keys), rows.reshape(-1)) < 0:
        return None
    return Features(data, rows)


@functools.lru_cache(maxsize=256)
def _names(keys: tuple[bytes, ...]) -> tuple[Any, Any]:
    """Keys as arrays: their bytes, and where each ends."""
    names = np.frombuffer(b"".join(keys) + _PADDING, _BYTES)
    return names, np.cumsum([len(key) for key in keys], dtype=_NUMBERS)


def list_of_record(features: Features, key: int, row: Sequence[int]) -> Any | None:
    """The values of a feature of the only record.

    Args:
      features: where they are.
      key: which feature.
      row: `features.rows[0, key]` as ints; the kind is not 0.

    Returns:
      float32 or int64 [n], or a list of bytes; None if a number takes more bytes than
      64 bits need.
    """
    data = features.data
    kind, start, _, count, is_tagged = row
    if kind == 1:
        strings = []
        for _ in range(count):
            size, at = read_varint(data, start + 1)
            start = at + size
            strings.append(data[at:start])
        return strings
    if kind == 3:
        if count == 1 and data[start + is_tagged] < 128:
            return np.array([data[start + is_tagged]])
        return integers_of(features, key, count)
    if is_tagged:
        return floats_of(features, key, count)
    return np.frombuffer(data, np.float32, count, start).copy()


def floats_of(features: Features, key: int, count: int) -> Any:
    """The values of a feature that is a FloatList or missing, float32 [count]."""
    values = np.empty(count, np.float32)
    data = np.frombuffer(features.data, _BYTES)
    _ready["floats"](data, features.rows, key, values.view(_BYTES))
    return values


def integers_of(features: Features, key: int, count: int) -> Any | None:
    """The values of a feature that is an Int64List or missing, int64 [count].

    Returns:
      None if a number takes more bytes than 64 bits need.
    """
    values = np.empty(count, _NUMBERS)
    data = np.frombuffer(features.data, _BYTES)
    is_right = _ready["integers"](data, features.rows, key, values)
    return values if is_right else None


def strings_of(features: Features, key: int, count: int) -> Any:
    """The values of a feature that is a BytesList or missing, an array of bytes."""
    data = features.data
    bounds = np.empty((count, 2), _NUMBERS)
    _ready["strings"](np.frombuffer(data, _BYTES), features.rows, key, bounds)
    values = np.empty(count, object)
    values[:] = [data[start:end] for start, end in bounds.tolist()]
    return values


def count_work(operations: int) -> None:
    """Count what the loops would have saved; they are compiled once that pays off.

    Args:
      operations: of NumPy, see `NEW_LAYOUT` and `FEATURE`.
    """
    global _work
    if _ready or not is_installed():
        return
    _work += compiled_loops.CALL * operations
    # The loops take 0.2 s to compile, more than those for which MIN_WORK was chosen.
    if _work < 2 * compiled_loops.MIN_WORK:
        return
    found = {
        name: compiled_loops.loop_of(*loop, compiled_loops.MIN_WORK, releases_gil=False)
        for name, loop in _SOURCES.items()
    }
    ready = {name: loop for name, loop in found.items() if loop is not None}
    if len(ready) == len(found):
        _ready.update(ready)


# ---- the loops

_SIZE = """\
size = data[at]
at += 1
if size > 127:
    size = size & 127
    shift = 7
    while data[at] > 127 and shift < 28:
        size = size | (data[at] & 127) << shift
        shift += 7
        at += 1
    if data[at] > 127:
        return -1
    size = size | data[at] << shift
    at += 1
"""

# `SIZE` is replaced by the lines above, `CHUNK(end)` by those and a check.
_FIND = """\
def loop(data, ends, names, name_ends, rows):
    start = 0
    keys = name_ends.size
    last = -1
    for r in range(ends.size):
        at = start
        end = ends[r]
        start = end
        if at < end:
            if data[at] != 10:
                return -1
            at += 1
            SIZE
            if at + size != end:
                return -1
        while at < end:
            if data[at] != 10:
                return -1
            at += 1
            SIZE
            entry = at + size
            if entry > end or size < 2:
                return -1
            if data[at] != 10:
                return -1
            at += 1
            SIZE
            name = at
            length = size
            at += size
            if at >= entry:
                return -1
            if data[at] != 18:
                return -1
            at += 1
            SIZE
            if at + size != entry:
                return -1
            key = -1
            for d in range(keys):
                k = last + 1 + d
                if k >= keys:
                    k = k - keys
                first = name_ends[k - 1] if k > 0 else 0
                if name_ends[k] - first == length:
                    same = 0
                    while same < length and names[first + same] == data[name + same]:
                        same += 1
                    if same == length:
                        key = k
                        break
            if key >= 0:
                last = key
            kind = 0
            items = at
            count = 0
            tagged = 0
            if at < entry and key >= 0:
                if data[at] == 10:
                    kind = 1
                elif data[at] == 18:
                    kind = 2
                elif data[at] == 26:
                    kind = 3
                else:
                    return -1
                at += 1
                SIZE
                if at + size != entry:
                    return -1
                items = at
                if kind == 1:
                    while at < entry:
                        if data[at] != 10:
                            return -1
                        at += 1
                        SIZE
                        at += size
                        count += 1
                elif at == entry:
                    count = 0
                elif data[at] == 10:
                    at += 1
                    SIZE
                    if at + size != entry:
                        return -1
                    items = at
                    if kind == 2:
                        if size & 3 > 0:
                            return -1
                        count = size >> 2
                        at = entry
                    else:
                        while at < entry:
                            if data[at] < 128:
                                count += 1
                            at += 1
                        if size > 0 and data[at - 1] > 127:
                            return -1
                elif kind == 2:
                    tagged = 1
                    while at < entry:
                        if data[at] != 13:
                            return -1
                        at += 5
                        count += 1
                else:
                    tagged = 1
                    while at < entry:
                        if data[at] != 8:
                            return -1
                        at += 1
                        while at < entry and data[at] > 127:
                            at += 1
                        at += 1
                        count += 1
                if at != entry:
                    return -1
            if key >= 0:
                place = (r * keys + key) * 5
                if rows[place + 1] > 0:
                    return -1
                rows[place] = kind
                rows[place + 1] = items
                rows[place + 2] = entry
                rows[place + 3] = count
                rows[place + 4] = tagged
            at = entry
    return 0
"""

_FLOATS = """\
def loop(data, rows, key, out):
    n = 0
    for r in range(rows.shape[0]):
        at = rows[r, key, 1]
        if rows[r, key, 4] > 0:
            for i in range(rows[r, key, 3]):
                for j in range(4):
                    out[n + j] = data[at + 1 + j]
                n += 4
                at += 5
        else:
            size = rows[r, key, 3] << 2
            for i in range(size):
                out[n + i] = data[at + i]
            n += size
"""

_INTEGERS = """\
def loop(data, rows, key, out):
    n = 0
    for r in range(rows.shape[0]):
        at = rows[r, key, 1]
        for i in range(rows[r, key, 3]):
            at += rows[r, key, 4]
            number = data[at]
            at += 1
            if number > 127:
                number = number & 127
                shift = 7
                while data[at] > 127 and shift < 63:
                    number = number | (data[at] & 127) << shift
                    shift += 7
                    at += 1
                if data[at] > 127:
                    return 0
                number = number | data[at] << shift
                at += 1
            out[n] = number
            n += 1
    return 1
"""

_STRINGS = """\
def loop(data, rows, key, out):
    n = 0
    for r in range(rows.shape[0]):
        at = rows[r, key, 1]
        for i in range(rows[r, key, 3]):
            at += 1
            SIZE
            out[n, 0] = at
            at += size
            out[n, 1] = at
            n += 1
    return n
"""


def _expanded(source: str) -> str:
    """The source with `_SIZE` where it says SIZE."""
    lines = []
    for line in source.splitlines(keepends=True):
        if line.strip() == "SIZE":
            line = textwrap.indent(_SIZE, line[: line.index("S")])
        lines.append(line)
    return "".join(lines)


_DATA, _LIST = Parameter(_BYTES), Parameter(_NUMBERS)
_VALUES = [_DATA, Parameter(_NUMBERS, 3), Parameter(_NUMBERS, 0)]
_SOURCES = {
    "floats": (_FLOATS, [*_VALUES, Parameter(_BYTES, 1, True)]),
    "integers": (_INTEGERS, [*_VALUES, Parameter(_NUMBERS, 1, True)]),
    "strings": (_expanded(_STRINGS), [*_VALUES, Parameter(_NUMBERS, 2, True)]),
    "find": (
        _expanded(_FIND),
        [_DATA, _LIST, _DATA, _LIST, Parameter(_NUMBERS, 1, True)],
    ),
}
