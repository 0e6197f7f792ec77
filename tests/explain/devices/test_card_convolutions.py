"""Which convolutions cuDNN computes, on the stand-in for it."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import tfteach as tf
from tests import strict_card
from tfteach.explain import explain_card_convolutions
from tfteach.explain.devices.card_convolutions import NOTHING, ConvolutionRow


def explained(data_format: str, shape: tuple[int, ...]) -> tuple[ConvolutionRow, ...]:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, shape)
        filters = tf.ones([3, 2, 4, 5])
        y = tf.nn.conv2d(x, filters, 1, "VALID", data_format=data_format)
        sess.run(tf.gradients(y, filters), {x: np.ones(shape)})
        sess.run(y, {x: np.ones(shape)})
        found = explain_card_convolutions(sess)
    assert str(found).splitlines() == list(map(str, found.rows))
    return found.rows


def test_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)
    gradient, output = explained("NHWC", (2, 6, 7, 4))
    shapes = (2, 6, 7, 4), (3, 2, 4, 5), (2, 4, 6, 5)
    assert gradient == ("GPU:0", "filter", "float32", *shapes, True, "")
    assert output == ("GPU:0", "output", "float32", *shapes, True, "")
    assert str(gradient) == (
        "GPU:0: the gradient with respect to the filter of [2, 6, 7, 4] with a "
        "filter [3, 2, 4, 5], "
        "float32: by cuDNN"
    )
    _, _, _, output = explained("NCHW", (2, 4, 6, 7))
    assert output[3:6] == ((2, 4, 6, 7), (3, 2, 4, 5), (2, 5, 4, 6))


def test_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    strict_card.install(monkeypatch)
    monkeypatch.setitem(sys.modules, "cudnn", None)
    output = explained("NHWC", (2, 6, 7, 4))[-1]
    assert str(output).endswith(
        "float32: without cuDNN: nvidia-cudnn-frontend is not installed"
    )


def test_without_a_card() -> None:
    with tf.Session() as sess:
        assert str(explain_card_convolutions(sess)) == NOTHING
