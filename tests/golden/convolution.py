"""Graphs and numbers of convolution, pooling and normalization from real TF 1.15.

From the repository's root, with TensorFlow's Python, `python -m
tests.golden.convolution tests/golden/convolution.json` writes the file anew; see
mathematics.py.  TF computes NHWC and undilated gradients only on a CPU.
"""

import sys

import numpy as np

from tests.golden.mathematics import built, values, write  # noqa: F401

IMAGE = np.sin(np.arange(2 * 6 * 5 * 3) * 1.7).reshape(2, 6, 5, 3).astype(np.float32)
FILTER = np.cos(np.arange(3 * 2 * 3 * 4)).reshape(3, 2, 3, 4).astype(np.float32)
LINE, TAPS = IMAGE[:, :, 0], FILTER[:, 0]
VOLUME = IMAGE.reshape(1, 3, 4, 5, 3)
BOX = FILTER.reshape(3, 2, 1, 3, 4)
TIES = np.round(IMAGE)
SCALE, OFFSET = np.float32([1, -2, 3]), np.float32([0.5, 0.25, -1])


def image(tf):
    """An image whose batch and sizes are not known when the graph is built."""
    return tf.placeholder_with_default(IMAGE, [None, None, None, 3], "image")


def weighted(tf, y):
    """`y` times numbers that tell its elements apart."""
    return y * tf.reshape(tf.cos(tf.cast(tf.range(tf.size(y)), y.dtype)), tf.shape(y))


def conv2d(tf):
    x, w = tf.constant(IMAGE), tf.constant(FILTER)
    found = []
    for given in (
        {"strides": [1, 1, 1, 1], "padding": "SAME"},
        {"strides": 2, "padding": "VALID", "name": "valid"},
        {"strides": [2, 1], "padding": [[0, 0], [1, 2], [0, 1], [0, 0]]},
    ):
        y = tf.nn.conv2d(x, w, **given)
        g = tf.gradients(weighted(tf, y), [x, w])
        found += [y, *g, *tf.gradients(weighted(tf, g[0]), [w])]
        found += tf.gradients(weighted(tf, g[1]), [x])
    dilated = tf.nn.conv2d(image(tf), filters=w, padding="SAME", dilations=2)
    return [*found, dilated]


def conv2d_transposed(tf):
    w = tf.constant(FILTER)
    small = tf.constant(np.float32(FILTER[None, :, :, 0, :]))
    y = tf.nn.conv2d_transpose(small, w, [1, 6, 3, 3], [1, 2, 2, 1])
    z = tf.nn.conv2d_transpose(small, w, [1, 5, 3, 3], 1, "VALID", name="z")
    g = tf.gradients(weighted(tf, y), [small, w])
    parts = tf.nn.conv2d_backprop_filter(IMAGE, [3, 2, 3, 3], IMAGE, [1] * 4, "SAME")
    return [y, z, *g, *tf.gradients(weighted(tf, g[0]), [w]), parts]


def conv1d(tf):
    x, w = tf.constant(LINE), tf.constant(TAPS)
    y = tf.nn.conv1d(x, w, 2, "SAME")
    up = tf.nn.conv1d_transpose(y, w, [2, 6, 3], 2)
    any_rank = tf.nn.conv_transpose(y, w, tf.shape(x), 2, name="any")
    return [y, up, any_rank, *tf.gradients(weighted(tf, up), [x, w])]


def conv3d(tf):
    x, w = tf.constant(VOLUME), tf.constant(BOX)
    y = tf.nn.conv3d(x, w, [1, 2, 1, 2, 1], "SAME")
    up = tf.nn.conv3d_transpose(y, w, [1, 3, 4, 5, 3], [2, 1, 2])
    parts = tf.nn.conv3d_backprop_filter(x, [3, 2, 1, 3, 3], x, [1] * 5, "SAME")
    return [y, up, *tf.gradients(weighted(tf, up), [x, w]), parts]


def dilated(tf):
    x, w = tf.constant(IMAGE), tf.constant(FILTER)
    y = tf.nn.convolution(x, w, "SAME", dilation_rate=[2, 3])
    z = tf.nn.convolution(image(tf), w, "VALID", dilation_rate=[2, 1], name="z")
    plain = tf.nn.convolution(x, w, "VALID", strides=[2, 1])
    line = tf.nn.convolution(LINE, TAPS, "SAME", dilation_rate=[2])
    atrous = tf.nn.atrous_conv2d(image(tf), w, 2, "SAME")
    up = tf.nn.atrous_conv2d_transpose(atrous, w, [2, 6, 5, 3], 2, "SAME")
    g = tf.gradients([weighted(tf, y), weighted(tf, up)], [x, w])
    return [y, z, plain, line, atrous, up, *g]


def depthwise(tf):
    x, w = tf.constant(IMAGE), tf.constant(FILTER)
    y = tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME")
    apart = tf.nn.depthwise_conv2d(image(tf), w, [1, 1, 1, 1], "SAME", rate=[2, 2])
    points = np.sin(np.arange(24)).reshape(1, 1, 12, 2).astype(np.float32)
    z = tf.nn.separable_conv2d(x, w, points, [1, 1, 1, 1], "VALID")
    g = tf.gradients(weighted(tf, y), [x, w])
    again = tf.gradients(weighted(tf, g[0]), [w]) + tf.gradients(g[1], [x])
    return [y, apart, z, *g, *again, *tf.gradients(z, [x, w])]


