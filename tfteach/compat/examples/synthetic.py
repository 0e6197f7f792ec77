"""Synthetic digits in place of MNIST: for lessons without a network, and for tests.

Each digit is a few strokes; every example bends, tilts, scales and shifts them
differently and draws them with a pen of a different width.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tfteach.compat.examples.tutorials.mnist import idx, input_data
from tfteach.framework import dtypes

SIZE = 28
_POINTS = 72  # of a drawn digit; closer than half a pen's width

# Ways to write each digit: strokes through points (x, y) in percent of its box, from
# its upper left corner.  Two points make a straight line, more a curve.
_WAYS: tuple[tuple[str, ...], ...] = (
    ("50,0 16,14 3,50 16,86 50,100 84,86 97,50 84,14 50,0",),
    (
        "50,0 50,100",
        "28,22 54,0 | 54,0 50,100",
        "30,24 52,0 | 52,0 52,99 | 25,99 78,99",
    ),
    (
        "8,26 26,4 60,0 88,22 74,50 40,76 5,98 | 5,98 95,97",
        "10,24 30,2 66,2 86,24 66,58 26,92 12,80 34,76 60,94 96,92",
    ),
    (
        "10,12 50,0 85,18 75,40 42,48 | 42,48 84,58 92,80 60,100 20,97 5,84",
        "8,4 84,3 | 84,3 44,42 | 44,42 84,52 92,78 58,100 18,97 4,84",
    ),
    (
        "66,0 5,66 | 5,66 96,63 | 72,30 67,100",
        "14,0 10,50 | 10,50 86,47 | 86,0 80,100",
    ),
    ("86,2 22,4 | 22,4 16,46 | 16,46 50,38 86,53 89,78 55,100 10,92",),
    ("76,2 40,18 12,50 10,80 40,100 80,92 89,70 65,52 30,58 11,76",),
    (
        "5,5 93,3 | 93,3 62,44 40,100",
        "5,5 93,3 | 93,3 62,44 40,100 | 32,50 78,47",
    ),
    ("82,13 46,0 14,18 40,44 80,64 83,88 46,100 12,86 24,62 64,40 87,22 82,13",),
    (
        "86,24 60,2 20,9 9,34 35,52 70,44 86,24 | 86,24 83,60 70,100",
        "86,24 60,2 20,9 9,34 35,52 70,44 86,24 | 86,24 86,70 66,98 26,96",
    ),
)


class _Way(NamedTuple):
    corners: Any  # [k, 2]: the points of the table
    weights: Any  # [_POINTS, k]: the drawn points are weights @ corners


def _way(strokes: str) -> _Way:
    corners: list[tuple[float, float]] = []
    lines = []
    for stroke in strokes.split(" | "):
        line = []
        for pair in stroke.split():
            x, y = pair.split(",")
            point = (float(x) / 100 - 0.5, float(y) / 100 - 0.5)
            if point not in corners:
                corners.append(point)
            line.append(corners.index(point))
        lines.append(line)
    array = np.array(corners)
    fine = np.concatenate([_spline(line, len(corners)) for line in lines])
    # Of many points on each curve, select those at equal distances along the strokes.
    steps = np.linalg.norm(np.diff(fine @ array, axis=0), axis=1)
    way = np.concatenate([[0.0], np.cumsum(steps)])
    chosen = np.searchsorted(way, np.linspace(0, way[-1], _POINTS))
    return _Way(array, fine[np.minimum(chosen, len(fine) - 1)])


def _spline(line: list[int], corners: int) -> Any:
    """Weights of the corners for points along a curve through them (Catmull-Rom)."""
    through = np.eye(corners)[line]
    before = np.vstack([2 * through[0] - through[1], through[:-1]])[:-1]
    after = np.vstack([through[1:], 2 * through[-1] - through[-2]])[1:]
    start, end = through[:-1], through[1:]
    t = np.linspace(0, 1, 200)[:, None, None]
    curve = start + t / 2 * (
        (end - before)
        + t * (2 * before - 5 * start + 4 * end - after)
        + t * t * (3 * (start - end) + after - before)
    )
    return curve.transpose(1, 0, 2).reshape(-1, corners)


def draw_digits(labels: Any, noise: float, random: np.random.RandomState) -> Any:
    """One image of each label.

    Args:
      labels: int array [n], 0 to 9.
      noise: standard deviation of the noise added to pixels; full ink is 1.
      random: the random number generator.

    Returns:
      uint8 array [n, 28, 28, 1].
    """
    ways = [[_way(strokes) for strokes in ways] for ways in _WAYS]
    pick = random.random_sample(len(labels))
    points = np.empty((len(labels), _POINTS, 2))
    for digit, known in enumerate(ways):
        for number, way in enumerate(known):
            chosen = np.floor(pick * len(known)) == number
            rows = np.flatnonzero((labels == digit) & chosen)
            bent = random.normal(0, 0.025, (len(rows), *way.corners.shape))
            points[rows] = way.weights @ (way.corners + bent)
    return _draw(_placed(points, random), noise, random)


def _placed(points: Any, random: np.random.RandomState) -> Any:
    """Transform points of the unit box to pixels: bend, scale, slant, rotate, shift."""
    count = len(points)

    def each(low: float, high: float) -> Any:
        return random.uniform(low, high, (count, 1))

    x, y = points[..., 0], points[..., 1]
    x, y = (
        x + 0.035 * np.sin(each(3, 6) * y + each(0, 6.3)),
        y + 0.025 * np.sin(each(3, 6) * x + each(0, 6.3)),
    )
    x = x * each(11, 16) + y * each(-2.0, 5.0) * -1  # most people slant to the right
    y = y * each(17, 20)
    angle = random.normal(0, 0.1, (count, 1))
    turned = np.stack(
        [
            x * np.cos(angle) - y * np.sin(angle),
            x * np.sin(angle) + y * np.cos(angle),
        ],
        axis=-1,
    )
    middle = turned.mean(axis=1, keepdims=True)  # MNIST centres digits by their mass
    return turned - middle + random.uniform(-1.5, 1.5, (count, 1, 2))


def _draw(points: Any, noise: float, random: np.random.RandomState) -> Any:
    """Images of pen strokes through points [n, _POINTS, 2], (0, 0) in the middle."""
    count = len(points)
    axis = np.arange(SIZE) - (SIZE - 1) / 2
    pixels = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    radius = random.uniform(0.75, 1.55, (count, 1)).astype(np.float32)
    ink = random.uniform(0.85, 1.0, (count, 1)).astype(np.float32)
    grid = pixels.astype(np.float32)
    images = np.empty((count, SIZE * SIZE), np.uint8)
    for start in range(0, count, 64):  # 14 MB of distances at a time
        part = slice(start, start + 64)
        pen = points[part].astype(np.float32)
        # |pixel - point|^2, less |pixel|^2, which is the same for all points.
        apart = (pen * pen).sum(-1)[:, None, :] - 2 * (grid @ pen.transpose(0, 2, 1))
        nearest = apart.min(axis=2) + (grid * grid).sum(-1)
        distance = np.sqrt(np.maximum(nearest, 0))
        value = np.clip((radius[part] - distance) / 1.1 + 0.5, 0, 1) * ink[part]
        value += noise * random.standard_normal(value.shape) * (0.15 + value)
        images[part] = np.rint(np.clip(value, 0, 1) * 255)
    return images.reshape(count, SIZE, SIZE, 1)


def _examples(
    count: int, noise: float, random: np.random.RandomState
) -> tuple[Any, Any]:
    labels = random.permutation(np.arange(count) % 10)
    return draw_digits(labels, noise, random), labels.astype(np.uint8)


def synthetic_mnist(
    train_size: int = 5000,
    validation_size: int = 500,
    test_size: int = 1000,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    noise: float = 0.1,
    seed: int = 0,
) -> input_data.Datasets:
    """Synthetic digits as data sets like MNIST's; nothing is read or downloaded.

    The images are 28 x 28 with the digit in the centre, all digits equally often.
    A small convnet classifies more than 95 % of them correctly.

    Args:
      train_size: the number of training examples.
      validation_size: the number of validation examples.
      test_size: the number of test examples.
      one_hot: labels as rows [10] with a 1 at the digit, else as numbers [n].
      dtype: `tf.float32` for images in [0, 1], `tf.uint8` for 0 to 255.
      reshape: images as rows [784] instead of [28, 28, 1].
      noise: standard deviation of the noise, where full ink is 1; 0 for none.
      seed: the same seed produces the same images, in the same batches.

    Returns:
      `train`, `validation` and `test`, as `input_data.read_data_sets` returns them.

    Example:
      >>> mnist = tfteach.examples.synthetic_mnist(one_hot=True)
      >>> images, labels = mnist.train.next_batch(100)
      >>> images.shape, labels.shape
      ((100, 784), (100, 10))
    """
    for name, size in (
        ("train_size", train_size),
        ("validation_size", validation_size),
        ("test_size", test_size),
    ):
        if size < 0:
            raise ValueError(f"synthetic_mnist: {name} is {size}, expected 0 or more.")
    random = np.random.RandomState(seed)
    images, labels = _examples(validation_size + train_size, noise, random)
    test = _examples(test_size, noise, random)
    if one_hot:
        labels = input_data.dense_to_one_hot(labels, 10)
        test = test[0], input_data.dense_to_one_hot(test[1], 10)
    return input_data.datasets(
        (images, labels), test, validation_size, dtype=dtype, reshape=reshape, seed=seed
    )


def write_synthetic_mnist(
    train_dir: str | os.PathLike[str],
    train_size: int = 10000,
    test_size: int = 2000,
    noise: float = 0.1,
    seed: int = 0,
) -> None:
    """Write synthetic digits as MNIST's four files, so that scripts run offline.

    Args:
      train_dir: the folder, created if it is missing.
      train_size: the number of training examples, including the validation examples
        (`read_data_sets` takes 5000 by default).
      test_size: the number of test examples.
      noise: as in `synthetic_mnist`.
      seed: as in `synthetic_mnist`.

    Raises:
      FileExistsError: one of the files exists; nothing is written.

    Example:
      >>> tfteach.examples.write_synthetic_mnist("MNIST_data")
      >>> mnist = input_data.read_data_sets("MNIST_data", one_hot=True)
    """
    folder = Path(train_dir)
    for name in (name for pair in idx.FILES for name in pair):
        if (folder / name).exists():
            raise FileExistsError(f"{folder / name} exists: it may be the real MNIST.")
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.RandomState(seed)
    for size, (images_file, labels_file) in zip(
        (train_size, test_size), idx.FILES, strict=True
    ):
        images, labels = _examples(size, noise, random)
        idx.write(folder / images_file, images[..., 0])
        idx.write(folder / labels_file, labels)
