"""Serialized summaries from real TensorFlow 1.15: `python summaries.py OUT.json`.

Each row of CASES names a summary op, its array and its arguments; OUT.json gets the
serialized Summary, in hex, that TensorFlow's kernel gave for it.
"""

import json
import sys

import numpy as np

NAN, INF = float("nan"), float("inf")


def _pixels(*shape):
    size = int(np.prod(shape))
    return (np.arange(size) * 37 % 251).reshape(shape)


CASES = {
    "scalar": ("scalar", np.float32(0.1), {}),
    "scalar_int": ("scalar", np.int64(3), {}),
    "scalar_family": ("scalar", np.float64(2.5), {"family": "fam"}),
    "histogram": ("histogram", np.linspace(-3, 5, 100).astype(np.float32), {}),
    "histogram_ints": ("histogram", np.array([[0, 1], [1, -7]], np.int32), {}),
    "histogram_one": ("histogram", np.float32(1.0), {}),
    "histogram_empty": ("histogram", np.zeros([0], np.float32), {}),
    "histogram_wide": ("histogram", np.array([1e-13, -1e19, 1e30, 0.0]), {}),
    "image": ("image", _pixels(2, 3, 4, 3).astype(np.uint8), {}),
    "image_one": ("image", _pixels(2, 3, 4, 1).astype(np.uint8), {"max_outputs": 1}),
    "image_alpha": ("image", _pixels(1, 3, 5, 4).astype(np.uint8), {}),
    "image_float": ("image", _pixels(1, 3, 4, 3).astype(np.float32) / 7, {}),
    "image_signed": ("image", _pixels(1, 3, 4, 1).astype(np.float32) - 100, {}),
    "image_zero": ("image", np.zeros((1, 2, 2, 1), np.float32), {}),
    "image_half": ("image", _pixels(1, 2, 3, 1).astype(np.float16) / 8, {}),
    "image_double": ("image", _pixels(1, 2, 3, 1).astype(np.float64) / 3 - 9, {}),
    "image_bad": (
        "image",
        np.array([1, NAN, 3, INF, 5, 6], np.float32).reshape(1, 2, 1, 3),
        {},
    ),
    "audio": (
        "audio",
        np.sin(np.arange(12, dtype=np.float32)).reshape(2, 6) * np.float32(1.2),
        {"sample_rate": 8000.0},
    ),
    "audio_stereo": (
        "audio",
        np.cos(np.arange(12, dtype=np.float32)).reshape(1, 6, 2),
        {"sample_rate": 44100.0, "max_outputs": 1},
    ),
    "text": ("text", np.array([b"one", b"two"], object), {}),
    "tensor_summary": ("tensor_summary", np.arange(6, dtype=np.int32), {}),
}

if __name__ == "__main__":
    import tensorflow as tf

    found = {}
    for key, (kind, value, options) in CASES.items():
        with tf.Graph().as_default(), tf.Session() as session:
            made = getattr(tf.summary, kind)("a tag", tf.constant(value), **options)
            found[key] = session.run(made).hex()
    with open(sys.argv[1], "w") as file:
        json.dump(found, file, indent=1)
