"""`tf.distribute.experimental.ParameterServerStrategy`: workers share variables.

Each worker builds a graph of its own with one replica; the variables stand on the
parameter servers in turn, and each worker updates them when it has a gradient.

Source: python/distribute/parameter_server_strategy.py.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.replicas import updating
from tfteach.framework.type_aliases import Proto, VariableLike
from tfteach.lib.distribute.cluster_resolver import ClusterResolver
from tfteach.lib.distribute.distributed_values import select_replica
from tfteach.lib.distribute.inputs import InputContext, InputFunctionIterator
from tfteach.lib.distribute.mirrored_strategy import (
    MirroredExtended,
    canonical,
    local_devices,
)
from tfteach.lib.distribute.strategy import Strategy
from tfteach.lib.training.cluster_spec import ClusterSpec
from tfteach.lib.training.device_setter import replica_device_setter


class _OverServers(Strategy):
    """A strategy whose variables are placed on parameter servers."""

    _extended: ParameterServerExtended

    def configure(
        self,
        session_config: Proto | None = None,
        cluster_spec: ClusterSpec | None = None,
        task_type: str | None = None,
        task_id: int | None = None,
    ) -> None:
        """Configure this task of a cluster, as Estimators do from TF_CONFIG.

        Args:
          session_config: a ConfigProto, which gets the device filters of the task.
          cluster_spec: the jobs, among them "ps"; None for no change.
          task_type: the job of this task.
          task_id: its number.

        Raises:
          ValueError: the task is not given, or the cluster has no parameter server.
        """
        if cluster_spec:
            self._extended._join(ClusterSpec(cluster_spec), task_type, task_id)
        if session_config is not None:
            session_config.CopyFrom(self.update_config_proto(session_config))

    def update_config_proto(self, config_proto: Proto) -> Proto:
        """A copy of a ConfigProto with filters that keep workers apart."""
        return self._extended._filtered(super().update_config_proto(config_proto))


@export("distribute.experimental.ParameterServerStrategy")
class ParameterServerStrategy(_OverServers):
    """One replica per worker; workers update shared variables asynchronously.

    Made for Estimators: `tf.estimator.train_and_evaluate` tells it the cluster, by
    TF_CONFIG.  Until then, and without a cluster, variables stand on the only device.

    Args:
      cluster_resolver: tells the cluster and this process's task; None to be told
        later.

    Raises:
      NotImplementedError: a worker has several GPUs.

    Example:
      >>> strategy = tf.distribute.experimental.ParameterServerStrategy()
      >>> config = tf.estimator.RunConfig("logs", train_distribute=strategy)

    Source: python/distribute/parameter_server_strategy.py.
    """

    def __init__(self, cluster_resolver: ClusterResolver | None = None) -> None:
        super().__init__(ParameterServerExtended(self, local_devices()))
        if cluster_resolver is not None:
            self.configure(
                None,
                cluster_resolver.cluster_spec(),
                cluster_resolver.task_type,
                cluster_resolver.task_id,
            )


@export("contrib.distribute.ParameterServerStrategy")
class ContribParameterServerStrategy(_OverServers):
    """`tf.distribute.experimental.ParameterServerStrategy`, configured by TF_CONFIG.

    Args:
      num_gpus_per_worker: 0 for the CPU, or 1.

    Raises:
      NotImplementedError: a worker has several GPUs.

    Source: contrib/distribute/python/parameter_server_strategy.py.
    """

    def __init__(self, num_gpus_per_worker: int = 0) -> None:
        devices = local_devices(num_gpus_per_worker)
        super().__init__(ParameterServerExtended(self, devices))
        told = json.loads(os.environ.get("TF_CONFIG") or "{}")
        task = told.get("task", {})
        self.configure(None, told.get("cluster"), task.get("type"), task.get("index"))


class ParameterServerExtended(MirroredExtended):
    """The implementation of `ParameterServerStrategy`."""

    def __init__(self, container_strategy: Strategy, devices: Sequence[str]) -> None:
        if len(devices) > 1:
            raise NotImplementedError(
                f"ParameterServerStrategy of {len(devices)} GPUs a worker: start a "
                "worker for each, or use tf.distribute.MirroredStrategy"
            )
        super().__init__(container_strategy, devices, None)
        self._is_on_gpu = "GPU" in devices[0]
        self._parameter_devices: tuple[str, ...] = self._devices
        self._variable_device: Any = self._devices[0]
        self._beside: Any = None
        self._jobs: dict[str, list[str]] = {}
        self._task: tuple[str, int] = ("worker", 0)

    def _join(self, spec: ClusterSpec, task_type: str | None, task: Any) -> None:
        """Place computation on a task's device, and variables on parameter servers."""
        if not task_type or task is None:
            raise ValueError(
                "When `cluster_spec` is given, you must also specify `task_type` and "
                "`task_id`"
            )
        self._jobs, self._task = spec.as_dict(), (task_type, int(task))
        count = len(self._jobs.get("ps", []))
        if not count:
            raise ValueError("The cluster spec needs to have `ps` jobs.")
        worker = f"/job:{task_type}/task:{task}"
        kind = "GPU" if self._is_on_gpu else "CPU"
        self._devices = (canonical(f"{worker}/device:{kind}:0"),)
        self._parameter_devices = tuple(f"/job:ps/task:{i}" for i in range(count))
        self._variable_device = replica_device_setter(
            ps_tasks=count, worker_device=worker, cluster=spec
        )

    def _filtered(self, config: Proto) -> Proto:
        """A ConfigProto with the device filters of this task."""
        config.isolate_session_state = not self._jobs
        if self._jobs:
            del config.device_filters[:]
            kind, number = self._task
            own = f"/job:{kind}/task:{number}"
            if kind in ("chief", "worker"):
                config.device_filters.extend([own, "/job:ps"])
            elif kind == "evaluator":
                config.device_filters.append(own)
        return config

    # ---- variables

    @contextmanager
    def _scope(self, strategy: Strategy) -> Iterator[Strategy]:
        with super()._scope(strategy):
            if not self._jobs:
                yield strategy
                return
            # Ops without a device must not be placed on other workers.
            kind, number = self._task
            with get_default_graph().device(f"/job:{kind}/task:{number}"):
                yield strategy

    @contextmanager
    def colocate_vars_with(
        self, colocate_with_variable: VariableLike
    ) -> Iterator[None]:
        """A context that colocates new variables with an existing one.

        Raises:
          ValueError: the strategy has not made that variable.
        """
        with super().colocate_vars_with(colocate_with_variable):
            before, self._beside = self._beside, colocate_with_variable
            try:
                yield
            finally:
                self._beside = before

    def _create_variable(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        graph, kwargs["use_resource"] = get_default_graph(), True
        if self._beside is not None:
            with graph.device(None), graph.colocate_with(self._beside):
                made = next_creator(**kwargs)
        else:
            with (
                graph.colocate_with(None, ignore_existing=True),
                graph.device(self._variable_device),
            ):
                made = next_creator(**kwargs)
        made._distribute_strategy = self._container_strategy()
        return made

    def _update(self, var: Any, fn: Any, args: Any, kwargs: Any, group: bool) -> Any:
        args, kwargs = select_replica(0, (args, kwargs))
        with get_default_graph().colocate_with(var), updating(var.device):
            result = fn(var, *args, **kwargs)
        return result if group else [result]

    def _update_non_slot(
        self, colocate_with: Any, fn: Any, args: Any, kwargs: Any, group: bool
    ) -> Any:
        device = colocate_with.device
        with get_default_graph().device(device), updating(device):
            result = fn(*args, **kwargs)
        return result if group else [result]

    def non_slot_devices(self, var_list: Sequence[VariableLike]) -> Any:
        """The variable with which an optimizer's own variables are colocated."""
        return min(var_list, key=lambda variable: variable.name)

    # ---- inputs

    def _make_input_fn_iterator(self, input_fn: Callable[..., Any]) -> Any:
        workers = [(job, i) for job in ("chief", "worker")
                   for i in range(len(self._jobs.get(job, [])))]  # fmt: skip
        if self._task not in workers:
            return super()._make_input_fn_iterator(input_fn)
        context = InputContext(len(workers), workers.index(self._task))
        return InputFunctionIterator(lambda _: input_fn(context), self._devices)

    # ---- this task

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The variables' devices."""
        return self._parameter_devices

    @property
    def experimental_between_graph(self) -> bool:
        """True if each process builds its own graph."""
        return True

    @property
    def _is_chief(self) -> bool:
        return self._task[0] in ("chief", "evaluator") or (
            "chief" not in self._jobs and self._task == ("worker", 0)
        )

    @property
    def experimental_should_init(self) -> bool:
        """True if this process initializes the variables."""
        return self._is_chief

    @property
    def should_checkpoint(self) -> bool:
        """True if this process writes checkpoints."""
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:
        """True if this process writes summaries."""
        return self._is_chief
