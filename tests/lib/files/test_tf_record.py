"""TFRecord files: real TensorFlow reads ours, we read its; damage; options."""

from __future__ import annotations

import gzip
import json
import struct
import threading
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import pytest

import tfteach as tf
from tests.forked_programs import Forks
from tests.golden.tf_records import (
    FOLDER,
    KINDS,
    RECORDS,
    STRINGS,
    THREE,
    changed,
    damages,
    with_length,
)
from tfteach.framework.files import records
from tfteach.framework.files.records import frame, record_head

ANSWERS = json.loads((FOLDER / "answers.json").read_bytes())


def expected() -> list[bytes]:
    names: dict[str, Any] = {}
    exec(RECORDS, names)  # the text that real TensorFlow executed
    found: list[bytes] = names["records"]
    return found


def write(path: Path, data: list[bytes], options: Any = None) -> None:
    with tf.io.TFRecordWriter(path, options) as writer:
        for record in data:
            writer.write(record)


def read(path: Path, options: Any = None) -> list[bytes]:
    return list(tf.python_io.tf_record_iterator(path, options))


def read_some(path: Path, options: Any = None) -> tuple[list[bytes], Exception | None]:
    """The records before an error, and the error."""
    found = []
    try:
        for record in tf.python_io.tf_record_iterator(path, options):
            found.append(record)
    except tf.errors.OpError as error:
        return found, error
    return found, None


# ---- both ways with real TensorFlow


@pytest.mark.parametrize("name", KINDS)
def test_real_files(name: str) -> None:
    *found, last = read(FOLDER / f"{name}.tfrecord", KINDS[name])
    assert found == expected()
    example = tf.train.Example.FromString(last)
    feature = example.features.feature
    assert feature["ints"].int64_list.value == [1, -2]
    assert feature["floats"].float_list.value == [0.5]
    assert feature["words"].bytes_list.value == [b"a", b""]


@pytest.mark.parametrize("name", KINDS)
def test_our_files_are_the_same(name: str, tmp_path: Path) -> None:
    theirs = FOLDER / f"{name}.tfrecord"
    write(tmp_path / "ours", read(theirs, KINDS[name]), KINDS[name])
    wanted, found = theirs.read_bytes(), (tmp_path / "ours").read_bytes()
    if KINDS[name]:
        assert found[:3] == wanted[:3]
        found, wanted = (zlib.decompress(data, wbits=47) for data in (found, wanted))
    assert found == wanted


READ = """
import json, sys, tensorflow as tf
for path, options in json.loads(sys.argv[1]):
    records = tf.python_io.tf_record_iterator(path, options)
    print(json.dumps([tf.train.SequenceExample.FromString(r).context.feature["n"]
                      .int64_list.value[0] for r in records]))
"""


@pytest.mark.oracle
def test_real_tensorflow_reads_ours(tmp_path: Path, tensorflow: Forks) -> None:
    messages = []
    for i in range(200):
        message = tf.train.SequenceExample()
        message.context.feature["n"].int64_list.value.append(i)
        messages.append(message.SerializeToString())
    options = tf.io.TFRecordOptions("GZIP", flush_mode=2, input_buffer_size=100)
    files: list[tuple[str, str]] = []
    for kind, made in (("", None), ("GZIP", options), ("ZLIB", "ZLIB")):
        write(tmp_path / f"f{kind}", messages, made)
        files.append((str(tmp_path / f"f{kind}"), kind))
    printed = tensorflow.run(READ, json.dumps(files))
    rows = [json.loads(line) for line in printed.splitlines()]
    assert rows == [list(range(200))] * 3


# ---- damage

# TensorFlow ends silently where a file ends within a record's head, and its own error
# for a negative length says only which number of bytes it cannot read.
STRICTER = {"head cut", "length -1", "length -20"}


@pytest.mark.parametrize("name", ANSWERS["damage"])
def test_damage_as_tensorflow(name: str, tmp_path: Path) -> None:
    data, options = damages()[name]
    (tmp_path / "f").write_bytes(data)
    found, error = read_some(tmp_path / "f", options)
    lengths, answer = ANSWERS["damage"][name]
    # TensorFlow loses what it decompressed in the piece that turns out to be damaged.
    before = [len(record) for record in found][: len(lengths)]
    assert before == lengths
    assert found == THREE[: len(found)]
    if name in STRICTER:
        assert isinstance(error, tf.errors.DataLossError)
        assert "record at 36" in error.message
    elif answer is None:
        assert error is None
    else:
        kind, message = answer
        assert error is not None
        assert type(error).__name__ == kind
        assert error.message.startswith(message)
        assert str(tmp_path / "f") in error.message


