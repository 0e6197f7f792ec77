"""Single strings stay arrays between kernels, whatever runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tfteach as tf


def results(x: Any) -> list[Any]:
    """Strings out of `x`, "a\\0" and "b", and what becomes of them."""
    first, second = x[0], x[1]
    picked = tf.cond(tf.constant(True), lambda: tf.identity(first), lambda: second)
    _, joined = tf.while_loop(
        lambda i, s: i < 2,
        lambda i, s: (i + 1, tf.strings.join([s, second])),
        [0, first],
    )
    return [
        first,
        tf.gather(x, 0),
        tf.unstack(x)[0],
        tf.fill([2], first),
        tf.expand_dims(first, 0),
        tf.stack([first, second]),
        tf.concat([[first], x], 0),
        tf.tile([first], [2]),
        tf.broadcast_to(first, [2]),
        tf.strings.length(first),
        tf.equal(first, b"a\0"),
        tf.map_fn(lambda s: tf.fill([2], s), x),
        picked,
        joined,
    ]


WANTED = [
    b"a\0",
    b"a\0",
    b"a\0",
    [b"a\0", b"a\0"],
    [b"a\0"],
    [b"a\0", b"b"],
    [b"a\0", b"a\0", b"b"],
    [b"a\0", b"a\0"],
    [b"a\0", b"a\0"],
    2,
    True,
    [[b"a\0", b"a\0"], [b"b", b"b"]],
    b"a\0",
    b"a\0bb",
]


@pytest.mark.parametrize("is_fed", [False, True])
@pytest.mark.parametrize("level", [0, -1])
def test_strings_out_of_arrays(is_fed: bool, level: int) -> None:
    options = tf.compat.v1.OptimizerOptions(opt_level=level)
    config = tf.compat.v1.ConfigProto(
        graph_options=tf.compat.v1.GraphOptions(optimizer_options=options)
    )
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        words = ["a\0", "b"]
        x = tf.placeholder(tf.string, [2]) if is_fed else tf.constant(words)
        fetches = results(x)
        for _ in range(14):  # the last ones as generated code
            found = session.run(fetches, {x: words} if is_fed else None)
        for value, wanted in zip(found, WANTED, strict=True):
            if isinstance(wanted, list):
                assert value.dtype == object
                assert value.tolist() == wanted
            else:
                assert value == wanted
                assert isinstance(value, bytes | np.generic)
