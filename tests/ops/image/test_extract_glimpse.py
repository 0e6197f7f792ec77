"""The noise around glimpses; places and values are in golden/op_edges."""

from __future__ import annotations

import numpy as np
import pytest

from tfteach.ops.image.extract_glimpse import ExtractGlimpse


@pytest.mark.parametrize("noise", ["uniform", "gaussian", "zero"])
def test_uniform_noise_spans_the_image_and_normal_noise_each_channel(
    noise: str,
) -> None:
    low = np.linspace(0.5, 1, 16, dtype=np.float32).reshape(4, 4)
    image = np.stack([low, low + 10], -1)[None]
    op = ExtractGlimpse(True, True, noise == "uniform", noise)
    size, offsets = np.array([30, 30], np.int32), np.zeros((1, 2), np.float32)
    channel = op.compute(np, image, size, offsets)[..., 0]
    least, most = {"uniform": (0.5, 11), "gaussian": (0.5, 1), "zero": (0, 1)}[noise]
    assert least <= channel.min()
    assert channel.max() <= most
    assert (channel > 1).any() == (noise == "uniform")
    assert (channel == 0).any() == (noise == "zero")
