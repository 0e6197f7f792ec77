"""Fractional pooling: seeds, results by name, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf

IMAGE = np.sin(np.arange(10 * 20)).reshape(1, 10, 20, 1)


def pool(*args: Any, kind: str = "max", **options: Any) -> Any:
    function = getattr(tf.nn, f"fractional_{kind}_pool")
    return function(*args, **options)


@pytest.mark.parametrize("kind", ["max", "avg"])
def test_windows_are_drawn_anew_unless_deterministic(kind: str) -> None:
    ratio = [1.0, 1.44, 1.73, 1.0]
    with tf.Graph().as_default(), tf.Session() as session:
        free = pool(tf.constant(IMAGE), ratio, kind=kind)
        fixed = pool(tf.constant(IMAGE), ratio, kind=kind, deterministic=True, seed2=3)
        assert free.output.shape.as_list() == [1, 6, 11, 1]
        seen = {
            name: {tuple(session.run(pooled.col_pooling_sequence)) for _ in range(9)}
            for name, pooled in (("free", free), ("fixed", fixed))
        }
        assert len(seen["free"]) > 1
        assert len(seen["fixed"]) == 1
        for columns in seen["free"] | seen["fixed"]:
            assert columns[0] == 0
            assert columns[-1] == 20
            assert set(np.diff(columns)) == {1, 2}
        output, rows, columns = session.run(tuple(fixed))
        assert output.shape == (1, len(rows) - 1, len(columns) - 1, 1)


def test_what_is_refused() -> None:
    x = tf.constant(IMAGE)
    with pytest.raises(
        ValueError,
        match="Attr 'pooling_ratio' of 'FractionalMaxPool' Op passed list of length 3 "
        "less than minimum 4",
    ):
        pool(x, [1.0, 1.5, 1.7])
    with pytest.raises(ValueError, match="Size computed for dim 1 is negative: -7 for"):
        pool(x, [1.0, -1.5, 1.7, 1.0])
    with pytest.raises(TypeError, match="DataType float16 not in list of allowed"):
        pool(tf.cast(x, tf.float16), [1.0, 1.5, 1.7, 1.0])
    some = tf.placeholder(tf.float64, [None, 10, 20, 1])
    pooled = pool(some, [1.0, 1.5, 1.7, 1.0], kind="avg")
    with pytest.raises(
        ValueError,
        match=r"Tried to convert 'orig_input_tensor_shape' to a tensor and failed"
        r".* Cannot convert a partially known TensorShape to a Tensor",
    ):
        tf.gradients(pooled.output, some)


@pytest.mark.parametrize(
    ("words", "ratio", "options"),
    [
        ("Both seed and seed2 should be 0", [1, 2, 2, 1], {"seed": 1}),
        ("not yet supported on the batch nor channel", [2, 1, 1, 1], {}),
        ("makes 20 rows and 20 columns of 10 and 20", [1, 0.5, 1, 1], {}),
        ("makes 0 rows and 20 columns of 10 and 20", [1, 11, 1, 1], {}),
    ],
)
def test_what_a_run_refuses(words: str, ratio: Any, options: Any) -> None:
    x = tf.placeholder_with_default(IMAGE, None)
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match=words),
    ):
        session.run(pool(x, ratio, **options).output)
