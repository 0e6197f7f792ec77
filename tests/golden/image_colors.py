"""Colours, boxes and quality of images in real TensorFlow 1.15; see composites.py."""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

# Neither a grey nor two equal channels: there the gradients depend on the last bit.
RGB = (np.sin(np.arange(2 * 3 * 4 * 3) * 1.7).reshape(2, 3, 4, 3) * 0.45 + 0.5).astype(
    np.float32
)
BYTES = (RGB * 255).astype(np.uint8)
PLACES = np.float32(
    [
        [0, 0, 1, 1],
        [0, 0.25, 1, 1.25],
        [0.1, 1.9, 1.2, 1],
        [0, 0.5, 1, 1.5],
        [1, 1, 2, 2],
    ]
)


def types(tf):
    to = tf.image.convert_image_dtype
    rgb = tf.constant(RGB[0], name="rgb")
    wide = tf.constant([-0.5, 0.25, 1.0, 3.0], name="wide")
    shorts = tf.constant([-300, 0, 128, 32767], tf.int16, name="shorts")
    return [
        to(rgb, tf.uint8),
        to(rgb, tf.float32, name="same"),
        to(rgb, tf.float64, name="double"),
        to(wide, tf.uint8, saturate=True, name="saturated"),
        to(wide, tf.int16, saturate=True),
        to(tf.constant(BYTES[0]), tf.float32),
        to(tf.constant(BYTES[0]), tf.int32),
        to(shorts, tf.uint8),
        to(tf.constant([-300, 0, 2**31 - 1]), tf.uint8, saturate=True),
        to(shorts, tf.int32, saturate=True),
        to(shorts, tf.float64),
    ]


def spaces(tf):
    image = tf.image
    rgb = tf.constant(RGB, name="rgb")
    loose = tf.placeholder_with_default(RGB[:, 0], [None, None, None], name="loose")
    spaces = [image.rgb_to_hsv, image.hsv_to_rgb, image.rgb_to_yiq, image.yiq_to_rgb]
    spaces += [image.rgb_to_yuv, image.yuv_to_rgb, image.rgb_to_grayscale]
    found = [space(x) for space in spaces for x in (rgb, loose)]
    grey = image.rgb_to_grayscale(tf.constant(BYTES, name="bytes"), name="grey")
    any_grey = tf.placeholder_with_default(RGB[..., :1], [2, None, None, 1])
    found += [grey, image.grayscale_to_rgb(grey), image.grayscale_to_rgb(any_grey)]
    unknown = tf.placeholder_with_default(RGB[0, ..., :1], None, name="unknown")
    found.append(image.grayscale_to_rgb(unknown, name="three"))
    weighted = tf.reduce_sum(found[4] * found[8])
    return [*found, tf.gradients(weighted, rgb)[0]]


def hsv_gradient(tf):
    rgb = tf.constant(RGB, name="rgb")
    edges = tf.constant(
        [[0.0, 0, 0], [1, 1, 1], [1, 0, 0], [0.5, 0.5, 0], [0, 0.3, 0.3]], name="edges"
    )
    weights = tf.constant([1.0, 2, 3], name="weights")
    return [tf.gradients(tf.image.rgb_to_hsv(x) * weights, x)[0] for x in (rgb, edges)]


def adjustments(tf):
    image = tf.image
    found = []
    for pixels in (RGB, BYTES, RGB[0].astype(np.float64)):
        x = tf.constant(pixels, name="pixels")
        found += [
            image.adjust_brightness(x, 0.25),
            image.adjust_gamma(x, 2.5, 0.75),
            image.adjust_contrast(x, 1.75),
            image.adjust_hue(x, -0.4),
            image.adjust_hue(x, 0.8, name="turned"),
            image.adjust_saturation(x, 0.4),
            image.adjust_saturation(x, 2.5, name="vivid"),
        ]
    for adjust in (image.adjust_contrast, image.adjust_hue, image.adjust_saturation):
        adjust(tf.constant(RGB[0], tf.float16), 0.5)
    amount = tf.placeholder_with_default(0.3, [], name="amount")
    found += [
        image.adjust_brightness(BYTES, amount),
        image.adjust_gamma(BYTES, amount, amount),
        image.adjust_contrast(BYTES, amount),
        image.adjust_hue(BYTES, amount),
        image.adjust_saturation(BYTES, amount),
    ]
    return found