def max_pool(tf):
    x = tf.constant(TIES)
    found = []
    for size, stride, padding in ((2, 2, "SAME"), (3, 1, "SAME"), ([3, 2], 2, "VALID")):
        y = tf.nn.max_pool(x, size, stride, padding)
        (g,) = tf.gradients(weighted(tf, y), x)
        found += [y, g, *tf.gradients(weighted(tf, g), y)]
    channels = tf.nn.max_pool(x, [1, 1, 1, 3], [1, 1, 1, 3], "VALID", name="depth")
    line = tf.nn.max_pool1d(LINE, 2, 2, "SAME")
    box = tf.nn.max_pool3d(TIES.reshape(VOLUME.shape), 2, 2, "SAME")
    return [*found, channels, line, box]


def max_pool_positions(tf):
    x = tf.constant(TIES)
    y, at = tf.nn.max_pool_with_argmax(x, [1, 3, 2, 1], [1, 2, 2, 1], "SAME")
    z, whole = tf.nn.max_pool_with_argmax(
        x, [1, 2, 2, 1], [1, 1, 1, 1], "VALID", include_batch_in_index=True
    )
    return [y, at, z, whole, *tf.gradients(weighted(tf, y), x)]


def avg_pool(tf):
    x = tf.constant(IMAGE)
    found = []
    for size, stride, padding in ((2, 2, "SAME"), (3, 1, "SAME"), ([3, 2], 2, "VALID")):
        y = tf.nn.avg_pool(x, size, stride, padding)
        (g,) = tf.gradients(weighted(tf, y), x)
        found += [y, g]
    line = tf.nn.avg_pool1d(LINE, 2, 2, "SAME")
    box = tf.nn.avg_pool3d(VOLUME, 2, 2, "SAME")
    (g,) = tf.gradients(weighted(tf, found[0]), x, name="again")
    return [*found, line, box, g]


def pool(tf):
    x = tf.constant(IMAGE)
    y = tf.nn.pool(x, [2, 2], "MAX", "VALID", dilation_rate=[2, 2])
    z = tf.nn.pool(x, [3, 2], "AVG", "SAME", strides=[2, 1], name="z")
    line = tf.nn.pool(LINE, [2], "AVG", "VALID", dilation_rate=[3])
    box = tf.nn.pool(VOLUME, [2, 2, 2], "MAX", "SAME")
    return [y, z, line, box, *tf.gradients(weighted(tf, y), x)]


def batch_normalization(tf):
    x = image(tf)
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    found = [tf.nn.batch_normalization(x, mean, variance, OFFSET, SCALE, 1e-3)]
    for offset, scale in ((None, None), (OFFSET, None), (None, SCALE)):
        found.append(tf.nn.batch_normalization(x, mean, variance, offset, scale, 0.1))
    found.append(
        tf.nn.batch_norm_with_global_normalization(
            x, mean, variance, OFFSET, SCALE, 0.01, True
        )
    )
    return [*found, *tf.gradients([weighted(tf, y) for y in found], x)]


def fused_batch_norm(tf):
    x, scale, offset = map(tf.constant, (IMAGE, SCALE, OFFSET))
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset)
    again = tf.constant(IMAGE * 2 + 1)
    z, _, _ = tf.nn.fused_batch_norm(
        again, scale, offset, mean, variance, epsilon=0.0, is_training=False, name="z"
    )
    g = tf.gradients(weighted(tf, y), [x, scale, offset])
    g += tf.gradients(weighted(tf, z), [again, scale, offset])
    return [y, mean, variance, z, *g]


def moments(tf):
    found = []
    for x in (tf.constant(IMAGE), image(tf)):
        for shift, keep in ((None, False), (0.5, True)):
            n, m, v, s = tf.nn.sufficient_statistics(x, [0, 2], shift, keep_dims=keep)
            found += [n, *tf.nn.normalize_moments(n, m, v, s)]
    weights = np.float32([[1], [2], [3], [0], [5], [6]])[:, :, None]
    found += tf.nn.weighted_moments(x, [1, 2], weights)
    found += tf.nn.weighted_moments(x, [0], 2.0, name="kept", keep_dims=True)
    return found


def response_normalization(tf):
    x = tf.constant(IMAGE)
    y = tf.nn.lrn(x)
    z = tf.nn.local_response_normalization(x, 1, 2.0, 0.5, 0.75, name="z")
    return [y, z, *tf.gradients([weighted(tf, y), weighted(tf, z)], x)]


def patches(tf):
    x, box = tf.constant(IMAGE), tf.constant(VOLUME)
    size = [1, 3, 2, 1], [1, 2, 1, 1], [1, 1, 2, 1]
    y = tf.extract_image_patches(x, *size, padding="SAME")
    z = tf.image.extract_image_patches(image(tf), *size, padding="VALID", name="z")
    deep = tf.extract_volume_patches(box, [1, 2, 2, 3, 1], [1, 1, 2, 2, 1], "SAME")
    found = tf.gradients(weighted(tf, y), x) + tf.gradients(weighted(tf, deep), box)
    return [y, z, deep, *found]


def morphology(tf):
    x, heights = tf.constant(IMAGE), tf.constant(TAPS[..., 0])
    heights = tf.stack([heights, heights * 0.5], axis=1)
    y = tf.nn.dilation2d(x, heights, [1, 2, 1, 1], [1, 1, 2, 1], "SAME")
    z = tf.nn.erosion2d(x, heights, [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
    return [y, z, *tf.gradients([weighted(tf, y), weighted(tf, z)], [x, heights])]


GRAPHS = [
    conv2d, conv2d_transposed, conv1d, conv3d, dilated, depthwise, max_pool,
    max_pool_positions, avg_pool, pool, batch_normalization, fused_batch_norm, moments,
    response_normalization, patches, morphology,
]  # fmt: skip

if __name__ == "__main__":
    import tensorflow

    write(tensorflow, GRAPHS, sys.argv[1])
