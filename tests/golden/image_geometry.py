"""`tf.image`'s geometry in real TensorFlow 1.15; see composites.py.

Everything is built for known shapes and for shapes that only a run knows.
"""

import sys

import numpy as np

from tests.golden.composites import build, results, write  # noqa: F401

BATCH = np.sin(np.arange(2 * 4 * 6 * 2) * 1.7).reshape(2, 4, 6, 2).astype(np.float32)
BYTES = (BATCH * 100 + 120).astype(np.uint8)


def images(tf):
    """A batch and an image, known and unknown; then those with a size unknown."""
    yield tf.constant(BATCH, name="batch")
    yield tf.constant(BYTES[0], name="image")
    late = tf.placeholder_with_default
    yield late(BATCH, [None, None, None, 2], name="late_batch")
    yield late(BYTES[0], [None, 6, None], name="late_image")
    yield late(BYTES[1], None, name="any")


def ranked(tf):
    return list(images(tf))[:4]


def with_gradient(tf, function, inputs):
    """The function's results, and gradients where there are any."""
    found = []
    for x in inputs:
        y = function(x)
        found.append(y)
        if x.dtype == tf.float32 and y is not x:
            found.append(tf.gradients(y, x)[0])
    return [y for y in found if y is not None]


def resize_methods(tf):
    x = ranked(tf)[0]
    bytes_ = tf.constant(BYTES)
    found = []
    for name in ("bilinear", "nearest_neighbor", "bicubic"):
        op = getattr(tf.image, "resize_" + name)
        for size in ([3, 4], [9, 7]):
            found += [op(x, size), op(x, size, align_corners=True)]
            found += [op(x, size, half_pixel_centers=True, name="half")]
            found.append(op(bytes_, size))
    gradients = [tf.gradients(y, x)[0] for y in found]
    found += [g for g in gradients if g is not None]
    found += [tf.image.resize_area(x, [3, 4]), tf.image.resize_area(x, [9, 7], True)]
    return [*found, tf.gradients(tf.image.resize_bicubic(found[1], [5, 5]), x)[0]]


def resize_unknown(tf):
    late = ranked(tf)[2]
    size = tf.placeholder_with_default([3, 5], [2])
    found = [
        tf.image.resize_bilinear(late, size),
        tf.image.resize_nearest_neighbor(late, [3, 5]),
        tf.image.resize_bicubic(late, size),
    ]
    return found + [tf.gradients(y, late)[0] for y in found]


def resize_images(tf):
    found = []
    size = tf.placeholder_with_default([5, 3], [2])
    for x in ranked(tf):
        for method in range(4):
            found.append(tf.image.resize_images(x, [5, 3], method))
        found.append(tf.image.resize(x, size, align_corners=True, name="own"))
        found.append(tf.image.resize_images(x, [8, 6], preserve_aspect_ratio=True))
        found.append(tf.image.resize_images(x, (4, 6), "bicubic"))
    return found


def resize_with_pad(tf):
    found = []
    for x in images(tf):
        found.append(tf.image.resize_image_with_pad(x, 7, 3))
        if x.shape.ndims is not None:
            found.append(
                tf.image.resize_image_with_pad(
                    x, 3, 8, tf.image.ResizeMethod.NEAREST_NEIGHBOR, align_corners=True
                )
            )
    return found


def resize_with_crop(tf):
    def crop_and_pad(x):
        return tf.image.resize_image_with_crop_or_pad(x, 6, 3)

    found = with_gradient(tf, crop_and_pad, images(tf))
    height = tf.placeholder_with_default(3, [], name="height")
    x = next(images(tf))
    return [*found, tf.image.resize_with_crop_or_pad(x, height, 9)]


def boxes(tf):
    def crop(x):
        return tf.image.crop_to_bounding_box(x, 1, 2, 3, 2)

    def pad(x):
        return tf.image.pad_to_bounding_box(x, 1, 0, 6, 7)

    found = with_gradient(tf, crop, images(tf)) + with_gradient(tf, pad, images(tf))
    top = tf.placeholder_with_default(1, [], name="top")
    x = next(images(tf))
    found.append(tf.image.crop_to_bounding_box(x, top, 0, 2, top + 1))
    return [*found, tf.image.pad_to_bounding_box(x, 0, top, 5, top + 7)]


def central_crop(tf):
    return with_gradient(tf, lambda x: tf.image.central_crop(x, 0.5), ranked(tf)) + [
        tf.image.central_crop(x, 1.0) for x in ranked(tf)
    ]


def flips(tf):
    found = with_gradient(tf, tf.image.flip_left_right, images(tf))
    found += with_gradient(tf, tf.image.flip_up_down, images(tf))
    found += with_gradient(tf, tf.image.transpose_image, images(tf))
    return [*found, tf.image.transpose(next(images(tf)), name="own")]


def turns(tf):
    found = with_gradient(tf, tf.image.rot90, ranked(tf))
    k = tf.placeholder_with_default(-1, [], name="k")
    return [*found, *(tf.image.rot90(x, k, name="own") for x in ranked(tf))]


def random_flips(tf):
    found = []
    for x in images(tf):
        found.append(tf.image.random_flip_left_right(x, seed=3))
        found.append(tf.image.random_flip_up_down(x))
    return found


def edges(tf):
    batch, image, late, _ = ranked(tf)
    image = tf.cast(image, tf.float64)
    found = with_gradient(tf, tf.image.total_variation, [batch, image, late])
    found.append(tf.image.total_variation(batch, name="own"))
    for x in (batch, late):
        dy, dx = tf.image.image_gradients(x)
        found += [dy, dx, tf.gradients(dy * dx, x)[0]]
    return found + with_gradient(tf, tf.image.sobel_edges, [batch, late])


def crops(tf):
    batch, _, late, _ = ranked(tf)
    boxes = tf.constant([[0.1, 0.2, 0.9, 0.7], [0.8, -0.1, 0.3, 1.2]], name="boxes")
    found = []
    for x in (batch, late, tf.cast(batch, tf.int32)):
        y = tf.image.crop_and_resize(x, boxes, [1, 0], [3, 2])
        z = tf.image.crop_and_resize(
            x, boxes, box_indices=[0, 1], crop_size=[1, 4], method="nearest",
            extrapolation_value=7, name="near",
        )  # fmt: skip
        found += [y, z]
        for each in (y, z):
            gradients = tf.gradients(each, [x, boxes] if x.dtype.is_floating else boxes)
            found += gradients
    places = tf.constant([[0.1, -0.2], [-0.1, 0.3]])
    for x in (batch, late):
        found.append(tf.image.extract_glimpse(x, [2, 3], places))
        found.append(
            tf.image.extract_glimpse(
                x, [2, 2], tf.abs(places) + 0.4, False, True, False, name="g"
            )
        )
    return found


GRAPHS = [
    resize_methods, resize_unknown, resize_images, resize_with_pad, resize_with_crop,
    crops, boxes, central_crop, flips, turns, random_flips, edges,
]  # fmt: skip

if __name__ == "__main__":
    write(GRAPHS, sys.argv[1])