def standardization(tf):
    standard = tf.image.per_image_standardization
    loose = tf.placeholder_with_default(RGB, [None, None, None, 3], name="loose")
    unknown = tf.placeholder_with_default(RGB[0], None, name="unknown")
    rgb = tf.constant(RGB, name="rgb")
    found = [standard(x) for x in (rgb, tf.ones([2, 3, 1]), loose, unknown)]
    standard(tf.constant(RGB[0], tf.float16))  # the sums' order shows in its values
    return [*found, tf.gradients(found[0] * RGB[0], rgb)[0]]


def random_colors(tf):
    image = tf.image
    rgb = tf.constant(RGB, name="rgb")
    return [
        image.random_brightness(rgb, 0.3),
        image.random_brightness(BYTES, 0.3, seed=5),
        image.random_contrast(rgb, 0.2, 1.8, seed=6),
        image.random_hue(rgb, 0.5, seed=7),
        image.random_saturation(rgb, 0.5, 1.5, 8),
        image.random_crop(rgb, [1, 2, 3, 3], seed=9),
    ]


def boxes(tf):
    image = tf.image
    places = tf.constant(PLACES, name="places")
    scores = tf.constant([0.5, 0.9, 0.75, 0.25, 0.8], name="scores")
    size = tf.placeholder_with_default(4, [], name="size")
    overlaps = tf.constant(np.eye(5, dtype=np.float32) + 0.2, name="overlaps")
    objects = PLACES[None, :2] / 2
    found = [
        image.draw_bounding_boxes(RGB, tf.stack([places, places]) / 2),
        image.draw_bounding_boxes(RGB, tf.stack([places] * 2), "two", [[1.0, 2, 3]]),
        *image.sample_distorted_bounding_box([30, 40, 3], objects, 5, 6),
        *image.sample_distorted_bounding_box(
            tf.shape(RGB)[1:], objects, 7, min_object_covered=tf.to_float(size) / 8,
            aspect_ratio_range=[0.5, 2], area_range=(0.2, 0.9), max_attempts=20,
            use_image_if_no_bounding_boxes=True, name="part",
        ),
        image.non_max_suppression(places, scores, 3),
        image.non_max_suppression(places, scores, size, 0.75, 0.3, name="best"),
        *image.non_max_suppression_with_scores(places, scores, size, 0.9, 0.1, 0.5),
        *image.non_max_suppression_padded(
            places, scores, size, pad_to_max_output_size=True
        ),
        *image.non_max_suppression_padded(places, scores, 2),
        image.non_max_suppression_overlaps(overlaps, scores, size, 0.1),
        *image.combined_non_max_suppression(
            PLACES[None, :, None], tf.stack([scores, scores * 0.7], 1)[None], 2, size
        ),
    ]  # fmt: skip
    # Without a seed other numbers come each time.
    image.sample_distorted_bounding_box([30, 40, 3], objects)
    return found


def quality(tf):
    image = tf.image
    other = np.roll(RGB, 1, 2)
    # No constants: of these TensorFlow would know more than their shapes.
    large = tf.random_uniform([2, 13, 12, 2], seed=2, name="large")
    noisy = large * 0.9 + large**2 * 0.1
    loose = tf.placeholder_with_default(RGB, None, name="loose")
    small = {"filter_size": 3, "filter_sigma": 0.8}
    scales = tf.random_uniform([2, 24, 25, 2], seed=3)
    found = [
        image.psnr(RGB, other, 1.0),
        image.psnr(tf.constant(BYTES), tf.constant(BYTES[:1]), 255, name="bytes"),
        image.psnr(loose, tf.constant(other), 1.0),
        image.ssim(large, noisy, 1.0, 11),
        image.ssim(tf.cast(large * 200, tf.uint8), tf.cast(noisy * 200, tf.uint8), 255),
        image.ssim(loose, tf.constant(other), 1.0, 2, 0.7, 0.02, 0.05),
        image.ssim_multiscale(large, noisy, 1.0, [0.3, 0.7], **small),
        image.ssim_multiscale(scales, scales**1.2, 1.0, (0.2, 0.5, 0.3), **small),
    ]
    return [*found, tf.gradients(found[6], large)[0]]


GRAPHS = [types, spaces, hsv_gradient, adjustments, standardization, random_colors]
GRAPHS += [boxes, quality]

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
