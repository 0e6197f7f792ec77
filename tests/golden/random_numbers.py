"""Random numbers from real TensorFlow 1.15, on its CPU kernels.

`python random_numbers.py random_numbers.json`, with TensorFlow's Python, writes the
file anew: for each case of `CASES` the values of the first and second run of a session.
"""

import json
import sys

import numpy as np

LOGITS = [[0.1, -2.0, 0.7], [0.5, float("-inf"), 0.25]]
ALPHAS, MEANS = [0.05, 0.5, 1.0, 4.0], [0.5, 9.5, 10.0, 1e4]
SEEDS = (1, 2**31 + 5, -3)


def cases(tf):
    """(key, function that builds the tensor)"""
    for dtype in ("float32", "float64", "float16"):
        for name in ("random_uniform", "random_normal", "truncated_normal"):
            for seed in SEEDS:
                for shape in ([], [3], [7, 5], [67]):
                    yield (
                        f"{name} {dtype} {seed} {shape}",
                        lambda n=name, d=dtype, s=seed, h=shape: getattr(tf, n)(
                            h, dtype=d, seed=s
                        ),
                    )
    for dtype in ("int32", "int64"):
        for low, high in ((0, 10), (-5, 7), (-(2**31), 2**31 - 1)):
            for shape in ([], [7, 5]):
                yield (
                    f"int {dtype} {low} {high} {shape}",
                    lambda d=dtype, a=low, b=high, h=shape: tf.random_uniform(
                        h, a, b, dtype=d, seed=3
                    ),
                )
    for n in (1, 2, 3, 4, 5, 6, 9, 50):
        rows = np.arange(2 * n).reshape(n, 2)
        yield f"shuffle {n}", lambda n=n: tf.random_shuffle(np.arange(n), seed=4)
        yield f"shuffle rows {n}", lambda r=rows: tf.random_shuffle(r, seed=4)
    for n in (1, 3, 4, 10):
        yield (
            f"multinomial {n}",
            lambda n=n: tf.multinomial(np.array(LOGITS, np.float32), n, seed=5),
        )
    for shape in ([], [70]):
        yield f"gamma {shape}", lambda h=shape: tf.random_gamma(h, ALPHAS, seed=3)
        yield f"poisson {shape}", lambda h=shape: tf.random_poisson(MEANS, h, seed=3)
    for seed in ([1, 2], [-3, 2**40]):
        for dtype in ("float32", "float64"):
            for name in ("uniform", "normal", "truncated_normal"):
                yield (
                    f"stateless_{name} {dtype} {seed}",
                    lambda n=name, d=dtype, s=seed: getattr(
                        tf.random, "stateless_" + n
                    )([7, 5], s, dtype=d),
                )
        yield (
            f"stateless int {seed}",
            lambda s=seed: tf.random.stateless_uniform([9], s, -4, 9, dtype=tf.int32),
        )
        yield (
            f"stateless classes {seed}",
            lambda s=seed: tf.random.stateless_categorical(
                np.array(LOGITS, np.float32), 6, s
            ),
        )


def value(tf, make):
    """The first two runs in a session of its own."""
    with tf.Graph().as_default():
        tensor = make()
        with tf.Session() as sess:
            return [np.asarray(sess.run(tensor)).tolist() for _ in range(2)]


if __name__ == "__main__":
    import tensorflow as tf

    with open(sys.argv[1], "w") as f:
        found = {key: value(tf, make) for key, make in cases(tf)}
        f.write("{\n")
        f.write(
            ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
        )
        f.write("\n}\n")
