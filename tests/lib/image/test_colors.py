"""Colours, boxes and quality of images: what golden graphs cannot hold.

Classes and first words of errors are real TensorFlow 1.15's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework.op import op_class

image = tf.image
RGB = np.random.default_rng(3).uniform(size=(2, 12, 13, 3)).astype(np.float32)
FOUR = np.ones((2, 3, 4), np.float32)
THREE = ((1.0, 2.0, 3.0),)  # scores of one box for three classes
BOX = np.float32([[[0.1, 0.2, 0.7, 0.8]]])
Build = Callable[[], Any]


def run(tensors: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(tensors)


def fed(array: Any) -> Any:
    """An array of which the graph does not know the shape."""
    return tf.placeholder_with_default(np.asarray(array), None)


def op(kind: str, *values: Any, **attributes: Any) -> Any:
    return op_class(kind)(**attributes)(*values)


def crop(
    size: Any = (40, 50, 3), boxes: Any = BOX, covered: Any = 0.1, **of: Any
) -> Any:
    return op("SampleDistortedBoundingBoxV2", size, boxes, covered, seed=1, **of)


def kept(boxes: Any = BOX[0], scores: Any = (1.0,), size: Any = 3, *limits: Any) -> Any:
    return op("NonMaxSuppressionV3", boxes, scores, size, *(limits or (0.5, 0.0)))


def combined(boxes: Any = BOX[:, :, None], scores: Any = ((1.0,),), **of: Any) -> Any:
    values = {"own": 2, "whole": 3, "iou": 0.5, "score": 0.0, **of}
    return op("CombinedNonMaxSuppression", boxes, (scores,), *values.values())


WHILE_BUILDING: list[tuple[Build, type[Exception], str]] = [
    (lambda: image.convert_image_dtype(RGB, tf.bool), AttributeError,
     "dtype must be either floating point or integer"),
    (lambda: image.convert_image_dtype([True], tf.float32), TypeError,
     "Value passed to parameter 'x' has DataType bool not in list of allowed values"),
    (lambda: image.rgb_to_grayscale(RGB[..., :2]), ValueError,
     "Dimensions must be equal, but are 2 and 3 for 'rgb_to_grayscale/Tensordot/"),
    (lambda: image.rgb_to_grayscale(1.0), IndexError, "list index out of range"),
    (lambda: image.grayscale_to_rgb(tf.constant(RGB)), ValueError,
     "Last dimension of a grayscale image should be size 1."),
    (lambda: image.grayscale_to_rgb(tf.constant([1.0])), ValueError,
     "A grayscale image must be at least two-dimensional."),
    (lambda: image.rgb_to_hsv(FOUR), ValueError,
     "Dimension must be 3 but is 4 for 'RGBToHSV' (op: 'RGBToHSV') with input shapes"),
    (lambda: image.hsv_to_rgb(1.0), ValueError, "Shape must be at least rank 1"),
    (lambda: image.rgb_to_yiq(FOUR), ValueError, "Dimensions must be equal"),
    (lambda: image.rgb_to_yiq(np.ones((2, 3), np.int32)), TypeError,
     "Expected int32, got 0.299 of type 'float' instead."),
    (lambda: image.rgb_to_yuv(fed(RGB)), TypeError,
     "unsupported operand type(s) for -: 'NoneType' and 'int'"),
    (lambda: image.adjust_contrast(RGB[0, 0], 2.0), ValueError,
     "Shape must be at least rank 3 but is rank 2 for 'adjust_contrast'"),
    (lambda: image.adjust_contrast(RGB, [1.0, 2.0]), ValueError,
     "Shape must be rank 0 but is rank 1 for 'adjust_contrast'"),
    (lambda: image.adjust_hue(RGB[0, 0], 0.1), ValueError,
     "Shape must be at least rank 3 but is rank 2 for 'adjust_hue/AdjustHue'"),
    (lambda: image.adjust_gamma(RGB, -1), ValueError,
     "Gamma should be a non-negative real number."),
    (lambda: image.per_image_standardization(RGB[0, 0]), ValueError,
     "'image' must be at least three-dimensional."),
    (lambda: image.per_image_standardization(RGB[:, :0]), ValueError,
     "all dims of 'image.shape' must be > 0: (2, 0, 13, 3)"),
    (lambda: image.random_brightness(RGB, -0.1), ValueError,
     "max_delta must be non-negative."),
    (lambda: image.random_contrast(RGB, 1, 1), ValueError, "upper must be > lower."),
    (lambda: image.random_saturation(RGB, -1, 1), ValueError,
     "lower must be non-negative."),
    (lambda: image.random_hue(RGB, 0.6), ValueError, "max_delta must be <= 0.5."),
    (lambda: image.random_hue(RGB, -0.1), ValueError,
     "max_delta must be non-negative."),
    (lambda: image.draw_bounding_boxes(tf.zeros([1, 4, 5, 2]), BOX), ValueError,
     "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)"),
    (lambda: image.draw_bounding_boxes(np.zeros((1, 4, 5, 3), np.uint8), BOX[0]),
     ValueError, "Shape must be rank 3 but is rank 2 for 'DrawBoundingBoxes'"),
    (lambda: crop(size=[3, 4]), ValueError, "Dimension must be 3 but is 2"),
    (lambda: crop(boxes=BOX[0]), ValueError, "Shape must be rank 3 but is rank 2"),
    (lambda: kept(scores=[1.0, 2.0]), ValueError,
     "Dimensions must be equal, but are 1 and 2 for 'NonMaxSuppressionV3'"),
    (lambda: kept(size=[1]), ValueError, "Shape must be rank 0 but is rank 1"),
    (lambda: kept(size=1.0), TypeError,
     "Expected int32 passed to parameter 'max_output_size' of op"),
    (lambda: combined(np.ones((1, 1, 2, 4), np.float32), THREE), ValueError,
     "third dimension of boxes must be either 1 or equal to the third dimension of "),
    (lambda: combined(whole=0), ValueError, "max_total_size should be > 0 "),
    (lambda: image.combined_non_max_suppression(
        tf.placeholder(tf.float32), tf.placeholder(tf.float32), 3, 4,
        pad_per_class=True,  # as many classes as nobody knows
     ), ValueError, "Dimension -3 must be >= 0"),
    (lambda: combined(own=-1), ValueError,
     "Dimension size, given by scalar input 2, must be non-negative but is -1"),
    (lambda: image.psnr(RGB, RGB[:, :3], 1.0), ValueError,
     "Dimensions must be equal, but are 12 and 3 for 'PSNR/SquaredDifference'"),
    (lambda: image.ssim(tf.constant(RGB), tf.constant(RGB[:, :3]), 1.0), ValueError,
     "Shapes (12, 13, 3) and (3, 13, 3) are incompatible"),
    (lambda: image.ssim(tf.zeros([5, 13, 12, 3]), tf.zeros([4, 13, 12, 3]), 1.0),
     ValueError, "Two images are not compatible: (5, 13, 12, 3) and (4, 13, 12, 3)"),
    (lambda: image.ssim(tf.constant(RGB[0, 0]), tf.constant(RGB[0, 0]), 1.0),
     ValueError, "Shape (13, 3) must have rank at least 3"),
    (lambda: image.ssim(tf.zeros([5, 13, 3]), tf.zeros([5, 13, 3]), 1.0), ValueError,
     "Negative dimension size caused by subtracting 11 from 5 for 'depthwise'"),
]  # fmt: skip


@pytest.mark.parametrize(("build", "error", "words"), WHILE_BUILDING)
def test_refused_while_building(
    build: Build, error: type[Exception], words: str
) -> None:
    with tf.Graph().as_default(), pytest.raises(error) as caught:
        build()
    assert str(caught.value).startswith(words)


FLOATS = "input must have 3 channels but instead has 4 channels."
WHEN_RUN: list[tuple[Build, str]] = [
    (lambda: image.grayscale_to_rgb(fed(RGB)),
     "assertion failed: [Last dimension of a grayscale image should be size 1.]"),
    (lambda: image.rgb_to_hsv(fed(1.0)), "input must be at least 1D[]"),
    (lambda: image.adjust_contrast(fed(RGB[0, 0]), 2.0),
     "input must be at least 3-D, got shape[13,3]"),
    (lambda: image.adjust_contrast(RGB, fed(np.float32([1, 2]))),
     "contrast_factor must be scalar: [2]"),
    (lambda: image.adjust_hue(FOUR, 0.1), FLOATS),
    (lambda: image.adjust_hue(RGB, [0.1, 0.2]), "delta must be scalar: [2]"),
    (lambda: image.adjust_saturation(FOUR, 0.1), FLOATS),
    (lambda: image.adjust_saturation(RGB, [0.1]), "scale must be scalar: [1]"),
    (lambda: image.adjust_gamma(RGB, tf.constant(-1.0)),
     "assertion failed: [Gamma should be a non-negative real number.]"),
    (lambda: image.per_image_standardization(fed(RGB[:, :0])), "assertion failed: "),
    (lambda: image.draw_bounding_boxes(fed(RGB[0]), BOX),
     "The rank of the images should be 4"),
    (lambda: image.draw_bounding_boxes(RGB, BOX), "The batch sizes should be the same"),
    (lambda: image.draw_bounding_boxes(RGB[:1], BOX, colors=[[1.0, 2.0]]),
     "colors must have equal or more channels than the image provided: [1,2]"),
    (lambda: crop(aspect_ratio_range=(1.0, 2.0, 3.0)),
     "Aspect ratio range field must specify 2 dimensions"),
    (lambda: crop(aspect_ratio_range=(-1.0, 2.0)),
     "Aspect ratio range must be non-negative: [-1, 2]"),
    (lambda: crop(area_range=(0.1, 1.2)),
     "Area range must be less then or equal to 1.0: [0.1, 1.2]"),
    (lambda: crop(max_attempts=0), "Max attempts must be non-negative: 0"),
    (lambda: crop(covered=-0.5), "Min object covered must be non-negative: -0.5"),
    (lambda: crop(boxes=BOX[:, :0]), "No bounding boxes provided as input. One must"),
    (lambda: crop(boxes=BOX * 1.5), "All bounding box coordinates must be in "),
    (lambda: crop(size=[-1, 4, 3]), "image height cannot be >= int32 max"),
    (lambda: crop(boxes=fed(BOX[0])), "input boxes must be 3-dimensional [batch, num_"),
    (lambda: kept(BOX[0], [1.0], 3, 2.0, 0.0), "iou_threshold must be in [0, 1]"),
    (lambda: kept(BOX[0], [1.0], 3, 0.5, fed(np.float32([1]))),
     "score_threshold must be 0-D, got shape [1]"),
    (lambda: kept(fed(BOX)), "boxes must be 2-D[1,1,4]"),
    (lambda: kept(scores=fed(np.ones(2, np.float32))), "scores has incompatible shape"),
    (lambda: op("NonMaxSuppressionV5", BOX[0], [1.0], 3, 0.5, 0.0, -1.0),
     "soft_nms_sigma_val must be >= 0"),
    (lambda: image.non_max_suppression_overlaps(fed(RGB[0, ..., 0]), [1.0], 3),
     "overlaps must be square[12,13]"),
    (lambda: combined(fed(np.ones((1, 1, 2, 4), np.float32)), ((1.0, 2.0, 3.0),)),
     "third dimension of boxes must be either 1 or num classes"),
    (lambda: image.psnr(fed(RGB), fed(RGB[:, :3]), 1.0),
     "Incompatible shapes: [2,12,13,3] vs. [2,3,13,3]"),
    (lambda: image.random_hue(RGB[..., :2], 0.1),
     "input must have 3 channels but instead has 2 channels."),
]  # fmt: skip


@pytest.mark.parametrize(("build", "words"), WHEN_RUN)
def test_refused_in_the_run(build: Build, words: str) -> None:
    with tf.Graph().as_default():
        tensors = build()
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            run(tensors)
    assert str(caught.value).startswith(words)


def test_four_channels_are_a_failed_precondition_for_hsv() -> None:
    with tf.Graph().as_default():
        hsv = image.rgb_to_hsv(fed(FOUR))
        with pytest.raises(tf.errors.FailedPreconditionError, match="only has 4"):
            run(hsv)


# ---- types


def test_short_floats_are_computed_wide() -> None:
    half = RGB[:1].astype(np.float16)
    functions = [
        image.rgb_to_hsv,
        lambda x: image.adjust_contrast(x, 1.5),
        lambda x: image.adjust_hue(x, 0.2),
        lambda x: image.adjust_saturation(x, 1.5),
        image.per_image_standardization,
    ]
    with tf.Graph().as_default():
        short, wide = tf.constant(half), tf.constant(half.astype(np.float32))
        pairs = run([(f(short), f(wide)) for f in functions])
    for ours, exact in pairs:
        assert ours.dtype == np.float16
        np.testing.assert_allclose(ours, exact, rtol=4e-3, atol=4e-3)


def test_there_and_back_gives_the_same_bytes() -> None:
    levels = np.arange(256, dtype=np.uint8)
    for dtype in (tf.float32, tf.float64, tf.uint16, tf.int32):
        with tf.Graph().as_default():
            there = image.convert_image_dtype(tf.constant(levels), dtype)
            back = image.convert_image_dtype(there, tf.uint8)
            np.testing.assert_array_equal(run(back), levels)


def test_hsv_and_back() -> None:
    with tf.Graph().as_default():
        back = run(image.hsv_to_rgb(image.rgb_to_hsv(RGB)))
    np.testing.assert_allclose(back, RGB, atol=1e-6)


# ---- random ones


def test_random_colours_go_on_from_run_to_run_and_start_again_with_a_session() -> None:
    with tf.Graph().as_default():
        bright = image.random_brightness(tf.zeros([1, 1, 3]), 0.5, seed=4)
        part = image.sample_distorted_bounding_box([90, 90, 3], BOX, seed=2)[0]
        free = image.random_contrast(RGB, 0.5, 1.5)
        sessions = []
        for _ in range(2):
            with tf.Session() as sess:
                rows = [sess.run([bright, part]) for _ in range(3)]
                sessions.append([(float(b[0, 0, 0]), *p[:2]) for b, p in rows])
        assert sessions[0] == sessions[1]
        assert len(set(sessions[0])) == 3
        assert not np.array_equal(run(free), run(free))


def test_a_crop_covers_enough_of_the_object() -> None:
    with tf.Graph().as_default():
        found = image.sample_distorted_bounding_box(
            [100, 120, 3], BOX, seed=5, min_object_covered=0.7, area_range=[0.3, 0.9]
        )
        picture = tf.slice(tf.zeros([100, 120, 3]), *found[:2])
        with tf.Session() as sess:
            for _ in range(20):
                (top, left, _), part = sess.run([found[0], picture])
                height, width = part.shape[:2]
                assert 0.3 <= height * width / 12000 <= 0.9
                assert 0.75 - 0.02 <= width / height <= 1.33 + 0.02
                inner = max(0, min(top + height, 70) - max(top, 10)) * max(
                    0, min(left + width, 96) - max(left, 24)
                )
                assert inner / (60 * 72) >= 0.7


# ---- suppression


def test_equal_scores_cost_no_more_than_their_number() -> None:
    """Many boxes with few different scores: TensorFlow's heap, not a sort."""
    rng = np.random.default_rng(0)
    corners = rng.uniform(size=(400, 2))
    boxes = np.concatenate([corners, corners + 0.1], 1).astype(np.float32)
    scores = np.round(rng.uniform(size=400), 1).astype(np.float32)
    with tf.Graph().as_default():
        found = run(image.non_max_suppression(boxes, scores, 400, 0.3))
    assert len(set(found.tolist())) == len(found) > 30
    assert np.all(np.diff(scores[found]) <= 0)


