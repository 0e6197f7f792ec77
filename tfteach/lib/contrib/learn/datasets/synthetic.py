"""Points on circles and spirals, for classifiers.

Source: contrib/learn/python/learn/datasets/synthetic.py (API, order of the points).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfteach.framework.export import export_value
from tfteach.framework.type_aliases import Array
from tfteach.lib.contrib.learn.datasets.base import Dataset

_TURN = 2 * np.pi


def circles(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    factor: float = 0.8,
    n_classes: int = 2,
    *args: object,
    **kwargs: object,
) -> Dataset:
    """Points on circles around the origin, one for each class.

    As in TensorFlow, this draws from NumPy's global generator.

    Args:
      n_samples: the number of points.
      noise: the standard deviation of normal noise; None for none.
      seed: the generator's seed; None to leave it as it is.
      factor: each circle's radius as a multiple of the one before.
      n_classes: the number of circles.
      *args: ignored, as in TensorFlow: other shapes have more arguments.
      **kwargs: likewise.

    Returns:
      A Dataset of float64 [n_samples, 2] and int32 [n_samples].

    Source: contrib/learn/python/learn/datasets/synthetic.py.
    """
    if seed is not None:
        np.random.seed(seed)
    angles = np.linspace(0, _TURN, n_samples // n_classes)
    circle = np.stack([np.cos(angles), np.sin(angles)], 1)
    rest = n_samples % n_classes
    others = np.stack(
        [np.cos(np.random.rand(rest) * _TURN), np.sin(np.random.rand(rest) * _TURN)], 1
    )
    points = [circle * factor**i for i in range(n_classes)]
    return _shuffled([*points, others], noise)


def _shuffled(parts: list[Array], noise: float | None) -> Dataset:
    """The points of each class, and of the first one again, in a random order."""
    target = np.concatenate(
        [np.full(len(part), i % (len(parts) - 1)) for i, part in enumerate(parts)]
    )
    order = np.random.permutation(range(len(target)))
    data = np.concatenate(parts)
    if noise is not None:
        data = data + np.random.normal(scale=noise, size=data.shape)
    return Dataset(data[order], target[order].astype(np.int32))


_RADII: dict[str, Callable[[Array], Array]] = {
    "archimedes": lambda angles: angles,
    "bernoulli": lambda angles: np.exp(0.1 * angles),
    "fermat": np.sqrt,
}


def _spiral(mode: str, angles: Array, offset: float) -> Array:
    """Points [n, 2] between -1 and 1."""
    radii = _RADII[mode](angles)
    x, y = radii * np.cos(angles + offset), radii * np.sin(angles + offset)
    with np.errstate(invalid="ignore"):  # of a single point, as in TensorFlow
        return np.stack([x / np.abs(x).max(), y / np.abs(y).max()], 1)


def spirals(
    n_samples: int = 100,
    noise: float | None = None,
    seed: int | None = None,
    mode: str = "archimedes",
    n_loops: int = 2,
    *args: object,
    **kwargs: object,
) -> Dataset:
    """Points on two spirals, one turned by 180 degrees, for two classes.

    As in TensorFlow, this draws from NumPy's global generator.

    Args:
      n_samples: the number of points.
      noise: the standard deviation of normal noise; None for none.
      seed: the generator's seed; None to leave it as it is.
      mode: "archimedes" (r = angle), "bernoulli" (r = exp(angle / 10)) or "fermat"
        (r = sqrt(angle)).
      n_loops: the turns of a spiral.
      *args: ignored, as in TensorFlow: other shapes have more arguments.
      **kwargs: likewise.

    Returns:
      A Dataset of float64 [n_samples, 2] and int32 [n_samples].

    Raises:
      ValueError: there is no such mode.

    Source: contrib/learn/python/learn/datasets/synthetic.py.
    """
    if mode not in _RADII:
        raise ValueError(f"Cannot generate spiral with mode {mode}")
    if seed is not None:
        np.random.seed(seed)
    angles = np.linspace(0, n_loops * _TURN, n_samples // 2)
    parts = [_spiral(mode, angles, 0), _spiral(mode, angles, np.pi)]
    rest = np.zeros((0, 2))
    if n_samples % 2:
        rest = _spiral(mode, np.random.rand(n_samples % 2) * _TURN, 0)
    return _shuffled([*parts, rest], noise)


SYNTHETIC: dict[str, Callable[..., Any]] = {"circles": circles, "spirals": spirals}
export_value(__name__, SYNTHETIC="contrib.learn.datasets.SYNTHETIC")
