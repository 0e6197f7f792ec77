"""`tf.train.range_input_producer` and its siblings: queues of a tensor's rows.

Source: python/training/input.py (API, nodes, messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.control.case import Assert
from tfteach.framework import dtypes
from tfteach.framework.convert import convert, convert_n_to_tensor
from tfteach.framework.export import export
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphs_only import require_graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import control_dependencies, name_scope
from tfteach.framework.type_aliases import ShapeLike, TensorLike
from tfteach.lib.queues.queue_runner import (
    QUEUES_REFUSED,
    QueueRunner,
    add_queue_runner,
)
from tfteach.ops.array.gather import gather
from tfteach.ops.core.constant import constant
from tfteach.ops.core.identity_reshape import identity
from tfteach.ops.core.shape_ops import shape as shape_of
from tfteach.ops.core.shape_ops import size as size_of
from tfteach.ops.debug import summary_functions as summary
from tfteach.ops.math.cast import cast
from tfteach.ops.math.compare import greater
from tfteach.ops.math.range import range as range_of
from tfteach.ops.queues.queues import FIFOQueue
from tfteach.ops.random.random_ops import random_shuffle
from tfteach.variables.base import Variable

_EMPTY = "string_input_producer requires a non-null input tensor"


@export("train.limit_epochs")
def limit_epochs(
    tensor: TensorLike, num_epochs: int | None = None, name: str | None = None
) -> Tensor:
    """The tensor, which can be computed `num_epochs` times.

    A local variable counts: run `tf.local_variables_initializer()` first.

    Args:
      tensor: a tensor.
      num_epochs: how often; None for any number, which returns `tensor` itself.
      name: of the operations.

    Raises:
      ValueError: `num_epochs` is not positive.
      tf.errors.OutOfRangeError: in a run after the last.

    Example:
      >>> twice = tf.train.limit_epochs(tf.constant(3), num_epochs=2)
      >>> session = tf.Session()
      >>> session.run(tf.local_variables_initializer())
      >>> session.run(twice) + session.run(twice)
      6

    Source: python/training/input.py.
    """
    if num_epochs is None:
        return tensor  # type: ignore[return-value]  # unconverted, as in TensorFlow
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with name_scope(name, "limit_epochs", [tensor]) as scope:
        zero = constant(0, dtype=dtypes.int64)
        make: Any = Variable  # its metaclass chooses the class
        epochs = make(
            zero,
            name="epochs",
            trainable=False,
            collections=[GraphKeys.LOCAL_VARIABLES],
        )
        counter = epochs.count_up_to(num_epochs)
        with control_dependencies([counter]):
            return identity(tensor, name=scope)


@export("train.input_producer")
def input_producer(
    input_tensor: TensorLike,
    element_shape: ShapeLike | None = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> FIFOQueue:
    """A queue of the tensor's rows, which a QueueRunner fills epoch by epoch.

    Args:
      input_tensor: the rows.
      element_shape: the shape of a row, if the tensor's is not known.
      num_epochs: how many times each row is produced; None for any number.  A local
        variable counts them.
      shuffle: whether the order is random, anew in each epoch.
      seed: of that order.
      capacity: of the queue.
      shared_name: a name by which sessions share the queue.
      summary_name: of a summary of how full the queue is; None for no summary.
      name: of the queue.
      cancel_op: of the QueueRunner.

    Raises:
      ValueError: the shape of a row is not known.

    Example:
      >>> queue = tf.train.input_producer([[1, 2], [3, 4]], shuffle=False)
      >>> session = tf.Session()
      >>> threads = tf.train.start_queue_runners(session)
      >>> session.run(queue.dequeue())
      array([1, 2], dtype=int32)
      >>> session.close()

    Source: python/training/input.py.
    """
    require_graph(QUEUES_REFUSED)
    with name_scope(name, "input_producer", [input_tensor]):
        rows = convert(input_tensor, name="input_tensor")
        shape = rows.get_shape()[1:].merge_with(element_shape)
        if not shape.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or "
                "`element_shape` must be specified"
            )
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(
            capacity=capacity,
            dtypes=[rows.dtype.base_dtype],
            shapes=[shape],
            shared_name=shared_name,
            name=name,
        )
        enqueue = queue.enqueue_many([rows])
        add_queue_runner(QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            fullness = cast(queue.size(), dtypes.float32) * (1.0 / capacity)
            summary.scalar(summary_name, fullness)
        return queue


@export("train.string_input_producer")
def string_input_producer(
    string_tensor: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> FIFOQueue:
    """A queue of strings, such as the names of files for a reader.

    Args: as for `input_producer`.

    Raises:
      ValueError: there are no strings.
      tf.errors.InvalidArgumentError: in a run, there are none.

    Source: python/training/input.py.
    """
    if not isinstance(string_tensor, Tensor) and not string_tensor:
        raise ValueError(_EMPTY)
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert(string_tensor, dtypes.string)
        with control_dependencies([Assert(greater(size_of(strings), 0), [_EMPTY])]):
            strings = identity(strings)
        return input_producer(
            strings,
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
            cancel_op,
        )


@export("train.range_input_producer")
def range_input_producer(
    limit: TensorLike,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """A queue of the int32 numbers from 0 to `limit - 1`.

    Args: as for `input_producer`.

    Source: python/training/input.py.
    """
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(
            range_of(limit),
            [],
            num_epochs,
            shuffle,
            seed,
            capacity,
            shared_name,
            f"fraction_of_{capacity}_full",
            scope,
        )


@export("train.slice_input_producer")
def slice_input_producer(
    tensor_list: Sequence[TensorLike],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """Tensors: one row of each tensor, another one in each run.

    Args:
      tensor_list: tensors of one first size, such as images and their labels.
      num_epochs, shuffle, seed, capacity, shared_name: as for `input_producer`.
      name: of the operations.

    Raises:
      ValueError: there are no tensors.

    Example:
      >>> x, y = tf.train.slice_input_producer([[1, 2], [10, 20]], shuffle=False)
      >>> session = tf.Session()
      >>> threads = tf.train.start_queue_runners(session)
      >>> session.run([x, y])
      [1, 10]
      >>> session.close()

    Source: python/training/input.py.
    """
    with name_scope(name, "input_producer", list(tensor_list)):
        tensors = convert_n_to_tensor(list(tensor_list))
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        count = shape_of(tensors[0])[0]
        queue = range_input_producer(
            count, num_epochs, shuffle, seed, capacity, shared_name
        )
        index: Any = queue.dequeue()
        return [gather(tensor, index) for tensor in tensors]
