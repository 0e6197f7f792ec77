"""`tf.contrib.learn.io`: input functions of arrays, pandas data and generators.

Source: contrib/learn/python/learn/learn_io/{numpy_io,pandas_io,generator_io}.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.type_aliases import Array
from tfteach.lib.estimator import inputs as core
from tfteach.lib.estimator.feeding_functions import Examples, enqueue_data


@export("contrib.learn.io.numpy_input_fn")
def numpy_input_fn(
    x: Array | Mapping[str, Array],
    y: Array | Mapping[str, Array] | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """`tf.estimator.inputs.numpy_input_fn`, which shuffles by default.

    Args:
      x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads: as there.

    Source: contrib/learn/python/learn/learn_io/numpy_io.py.
    """
    return core.numpy_input_fn(
        x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads
    )


@export("contrib.learn.io.pandas_input_fn")
def pandas_input_fn(
    x: object,
    y: object = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """`tf.estimator.inputs.pandas_input_fn`, which shuffles by default.

    Args:
      x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads,
        target_column: as there.

    Source: contrib/learn/python/learn/learn_io/pandas_io.py.
    """
    return core.pandas_input_fn(
        x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads,
        target_column,
    )  # fmt: skip


@export("contrib.learn.io.generator_input_fn")
def generator_input_fn(
    x: Callable[[], Examples],
    target_key: str | Sequence[str] | None = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    pad_value: float | None = None,
) -> Callable[[], Any]:
    """An input function of a generator of examples, in batches, by a queue.

    As in TensorFlow, batches are whole: where an epoch ends within one, it goes on
    with the next epoch's first examples, also after the last epoch.

    Args:
      x: a generator function without arguments, which yields dicts of names to arrays.
      target_key: the name of the label; a list of names for a dict of labels; None
        for no labels.
      batch_size: the examples of a batch.
      num_epochs: how often to call `x`; None for ever.
      shuffle: whether the queue shuffles.
      queue_capacity: the queue's capacity.
      num_threads: the threads that fill it, each with a generator of its own.
      pad_value: for arrays whose last sizes differ, what fills up the smaller ones of
        a batch; such a queue does not shuffle.

    Returns:
      A function without arguments that returns features, or (features, labels).

    Raises:
      TypeError: `x` is no generator function or yields no dict, or `target_key` holds
        something else than texts.
      KeyError: examples have no such key.

    Example:
      >>> def examples():
      ...     for i in range(100):
      ...         yield {"x": np.array([i]), "y": np.array([2 * i])}
      >>> input_fn = tf.contrib.learn.io.generator_input_fn(examples, "y", 10)

    Source: contrib/learn/python/learn/learn_io/generator_io.py.
    """
    targets = _targets(target_key)
    first = _first_example(x)
    keys = sorted(first)
    for key in targets:
        if key not in first:
            raise KeyError(
                f"target_key not in yielded dict. Expected {keys} keys; got {key}"
            )

    def input_fn() -> Any:
        queue = enqueue_data(
            x, queue_capacity, shuffle=shuffle, num_threads=num_threads,
            enqueue_size=batch_size, num_epochs=num_epochs, pad_value=pad_value,
        )  # fmt: skip
        take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
        found: Any = take(batch_size)
        batch = found if isinstance(found, list | tuple) else [found]
        features = dict(zip(keys, batch, strict=True))
        if not targets:
            return features
        labels = {key: features.pop(key) for key in targets}
        return features, labels if len(targets) > 1 else labels[targets[0]]

    return input_fn


def _targets(target_key: Any) -> list[str]:
    """The names of the labels."""
    if target_key is None:
        return []
    given = target_key
    if isinstance(given, str) or not isinstance(given, Container):
        given = [given]
    for key in given:
        if not isinstance(key, str):
            raise TypeError(
                f"target_key must be str or Container of str; got {type(key).__name__}"
            )
    return list(given)


def _first_example(x: Any) -> Mapping[str, Any]:
    if not inspect.isfunction(x):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    examples = x()
    if not inspect.isgenerator(examples):
        raise TypeError(f"x() must be generator; got {type(examples).__name__}")
    found: Any = next(examples)
    if not isinstance(found, Mapping):
        raise TypeError(f"x() must yield dict; got {type(found).__name__}")
    return found
