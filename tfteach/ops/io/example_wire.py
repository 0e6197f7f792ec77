"""A fast decoder of serialized Example messages, many at a time.

Examples of one data set mostly have one layout: the same keys in the same order, with
lists of the same sizes.  The first such record is walked byte by byte; what is not a
value then is the pattern of a `Layout`, with which NumPy compares all other records of
that length at once, and takes the values of a feature from all of them as one array.

    Example{1: Features{1*: {1: key, 2: Feature{1: bytes, 2: floats, 3: ints}}}}
    BytesList{1*: bytes}, FloatList{1*: packed float}, Int64List{1*: packed varint}

Source: core/example/feature.proto; the format of protocol messages.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.protos.wire_format import read_varint
from tfteach.ops.io.jit_examples import (
    FEATURE,
    NEW_LAYOUT,
    Features,
    count_work,
    find_features,
    floats_of,
    integers_of,
    strings_of,
)

NO_KIND, BYTES, FLOATS, INTS, MALFORMED, UNSUPPORTED = 0, 1, 2, 3, 4, 5
_VARINT, _FIXED64, _CHUNK, _FIXED32 = 0, 1, 2, 5
_WIRES = {FLOATS: _FIXED32, INTS: _VARINT}
_PACKED = 0x0A  # the tag of a packed list of numbers, or of a string
_FIXED_BYTES = {_FIXED64: 8, _FIXED32: 4}
# Layouts are kept by the length of their records.
_MOST_LENGTHS, _MOST_LAYOUTS = 1024, 8
_layouts: dict[int, list[Layout]] = {}


class Malformed(Exception):
    """A record is no Example.

    Attributes:
      index: which of the records.
    """

    def __init__(self, index: int) -> None:
        super().__init__(f"record {index}")
        self.index = index


class Span(NamedTuple):
    """The position of a feature's values in a record.

    Attributes:
      kind: BYTES, FLOATS or INTS; MALFORMED if the feature is no message; UNSUPPORTED
        if it begins with another field.
      parts: start and end of each string, or of the one packed list of numbers.
      is_packed: whether the numbers are packed; if not, the part is the whole list.
    """

    kind: int
    parts: tuple[tuple[int, int], ...]
    is_packed: bool


class Column(NamedTuple):
    """The values of one feature in several records.

    Attributes:
      kinds: of each record; NO_KIND where the record lacks the feature.
      counts: the number of values of each record.
      values: those of all records, in their order.
    """

    kinds: Any
    counts: Any
    values: Any


class Layout:
    """The layout of a record.

    Attributes:
      features: the position of each feature's values.
      pattern: start and content of the pieces between values.
    """

    def __init__(self, record: bytes) -> None:
        self.features: dict[bytes, Span] = {}
        _walk_example(record, self.features)
        free = sorted(part for span in self.features.values() for part in span.parts)
        self.pattern: list[tuple[int, int, bytes]] = []
        at = 0
        for start, end in [*free, (len(record), len(record))]:
            if start > at:
                self.pattern.append((at, start, record[at:start]))
            at = end
        fixed = np.ones(len(record), bool)
        for start, end in free:
            fixed[start:end] = False
        self._places = np.flatnonzero(fixed)
        self._content = np.frombuffer(record, np.uint8)[self._places]

    def fits(self, record: bytes) -> bool:
        """Whether a record of the same length has this layout."""
        return all(record[start:end] == part for start, end, part in self.pattern)

    def fits_each(self, records: Any) -> Any:
        """The same of the rows of a matrix of bytes."""
        return (records[:, self._places] == self._content).all(1)


def _walk_example(data: bytes, found: dict[bytes, Span]) -> None:
    for start, end in _features_of(data):
        for number, kind, a, b in message_fields(data, start, end):
            if (number, kind) != (1, _CHUNK):  # refused by TensorFlow, too
                raise ValueError("unknown field")
            _walk_entry(data, a, b, found)


def _features_of(data: bytes) -> list[tuple[int, int]]:
    """The positions of field 1 of an Example, which may be repeated.

    As in TensorFlow, other fields are skipped, and a last message may be cut off.
    """
    found = []
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind not in (_VARINT, _CHUNK, *_FIXED_BYTES):
            raise ValueError("no field")
        if kind == _VARINT:
            _, at = _varint(data, at)
        elif kind == _CHUNK:
            size, at = _varint(data, at)
            if number == 1:
                found.append((at, min(at + size, len(data))))
            at += size
        else:
            at += _FIXED_BYTES[kind]
            if at > len(data):
                raise ValueError("a number is cut off")
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    try:
        return read_varint(data, at)
    except IndexError:
        raise ValueError("a number is cut off") from None


def _walk_entry(data: bytes, start: int, end: int, found: dict[bytes, Span]) -> None:
    # TensorFlow accepts a key and a feature, in this order, and nothing else.
    (*key, a, b), (*value, c, d) = message_fields(data, start, end)
    if key != [1, _CHUNK] or value != [2, _CHUNK]:
        raise ValueError("not an entry")
    try:
        span = _walk_feature(data, c, d)
    except ValueError:  # an error if the feature is requested
        span = Span(MALFORMED, (), True)
    key_bytes = data[a:b]
    if span.kind or key_bytes in found:
        found.pop(key_bytes, None)  # errors are reported in the order of the last ones
        found[key_bytes] = span


def _walk_feature(data: bytes, start: int, end: int) -> Span:
    # TensorFlow reads the first list, and nothing after it.
    if start == end:
        return Span(NO_KIND, (), True)
    try:
        tag, at = read_varint(data, start)
    except IndexError:
        return Span(UNSUPPORTED, (), True)
    kind, wire = tag >> 3, tag & 7
    if wire != _CHUNK or not 1 <= kind <= 3:
        return Span(UNSUPPORTED, (), True)
    size, at = _varint(data, at)
    return _walk_list(data, kind, at, min(at + size, end))


def _walk_list(data: bytes, kind: int, start: int, end: int) -> Span:
    """The values of a list, which TensorFlow reads with less care than a message.

    Numbers are one packed part, after which nothing is read, or have a tag each.
    """
    if start == end:
        return Span(kind, (), True)
    if kind == BYTES or data[start] != _PACKED:
        parts = _tagged_parts(data, kind, start, end)
        if kind == BYTES:
            return Span(BYTES, parts, True)
        return Span(kind, ((start, end),), False)
    size, at = _varint(data, start + 1)
    if kind == INTS:
        last = min(at + size, end)
    elif at + size > end:
        raise ValueError("a list is cut off")
    else:
        last = at + size - size % 4
    return Span(kind, ((at, last),) if last > at else (), True)


def _tagged_parts(
    data: bytes, kind: int, start: int, end: int
) -> tuple[tuple[int, int], ...]:
    """The positions of values that have a tag each."""
    tag = _PACKED if kind == BYTES else 8 + _WIRES[kind]
    at, parts = start, []
    for number, _, first, last in message_fields(data, start, end):
        if number != 1 or data[at] != tag:
            raise ValueError("unknown field")
        parts.append((first, last))
        at = last
    return tuple(parts)


def message_fields(data: bytes, at: int, end: int) -> list[tuple[int, int, int, int]]:
    """(number, wire type, start, end) of the fields of a message.

    Raises:
      ValueError: the bytes are no message.
    """
    found = []
    while at < end:
        try:
            tag, at = read_varint(data, at)
            kind = tag & 7
            start = at
            if kind == _CHUNK:
                size, start = read_varint(data, at)
                at = start + size
            elif kind == _VARINT:
                at = read_varint(data, at)[1]
            elif kind == _FIXED32:
                at += 4
            elif kind == _FIXED64:
                at += 8
            else:
                raise ValueError(f"wire type {kind}")
        except IndexError:
            raise ValueError("truncated") from None
        if at > end or not tag >> 3:
            raise ValueError("truncated, or field 0")
        found.append((tag >> 3, kind, start, at))
    return found


def layout_of(record: bytes) -> Layout:
    """The layout of one record.

    Raises:
      ValueError: it is no Example.
    """
    known = _layouts.get(len(record), ())
    for layout in known:
        if layout.fits(record):
            return layout
    layout = Layout(record)
    _keep(len(record), layout)
    return layout


def _keep(length: int, layout: Layout) -> None:
    count_work(NEW_LAYOUT)
    if length not in _layouts and len(_layouts) >= _MOST_LENGTHS:
        _layouts.clear()
    known = _layouts.get(length, [])
    _layouts[length] = [layout, *known[: _MOST_LAYOUTS - 1]]


def values_of(record: bytes, span: Span) -> Any:
    """The values of a feature of one record: an array, or a list of strings.

    Raises:
      ValueError: a list ends inside a number.
    """
    if span.kind in (MALFORMED, UNSUPPORTED):
        raise ValueError("no Feature")
    if span.kind == BYTES:
        return [record[start:end] for start, end in span.parts]
    if not span.parts:
        return np.zeros(0, "<f4" if span.kind == FLOATS else np.int64)
    ((start, end),) = span.parts
    if not span.is_packed:
        # Another record of this layout may have another list here.
        found = _walk_list(record, span.kind, start, end)
        if not found.is_packed:
            return _unpacked(record, start, end, span.kind)
        count_work(FEATURE)
        return values_of(record, found)
    if span.kind == FLOATS:
        return np.frombuffer(record, "<f4", (end - start) // 4, start)
    return varints(np.frombuffer(record, np.uint8, end - start, start))


def _unpacked(record: bytes, start: int, end: int, kind: int) -> Any:
    """The numbers of a list that has a tag before each."""
    count_work(FEATURE)
    found: list[Any] = []
    for _, _, a, b in message_fields(record, start, end):
        if kind == FLOATS:
            found += struct.unpack(f"<{(b - a) // 4}f", record[a:b])
        else:
            found += varints(np.frombuffer(record, np.uint8, b - a, a)).tolist()
    return np.array(found, "<f4" if kind == FLOATS else np.int64)


def varints(data: Any) -> Any:
    """The int64 numbers that bytes encode.

    Raises:
      ValueError: the bytes end inside a number, or it takes more than 10 of them.
    """
    if not data.size or data.max() < 128:
        return data.astype(np.int64)
    if data[-1] > 127:
        raise ValueError("a list ends inside a number")
    ends = np.flatnonzero(data < 128)
    starts = np.concatenate(([0], ends[:-1] + 1))
    place = np.arange(data.size) - np.repeat(starts, ends - starts + 1)
    if place.max() >= 10:
        raise ValueError("a number takes more bytes than 64 bits need")
    shifted = (data & 127).astype(np.uint64) << (7 * place).astype(np.uint64)
    return np.add.reduceat(shifted, starts).view(np.int64)


def columns_of(records: Sequence[bytes], keys: Sequence[bytes]) -> list[Column]:
    """The values of features in many records.

    Args:
      records: serialized Examples.
      keys: the features' names.

    Returns:
      A Column for each key.

    Raises:
      Malformed: a record is no Example.
    """
    distinct = tuple(dict.fromkeys(keys))
    features = find_features(records, distinct)
    if features is not None:
        columns = [_found_column(features, i) for i in range(len(distinct))]
        of_key = dict(zip(distinct, columns, strict=True))
        found = [of_key[key] for key in keys]
        usual = [column for column in found if column is not None]
        if len(usual) == len(found):
            return usual
    return _columns_by_layout(records, keys)


def _found_column(features: Features, key: int) -> Column | None:
    """The values of a feature that was found; None if the kinds differ."""
    kinds, counts = features.column(key)
    kind = int(kinds.max())
    if kinds.min() < kind and ((kinds != kind) & (kinds != NO_KIND)).any():
        return None
    total = int(counts.sum())
    if not total:
        return Column(kinds, counts, _none(kind))
    values = _GATHERERS[kind](features, key, total)
    return None if values is None else Column(kinds, counts, values)


_GATHERERS = {BYTES: strings_of, FLOATS: floats_of, INTS: integers_of}


def _columns_by_layout(records: Sequence[bytes], keys: Sequence[bytes]) -> list[Column]:
    """`columns_of` without compiled loops."""
    by_length: dict[int, list[int]] = {}
    for i, record in enumerate(records):
        by_length.setdefault(len(record), []).append(i)
    order: list[Any] = []
    parts: list[list[Column]] = [[] for _ in keys]
    for length, members in by_length.items():
        indices = np.array(members)
        joined = bytearray().join([records[i] for i in members])
        matrix = np.frombuffer(joined, np.uint8)
        matrix = matrix.reshape(len(members), length)
        for layout, rows in _split_by_layout(records, indices, matrix):
            order.append(indices[rows])
            same = matrix if len(rows) == len(members) else matrix[rows]
            chosen = [records[i] for i in indices[rows]]
            try:
                for found, key in zip(parts, keys, strict=True):
                    found.append(_column(layout.features.get(key), same, chosen))
            except Malformed as error:
                raise Malformed(int(indices[rows][error.index])) from None
    count_work(FEATURE * (len(order) - 1) * len(keys))
    if len(order) == 1:
        return [found[0] for found in parts]
    return [_merged(found, order) for found in parts]


def _split_by_layout(records: Sequence[bytes], indices: Any, matrix: Any) -> Any:
    """(layout, positions of the records that have it) for records of one length."""
    rest = np.arange(len(indices))
    known = list(_layouts.get(matrix.shape[1], ()))
    while len(rest):
        if known:
            layout = known.pop(0)
        else:
            index = int(indices[rest[0]])
            try:
                layout = Layout(records[index])
            except ValueError:
                raise Malformed(index) from None
            _keep(matrix.shape[1], layout)
        fits = layout.fits_each(matrix[rest])
        if fits.any():
            yield layout, rest[fits]
            rest = rest[~fits]


def _column(span: Span | None, matrix: Any, records: list[bytes]) -> Column:
    """The values of a feature in records of one layout."""
    count = len(records)
    kind = NO_KIND if span is None else span.kind
    if kind in (MALFORMED, UNSUPPORTED):
        raise Malformed(0)
    kinds = np.full(count, kind)
    if span is None or not span.parts:
        return Column(kinds, np.zeros(count, np.int64), _none(kind))
    if kind == BYTES:
        values = np.empty(count * len(span.parts), object)
        values[:] = [record[a:b] for record in records for a, b in span.parts]
        return Column(kinds, np.full(count, len(span.parts)), values)
    if not span.is_packed:
        lists = []
        for i, record in enumerate(records):
            try:
                lists.append(values_of(record, span))
            except ValueError:
                raise Malformed(i) from None
        return Column(
            kinds, np.array([len(found) for found in lists]), np.concatenate(lists)
        )
    ((start, end),) = span.parts
    part = np.ascontiguousarray(matrix[:, start:end])
    if kind == FLOATS:
        floats = part.reshape(-1).view("<f4").astype(np.float32, copy=False)
        return Column(kinds, np.full(count, (end - start) // 4), floats)
    # A first byte that continues would belong to the record before.
    last = part[:, -1] if part.size else part
    if last.size and last.max() > 127:
        raise Malformed(int(last.argmax()))  # it ends inside a number
    return Column(kinds, (part < 128).sum(1), varints(part.reshape(-1)))


def _none(kind: int) -> Any:
    return np.zeros(0, {BYTES: object, FLOATS: np.float32}.get(kind, np.int64))


def _merged(columns: list[Column], order: list[Any]) -> Column:
    """Columns of several layouts as one, in the order of the records."""
    if not columns:
        return Column(np.zeros(0, int), np.zeros(0, np.int64), _none(NO_KIND))
    where = np.argsort(np.concatenate(order), kind="stable")
    kinds = np.concatenate([column.kinds for column in columns])
    counts = np.concatenate([column.counts for column in columns])
    filled = [column.values for column in columns if len(column.values)]
    if not filled:
        return Column(kinds[where], counts[where], _none(int(kinds.max())))
    if len({column.dtype for column in filled}) > 1:  # an error, which callers report
        filled = [column.astype(object) for column in filled]
    values = np.concatenate(filled)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    counts, starts = counts[where], starts[where]
    before = np.concatenate(([0], np.cumsum(counts)[:-1]))
    picked = np.arange(len(values)) + np.repeat(starts - before, counts)
    return Column(kinds[where], counts, values[picked])
