"""Tables of features and targets, and how they are read.

Source: contrib/learn/python/learn/datasets/base.py.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.type_aliases import PathLike

_FOLDER = Path(__file__).parent
# Paths of TensorFlow's tutorials: the module they import from, and contrib's alias.
_PLACES = ("contrib.learn.datasets", "contrib.learn.python.learn.datasets")


def _publics(name: str) -> list[str]:
    return [f"{place}.base.{name}" for place in _PLACES]


@export(*_publics("Dataset"))
class Dataset(NamedTuple):
    """Examples and their labels."""

    data: Any
    target: Any


@export(*_publics("Datasets"))
class Datasets(NamedTuple):
    """Training, validation and test examples."""

    train: Any
    validation: Any
    test: Any


def _rows(filename: PathLike) -> list[list[str]]:
    with open_file(resolve(filename), "rb") as file:
        lines = file.read().decode().splitlines()
    return list(csv.reader(lines))


def _table(
    rows: list[list[str]], target_dtype: Any, features_dtype: Any, column: int
) -> Dataset:
    """Rows of a CSV file as features and targets."""
    target = np.array([row.pop(column) for row in rows]).astype(target_dtype)
    return Dataset(np.array(rows).astype(features_dtype), target)


@export(*_publics("load_csv_with_header"))
def load_csv_with_header(
    filename: PathLike,
    target_dtype: type,
    features_dtype: type,
    target_column: int = -1,
) -> Dataset:
    """A CSV file whose first line has the numbers of rows and of features.

    Args:
      filename: the file's path.
      target_dtype: the NumPy type of the targets.
      features_dtype: the NumPy type of the features.
      target_column: the column of the targets.

    Returns:
      A Dataset of `data`, [rows, features], and `target`, [rows].

    Raises:
      StopIteration: the file is empty.
      ValueError: the first line does not fit the rows.

    Example:
      >>> training = tf.contrib.learn.datasets.base.load_csv_with_header(
      ...     "iris_training.csv", target_dtype=np.int32, features_dtype=np.float32
      ... )

    Source: contrib/learn/python/learn/datasets/base.py.
    """
    rows = iter(_rows(filename))
    head = next(rows)
    count, width = int(head[0]), int(head[1])
    found = _table(list(rows), target_dtype, features_dtype, target_column)
    if found.data.shape != (count, width):
        raise ValueError(
            f"{filename}: the first line says {count} rows of {width} features, but "
            f"there are {found.data.shape}"
        )
    return found


@export(*_publics("load_csv_without_header"))
def load_csv_without_header(
    filename: PathLike,
    target_dtype: type,
    features_dtype: type,
    target_column: int = -1,
) -> Dataset:
    """A CSV file of rows only.

    Args:
      filename, target_dtype, features_dtype, target_column: as in
        `load_csv_with_header`.

    Returns:
      A Dataset of `data`, [rows, features], and `target`, [rows].

    Source: contrib/learn/python/learn/datasets/base.py.
    """
    return _table(_rows(filename), target_dtype, features_dtype, target_column)


@export("contrib.learn.datasets.load_iris", *_publics("load_iris"))
def load_iris(data_path: PathLike | None = None) -> Dataset:
    """Fisher's table of 150 irises of three kinds, with four lengths each.

    Args:
      data_path: another file in place of the table, as of `load_csv_with_header`.

    Returns:
      A Dataset of float64 [150, 4] and int64 [150].

    Example:
      >>> iris = tf.contrib.learn.datasets.load_iris()
      >>> iris.data.shape, iris.target[:3]
      ((150, 4), array([0, 0, 0]))

    Source: contrib/learn/python/learn/datasets/base.py.
    """
    if data_path is not None:
        return load_csv_with_header(data_path, np.int64, np.float64)
    return load_csv_without_header(_FOLDER / "iris.csv", np.int64, np.float64)


@export("contrib.learn.datasets.load_boston", *_publics("load_boston"))
def load_boston(data_path: PathLike | None = None) -> Dataset:
    """Harrison and Rubinfeld's table of 506 districts of Boston, and house prices.

    Args:
      data_path: another file in place of the table, as of `load_csv_with_header`.

    Returns:
      A Dataset of float64 [506, 13] and float64 [506].

    Example:
      >>> boston = tf.contrib.learn.datasets.load_boston()
      >>> boston.data.shape, boston.target[:3]
      ((506, 13), array([24. , 21.6, 34.7]))

    Source: contrib/learn/python/learn/datasets/base.py.
    """
    if data_path is not None:
        return load_csv_with_header(data_path, np.float64, np.float64)
    table = _FOLDER / "boston_house_prices.csv"
    return load_csv_without_header(table, np.float64, np.float64)


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
    """Not implemented: points in circles or spirals.

    Args:
      name: "circles" or "spirals".
      n_samples, noise, seed: their number, scatter and seed.
      *args: further arguments of the shape.
      **kwargs: further arguments of the shape.

    Raises:
      ValueError: there is no such shape.
      NotImplementedError: otherwise.

    Source: contrib/learn/python/learn/datasets/__init__.py.
    """
    if name not in ("circles", "spirals"):
        raise ValueError(f"Synthetic dataset not found or not implemeted: {name}")
    raise NotImplementedError(
        f"make_dataset({name!r}): make the points with NumPy, as np.cos and np.sin of "
        "angles"
    )
