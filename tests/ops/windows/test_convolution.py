"""Convolution and pooling: what is refused, and what TF leaves to GPUs or computes
otherwise.

Their graphs and numbers are held against TensorFlow in test_mathematics.py, their
kernels against loops in test_all.py.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tfteach as tf

nn = tf.nn
ONES = [1, 1, 1, 1]


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def evaluate(tensors: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(tensors)


def zeros(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


def some(*shape: int) -> Any:
    return np.sin(np.arange(np.prod(shape))).reshape(shape).astype(np.float32)


def loose(value: Any) -> Any:
    """A tensor of which nothing is known before the run."""
    return tf.placeholder_with_default(value, None)


IMAGE, FILTER = zeros(1, 5, 5, 3), zeros(2, 2, 3, 4)
VOLUME = zeros(1, 5, 5, 5, 3)

# ---- refused when the graph is built

RANK = "Shape must be rank 4 but is rank 3 for"
SAME = {"strides": 1, "padding": "SAME"}
AT_BUILD: list[tuple[Any, type[Exception], str]] = [
    (lambda: nn.conv2d(zeros(2, 3, 4), FILTER, **SAME), ValueError, f"{RANK} 'Conv2D'"),
    (lambda: nn.conv2d(IMAGE, zeros(2, 2, 4), **SAME), ValueError, f"{RANK} 'Conv2D'"),
    (
        lambda: nn.conv2d(zeros(1, 5, 5, 4), FILTER, **SAME), ValueError,
        "Depth of input (4) is not a multiple of input depth of filter (3) for",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, [1, 1, 1], "SAME"), ValueError,
        "strides should be of length 1, 2 or 4 but was 3",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, [1, 0, 1, 1], "SAME"), ValueError,
        "Stride must be > 0, but got 0 for 'Conv2D' (op: 'Conv2D') with input shapes",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1, "SAME", dilations=0), ValueError,
        "Dilation rate must be >= 1, but got 0",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1), TypeError,
        "Expected string for argument 'padding' not None.",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1, "same"), ValueError,
        "Attr 'padding' of 'Conv2D' Op passed string 'same' not in: \"SAME\", "
        '"VALID", "EXPLICIT".',
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1, "EXPLICIT"), ValueError,
        '"EXPLICIT" is not a valid value for the padding parameter.',
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1, [[1, 1], [2, 0]]), ValueError,
        "When padding is a list, it must be of size 4. Got padding of size: 2",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1, [[0, 0], [1, 1, 1], [2, 0], [0, 0]]),
        ValueError, "Element with index 1 of padding has size 3",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1, [[0, 0], 1, [2, 0], [0, 0]]),
        ValueError, "Element with index 1 of padding is not a list/tuple",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1, [[1, 0], [1, 1], [2, 0], [0, 0]]),
        ValueError, "Nonzero explicit padding in the batch or depth dimensions",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1, [[0, 0], [1, -1], [2, 0], [0, 0]]),
        ValueError, "All elements of explicit_paddings must be nonnegative",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1, "SAME", data_format="NHCW"), ValueError,
        "Attr 'data_format' of 'Conv2D' Op passed string 'NHCW' not in: \"NHWC\", ",
    ),
    (
        lambda: nn.conv2d(zeros(1, 2, 2, 3), zeros(3, 3, 3, 5), 1, "VALID"), ValueError,
        "Negative dimension size caused by subtracting 3 from 2 for 'Conv2D'",
    ),
    (
        lambda: nn.conv2d(np.int32(IMAGE), np.int32(FILTER), **SAME), TypeError,
        "Value passed to parameter 'input' has DataType int32 not in list of allowed "
        "values: float16, bfloat16, float32, float64",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, filters=FILTER, **SAME), ValueError,
        "Cannot specify both 'filter' and 'filters'",
    ),
    (
        lambda: nn.conv2d_transpose(IMAGE, FILTER, [6, 6, 5], 2), ValueError,
        f"{RANK} 'conv2d_transpose' (op: 'Conv2DBackpropInput')",
    ),
    (
        lambda: nn.conv2d_backprop_filter(IMAGE, [2, 2, 3, 4], IMAGE, 1, "SAME"),
        TypeError, "Expected list for 'strides' argument",
    ),
    (
        lambda: nn.conv1d(zeros(1, 5, 3), zeros(2, 3, 4), 1, "SAME", data_format="X"),
        ValueError, 'data_format must be "NWC" or "NCW".',
    ),
    (
        lambda: nn.conv3d(VOLUME, zeros(2, 2, 2, 4, 4), [1] * 5, "SAME"), ValueError,
        "Depth of input (3) is not a multiple of input depth of filter (4) for",
    ),
    (
        lambda: nn.conv3d(VOLUME, zeros(2, 2, 2, 3, 4), [1] * 4, "SAME"), ValueError,
        "Attr 'strides' of 'Conv3D' Op passed list of length 4 less than minimum 5.",
    ),
    (
        lambda: nn.conv_transpose(IMAGE, FILTER, [1, 2], 1), ValueError,
        "output_shape must be of length 3, 4 or 5 but was 2.",
    ),
    (
        lambda: nn.convolution(IMAGE, FILTER, "SAME", 2, [2, 2]), ValueError,
        "strides > 1 not supported in conjunction with dilation_rate > 1",
    ),
    (
        lambda: nn.convolution(zeros(1, 5, 5, 4), FILTER, "SAME", dilation_rate=[2, 2]),
        ValueError, "number of input channels does not match corresponding dimension",
    ),
    (
        lambda: nn.convolution(zeros(2, 9), zeros(3, 3), "SAME"), ValueError,
        "Input tensor must be of rank 3, 4 or 5 but was 2.",
    ),
    (
        lambda: nn.with_space_to_batch(IMAGE, [2, 2], "SAME", None), ValueError,
        "filter_shape must be specified for SAME padding",
    ),
    (
        lambda: nn.with_space_to_batch(IMAGE, [0, 2], "SAME", None), ValueError,
        "dilation_rate must be positive",
    ),
    (
        lambda: nn.atrous_conv2d_transpose(IMAGE, FILTER, [1, 5, 5, 3], 2, "SAME"),
        ValueError, "value's input channels does not match filters' input channels",
    ),
    (
        lambda: nn.depthwise_conv2d(zeros(1, 5, 5, 4), FILTER, ONES, "SAME"),
        ValueError, "Dimensions must be equal, but are 4 and 3 for 'depthwise'",
    ),
    (
        lambda: nn.separable_conv2d(IMAGE, FILTER, zeros(1, 2, 12, 2), ONES, "SAME"),
        ValueError, "Dimensions 2 and 1 are not compatible",
    ),
    (
        lambda: nn.max_pool(zeros(5, 5, 3), 2, 2, "SAME"), ValueError,
        f"{RANK} 'MaxPool'",
    ),
    (lambda: nn.max_pool(IMAGE, 0, 2, "SAME"), ValueError, "ksize cannot be zero."),
    (
        lambda: nn.avg_pool(IMAGE, 2, 0, "SAME"), ValueError,
        "Stride must be > 0, but got 0 for 'AvgPool'",
    ),
    (
        lambda: nn.max_pool(IMAGE, 2, 2, "EXPLICIT"), ValueError,
        "Attr 'padding' of 'MaxPool' Op passed string 'EXPLICIT' not in: \"SAME\", ",
    ),
    (
        lambda: nn.avg_pool(np.int32(IMAGE), 2, 2, "SAME"), TypeError,
        "Value passed to parameter 'value' has DataType int32 not in list of allowed",
    ),
    (
        lambda: nn.max_pool(IMAGE, 6, 1, "VALID"), ValueError,
        "Negative dimension size caused by subtracting 6 from 5 for 'MaxPool'",
    ),
    (
        lambda: nn.max_pool_with_argmax(IMAGE, ONES, ONES, "SAME", data_format="NCHW"),
        ValueError, "Data formats other than 'NHWC' are not yet supported",
    ),
    (
        lambda: nn.pool(IMAGE, [2, 2], "MAX", "SAME", [2, 2]), ValueError,
        "pooling with SAME padding is not implemented for dilation_rate > 1",
    ),
    (
        lambda: nn.pool(IMAGE, [2, 2], "MAX", "SAME", strides=[3, 3]), ValueError,
        "strides > window_shape not supported",
    ),
    (
        lambda: nn.pool(IMAGE, [2, 2], "MIN", "SAME"), ValueError,
        "2-D MIN pooling is not supported.",
    ),
    (lambda: nn.lrn(zeros(3, 4, 2)), ValueError, f"{RANK} 'LRN'"),
    (
        lambda: nn.fused_batch_norm(IMAGE[0], zeros(3), zeros(3)), ValueError,
        f"{RANK} 'FusedBatchNormV3'",
    ),
    (
        lambda: nn.fused_batch_norm(IMAGE, zeros(2), zeros(3)), ValueError,
        "Dimensions must be equal, but are 3 and 2 for 'FusedBatchNormV3'",
    ),
    (
        lambda: nn.fused_batch_norm(IMAGE, zeros(3), zeros(3), mean=zeros(3)),
        ValueError, "Both 'mean' and 'variance' must be None if is_training is True.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("build", "kind", "words"), AT_BUILD)
def test_refused_at_build(build: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        build()


# ---- refused when it runs

BAD, NONE = tf.errors.InvalidArgumentError, tf.errors.UnimplementedError
AT_RUN: list[tuple[Any, type[Exception], str]] = [
    (
        lambda: nn.conv2d(loose(zeros(2, 3, 4)), FILTER, **SAME), BAD,
        "input must be 4-dimensional[2,3,4]",
    ),
    (
        lambda: nn.conv2d(IMAGE, loose(zeros(1, 4, 5)), **SAME), BAD,
        "filter must be 4-dimensional: [1,4,5]",
    ),
    (
        lambda: nn.conv2d(loose(zeros(1, 5, 5, 4)), FILTER, **SAME), BAD,
        "input depth must be evenly divisible by filter depth: 4 vs 3",
    ),
    (
        lambda: nn.conv2d(zeros(1, 5, 5, 6), FILTER, **SAME), NONE,
        "The Conv2D op currently does not support grouped convolutions on the CPU.",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, [2, 1, 1, 1], "SAME"), BAD,
        "does not yet support strides in the batch and depth dimensions.",
    ),
    (
        lambda: nn.conv2d(IMAGE, FILTER, 1, "VALID", dilations=[1, 1, 1, 2]), BAD,
        "does not yet support dilations in the batch and depth dimensions.",
    ),
    (
        lambda: nn.conv2d(
            loose(zeros(1, 1, 1, 3)), loose(zeros(4, 4, 3, 2)), 1, "VALID"
        ),
        BAD, "Computed output size would be negative: -2",
    ),
    (
        lambda: nn.conv2d_transpose(IMAGE, zeros(2, 2, 5, 3), [1, 12, 10, 5], 2), BAD,
        "Size of out_backprop doesn't match computed: actual = 5, computed = 6 "
        "spatial_dim: 1 input: 12 filter: 2 output: 5 stride: 2 dilation: 1",
    ),
    (
        lambda: nn.conv2d_transpose(IMAGE, zeros(2, 2, 5, 4), [1, 10, 10, 5], 2), BAD,
        "filter and out_backprop must have the same out_depth",
    ),
    (
        lambda: nn.conv2d_transpose(IMAGE, zeros(2, 2, 5, 3), [1, 10, 10, 4], 2), BAD,
        "input depth must be evenly divisible by filter depth",
    ),
    (
        lambda: nn.conv2d_transpose(IMAGE, zeros(2, 2, 5, 3), [2, 10, 10, 5], 2), BAD,
        "input and out_backprop must have the same batch size",
    ),
    (
        lambda: nn.conv2d_transpose(IMAGE, zeros(2, 2, 5, 3), [-1, 10, 10, 5], 2), BAD,
        "Dimension -1 must be >= 0",
    ),
    (
        lambda: nn.conv2d_backprop_filter(
            IMAGE, [2, 2, 3, 4], zeros(1, 5, 5, 4), [1, 1], "SAME"
        ),
        BAD, "Sliding window strides field must specify 4 dimensions",
    ),
    (
        lambda: nn.depthwise_conv2d_native(loose(zeros(1, 3, 3, 5)), FILTER, ONES,
                                           "SAME"),
        BAD, "input and filter must have the same depth: 5 vs 3",
    ),
    (
        lambda: nn.max_pool(loose(zeros(5, 5, 3)), 2, 2, "SAME"), BAD,
        "tensor_in_shape must have 2 spatial dimensions",
    ),
    (
        lambda: nn.max_pool(IMAGE, [1, -1, 2, 1], 2, "SAME"), BAD,
        "Sliding window ksize for dimension 1 was zero.",
    ),
    (
        lambda: nn.max_pool(IMAGE, [2, 1, 1, 1], ONES, "SAME"), NONE,
        "Pooling is not yet supported on the batch dimension.",
    ),
    (
        lambda: nn.max_pool(IMAGE, [1, 2, 2, 3], [1, 2, 2, 3], "SAME"), NONE,
        "MaxPooling supports exactly one of pooling across depth or pooling across "
        "width/height.",
    ),
    (
        lambda: nn.max_pool(IMAGE, [1, 1, 1, 2], [1, 1, 1, 2], "SAME"), NONE,
        "Depthwise max pooling requires the depth window to evenly divide the input",
    ),
    (
        lambda: nn.max_pool(IMAGE, [1, 1, 1, 3], ONES, "SAME"), NONE,
        "Depthwise max pooling requires the depth window to equal the depth stride",
    ),
    (
        lambda: nn.avg_pool(IMAGE, [1, 1, 1, 3], [1, 1, 1, 3], "SAME"), NONE,
        "Non-spatial pooling is not yet supported.",
    ),
    (lambda: nn.lrn(IMAGE, -1), BAD, "depth_radius = -1"),
    (
        lambda: nn.fused_batch_norm(loose(IMAGE), zeros(3), loose(zeros(4)))[0], BAD,
        "offset must have one number for each of the 3 channels, got shape [4]",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("build", "kind", "words"), AT_RUN)
def test_refused_at_run(build: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=re.escape(words)):
        evaluate(build())


# ---- beyond TF's CPU kernels


def first(array: Any) -> Any:
    return np.ascontiguousarray(np.moveaxis(array, -1, 1))


def test_channels_first_equals_channels_last() -> None:
    x, w = some(2, 7, 6, 3), some(3, 2, 3, 4)
    results = []
    for layout in ("NHWC", "NCHW"):
        is_first = layout == "NCHW"
        image = tf.constant(first(x) if is_first else x)
        y = nn.conv2d(image, w, 1, "SAME", data_format=layout)
        y = nn.bias_add(y, some(4), data_format=layout)
        y, _, _ = nn.fused_batch_norm(y, some(4), some(4), data_format=layout)
        y = nn.max_pool(y, 2, 2, "SAME", data_format=layout)
        y = nn.avg_pool(y, 3, 1, "VALID", data_format=layout)
        z = nn.depthwise_conv2d(image, w, ONES, "SAME", data_format=layout)
        (grad,) = tf.gradients([y * y, z * z], image)
        found = evaluate([y, z, grad])
        results.append(found if is_first else [first(v) for v in found])
    for last, early in zip(*results, strict=True):
        np.testing.assert_allclose(last, early, rtol=1e-4, atol=1e-5)


def test_empty_batches_train() -> None:
    x = tf.placeholder(tf.float32, [None, 6, 6, 2])
    w = tf.Variable(some(3, 3, 2, 4))
    y = nn.max_pool(nn.relu(nn.conv2d(x, w, 1, "SAME")), 2, 2, "SAME")
    grads = tf.gradients(tf.reduce_sum(nn.avg_pool(y, 2, 1, "VALID")), [w, x])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        of_filter, of_image = sess.run(grads, {x: zeros(0, 6, 6, 2)})
    np.testing.assert_array_equal(of_filter, np.zeros((3, 3, 2, 4)))
    assert of_image.shape == (0, 6, 6, 2)


def test_a_batch_in_blocks_equals_its_images_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Blocks of several images with a smaller last one; of a few rows of one image."""
    from tfteach.ops.windows import conv_kernels

    for channels in (1, 6):
        x, w = some(7, 9, 8, channels), some(3, 3, channels, 5)
        image, filters = tf.constant(x), tf.constant(w)
        y = nn.conv2d(image, filters, [1, 2, 1, 1], "SAME")
        fetches = [y, *tf.gradients(y * y, [image, filters])]
        whole = evaluate(fetches)
        for block in (900 * channels, 100 * channels):
            monkeypatch.setattr(conv_kernels, "BLOCK", block)
            for got, right in zip(evaluate(fetches), whole, strict=True):
                np.testing.assert_allclose(got, right, rtol=1e-4, atol=1e-4)
        monkeypatch.undo()


