"""The checks of the lessons on devices, steps and times explain each mistake."""

from __future__ import annotations

from types import ModuleType

import pytest

import tfteach as tf


def towers(
    devices: tuple[str, ...] = ("/gpu:0", "/gpu:1"),
    joined_on: str = "/cpu:0",
    swaps: bool = False,
):
    def two_towers(x: tf.Tensor, layer) -> tf.Tensor:
        halves = tf.split(x, len(devices), axis=0)
        results = []
        for half, device in zip(halves, devices, strict=True):
            with tf.device(device):
                results.append(layer(half))
        with tf.device(joined_on):
            return tf.concat(results[::-1] if swaps else results, axis=0)

    return two_towers


@pytest.mark.parametrize(
    ("two_towers", "said"),
    [
        (towers(), "Right"),
        (lambda x, layer: layer(x), "called once"),
        (towers(("/gpu:0", "/gpu:0")), "the layers ask for '/device:GPU:0' and"),
        (towers(joined_on="/gpu:0"), "joined on '/device:GPU:0', not on the CPU"),
        (towers(swaps=True), "in the same order"),
    ],
)
def test_lesson_11(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], two_towers, said: str
) -> None:
    checks.check_towers(two_towers)
    assert said in capsys.readouterr().out


def one_by_one(points: tf.Tensor, centres: tf.Tensor) -> tf.Tensor:
    parts = tf.unstack(centres)
    columns = [tf.reduce_sum(tf.square(points - part), axis=1) for part in parts]
    return tf.stack(columns, axis=1)


def all_at_once(points: tf.Tensor, centres: tf.Tensor) -> tf.Tensor:
    apart = tf.expand_dims(points, 1) - tf.expand_dims(centres, 0)
    return tf.reduce_sum(tf.square(apart), axis=2)


@pytest.mark.parametrize(
    ("distances", "said"),
    [
        (all_at_once, "Right"),
        (one_by_one, "right, but 22 ops run"),
        (lambda p, c: tf.transpose(all_at_once(p, c)), "is [5, 7], not [7, 5]"),
        (lambda p, c: 2 * all_at_once(p, c), "the numbers are not"),
        (lambda p, c: tf.matmul(p, c), "it ends with ValueError: Dimensions must"),
    ],
)
def test_lesson_13(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], distances, said: str
) -> None:
    checks.check_distances(distances)
    assert said in capsys.readouterr().out


def plain_length(rows):
    return tf.sqrt(tf.reduce_sum(tf.square(rows), axis=1))


def chosen_late(rows):
    squares = tf.reduce_sum(tf.square(rows), axis=1)
    return tf.where(squares > 0.0, tf.sqrt(squares), tf.zeros_like(squares))


def chosen_before(rows):
    squares = tf.reduce_sum(tf.square(rows), axis=1)
    is_zero = tf.equal(squares, 0.0)
    roots = tf.sqrt(tf.where(is_zero, tf.ones_like(squares), squares))
    return tf.where(is_zero, tf.zeros_like(squares), roots)


@pytest.mark.parametrize(
    ("safe_length", "said"),
    [
        (chosen_before, "Right"),
        (
            lambda rows: tf.sqrt(tf.reduce_sum(tf.square(rows), axis=1) + 1e-12),
            "Right",
        ),
        (plain_length, "the gradient is still NaN"),
        (chosen_late, "the gradient is still NaN"),
        (lambda rows: tf.reduce_sum(tf.square(rows), axis=1), "should be 5, 0 and 1"),
        (lambda rows: tf.sqrt(tf.reduce_sum(tf.square(rows))), "is [], not [3]"),
        (lambda rows: tf.constant([5.0, 0.0, 1.0]), "there is no gradient"),
        (lambda rows: tf.stop_gradient(chosen_before(rows)), "there is no gradient"),
        (
            lambda rows: 2 * chosen_before(rows)
            - tf.stop_gradient(chosen_before(rows)),
            "it should be each row divided",
        ),
        (lambda rows: tf.sqrt(rows, 1, 2), "it ends with TypeError"),
    ],
)  # fmt: skip
def test_lesson_12(
    checks: ModuleType, capsys: pytest.CaptureFixture[str], safe_length, said: str
) -> None:
    checks.check_safe_length(safe_length)
    assert said in capsys.readouterr().out
