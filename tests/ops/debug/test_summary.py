"""Summary kernels against what real TensorFlow's wrote (tests/golden/summaries.py)."""

import json
import zlib
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden.summaries import CASES
from tfteach.framework.protos import Summary
from tfteach.ops.debug import summary_formats

GOLDEN = json.loads((Path(__file__).parents[2] / "golden/summaries.json").read_text())


def pixels(png):
    """The bytes of a PNG's pixels; undoes the filters that libpng may have chosen."""
    size, rows, at = None, b"", 8
    while at < len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        kind, data = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        assert zlib.crc32(kind + data) == int.from_bytes(
            png[at + 8 + length : at + 12 + length], "big"
        )
        if kind == b"IHDR":
            width, height = (int.from_bytes(data[i : i + 4], "big") for i in (0, 4))
            size = height, width, {0: 1, 2: 3, 6: 4}[data[9]]
        elif kind == b"IDAT":
            rows += data
        at += 12 + length
    height, width, depth = size
    lines = np.frombuffer(zlib.decompress(rows), np.uint8).reshape(height, -1)
    image = np.zeros((height, width * depth), np.int64)
    for y, line in enumerate(lines):
        above = image[y - 1] if y else np.zeros(width * depth, np.int64)
        for x, byte in enumerate(line[1:].astype(np.int64)):
            a = image[y, x - depth] if x >= depth else 0
            b, c = above[x], above[x - depth] if x >= depth else 0
            distances = [abs(b - c), abs(a - c), abs(a + b - 2 * c)]
            paeth = (a, b, c)[distances.index(min(distances))]
            image[y, x] = (byte + [0, a, b, (a + b) // 2, paeth][line[0]]) % 256
    return image.reshape(size)


@pytest.mark.parametrize("case", CASES)
def test_kernel_equals_tensorflows(case):
    kind, value, options = CASES[case]
    with tf.Graph().as_default(), tf.Session() as session:
        made = getattr(tf.summary, kind)("a tag", tf.constant(value), **options)
        ours = Summary.FromString(session.run(made))
    theirs = Summary.FromString(bytes.fromhex(GOLDEN[case]))
    assert len(ours.value) == len(theirs.value)
    for a, b in zip(ours.value, theirs.value, strict=True):
        if b.HasField("image"):
            np.testing.assert_array_equal(
                pixels(a.image.encoded_image_string),
                pixels(b.image.encoded_image_string),
            )
            a.image.ClearField("encoded_image_string")
            b.image.ClearField("encoded_image_string")
        assert a == b


def test_histogram_counts_every_value():
    values = np.random.default_rng(0).normal(size=1000)
    proto = Summary().value.add().histo
    summary_formats.fill_histogram(proto, values)
    below = np.array(proto.bucket_limit)
    assert proto.num == sum(proto.bucket) == 1000
    for limit, count in zip(below, np.cumsum(proto.bucket), strict=True):
        assert (values < limit).sum() == count
    assert proto.sum == pytest.approx(values.sum())
    assert proto.sum_squares == pytest.approx((values**2).sum())


def test_names_and_collections():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        assert tf.summary.merge_all() is None
        with tf.name_scope("sc"):
            a = tf.summary.scalar("a", 1.0)
            b = tf.summary.scalar("a", 2.0)
            c = tf.summary.scalar("a", 1.0, family="f")
        tf.summary.scalar("/a b:c", 1.0, collections=["mine"])
        merged = tf.summary.merge_all()
        part = tf.summary.merge_all(scope="sc/a_1", name="m n")
        again = tf.summary.merge([a], collections=["mine"])
        names = [t.op.name for t in (a, b, c, merged, part, again)]
        assert names == [
            "sc/a",
            "sc/a_1",
            "sc/f/a",
            "Merge/MergeSummary",
            "m_n/m_n",
            "Merge_1/MergeSummary",
        ]
        assert [t.op.name for t in graph.get_collection("mine")] == ["a_b_c", names[5]]
        tags = [v.tag for v in Summary.FromString(session.run(merged)).value]
        assert tags == ["sc/a", "sc/a_1", "f/sc/f/a"]


@pytest.mark.parametrize("rate", [0.3, 1.5, 2.5, 8000.4])
def test_the_rate_of_a_sound_is_rounded_and_at_least_1(rate):
    with tf.Session() as session:
        written = session.run(tf.summary.audio("a", tf.zeros([1, 4, 2]), rate))
    content = Summary.FromString(written).value[0].audio.encoded_audio_string
    assert int.from_bytes(content[24:28], "little") == max(1, round(rate))
    assert content[:4] == b"RIFF"
    assert len(content) == 44 + 4 * 2 * 2


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([1, 0, 1], "audio is null"),
        ([1, 4, 0], "audio is null"),
        ([1, 1, 65536], r"num_channels must be in \(0, 2\^16\), got: 65536"),
    ],
)
def test_sounds_that_no_file_holds_are_refused(shape, message):
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        session.run(tf.summary.audio("a", tf.zeros(shape), 8000.0))
