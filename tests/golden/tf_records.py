"""TFRecord files that real TensorFlow writes, and what it says of damaged ones.

`python -m tests.golden.tf_records` asks the oracle and writes the folder of this name:
the files, and answers.json.
"""

from __future__ import annotations

import json
import struct
import subprocess
import zlib
from pathlib import Path

from tfteach.framework.files.crc32c import masked_crc32c
from tfteach.framework.files.records import frame

FOLDER = Path(__file__).with_suffix("")
KINDS = {"plain": "", "gzip": "GZIP", "zlib": "ZLIB"}

# Runs in real TensorFlow; `records` is what tests expect.
RECORDS = """
records = [b"", b"first", bytes(bytearray(range(256))) * 3, b"\\x00" * 1000]
"""

WRITE = """
import json
import sys
import tensorflow as tf

folder, damaged, kinds, strings = json.loads(sys.argv[1])
feature = tf.train.Feature
example = tf.train.Example(features=tf.train.Features(feature={
    "ints": feature(int64_list=tf.train.Int64List(value=[1, -2])),
    "floats": feature(float_list=tf.train.FloatList(value=[0.5])),
    "words": feature(bytes_list=tf.train.BytesList(value=[b"a", b""])),
}))
for name, kind in kinds.items():
    with tf.io.TFRecordWriter(folder + "/" + name + ".tfrecord", kind) as writer:
        for record in records:
            writer.write(record)
        writer.write(example.SerializeToString())

def answer(call):
    try:
        return call()
    except Exception as error:
        return [type(error).__name__, str(error)]

answers = {"damage": {}, "strings": []}
for name, (path, kind) in sorted(damaged.items()):
    found = []
    def read():
        for record in tf.python_io.tf_record_iterator(path, kind):
            found.append(len(record))
    answers["damage"][name] = found, answer(read)
for text in strings:
    kind = tf.io.TFRecordOptions.get_compression_type_string
    answers["strings"].append([text, answer(lambda: kind(text))])
print(json.dumps(answers, indent=0, sort_keys=True))
"""

STRINGS = [None, "", "GZIP", "ZLIB", 0, 1, 2, 3, "gzip"]
THREE = [b"a" * 20, b"b" * 20, b"c" * 20]  # 36 bytes each in the file


def with_length(length: int) -> bytes:
    """Three records, the second of which claims to have that length."""
    head = struct.pack("<q", length)
    data = b"".join(map(frame, THREE))
    return data[:36] + head + struct.pack("<I", masked_crc32c(head)) + data[48:]


def changed(data: bytes, at: int) -> bytes:
    return data[:at] + bytes((data[at] ^ 1,)) + data[at + 1 :]


def damages() -> dict[str, tuple[bytes, str]]:
    """name -> a file's bytes, and how it is compressed."""
    data = b"".join(map(frame, THREE))
    packer = zlib.compressobj(wbits=31)
    gzip = packer.compress(data) + packer.flush()
    return {
        "head cut": (data[:41], ""),
        "data missing": (data[:48], ""),
        "data cut": (data[:60], ""),
        "checksum cut": (data[:71], ""),
        "length changed": (changed(data, 36), ""),
        "checksum of the length changed": (changed(data, 45), ""),
        "data changed": (changed(data, 50), ""),
        "checksum changed": (changed(data, 70), ""),
        "length -1": (with_length(-1), ""),
        "length -20": (with_length(-20), ""),
        "length 2**31": (with_length(2**31), ""),
        "gzip whole": (gzip, "GZIP"),
        "gzip cut": (gzip[:-12], "GZIP"),
        "gzip without its end": (gzip[:-4], "GZIP"),
        "gzip, garbage after it": (gzip + b"garbage!", "GZIP"),
        "gzip, other checksum": (changed(gzip, -6 + len(gzip)), "GZIP"),
        "gzip, other data": (changed(gzip, 20), "GZIP"),
        "gzip read as plain": (gzip, ""),
        "gzip read as zlib": (gzip, "ZLIB"),
        "plain read as gzip": (data, "GZIP"),
        "empty": (b"", ""),
        "gzip empty": (b"", "GZIP"),
    }


def main() -> None:
    import tempfile

    from tests.conftest import find_oracle

    python = find_oracle()
    assert python is not None, "no TensorFlow 1.15: set TFTEACH_ORACLE"
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        files = {}
        for i, (name, (data, kind)) in enumerate(damages().items()):
            path = Path(scratch) / str(i)
            path.write_bytes(data)
            files[name] = str(path), kind
        order = json.dumps((str(FOLDER), files, KINDS, STRINGS))
        done = subprocess.run(
            [python, "-c", RECORDS + WRITE, order],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    (FOLDER / "answers.json").write_bytes(done.stdout)


if __name__ == "__main__":
    main()