def test_messages(tmp_path: Path) -> None:
    path = tmp_path / "f"
    packed = gzip.compress(frame(b"x"))
    for data, options, says in (
        (with_length(-20), "", "its length is -20"),
        (with_length(2**40), "", "its length is 1099511627776"),
        (frame(b"x")[:5], "", "only 5 bytes are left"),
        (packed, "", 'read it with options="GZIP"'),
        (zlib.compress(frame(b"x")), "", 'read it with options="ZLIB"'),
        (frame(b"x"), "GZIP", "is the file compressed in this way?"),
    ):
        path.write_bytes(data)
        error = read_some(path, options)[1]
        assert isinstance(error, tf.errors.DataLossError)
        assert says in error.message


def test_records_before_damage_in_a_compressed_file(tmp_path: Path) -> None:
    data = b"".join(frame(bytes([i]) * 1000) for i in range(200))
    for kind, bits in (("GZIP", 31), ("ZLIB", 15)):
        packer = zlib.compressobj(wbits=bits)
        packed = packer.compress(data) + packer.flush()
        (tmp_path / "f").write_bytes(changed(packed, len(packed) - 1))
        found, error = read_some(tmp_path / "f", kind)
        assert len(found) == 200
        assert isinstance(error, tf.errors.DataLossError)
        (tmp_path / "f").write_bytes(packed[: len(packed) // 2])
        found, error = read_some(tmp_path / "f", kind)
        assert 0 < len(found) < 200
        assert isinstance(error, tf.errors.DataLossError)


def test_gzip_streams_one_after_another(tmp_path: Path) -> None:
    packed = [gzip.compress(frame(record)) for record in THREE]
    (tmp_path / "f").write_bytes(b"".join(packed) + b"\0\0\0")
    assert read(tmp_path / "f", "GZIP") == THREE


@pytest.mark.parametrize("claimed", [2**30, 2**50])
def test_zip_bomb(
    claimed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "_LONG_BYTES", 1 << 20)  # so that 20 MB will do
    packer = zlib.compressobj(wbits=31)
    with (tmp_path / "bomb").open("wb") as file:
        file.write(packer.compress(frame(b"first") + record_head(claimed)))
        for _ in range(20):
            file.write(packer.compress(bytes(1 << 20)))
        file.write(packer.flush())
    tracemalloc.start()
    try:
        found, error = read_some(tmp_path / "bomb", "GZIP")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == [b"first"]
    assert isinstance(error, tf.errors.DataLossError)
    assert "truncated record at 21" in error.message
    assert peak < 5 << 20


@pytest.mark.parametrize("options", ["", "GZIP"])
def test_long_records(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = [b"a" * 700_000, b"b", bytes(range(256)) * 1024, b"c" * 300_000]
    path = tmp_path / "f"
    write(path, data, options)
    assert read(path, options) == data
    monkeypatch.setattr(records, "_LONG_BYTES", 1000)  # ask first whether it is whole
    assert read(path, options) == data
    whole = b"".join(map(frame, data))
    at = 2 * 16 + 700_001
    for spoilt, message in (
        (changed(whole, at + 20_000), f"corrupted record at {at + 12}"),
        (whole[: at + 20_000], f"truncated record at {at}"),
    ):
        path.write_bytes(gzip.compress(spoilt) if options else spoilt)
        found, error = read_some(path, options)
        assert found == data[:2]
        assert isinstance(error, tf.errors.DataLossError)
        assert message in error.message


def test_more_than_there_is_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "f", [b"first", b"x" * 500_000])
    monkeypatch.setattr(records, "_LONG_BYTES", 1000)
    monkeypatch.setattr(records, "_memory_bytes", lambda: 400_000)
    found, error = read_some(tmp_path / "f")
    assert found == [b"first"]
    assert isinstance(error, tf.errors.ResourceExhaustedError)
    assert "500000 bytes" in error.message


# ---- the writer


def test_closed(tmp_path: Path) -> None:
    writer = tf.python_io.TFRecordWriter(str(tmp_path / "f"))
    writer.write(b"x")
    writer.close()
    writer.close()
    for call in (lambda: writer.write(b"y"), writer.flush):
        with pytest.raises(
            tf.errors.FailedPreconditionError,
            match="Writer not initialized or previously closed",
        ):
            call()
    assert read(tmp_path / "f") == [b"x"]


@pytest.mark.parametrize("options", ["", "GZIP", "ZLIB"])
def test_flush_makes_records_readable(options: str, tmp_path: Path) -> None:
    path = tmp_path / "f"
    writer = tf.io.TFRecordWriter(path, options)
    for i in range(3):
        writer.write(bytes([i]) * 100)
        writer.flush()
        assert len(read(path, options)) == i + 1
    writer.write(b"last")
    del writer  # as in TensorFlow, the last reference closes it
    assert read(path, options)[-1] == b"last"


def test_what_is_no_record(tmp_path: Path) -> None:
    with tf.io.TFRecordWriter(tmp_path / "f") as writer:
        for value in ("text", bytearray(b"x"), memoryview(b"x"), 3, None):
            found = type(value).__name__
            with pytest.raises(TypeError, match=f"expected bytes, {found} found"):
                writer.write(value)  # type: ignore[arg-type]
    assert read(tmp_path / "f") == []


def test_places(tmp_path: Path) -> None:
    errors = tf.errors
    for call in (tf.io.TFRecordWriter, read):
        with pytest.raises(errors.NotFoundError, match="No such file or directory"):
            call(tmp_path / "no" / "f")
        with pytest.raises(errors.FailedPreconditionError, match="Is a directory"):
            call(tmp_path)
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            call(3)  # type: ignore[arg-type]
    later = tf.python_io.tf_record_iterator(tmp_path / "no")  # opens nothing yet
    with pytest.raises(errors.NotFoundError):
        next(later)


def test_threads(tmp_path: Path) -> None:
    with tf.io.TFRecordWriter(tmp_path / "f") as writer:

        def work(n: int) -> None:
            for i in range(500):
                writer.write(struct.pack("<II", n, i) * 100)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    found = {struct.unpack("<II", record[:8]) for record in read(tmp_path / "f")}
    assert found == {(n, i) for n in range(4) for i in range(500)}


# ---- options


@pytest.mark.parametrize("i", range(len(STRINGS)))
def test_compression_type_string(i: int) -> None:
    text, answer = ANSWERS["strings"][i]
    assert text == STRINGS[i]
    kind = tf.io.TFRecordOptions.get_compression_type_string
    if isinstance(answer, str):
        assert kind(text) == answer
        assert kind(tf.io.TFRecordOptions(text)) == answer
        assert kind(tf.io.TFRecordOptions(tf.io.TFRecordOptions(text))) == answer
    else:
        with pytest.raises(ValueError, match="Not a valid compression_type") as error:
            kind(text)
        assert str(error.value).startswith(answer[1])


def test_options_change_the_file(tmp_path: Path) -> None:
    data = [bytes(i % 7 for i in range(5000))] * 20

    def size(**options: int) -> int:
        made = tf.io.TFRecordOptions("ZLIB", **options)
        write(tmp_path / "f", data, made)
        assert read(tmp_path / "f", made) == data
        return (tmp_path / "f").stat().st_size

    usual = size()
    assert size(compression_level=0) > 100_000 > usual
    assert size(flush_mode=3, input_buffer_size=1000) > usual
    assert size(compression_strategy=2) > usual  # Huffman codes only
    assert size(window_bits=9, mem_level=1) != usual
    assert size(output_buffer_size=2) == usual
    assert size(window_bits=31) == usual + 12  # GZIP's header and end
    assert size(window_bits=-15) == usual - 6  # without a header


def test_options_that_zlib_has_not(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    for name, value in (
        ("compression_level", 10),
        ("mem_level", 0),
        ("window_bits", 47),
        ("compression_strategy", 9),
        ("compression_method", 7),
        ("flush_mode", 4),
        ("output_buffer_size", 1),
        ("input_buffer_size", -1),
    ):
        options = tf.io.TFRecordOptions("GZIP", **{name: value})
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name}.*{value}"):
            tf.io.TFRecordWriter(tmp_path / "f", options)
    options = tf.io.TFRecordOptions("GZIP", compression_level="x")
    with pytest.raises(TypeError, match="compression_level has type str"):
        tf.io.TFRecordWriter(tmp_path / "f", options)
    assert (tmp_path / "f").read_bytes() == b"old"


def test_compression_types() -> None:
    types = tf.python_io.TFRecordCompressionType
    assert (types.NONE, types.ZLIB, types.GZIP) == (0, 1, 2)
