"""Resizing, cropping and turning images: errors, and what graphs do not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tests.golden import calls, image_calls
from tests.ops.test_calls import close
from tfteach.ops.image import resize_weights
from tfteach.ops.image.extract_glimpse import ExtractGlimpse

GOLDEN: dict[str, Any] = json.loads(
    Path(image_calls.__file__).with_suffix(".json").read_text()
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", image_calls.calls())
def test_mistake_gives_the_error_of_tensorflow(call: str) -> None:
    ours, theirs = calls.record(tf, call), GOLDEN[call]
    assert ("error" in ours) == ("error" in theirs), (ours, theirs)
    if "error" in theirs:
        name, words = theirs["error"]
        assert ours["error"][0] == name
        assert ours["error"][1].startswith(words.split("\n")[0].rstrip("."))
    else:
        assert close(json.loads(json.dumps(ours["value"])), theirs["value"]), ours


def test_every_mistake_was_put_to_tensorflow() -> None:
    assert set(image_calls.calls()) == GOLDEN.keys()


def test_image_gradients_wants_a_batch() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="expects a 4D"):
        tf.image.image_gradients(tf.ones([4, 4, 1]))


KINDS = [resize_weights.bilinear, resize_weights.nearest, resize_weights.bicubic]


@pytest.mark.parametrize("make", KINDS, ids=lambda m: m.__name__)
@pytest.mark.parametrize("sizes", [(1, 1), (1, 6), (6, 1), (5, 5), (17, 4), (4, 17)])
@pytest.mark.parametrize("switches", [(False, False), (True, False), (False, True)])
def test_gradient_is_the_transposed_map(make: Any, sizes: Any, switches: Any) -> None:
    """<resize(x), g> = <x, back(g)>, for few channels and for many."""
    size, out = sizes
    there = make(size, out, *switches)
    back = resize_weights.transposed(make, size, out, *switches)
    rng = np.random.default_rng(size * 100 + out)
    for channels in (2, 20):
        x = rng.normal(size=(3, size, size, channels))
        g = rng.normal(size=(3, out, out, channels))
        y = resize_weights.resample(np, x, there, there, np.float64)
        z = resize_weights.resample(np, g, back, back, np.float64)
        assert y.shape == g.shape
        assert z.shape == x.shape
        assert (y * g).sum() == pytest.approx((x * z).sum(), abs=1e-4)


@pytest.mark.parametrize("size", [4, 6, 13])
@pytest.mark.parametrize("lines", [1, 2, 7, 20])
def test_images_are_resized_in_blocks(
    monkeypatch: pytest.MonkeyPatch, size: int, lines: int
) -> None:
    x = np.random.default_rng(1).normal(size=(5, 6, 7, 3)).astype(np.float32)
    rows, columns = KINDS[0](6, size, False, False), KINDS[2](7, 9, False, True)
    whole = resize_weights.resample(np, x, rows, columns, np.float32)
    monkeypatch.setattr(resize_weights, "BLOCK_BYTES", lines * 9 * 3 * 4)
    parts = resize_weights.resample(np, x, rows, columns, np.float32)
    np.testing.assert_array_equal(parts, whole)


def test_gradient_of_a_nan_stays_near() -> None:
    grads = np.ones((1, 4, 4, 1), np.float32)
    grads[0, 0, 0] = np.nan
    back = resize_weights.transposed(resize_weights.nearest, 16, 4, False, False)
    found = resize_weights.resample(np, grads, back, back, np.float32)
    assert np.isnan(found[0, 0, 0])
    assert not np.isnan(found[0, 4:, 4:]).any()


def test_sizes_that_only_a_run_knows() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.uint8, [None, None, None, 3])
        size = tf.placeholder(tf.int32, [2])
        y = tf.image.resize_images(x, size)
        assert y.shape.as_list() == [None, None, None, 3]
        for shape, to in (((2, 4, 4, 3), [8, 6]), ((1, 9, 5, 3), [3, 3])):
            found = sess.run(y, {x: np.full(shape, 7, np.uint8), size: to})
            assert found.shape == (shape[0], *to, 3)
            assert (found == 7.0).all()


def test_random_flips_differ_by_image_and_run() -> None:
    batch = np.arange(64.0).reshape(64, 1, 1, 1) + np.arange(2.0).reshape(1, 1, 2, 1)
    with tf.Graph().as_default(), tf.Session() as sess:
        y = tf.image.random_flip_left_right(tf.constant(batch), seed=1)
        first, second = sess.run(y), sess.run(y)
    for found in (first, second):
        flipped = (found != batch).all((1, 2, 3))
        np.testing.assert_array_equal(found[flipped], batch[flipped][:, :, ::-1])
        np.testing.assert_array_equal(found[~flipped], batch[~flipped])
        assert 10 < flipped.sum() < 54
    assert (first != second).any()


@pytest.mark.parametrize("kind", ["uniform", "gaussian"])
def test_glimpse_is_surrounded_by_noise_like_the_image(kind: str) -> None:
    image = np.random.default_rng(2).uniform(3, 5, (1, 8, 8, 2)).astype(np.float32)
    op = ExtractGlimpse(uniform_noise=False, noise=kind)
    with tf.Graph().as_default(), tf.Session() as sess:
        y = op(tf.constant(image), [20, 20], [[0.0, 0.0]])
        first, second = sess.run(y), sess.run(y)
    for found in (first, second):
        assert found.min() >= image.min()
        assert found.max() <= image.max()
        assert len(np.unique(found)) > 300
    assert (first != second).any()


def test_op_without_a_function_comes_from_a_graph() -> None:
    wanted = {"size": ([2, 2], tf.int32), "by": ([0.5] * 2, tf.float32),
              "to": ([0.0] * 2, tf.float32)}  # fmt: skip
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [1, 4, 4, 1], name="x")
        for name, (value, dtype) in wanted.items():
            tf.constant(value, dtype, name=name)
        graph_def = graph.as_graph_def()
    node = graph_def.node.add(name="y", op="ScaleAndTranslate")
    node.input.extend(["x", *wanted])
    node.attr["T"].type = tf.float32.as_datatype_enum
    with tf.Graph().as_default(), tf.Session() as sess:
        (y,) = tf.import_graph_def(graph_def, return_elements=["y:0"], name="")
        assert y.op.get_attr("kernel_type") == b"lanczos3"
        found = sess.run(y, {"x:0": np.ones([1, 4, 4, 1])})
        np.testing.assert_allclose(found, np.ones([1, 2, 2, 1]), rtol=1e-6)