def test_second_derivatives_of_fused_batch_norm() -> None:
    """Against the same formula from elementary ops, float32."""
    x, scale, offset = some(3, 4, 2, 2), some(2) + 1, some(2)
    results = []
    for fused in (False, True):
        of = [tf.constant(v) for v in (x, scale, offset)]
        if fused:
            y, _, _ = nn.fused_batch_norm(*of, epsilon=0.01)
        else:
            mean, variance = nn.moments(of[0], [0, 1, 2])
            y = nn.batch_normalization(of[0], mean, variance, of[2], of[1], 0.01)
        (grad,) = tf.gradients(y * y * y, of[0])
        results.append(evaluate(tf.gradients(grad * grad, of)))
    for got, right in zip(results[1], results[0], strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-3, atol=1e-3)


def test_an_inner_convolution_of_bfloat16() -> None:
    x, w = (
        tf.cast(some(*shape), tf.bfloat16) for shape in ((1, 4, 4, 2), (2, 2, 2, 3))
    )
    y = nn.conv2d(x, w, 1, "VALID")
    assert y.dtype == tf.bfloat16
    wide = nn.conv2d(tf.cast(x, tf.float32), tf.cast(w, tf.float32), 1, "VALID")
    short, right = evaluate([tf.cast(y, tf.float32), wide])
    np.testing.assert_allclose(short, right, rtol=1e-2, atol=1e-2)
