"""`tf.estimator.inputs`: input functions from arrays and from pandas.

Source: tensorflow_estimator/python/estimator/inputs/{numpy_io,pandas_io}.py.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tfteach.framework.export import export
from tfteach.framework.type_aliases import Array
from tfteach.lib.estimator.feeding_functions import check_frame, enqueue_data

# The keys of what is no dict.
_DIRECT, _TARGET = "__direct_np_input__", "__target_key__"


@export("estimator.inputs.numpy_input_fn")
def numpy_input_fn(
    x: Array | Mapping[str, Array],
    y: Array | Mapping[str, Array] | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """An input function of arrays, in batches, by a queue.

    Args:
      x: an array [n, ...], or a dict of names to arrays of the same length.
      y: the labels: an array, a dict, or None.
      batch_size: the rows of a batch; the last one may be smaller.
      num_epochs: how often to go through the arrays; None for ever.
      shuffle: whether the queue shuffles; must be given.
      queue_capacity: the queue's capacity.
      num_threads: the threads that fill it: with more than one, each goes through all
        arrays.

    Returns:
      A function without arguments that returns features, or (features, labels).

    Raises:
      ValueError: `shuffle` is no bool, or the lengths differ, or something is empty.
      TypeError: `x` is neither array nor dict.

    Example:
      >>> input_fn = tf.estimator.inputs.numpy_input_fn(
      ...     {"x": xs}, ys, batch_size=32, num_epochs=None, shuffle=True
      ... )
      >>> estimator.train(input_fn, steps=1000)

    Source: tensorflow_estimator/python/estimator/inputs/numpy_io.py.
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended "
            f"to set it as True for training); got {shuffle}"
        )

    def input_fn() -> Any:
        if not isinstance(x, dict | np.ndarray):
            raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
        if (len(x) if isinstance(x, dict) else x.size) == 0:
            kind = "dict" if isinstance(x, dict) else "array"
            raise ValueError(f"x cannot be an empty {kind}")
        features = dict(x) if isinstance(x, dict) else {_DIRECT: x}
        if isinstance(y, dict) and not y:
            raise ValueError("y cannot be empty dict, use None instead.")
        labels: dict[str, Array] = {}
        direct = _unused_key(features)
        if y is not None:
            labels = dict(y) if isinstance(y, dict) else {direct: np.asarray(y)}
        twice = features.keys() & labels.keys()
        if twice:
            raise ValueError(
                f"{len(twice)} duplicate keys are found in both x and y: {twice}"
            )
        columns = OrderedDict((key, features[key]) for key in sorted(features))
        columns.update((key, labels[key]) for key in sorted(labels))
        if len({len(column) for column in columns.values()}) > 1:
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y "
                "must have the same length.\nShapes in x: "
                f"{ {key: f.shape for key, f in features.items()} }\nShapes in y: "
                f"{ {key: v.shape for key, v in labels.items()} }\n"
            )
        queue = enqueue_data(
            columns, queue_capacity, shuffle=shuffle, num_threads=num_threads,
            enqueue_size=batch_size, num_epochs=num_epochs,
        )  # fmt: skip
        take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
        batch: Any = take(batch_size)
        named = dict(zip(columns, batch[1:], strict=True))
        found: Any = {key: named[key] for key in columns if key in features}
        if not isinstance(x, dict):
            found = found[_DIRECT]
        if y is None:
            return found
        if isinstance(y, dict):
            return found, {key: named[key] for key in columns if key in labels}
        return found, named[direct]

    return input_fn


def _unused_key(features: Mapping[str, Array]) -> str:
    """A key for labels that no feature has."""
    key = _TARGET
    while key in features:
        key += "_n"
    return key


@export("estimator.inputs.pandas_input_fn")
def pandas_input_fn(
    x: object,
    y: object = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """An input function of a pandas DataFrame, in batches, by a queue.

    Args:
      x: the DataFrame of the features.
      y: the labels: a Series, a DataFrame, or None.
      batch_size, num_epochs, shuffle, num_threads: as in
        `tf.estimator.inputs.numpy_input_fn`.
      queue_capacity: the queue's capacity; None for the number of rows, or four times
        that to shuffle.
      target_column: the name of the labels' column inside, when `y` is a Series.

    Returns:
      A function without arguments that returns features, or (features, labels).

    Raises:
      ValueError: `shuffle` is no bool, the indices differ, or `x` has the column.
      TypeError: `target_column` is no string, or `x` no DataFrame.

    Example:
      >>> input_fn = tf.estimator.inputs.pandas_input_fn(frame, labels, shuffle=True)

    Source: tensorflow_estimator/python/estimator/inputs/pandas_io.py.
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended "
            f"to set it as True for training); got {shuffle}"
        )
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    frame: Any = x
    target: Any = y
    if y is not None and not np.array_equal(frame.index, target.index):
        raise ValueError(
            "Index for x and y are mismatched.\nIndex for x: "
            f"{frame.index}\nIndex for y: {target.index}\n"
        )

    def input_fn() -> Any:
        check_frame(frame)
        capacity = queue_capacity
        if capacity is None:
            capacity = (4 if shuffle else 1) * len(frame)
        data, labels = frame, {}
        if y is not None and hasattr(target, "columns"):
            labels = {name: f"{name}{_TARGET}" for name in target.columns}
            inside = {labels[name]: target[name].to_numpy() for name in labels}
            data = frame.assign(**inside)
        elif y is not None:
            if target_column in frame.columns:
                raise ValueError(
                    f"Cannot use name {target_column} for target column: DataFrame "
                    f"already has a column with that name: {frame.columns}"
                )
            data = frame.assign(**{target_column: target.to_numpy()})
        queue = enqueue_data(
            data, capacity, shuffle=shuffle, num_threads=num_threads,
            enqueue_size=batch_size, num_epochs=num_epochs,
        )  # fmt: skip
        take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
        batch: Any = take(batch_size)
        named = dict(zip(data.columns, batch[1:], strict=True))
        found = {name: named[name] for name in frame.columns}
        if y is None:
            return found
        if hasattr(target, "columns"):
            return found, {name: named[key] for name, key in labels.items()}
        return found, named[target_column]

    return input_fn
