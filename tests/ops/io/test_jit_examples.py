"""Compiled loops over serialized Examples find what Python finds, in any layout."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.ops.cases.io.parse_example import example
from tfteach.framework.loops import compiled_loops
from tfteach.framework.protos.wire_format import chunk, varint
from tfteach.ops.io import example_wire, jit_examples

KEYS = [b"floats", b"ints", b"strings", b"absent", b"ints"]
SPEC = {
    "x": tf.FixedLenFeature([2], tf.float32, [7.0, 8.0]),
    "y": tf.VarLenFeature(tf.int64),
    "s": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
}


@pytest.fixture(autouse=True)
def graph() -> Iterator[None]:
    """Another test's graph may have ops that no device here takes."""
    with tf.Graph().as_default():
        yield


@pytest.fixture(scope="module")
def loops() -> dict[str, Any]:
    pytest.importorskip("llvmlite")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_loops, "MIN_WORK", 0)
        patch.setattr(jit_examples, "_ready", {})
        for _ in range(2):
            jit_examples.count_work(1)
        assert len(jit_examples._ready) == 4
        return jit_examples._ready


@pytest.fixture
def compiled(loops: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit_examples, "_ready", loops)


def feature(rng: random.Random, key: bytes) -> bytes:
    """A feature as the libraries of protocol messages write it, or older ones did."""
    count = rng.choice([0, 1, 1, 2, 5, 40])
    if key == b"strings":
        texts = [b"t" * rng.choice([0, 1, 127, 128, 300]) for _ in range(count)]
        return chunk(b"\x0a", b"".join(chunk(b"\x0a", text) for text in texts))
    if key == b"floats":
        tag, field = b"\x0d", b"\x12"
        numbers = [np.float32(rng.gauss(0, 9)).tobytes() for _ in range(count)]
    else:
        tag, field = b"\x08", b"\x1a"
        values = [0, 1, 127, 128, -1, -(1 << 63), (1 << 63) - 1, 1 << 35]
        numbers = [varint(rng.choice(values)) for _ in range(count)]
    if rng.random() < 0.3:  # not packed
        return chunk(field, b"".join(tag + number for number in numbers))
    return chunk(field, chunk(b"\x0a", b"".join(numbers)) if numbers else b"")


def record(rng: random.Random) -> bytes:
    keys = [b"floats", b"ints", b"strings", b"unwanted", b"int", b""]
    rng.shuffle(keys)
    entries = [
        chunk(b"\x0a", chunk(b"\x0a", key) + chunk(b"\x12", feature(rng, key)))
        for key in keys[: rng.randrange(7)]
    ]
    return chunk(b"\x0a", b"".join(entries)) if entries else b""


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("count", [1, 2, 60])
def test_columns_are_those_of_the_layouts(count: int) -> None:
    rng = random.Random(count)
    for _ in range(5):
        records = [record(rng) for _ in range(count)]
        assert jit_examples.find_features(records, (b"ints",)) is not None
        found = example_wire.columns_of(records, KEYS)
        wanted = example_wire._columns_by_layout(records, KEYS)
        for ours, theirs in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(ours.kinds, theirs.kinds)
            np.testing.assert_array_equal(ours.counts, theirs.counts)
            np.testing.assert_array_equal(ours.values, theirs.values)


@pytest.mark.usefixtures("compiled")
def test_single_examples_are_rows_of_the_batch() -> None:
    session = tf.Session()
    data = [
        example(x=[1.0, 2.0], y=[5], s=[b"a", b"b" * 200]),
        example(y=[300, -1], s=[b"c"]),
        example(x=[3.0, 4.0]),
        b"",
    ]
    text = tf.placeholder(tf.string, [])
    single = tf.parse_single_example(text, SPEC)
    batch = session.run(tf.parse_example(data, SPEC))
    for i, row in enumerate(data):
        found = session.run(single, {text: row})
        np.testing.assert_array_equal(found["x"], batch["x"][i])
        of_row = batch["y"].values[batch["y"].indices[:, 0] == i]
        np.testing.assert_array_equal(found["y"].values, of_row)
        assert found["s"].tolist() == [t for t in batch["s"][i].tolist() if t]
        found["x"][0] = 9  # the caller's own array


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("key", [b"floats", b"ints", b"strings"])
def test_cut_and_changed_records_are_never_read_beyond(key: bytes) -> None:
    rng = random.Random(key[0])
    whole = chunk(
        b"\x0a",
        chunk(b"\x0a", chunk(b"\x0a", key) + chunk(b"\x12", feature(rng, key))),
    )
    outcomes = set()
    for at in range(len(whole)):
        for changed in (whole[:at], whole[:at] + b"\xff" + whole[at + 1 :]):
            wanted = outcome(example_wire._columns_by_layout, changed, key)
            assert outcome(example_wire.columns_of, changed, key) == wanted
            outcomes.add(wanted)
    assert len(outcomes) > 2


def outcome(columns_of: Any, data: bytes, key: bytes) -> str:
    try:
        [column] = columns_of([data], [key])
    except example_wire.Malformed:
        return "malformed"
    return f"{column.kinds} {column.counts} {column.values.tolist()}"


@pytest.mark.usefixtures("compiled")
def test_kinds_that_differ_are_reported_as_without_loops() -> None:
    data = [example(y=[1]), example(y=[1.5])]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Key: y, Index: 1"):
        tf.Session().run(tf.parse_example(data, {"y": tf.VarLenFeature(tf.int64)}))


def test_loops_wait_until_python_has_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setattr(jit_examples, "_ready", {})
    monkeypatch.setattr(jit_examples, "_work", 0)
    monkeypatch.setattr(example_wire, "_layouts", {})
    example_wire.columns_of([example(a=[1])] * 9, [b"a"])
    work = jit_examples._work
    assert 0 < work < compiled_loops.MIN_WORK
    example_wire.columns_of([example(a=[2])] * 9, [b"a"])
    assert jit_examples._work == work  # loops do not save time with a known layout
    example_wire.columns_of([example(a=[1]), example(a=[1, 2])], [b"a"])
    assert jit_examples._work > work
    assert not jit_examples._ready


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize(
    "entry",
    [
        chunk(b"\x0a", b"a") + chunk(b"\x12", b"") + b"\x18\x01",  # another field
        chunk(b"\x12", b"") + chunk(b"\x0a", b"a"),
        chunk(b"\x0a", b"a"),
    ],
)
def test_other_encodings_are_left_to_python(entry: bytes) -> None:
    data = chunk(b"\x0a", chunk(b"\x0a", entry))
    assert jit_examples.find_features([data], (b"a",)) is None
    usual = chunk(b"\x0a", b"a") + chunk(b"\x12", b"")
    data = chunk(b"\x0a", chunk(b"\x0a", usual))
    assert jit_examples.find_features([data], (b"a",)) is not None
