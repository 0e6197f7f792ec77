"""`tf.train.replica_device_setter`: variables on parameter servers, ops on workers.

Source: python/training/device_setter.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

from tfteach.framework.device import DeviceSpec
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation
from tfteach.framework.type_aliases import Proto
from tfteach.lib.training.cluster_spec import ClusterSpec, JobTasks

# The op types that hold what workers share.
STANDARD_PS_OPS = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
)


@export("train.replica_device_setter")
def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: ClusterSpec | Mapping[str, JobTasks] | Proto | None = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Operation], int] | None = None,
) -> Callable[[Operation], str] | None:
    """A function for `tf.device`: variables go to the parameter servers in turn.

    Args:
      ps_tasks: the number of parameter servers, unless there is a `cluster`.
      ps_device: where they are; "" for no parameter servers.
      worker_device: the device of all other ops; "" to leave it open.
      merge_devices: whether an op that has a device takes the parts that it leaves
        open.
      cluster: a ClusterSpec, or what it is made of.
      ps_ops: the types of the ops that go to parameter servers; by default those that
        hold variables and tables.
      ps_strategy: op -> index of the parameter server that holds it; by default each
        is the next one's.

    Returns:
      The function; None if there are no parameter servers.

    Raises:
      TypeError: `cluster` cannot be a ClusterSpec, or `ps_strategy` is no function.

    Example:
      >>> with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
      ...     [tf.Variable(0.0).device for _ in range(3)]
      ['/job:ps/task:0', '/job:ps/task:1', '/job:ps/task:0']

    Source: python/training/device_setter.py.
    """
    if cluster is not None:
        spec = ClusterSpec(cluster)
        job = DeviceSpec.from_string(ps_device).job
        ps_tasks = spec.num_tasks(job) if job in spec.jobs else 0
    if ps_tasks == 0:
        return None
    if not merge_devices:
        get_logger().warning(
            "DEPRECATION: It is recommended to set merge_devices=true in "
            "replica_device_setter"
        )
    if ps_strategy is None:
        tasks = itertools.cycle(range(ps_tasks))

        def in_turn(op: Operation) -> int:
            return next(tasks)

        ps_strategy = in_turn
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    held = frozenset(STANDARD_PS_OPS if ps_ops is None else ps_ops)
    place = ps_strategy

    def device_of(op: Operation) -> str:
        if op.device and not merge_devices:
            return str(op.device)
        current = DeviceSpec.from_string(op.device)
        kind = op.op if hasattr(op, "op") else op.type  # of a NodeDef, an Operation
        if not ps_device or kind not in held:
            return _merged(worker_device, current)
        server = DeviceSpec.from_string(ps_device)
        if server.job and current.job in (None, "", server.job):
            server.task = place(op)
        return _merged(server.to_string(), current)

    return device_of


def _merged(device: str, current: DeviceSpec) -> str:
    """The parts of `current`, and those that it leaves open from `device`."""
    merged = DeviceSpec.from_string(device)
    merged.merge_from(current)
    return merged.to_string()
