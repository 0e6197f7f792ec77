"""Arrays as the input of a model: placeholders, and the batches that feed them.

The order of the batches is TensorFlow's: that of NumPy's RandomState with the seed 42.
Source: contrib/learn/python/learn/learn_io/data_feeder.py.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tfteach.framework.dtypes import as_dtype, int32
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Tensor
from tfteach.framework.type_aliases import Array, FeedDict
from tfteach.lib.contrib.learn.frames import as_arrays, as_labels
from tfteach.lib.contrib.learn.type_aliases import Rows, Tensors
from tfteach.ops.core.placeholder import placeholder

_SEED = 42
# A Tensor or a dict of them.
_Inputs = Any


# The number of classes of the labels, or of each in a dict.
_Classes = int | None | Mapping[str, int | None]


def _sizes(shape: Sequence[int], batch_size: int) -> list[int]:
    """The shape of a batch of features."""
    return [batch_size, *(shape[1:] or [1])]


def _label_sizes(
    shape: Sequence[int], n_classes: int | None, batch_size: int
) -> list[int]:
    """The shape of a batch of labels, one-hot if there are classes.

    A column is as good as a row of them.
    """
    rest = list(shape[1:])
    if rest == [1]:
        rest = []
    if n_classes is not None and n_classes > 1:
        rest.append(n_classes)
    return [batch_size, *rest]


def _map(call: Callable[[Any], Any], value: Any) -> Any:
    """Call for an array or for each in a dict."""
    if isinstance(value, Mapping):
        return {key: call(item) for key, item in value.items()}
    return call(value)


def _checked(array: Any) -> Any:
    """An array; data of other libraries as an array.

    Raises:
      AttributeError: it is no array.
    """
    if array.dtype == np.float64:
        get_logger().warning(
            "float64 is not supported by many models, consider casting to float32."
        )
    return array


def _one_hot(labels: Array, n_classes: int) -> Array:
    """Labels [...] as [..., n_classes]."""
    found: Array = np.eye(n_classes, dtype=labels.dtype)[labels.astype(int)]
    return found


@export("contrib.learn.io.data_feeder.DataFeeder")
class DataFeeder:
    """Batches of arrays for `session.run`.

    Args:
      x: an array [n, ...], or a dict of them.
      y: the labels: an array [n] or [n, ...], a dict of them, or None.
      n_classes: the number of classes, to feed labels one-hot, or a dict of them if
        the labels are a dict; None to feed the labels as they are, 0 as floats.
      batch_size: the rows of a batch; all if None.
      shuffle: whether to draw them in a random order, anew for each epoch.
      random_state: the NumPy RandomState of this order.
      epochs: how often to go through the arrays; None for ever.

    Raises:
      AttributeError: `x` is no array.

    Example:
      >>> feeder = tf.contrib.learn.io.data_feeder.DataFeeder(x, y, None, 32)
      >>> features, labels = feeder.input_builder()
      >>> feeds = feeder.get_feed_dict_fn()

    Source: contrib/learn/python/learn/learn_io/data_feeder.py.
    """

    def __init__(
        self,
        x: Rows,
        y: Rows | None,
        n_classes: _Classes,
        batch_size: int | None = None,
        shuffle: bool = True,
        random_state: np.random.RandomState | None = None,
        epochs: int | None = None,
    ) -> None:
        self._x: Any = _map(_checked, x)
        self._y = None if y is None else _map(_checked, y)
        first = next(iter(self._x.values())) if isinstance(x, Mapping) else self._x
        self._length = len(first)
        self._batch_size: int = batch_size or self._length
        self.n_classes = n_classes
        self.max_epochs = epochs
        self.epoch = 0
        self.offset = 0
        self._shuffle = shuffle
        self.random_state = random_state or np.random.RandomState(_SEED)
        if shuffle:
            self.indices = self.random_state.permutation(self._length)
        else:
            self.indices = np.arange(self._length)
        self.input_shape = _map(
            lambda array: _sizes(array.shape, self._batch_size), self._x
        )
        self.output_shape = None if y is None else self._output_sizes()
        self._input_placeholder: _Inputs = None
        self._output_placeholder: _Inputs = None
        self._epoch_placeholder: Any = None

    def _output_sizes(self) -> Any:
        size, labels = self._batch_size, self._y
        if not isinstance(labels, Mapping):
            return _label_sizes(np.asarray(labels).shape, self._classes(None), size)
        if self.n_classes is not None and not isinstance(self.n_classes, Mapping):
            raise TypeError(
                f"n_classes must be a dict, as the labels are; got {self.n_classes}"
            )
        return {
            key: _label_sizes(array.shape, self._classes(key), size)
            for key, array in labels.items()
        }

    def _classes(self, key: str | None) -> int | None:
        """The number of classes of the labels of a key; None for no classes."""
        if key is not None and isinstance(self.n_classes, Mapping):
            return self.n_classes[key]
        if isinstance(self.n_classes, Mapping):
            raise TypeError(
                f"n_classes must be a number, as the labels are an array; got "
                f"{self.n_classes}"
            )
        return self.n_classes

    @property
    def x(self) -> Rows:
        """The features."""
        found: Rows = self._x
        return found

    @property
    def y(self) -> Rows | None:
        """The labels."""
        return self._y

    @property
    def shuffle(self) -> bool:
        """Whether the order is random."""
        return self._shuffle

    @property
    def batch_size(self) -> int:
        """The rows of a batch."""
        return self._batch_size

    @property
    def input_dtype(self) -> object:
        """The type of the features, or a dict of types."""
        return _map(lambda array: array.dtype, self._x)

    @property
    def output_dtype(self) -> object:
        """The type of the labels, or a dict of types."""
        return self._label_types()

    def _label_types(self) -> Any:
        # TensorFlow's estimators that tell 0 classes from None expect floats.
        if self._y is None or self.n_classes == 0:
            return np.float32
        if isinstance(self._y, Mapping) and self.n_classes is not None:
            return dict.fromkeys(self._y, np.float32)
        return _map(lambda array: array.dtype, self._y)

    def set_placeholders(
        self, input_placeholder: Tensors, output_placeholder: Tensors | None
    ) -> None:
        """Use these placeholders.

        Args:
          input_placeholder: a Tensor, or a dict of them.
          output_placeholder: a Tensor, a dict, or None.
        """
        self._input_placeholder = input_placeholder
        self._output_placeholder = output_placeholder

    def input_builder(self) -> tuple[Any, Any]:
        """Make the placeholders: those of features and labels.

        Returns:
          (a Tensor or a dict of them, a Tensor, a dict or None).
        """
        self._input_placeholder = _placeholders(
            "input", self.input_shape, self.input_dtype
        )
        if self.output_shape is not None:
            self._output_placeholder = _placeholders(
                "output", self.output_shape, self.output_dtype
            )
        return self._input_placeholder, self._output_placeholder

    def make_epoch_variable(self) -> Tensor:
        """A placeholder int32 [1], which is fed the number of the epoch, 0 at first."""
        self._epoch_placeholder = placeholder(int32, [1], name="epoch")
        return self._epoch_placeholder  # type: ignore[no-any-return]

    def get_feed_params(self) -> dict[str, Any]:
        """The position: epoch, offset and batch size."""
        return {
            "epoch": self.epoch, "offset": self.offset, "batch_size": self._batch_size
        }  # fmt: skip

    def get_feed_dict_fn(self) -> Callable[[], FeedDict]:
        """A function that returns the next batch's feeds.

        The function raises StopIteration after the last epoch.
        """

        def feeds() -> FeedDict:
            if self.max_epochs is not None and self.epoch + 1 > self.max_epochs:
                raise StopIteration
            end = min(self._length, self.offset + self._batch_size)
            rows = self.indices[self.offset : end]
            found: dict[Any, Any] = {}
            if self._epoch_placeholder is not None:
                found[self._epoch_placeholder.name] = [self.epoch]
            found.update(self._fed_inputs(self._x, rows))
            if self._output_placeholder is not None:
                found.update(self._fed_outputs(self._y, rows))
            self.offset += self._batch_size
            if self.offset >= self._length:
                self.epoch += 1
                self.offset = 0
                if self._shuffle:
                    self.indices = self.random_state.permutation(self._length)
            return found

        return feeds

    def _fed_inputs(self, arrays: Any, rows: Array) -> FeedDict:
        held = self._input_placeholder
        if isinstance(held, Mapping):
            return {held[k].name: _as_input(arrays[k][rows]) for k in held}
        return {held.name: _as_input(arrays[rows])}

    def _fed_outputs(self, arrays: Any, rows: Array) -> FeedDict:
        held, types = self._output_placeholder, self._label_types()
        if isinstance(held, Mapping):
            return {
                held[k].name: self._as_output(arrays[k][rows], k).astype(types[k])
                for k in held
            }
        batch = self._as_output(arrays[rows], None)
        return {held.name: batch.astype(types)}

    def _as_output(self, batch: Array, key: str | None) -> Array:
        if batch.ndim == 2 and batch.shape[1] == 1:
            batch = batch[:, 0]
        n_classes = self._classes(key)
        if n_classes is not None and n_classes > 1:
            return _one_hot(batch, n_classes)
        return batch


def _as_input(batch: Array) -> Array:
    return batch.reshape(-1, 1) if batch.ndim == 1 else batch


def _placeholders(name: str, sizes: Any, types: Any) -> Any:
    """A placeholder, or one for each key, named by it."""
    if isinstance(sizes, Mapping):
        return {
            key: _placeholder(f"{name}_{key}", sizes[key], types[key]) for key in sizes
        }
    return _placeholder(name, sizes, types)


def _placeholder(name: str, sizes: list[int], dtype: Any) -> Tensor:
    return placeholder(as_dtype(np.dtype(dtype)), [None, *sizes[1:]], name=name)


@export("contrib.learn.io.data_feeder.StreamingDataFeeder")
class StreamingDataFeeder(DataFeeder):
    """Batches of iterators of examples.

    Args:
      x: an iterator of arrays, one for each example, or of dicts of them.
      y: an iterator of labels, or None.
      n_classes: the number of classes, to feed labels one-hot; None to feed them as
        they are.
      batch_size: the examples of a batch; 1 if None.

    Source: contrib/learn/python/learn/learn_io/data_feeder.py.
    """

    def __init__(
        self, x: Iterator[Any], y: Iterator[Any] | None, n_classes: _Classes,
        batch_size: int | None,
    ) -> None:  # fmt: skip
        first, rest = next(x), x
        labels, rest_labels = (None, None) if y is None else (next(y), y)
        super().__init__(
            _map(_row, first),
            None if labels is None else _map(_row, labels),
            n_classes,
            batch_size,
        )
        self._stream = itertools.chain([first], rest)
        self._label_stream = (
            None if rest_labels is None else itertools.chain([labels], rest_labels)
        )

    def _label_types(self) -> Any:
        """The type of the labels, or a dict of types; None without them."""
        if self._y is None:
            return None
        return _map(lambda array: array.dtype, self._y)

    def get_feed_params(self) -> dict[str, Any]:
        """The batch size."""
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(self) -> Callable[[], FeedDict]:
        """A function that returns the next batch's feeds; StopIteration at the end."""

        def feeds() -> FeedDict:
            batch = list(itertools.islice(self._stream, self._batch_size))
            if not batch:
                raise StopIteration
            rows = np.arange(len(batch))
            found = dict(self._fed_inputs(_stacked(batch), rows))
            if self._label_stream is not None:
                labels = list(itertools.islice(self._label_stream, len(batch)))
                found.update(self._fed_outputs(_stacked(labels), rows))
            return found

        return feeds


