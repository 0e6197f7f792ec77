"""Examples with other fields than TensorFlow writes: which of them it accepts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tfteach as tf
from tests.golden import example_bytes
from tfteach.framework.protos.wire_format import chunk
from tfteach.ops.io import example_wire

FIVE = b"\x12\x05\x1a\x03\x0a\x01\x05"  # a feature with the int64 5
ENTRY = chunk(b"\x0a", chunk(b"\x0a", b"a") + FIVE)
# Another field -> whether TensorFlow 1.15 accepts it before, behind, or as an Example.
BESIDE_FEATURES = {
    b"\x12\x03xyz": (True, True, True),
    b"\x4a\x01q": (True, True, True),
    b"\x10\x07": (True, True, True),
    b"\x08\x01": (True, True, True),
    b"\x0d1234": (True, True, True),
    b"\x1112345678": (True, True, True),
    b"\x0b\x0c": (False, False, False),
    b"\x00": (False, False, False),
    b"\x0a": (False, False, False),
    b"\x0a\x66": (False, True, True),  # cut off
}
WITHIN_FEATURES = b"\x12\x03xyz", b"\x10\x07", b"\x08\x01", b"\x151234", b"\x1112345678"


def values(record: bytes) -> list[int] | None:
    """The values of feature `a`; None if the record is refused."""
    parsed = tf.parse_single_example(record, {"a": tf.VarLenFeature(tf.int64)})
    with tf.Session() as session:
        try:
            return session.run(parsed["a"].values).tolist()
        except tf.errors.InvalidArgumentError:
            return None


@pytest.mark.parametrize("field", BESIDE_FEATURES)
def test_other_fields_of_an_example(field: bytes) -> None:
    record = chunk(b"\x0a", ENTRY)
    found = values(field + record), values(record + field), values(field)
    expected = [[5], [5], []]
    pairs = zip(BESIDE_FEATURES[field], expected, strict=True)
    assert list(found) == [value if accepts else None for accepts, value in pairs]


@pytest.mark.parametrize("field", WITHIN_FEATURES)
def test_other_fields_of_features(field: bytes) -> None:
    for content in (ENTRY + field, field + ENTRY, field):
        assert values(chunk(b"\x0a", content)) is None


def test_the_error_is_that_of_the_last_of_equal_keys() -> None:
    """TensorFlow reads features from the end."""
    wrong = chunk(b"\x12", chunk(b"\x0a", chunk(b"\x0a", b"x")))  # strings
    entries = [chunk(b"\x0a", chunk(b"\x0a", key) + wrong) for key in (b"a", b"b")]
    record = chunk(b"\x0a", b"".join([*entries, entries[0]]))
    layout = example_wire.layout_of(record)
    assert [*layout.features] == [b"b", b"a"]
    numbers = {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.int64)}
    with tf.Session() as session, pytest.raises(tf.errors.OpError, match="Key: a"):
        session.run(tf.parse_single_example(record, numbers))


@pytest.mark.parametrize(("length", "expected"), [(10, [5]), (11, None)])
def test_numbers_of_more_bytes_than_needed(
    length: int, expected: list[int] | None
) -> None:
    number = b"\x85" + b"\x80" * (length - 2) + b"\x00"
    feature = chunk(b"\x12", chunk(b"\x1a", chunk(b"\x0a", number)))
    entry = chunk(b"\x0a", chunk(b"\x0a", b"a") + feature)
    assert values(chunk(b"\x0a", entry)) == expected


def test_unusual_encodings_are_read_as_by_tensorflow() -> None:
    recorded = json.loads(Path(example_bytes.__file__).with_suffix(".json").read_text())
    assert example_bytes.answers(tf) == recorded


def test_the_error_is_that_of_the_last_requested_feature() -> None:
    broken = chunk(b"\x12", chunk(b"\x1a", b"\x0f"))
    keys = b"a", b"b", b"c"
    entries = [chunk(b"\x0a", chunk(b"\x0a", key) + broken) for key in keys]
    record = chunk(b"\x0a", b"".join(entries))
    parsed = tf.parse_single_example(
        record, {key: tf.VarLenFeature(tf.int64) for key in "ab"}
    )
    message = r"Key: b\.  Can't parse serialized Example"
    refused = pytest.raises(tf.errors.InvalidArgumentError, match=message)
    with tf.Session() as session, refused:
        session.run(parsed)


def test_numbers_of_eleven_bytes_are_refused() -> None:
    eleven = b"\x81" + b"\x80" * 9 + b"\x00"
    entry = chunk(b"\x0a", b"\x0a" + eleven + b"a" + FIVE)
    assert values(chunk(b"\x0a", entry)) is None
    ten = b"\x81" + b"\x80" * 8 + b"\x00"
    entry = chunk(b"\x0a", b"\x0a" + ten + b"a" + FIVE)
    assert values(chunk(b"\x0a", entry)) == [5]
