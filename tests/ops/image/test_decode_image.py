"""JPEG values: exact for the accurate transform, near TensorFlow's for its default."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden import input_calls

IMAGES = Path(input_calls.__file__).parent / "images"


def decoded(name: str, **options: object) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        content = (IMAGES / name).read_bytes()
        return session.run(tf.image.decode_jpeg(content, **options))


def test_the_default_transform_is_the_accurate_one() -> None:
    accurate = decoded("photo.jpg", dct_method="INTEGER_ACCURATE")
    assert np.array_equal(decoded("photo.jpg"), accurate)
    assert accurate.shape == (61, 83, 3)


def test_what_pillow_cannot_do_is_named() -> None:
    with pytest.raises(tf.errors.OpError, match="fancy_upscaling"):
        decoded("photo.jpg", fancy_upscaling=False)
    with pytest.raises(tf.errors.OpError, match="try_recover_truncated"):
        decoded("cut.jpg", try_recover_truncated=True)
    whole = decoded("full.jpg", fancy_upscaling=False, try_recover_truncated=True)
    assert np.array_equal(whole, decoded("full.jpg"))
