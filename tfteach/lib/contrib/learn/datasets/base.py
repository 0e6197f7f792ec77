"""Tables of features and targets, and how they are read.

Source: contrib/learn/python/learn/datasets/base.py.
"""

from __future__ import annotations

import csv
import functools
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.type_aliases import PathLike

_P = ParamSpec("_P")
_R = TypeVar("_R")

_FOLDER = Path(__file__).parent
_RETRIABLE_ERRNOS = frozenset({110})  # a time limit
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


@export(*_publics("shrink_csv"))
def shrink_csv(filename: PathLike, ratio: int) -> None:
    """Write a smaller version of a CSV file beside it, as `<name>_small.<suffix>`.

    Args:
      filename: the file's path, with a suffix.
      ratio: every so many lines one is written.

    Source: contrib/learn/python/learn/datasets/base.py.
    """
    path = resolve(filename)
    small = path.replace(".", "_small.")
    with open_file(path, "rb") as source, open_file(small, "wb") as target:
        target.writelines(line for i, line in enumerate(source) if i % ratio == 0)


@export(*_publics("retry"))
def retry(
    initial_delay: float,
    max_delay: float,
    factor: float = 2.0,
    jitter: float = 0.25,
    is_retriable: Callable[[Exception], bool] | None = None,
) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorator: call a function again after an exception.

    Args:
      initial_delay: the seconds before the second call.
      max_delay: the most seconds before a call; then exceptions are raised.
      factor: how many times longer each delay is than the one before.
      jitter: the part of a delay by which it is longer or shorter, at random.
      is_retriable: whether an exception is worth another call; None for all.

    Raises:
      ValueError: a factor is less than 1, or the jitter 1 or more.

    Source: contrib/learn/python/learn/datasets/base.py.
    """
    if factor < 1:
        raise ValueError(f"factor must be >= 1; was {factor}")
    if jitter >= 1:
        raise ValueError(f"jitter must be < 1; was {jitter}")

    def delays() -> Iterator[float]:
        delay = initial_delay
        while delay <= max_delay:
            yield delay * np.random.uniform(1 - jitter, 1 + jitter)
            delay *= factor

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for delay in delays():
                try:
                    return function(*args, **kwargs)
                except Exception as err:
                    if is_retriable is not None and not is_retriable(err):
                        raise
                    time.sleep(delay)
            return function(*args, **kwargs)

        return call

    return decorate


def _is_retriable(error: Exception) -> bool:
    return isinstance(error, OSError) and error.errno in _RETRIABLE_ERRNOS


@export(*_publics("urlretrieve_with_retry"))
@retry(initial_delay=1.0, max_delay=16.0, is_retriable=_is_retriable)
def urlretrieve_with_retry(url: str, filename: str | None = None) -> tuple[str, Any]:
    """`urllib.request.urlretrieve`, again after time limits.

    Args:
      url: the address.
      filename: where to write the file; a temporary one if None.

    Returns:
      (path, headers).

    Source: contrib/learn/python/learn/datasets/base.py.
    """
    return urllib.request.urlretrieve(url, filename)
