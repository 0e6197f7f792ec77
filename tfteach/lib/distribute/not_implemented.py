"""Strategies and resolvers that are not implemented; their errors name alternatives."""

from __future__ import annotations

from typing import NoReturn

from tfteach.framework.export import export

_WORKERS = "tf.train.SyncReplicasOptimizer averages the gradients of several processes"
_ONE_HOST = "tf.distribute.MirroredStrategy has a copy of each variable on each device"

_CLOUDS = (
    "tf.distribute.cluster_resolver.SimpleClusterResolver takes a cluster that the "
    "program knows"
)


def _refuse(name: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"{name} is not implemented: {instead}")


@export(
    "distribute.experimental.MultiWorkerMirroredStrategy",
    "contrib.distribute.CollectiveAllReduceStrategy",
)
def MultiWorkerMirroredStrategy(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: use `tf.train.SyncReplicasOptimizer`."""
    _refuse("MultiWorkerMirroredStrategy", _WORKERS)


@export("distribute.experimental.TPUStrategy", "contrib.distribute.TPUStrategy")
def TPUStrategy(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: there are no TPUs here."""
    _refuse("TPUStrategy", _ONE_HOST)


@export("distribute.experimental_set_strategy")
def experimental_set_strategy(strategy: object) -> NoReturn:
    """Raises NotImplementedError: use `with strategy.scope()`."""
    _refuse("experimental_set_strategy", "use `with strategy.scope():`")


@export(
    "distribute.cluster_resolver.GCEClusterResolver",
    "contrib.cluster_resolver.GCEClusterResolver",
)
def GCEClusterResolver(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: use `SimpleClusterResolver`."""
    _refuse("GCEClusterResolver", _CLOUDS)


@export(
    "distribute.cluster_resolver.KubernetesClusterResolver",
    "contrib.cluster_resolver.KubernetesClusterResolver",
)
def KubernetesClusterResolver(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: use `SimpleClusterResolver`."""
    _refuse("KubernetesClusterResolver", _CLOUDS)


@export(
    "distribute.cluster_resolver.SlurmClusterResolver",
    "contrib.cluster_resolver.SlurmClusterResolver",
)
def SlurmClusterResolver(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: use `SimpleClusterResolver`."""
    _refuse("SlurmClusterResolver", _CLOUDS)


@export(
    "distribute.cluster_resolver.TPUClusterResolver",
    "contrib.cluster_resolver.TPUClusterResolver",
)
def TPUClusterResolver(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: there are no TPUs here."""
    _refuse("TPUClusterResolver", _CLOUDS)
