"""Data of pandas and dask as arrays.

Source: contrib/learn/python/learn/learn_io/{pandas_io,dask_io}.py.
"""

from __future__ import annotations

import importlib.util
from typing import Any, NoReturn

import numpy as np

from tfteach.framework.export import export, export_value

HAS_PANDAS = importlib.util.find_spec("pandas") is not None
HAS_DASK = importlib.util.find_spec("dask") is not None
export_value(
    __name__, HAS_PANDAS="contrib.learn.io.HAS_PANDAS",
    HAS_DASK="contrib.learn.io.HAS_DASK",
)  # fmt: skip


def _is_of_pandas(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def _is_frame(data: object) -> bool:
    return _is_of_pandas(data) and hasattr(data, "columns")


def _check_numbers(frame: Any) -> None:
    """Check that all columns are numbers.

    Raises:
      ValueError: one is not.
    """
    bad = [
        f'"{name}" type={kind}'
        for name, kind in frame.dtypes.items()
        if kind.kind not in "biuf"
    ]
    if bad:
        raise ValueError(
            "Data types for extracting pandas data must be int, float, or bool. "
            "Found: " + ", ".join(bad)
        )


@export("contrib.learn.extract_pandas_data", "contrib.learn.io.extract_pandas_data")
def extract_pandas_data(data: object) -> object:
    """A DataFrame of numbers as an array; other data as they are.

    Args:
      data: a pandas DataFrame, or anything else.

    Returns:
      A float32 array [n, columns].

    Raises:
      ValueError: a column is of another type.

    Source: contrib/learn/python/learn/learn_io/pandas_io.py.
    """
    frame: Any = data
    if not _is_frame(frame):
        return data
    _check_numbers(frame)
    return frame.to_numpy().astype(float)


@export("contrib.learn.extract_pandas_matrix", "contrib.learn.io.extract_pandas_matrix")
def extract_pandas_matrix(data: object) -> object:
    """A DataFrame as an array; other data as they are.

    Args:
      data: a pandas DataFrame, or anything else.

    Source: contrib/learn/python/learn/learn_io/pandas_io.py.
    """
    frame: Any = data
    return frame.to_numpy() if _is_frame(frame) else data


@export("contrib.learn.extract_pandas_labels", "contrib.learn.io.extract_pandas_labels")
def extract_pandas_labels(labels: object) -> object:
    """Labels of pandas as an array; others as they are.

    Args:
      labels: a DataFrame of one column, or anything else.

    Raises:
      ValueError: there are several columns, or one of another type.

    Source: contrib/learn/python/learn/learn_io/pandas_io.py.
    """
    frame: Any = labels
    if not _is_frame(frame):
        return labels
    if len(frame.columns) > 1:
        raise ValueError("Only one column for labels is allowed.")
    _check_numbers(frame)
    return frame.to_numpy()


def _no_dask(name: str) -> NoReturn:
    raise NotImplementedError(
        f"tf.contrib.learn.{name} of dask's data: compute them first, and pass arrays"
    )


def _is_of_dask(data: object) -> bool:
    return type(data).__module__.partition(".")[0] == "dask"


@export("contrib.learn.extract_dask_data", "contrib.learn.io.extract_dask_data")
def extract_dask_data(data: object) -> object:
    """Data as they are.

    Args:
      data: anything but a collection of dask.

    Raises:
      NotImplementedError: they are a collection of dask.

    Source: contrib/learn/python/learn/learn_io/dask_io.py.
    """
    if _is_of_dask(data):
        _no_dask("extract_dask_data")
    return data


@export("contrib.learn.extract_dask_labels", "contrib.learn.io.extract_dask_labels")
def extract_dask_labels(labels: object) -> object:
    """Labels as they are.

    Args:
      labels: anything but a collection of dask.

    Raises:
      NotImplementedError: they are a collection of dask.

    Source: contrib/learn/python/learn/learn_io/dask_io.py.
    """
    if _is_of_dask(labels):
        _no_dask("extract_dask_labels")
    return labels


def as_arrays(x: Any) -> Any:
    """Features of any of these libraries as arrays."""
    return extract_pandas_data(extract_dask_data(x))


def as_labels(y: Any) -> Any:
    """Labels of any of these libraries as arrays; a Series, too."""
    found = extract_pandas_labels(extract_dask_labels(y))
    return np.asarray(found) if _is_of_pandas(found) else found