def _row(example: Any) -> Array:
    return np.asarray(example)[np.newaxis]


def _stacked(examples: list[Any]) -> Any:
    if isinstance(examples[0], Mapping):
        return {key: np.stack([e[key] for e in examples]) for key in examples[0]}
    return np.stack([np.asarray(e) for e in examples])


@export("contrib.learn.io.data_feeder.setup_train_data_feeder")
def setup_train_data_feeder(
    x: Rows,
    y: Rows | None,
    n_classes: _Classes,
    batch_size: int | None = None,
    shuffle: bool = True,
    epochs: int | None = None,
) -> DataFeeder:
    """The feeder of arrays, pandas data or iterators.

    Args:
      x: an array, a dict of them, a DataFrame, or an iterator of examples.
      y: the labels, of the same kind, or None.
      n_classes, batch_size, shuffle, epochs: as in `DataFeeder`.

    Raises:
      ValueError: only one of `x` and `y` is an iterator.

    Source: contrib/learn/python/learn/learn_io/data_feeder.py.
    """
    data, labels = as_arrays(x), as_labels(y)
    if hasattr(data, "__next__"):
        if labels is not None and not hasattr(labels, "__next__"):
            raise ValueError(
                "Both x and y should be iterators for streaming learning to work."
            )
        return StreamingDataFeeder(data, labels, n_classes, batch_size)
    return DataFeeder(
        data, labels, n_classes, batch_size, shuffle=shuffle, epochs=epochs
    )


@export("contrib.learn.io.data_feeder.setup_predict_data_feeder")
def setup_predict_data_feeder(
    x: Rows, batch_size: int | None = None
) -> list[Array] | Iterator[Array]:
    """The batches of an array.

    Args:
      x: an array, a DataFrame, or an iterator of examples.
      batch_size: the rows of a batch; all if None.

    Returns:
      A list of batches; of an iterator, an iterator of them.

    Source: contrib/learn/python/learn/learn_io/data_feeder.py.
    """
    found = as_arrays(x)
    if hasattr(found, "__next__"):
        return _batches(found, batch_size)
    if found.ndim == 1:
        found = found.reshape(-1, 1)
    size = batch_size or len(found)
    count = math.ceil(len(found) / size)
    return [found[i * size : (i + 1) * size] for i in range(count)]


def _batches(examples: Iterator[Any], size: int | None) -> Iterator[Array]:
    while batch := list(itertools.islice(examples, size)):
        yield _stacked(batch)
