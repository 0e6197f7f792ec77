"""`ps_strategy` of `tf.train.replica_device_setter`: which server holds a variable.

Source: contrib/training/python/training/device_setter.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from tfteach.framework.export import export
from tfteach.framework.operation import Operation
from tfteach.framework.shape import TensorShape


@export("contrib.training.RandomStrategy")
class RandomStrategy:
    """Variables go to servers by a hash of their names.

    Args:
      num_ps_tasks: the number of parameter servers.
      seed: changes the hash.

    Example:
      >>> strategy = tf.contrib.training.RandomStrategy(2)
      >>> setter = tf.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)

    Source: contrib/training/python/training/device_setter.py.
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks, self._seed = num_ps_tasks, seed

    def __call__(self, op: Operation) -> int:
        """The index of the server that holds `op`."""
        key = f"{op.name}_{self._seed}".encode()
        number = int(hashlib.md5(key, usedforsecurity=False).hexdigest(), 16)
        return number % self._num_tasks


@export("contrib.training.GreedyLoadBalancingStrategy")
class GreedyLoadBalancingStrategy:
    """Each variable goes to the server with the least load so far.

    Args:
      num_tasks: the number of parameter servers.
      load_fn: returns the load of an Operation, such as
        `tf.contrib.training.byte_size_load_fn`.

    Example:
      >>> strategy = tf.contrib.training.GreedyLoadBalancingStrategy(
      ...     2, tf.contrib.training.byte_size_load_fn
      ... )
      >>> with tf.device(
      ...     tf.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)
      ... ):
      ...     variables = [tf.Variable(tf.zeros([n])) for n in (5, 2, 3)]
      >>> [v.device for v in variables]
      ['/job:ps/task:0', '/job:ps/task:1', '/job:ps/task:1']

    Source: contrib/training/python/training/device_setter.py.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Operation], float]) -> None:
        self._load_fn = load_fn
        self._loads: list[float] = [0.0] * num_tasks

    def __call__(self, op: Operation) -> int:
        """The index of the server that holds `op`; its load grows."""
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


@export("contrib.training.byte_size_load_fn")
def byte_size_load_fn(op: Operation) -> int:
    """The bytes of the output of an Operation, such as that of a variable.

    Args:
      op: has one output, whose shape is known.

    Raises:
      ValueError: it has not.

    Source: contrib/training/python/training/device_setter.py.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"Op {op} must have a single output")
    (output,) = op.outputs
    shape = output.get_shape()
    if not shape.is_fully_defined():
        shape = TensorShape(op.get_attr("shape"))
    shape.assert_is_fully_defined()
    return int(shape.num_elements() or 0) * int(output.dtype.size)