def test_a_graph_with_image_ops_can_be_imported() -> None:
    with tf.Graph().as_default() as graph:
        hsv = image.rgb_to_hsv(RGB, name="hsv")
        image.draw_bounding_boxes(hsv[:1], BOX, name="drawn")
        image.non_max_suppression(BOX[0], [1.0], 3, name="best")
    with tf.Graph().as_default() as again:
        tf.import_graph_def(graph.as_graph_def(), name="")
        drawn = run(again.get_tensor_by_name("drawn:0"))
    assert drawn.shape == (1, 12, 13, 3)


# ---- quality


def test_worse_copies_are_less_alike() -> None:
    noise = np.random.default_rng(1).normal(size=RGB.shape).astype(np.float32)
    with tf.Graph().as_default():
        x = tf.constant(RGB)
        copies = [tf.constant(RGB + amount * noise) for amount in (0, 0.01, 0.1)]
        small: dict[str, Any] = {"filter_size": 3}
        measures = [
            [image.psnr(x, y, 1.0) for y in copies],
            [image.ssim(x, y, 1.0) for y in copies],
            [image.ssim_multiscale(x, y, 1.0, [0.5, 0.5], **small) for y in copies],
        ]
        found = run(measures)
    for best, good, bad in found:
        assert np.all(best > good)
        assert np.all(good > bad)
    assert np.all(np.isinf(found[0][0]))
    np.testing.assert_allclose(found[1][0], 1, rtol=1e-5)
    np.testing.assert_allclose(found[0][1], 40, atol=1)  # 20 log10(1 / 0.01)


@pytest.mark.parametrize("shape", [(1, 1, 3), (2, 2, 3)])
def test_the_images_that_are_adjusted_stay_as_they_are(shape: tuple[int, ...]) -> None:
    fed = np.linspace(1.0, 0.1, int(np.prod(shape)), dtype="f").reshape(shape)
    before = fed.copy()
    with tf.Graph().as_default(), tf.Session() as session:
        images = tf.placeholder(tf.float32, [None, None, 3])
        for constant in (images, tf.constant(fed)):
            brighter = tf.image.adjust_saturation(constant, 2.0)
            assert not np.array_equal(session.run(brighter, {images: fed}), fed)
    assert np.array_equal(fed, before)
