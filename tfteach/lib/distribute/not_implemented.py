"""Strategies that are not implemented; their errors name an alternative."""

from __future__ import annotations

from typing import NoReturn

from tfteach.framework.export import export

_WORKERS = "tf.train.SyncReplicasOptimizer averages the gradients of several processes"
_ONE_HOST = "tf.distribute.MirroredStrategy has a copy of each variable on each device"


def _refuse(name: str, instead: str) -> NoReturn:
    raise NotImplementedError(f"{name} is not implemented: {instead}")


@export("distribute.experimental.CentralStorageStrategy")
def CentralStorageStrategy(*args: object, **kwargs: object) -> NoReturn:
    """Raises NotImplementedError: use `tf.distribute.MirroredStrategy`."""
    _refuse("CentralStorageStrategy", _ONE_HOST)


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
