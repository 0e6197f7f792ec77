"""`load_dataset` and `make_dataset`: data sets by their names.

Source: contrib/learn/python/learn/datasets/__init__.py.
"""

from __future__ import annotations

from tfteach.framework.export import export
from tfteach.lib.contrib.learn.datasets.base import Dataset, load_boston, load_iris
from tfteach.lib.contrib.learn.datasets.synthetic import SYNTHETIC


@export("contrib.learn.datasets.load_dataset")
def load_dataset(
    name: str, size: str = "small", test_with_fake_data: bool = False
) -> Dataset:
    """One of the tables by its name.

    Args:
      name: "iris" or "boston".
      size, test_with_fake_data: of "dbpedia", which is not implemented.

    Raises:
      ValueError: there is no such table.
      NotImplementedError: it would have to be downloaded.

    Source: contrib/learn/python/learn/datasets/__init__.py.
    """
    if name in ("mnist", "dbpedia"):
        raise NotImplementedError(
            f"load_dataset({name!r}) would download it; for MNIST see "
            "tf.contrib.learn.datasets.mnist.read_data_sets"
        )
    known = {"iris": load_iris, "boston": load_boston}
    if name not in known:
        raise ValueError(f"Name of dataset is not found: {name}")
    return known[name]()


@export("contrib.learn.datasets.make_dataset")
def make_dataset(
    name: str, n_samples: int = 100, noise: float | None = None, seed: int | None = 42,
    *args: object, **kwargs: object,
) -> Dataset:  # fmt: skip
    """Points of two classes, on circles or spirals.

    Args:
      name: "circles" or "spirals".
      n_samples: the number of points.
      noise: the standard deviation of normal noise; None for none.
      seed: the seed of NumPy's global generator; None to leave it as it is.
      *args: further arguments of the shape.
      **kwargs: further arguments of the shape, such as `factor` and `n_classes` of
        circles or `mode` and `n_loops` of spirals.

    Returns:
      A Dataset of float64 [n_samples, 2] and int32 [n_samples].

    Raises:
      ValueError: there is no such shape.

    Example:
      >>> points = tf.contrib.learn.datasets.make_dataset("circles", 50, noise=0.1)
      >>> points.data.shape
      (50, 2)

    Source: contrib/learn/python/learn/datasets/__init__.py.
    """
    if name not in SYNTHETIC:
        raise ValueError(f"Synthetic dataset not found or not implemeted: {name}")
    found: Dataset = SYNTHETIC[name](n_samples, noise, seed, *args, **kwargs)
    return found
