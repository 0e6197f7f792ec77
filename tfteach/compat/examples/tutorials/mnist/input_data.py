"""MNIST for a training loop: batches of images and labels.

    mnist = input_data.read_data_sets("MNIST_data", one_hot=True)
    images, labels = mnist.train.next_batch(100)

Without a network, `tfteach.examples.synthetic_mnist()` returns data sets of synthetic
digits.  Source: contrib/learn/python/learn/datasets/mnist.py (API, order of the
batches, error messages).
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from tfteach.compat.examples.tutorials.mnist import idx
from tfteach.compat.examples.tutorials.mnist.download import (
    DEFAULT_SOURCE_URL,
    maybe_download,
)
from tfteach.framework import dtypes
from tfteach.framework.export import export, export_value
from tfteach.lib.contrib.learn.datasets.base import Dataset as Dataset
from tfteach.lib.contrib.learn.datasets.base import Datasets
from tfteach.ops.random.random_ops import get_seed

# Paths of TensorFlow's tutorials: the module they import from, and contrib's alias.
_PLACES = ("contrib.learn.datasets", "contrib.learn.python.learn.datasets")


def _publics(name: str, file: str = "mnist") -> str:
    return " ".join(f"{place}.{file}.{name}" for place in _PLACES)


@export(*_publics("DataSet").split())
class DataSet:
    """Images and labels, returned in batches.

    As in TensorFlow, creating one seeds NumPy's global generator, which shuffles.

    Args:
      images: uint8 array [n, rows, columns, 1].
      labels: array [n] of digits, or [n, 10] one-hot.
      fake_data: have no examples; `next_batch(..., fake_data=True)` invents them.
      one_hot: whether the labels of fake data are one-hot.
      dtype: `tf.float32` scales images to [0, 1], `tf.uint8` leaves them unchanged.
      reshape: whether images become rows of rows * columns numbers.
      seed: the seed of the shuffling; by default the graph's.

    Raises:
      TypeError: `dtype` is not one of these.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        graph_seed, op_seed = get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = dtypes.as_dtype(dtype).base_dtype
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot = one_hot
        if fake_data:
            self._num_examples = 10000
        else:
            if images.shape[0] != labels.shape[0]:
                raise AssertionError(
                    f"images.shape: {images.shape} labels.shape: {labels.shape}"
                )
            self._num_examples = images.shape[0]
            if reshape:
                if images.shape[3] != 1:
                    raise AssertionError(
                        f"reshape=True needs one channel, images.shape: {images.shape}"
                    )
                images = images.reshape(len(images), math.prod(images.shape[1:3]))
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), np.float32(1.0 / 255.0))
        self._images = images
        self._labels = labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    @property
    def images(self) -> Any:
        """All images, in the order of this epoch."""
        return self._images

    @property
    def labels(self) -> Any:
        """All labels, in the order of this epoch."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """The number of examples."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """The number of completed epochs."""
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> Any:
        """The next `batch_size` (images, labels); each epoch has a different order.

        A batch that reaches the end of an epoch is filled up from the next.

        Args:
          batch_size: the number of examples.
          fake_data: return images of ones, all labelled 0.
          shuffle: whether an epoch that begins here is shuffled.
        """
        if fake_data:
            label: Any = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start = self._index_in_epoch
        end = start + batch_size
        if start == 0 and self._epochs_completed == 0 and shuffle:
            self._shuffle()
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        self._epochs_completed += 1
        left = self._images[start:], self._labels[start:]
        if shuffle:
            self._shuffle()
        end = self._index_in_epoch = batch_size - (self._num_examples - start)
        return (
            np.concatenate((left[0], self._images[:end])),
            np.concatenate((left[1], self._labels[:end])),
        )

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images = self._images[order]
        self._labels = self._labels[order]


@export(*_publics("dense_to_one_hot").split())
def dense_to_one_hot(labels_dense: Any, num_classes: int) -> Any:
    """Class numbers [n] as float64 rows [n, num_classes] with a 1 at the class."""
    labels = np.asarray(labels_dense).ravel()
    wrong = np.flatnonzero(labels >= num_classes)
    if wrong.size:
        raise ValueError(
            f"Label {labels[wrong[0]]} (number {wrong[0]}) is not below num_classes = "
            f"{num_classes}."
        )
    return np.eye(num_classes)[labels]


@export(*_publics("extract_images").split())
def extract_images(f: Any) -> Any:
    """The images of an open file `f` in (gzipped) idx format.

    Returns:
      uint8 array [n, rows, columns, 1].

    Raises:
      ValueError: the file is not in this format, or is incomplete.
    """
    print("Extracting", f.name)
    images = idx.read(f, 2051, "image")
    return images[..., None]


@export(*_publics("extract_labels").split())
def extract_labels(f: Any, one_hot: bool = False, num_classes: int = 10) -> Any:
    """The labels of an open file `f` in (gzipped) idx format.

    Returns:
      uint8 array [n], or float64 [n, num_classes] if `one_hot`.

    Raises:
      ValueError: the file is not in this format, or is incomplete.
    """
    print("Extracting", f.name)
    labels = idx.read(f, 2049, "label")
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def datasets(
    train: tuple[Any, Any], test: tuple[Any, Any], validation_size: int, **options: Any
) -> Datasets:
    """Data sets of (images, labels) pairs; the first training examples are held out."""
    images, labels = train
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: "
            f"{validation_size}."
        )
    cut = validation_size
    rest = DataSet(images[cut:], labels[cut:], **options)
    validation = DataSet(images[:cut], labels[:cut], **options)
    return Datasets(rest, validation, DataSet(*test, **options))


@export(*_publics("read_data_sets").split())
def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> Datasets:
    """MNIST from four files in a folder; missing files are downloaded.

    Args:
      train_dir: the folder, created if it is missing.
      fake_data: read nothing; see `DataSet`.
      one_hot: whether labels are rows [10] with a 1 at the digit.
      dtype: `tf.float32` for images in [0, 1], `tf.uint8` for 0 to 255.
      reshape: images as rows [784] instead of [28, 28, 1].
      validation_size: how many of the 60,000 training examples to use for validation.
      seed: the seed of the shuffling.
      source_url: the URL of the folder with the files.

    Returns:
      `train`, `validation` and `test`, each a `DataSet`.

    Raises:
      ValueError: a file is damaged, or `validation_size` is too large.
      urllib.error.URLError: a file is missing and cannot be downloaded.

    Example:
      >>> mnist = input_data.read_data_sets("MNIST_data", one_hot=True)
      >>> images, labels = mnist.train.next_batch(100)
      >>> images.shape, labels.shape
      ((100, 784), (100, 10))
    """
    if fake_data:

        def fake() -> DataSet:
            return DataSet(
                [], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed
            )

        return Datasets(fake(), fake(), fake())
    url = source_url or DEFAULT_SOURCE_URL
    pairs = []
    for images_file, labels_file in idx.FILES:
        with open(maybe_download(images_file, train_dir, url + images_file), "rb") as f:
            images = extract_images(f)
        with open(maybe_download(labels_file, train_dir, url + labels_file), "rb") as f:
            labels = extract_labels(f, one_hot=one_hot)
        pairs.append((images, labels))
    return datasets(
        pairs[0], pairs[1], validation_size, dtype=dtype, reshape=reshape, seed=seed
    )


@export(*_publics("load_mnist").split())
def load_mnist(train_dir: str = "MNIST-data") -> Datasets:
    """`read_data_sets(train_dir)`."""
    return read_data_sets(os.fspath(train_dir))


export_value(
    __name__,
    DEFAULT_SOURCE_URL=_publics("DEFAULT_SOURCE_URL"),
    maybe_download=_publics("maybe_download", "base"),
)
