"""The threads of a dataset's transformations.

Source: python/data/experimental/ops/threadpool.py.
"""

from __future__ import annotations

from typing import ClassVar

from tfteach.lib.data.dataset import Dataset
from tfteach.ops.data.options import ThreadPoolDataset, ThreadPoolHandle


class PrivateThreadPool:
    """Threads for `override_threadpool`.

    Args:
      num_threads: how many threads each transformation uses at most.
      display_name: a name, which TensorFlow requires.
      max_intra_op_parallelism: threads within an op; has no effect.
    """

    def __init__(
        self,
        num_threads: int,
        display_name: str | None = None,
        max_intra_op_parallelism: int | None = 1,
    ) -> None:
        if display_name is None:
            raise TypeError("Expected string for argument 'display_name' not None.")
        within = 1 if max_intra_op_parallelism is None else max_intra_op_parallelism
        op = ThreadPoolHandle(num_threads, within, display_name)
        self._resource = op()


class _ThreadPoolDataset(Dataset):
    """The elements of a dataset, computed by a pool's threads."""

    type_name: ClassVar[str] = "_ThreadPoolDataset"

    def __init__(self, input_dataset: Dataset, thread_pool: PrivateThreadPool) -> None:
        op = ThreadPoolDataset(*input_dataset.flat)
        variant = op(input_dataset._variant_tensor, thread_pool._resource)
        super().__init__(variant, input_dataset.element_spec, [input_dataset])


def override_threadpool(dataset: Dataset, thread_pool: PrivateThreadPool) -> Dataset:
    """A dataset with the same elements, whose transformations use a pool's threads.

    `tf.data.Options.experimental_threading` does the same for a pipeline.
    """
    return _ThreadPoolDataset(dataset, thread_pool)
