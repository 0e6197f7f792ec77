"""Which replica of a distribution strategy a thread is building, if any.

The strategies stand in `tfteach/lib/distribute`; optimizers, losses and variables ask
here whether there is one.

Source: python/distribute/distribution_strategy_context.py.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

from tfteach.framework.defaults import get_default_graph


class Mode(NamedTuple):
    """What a block of code builds.

    Attributes:
      strategy: the open `tf.distribute.Strategy`.
      replica_context: of the replica; None between replicas: in cross-replica context.
      graph: the graph in which the strategy was opened; others know nothing of it.
    """

    strategy: Any
    replica_context: Any
    graph: Any


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.modes: list[Mode] = []
        self.update_device: str | None = None


_of_thread = _OfThread()


def current_mode() -> Mode | None:
    """The innermost mode in the default graph; None where no strategy is open."""
    modes = _of_thread.modes
    if not modes:
        return None
    graph = get_default_graph()
    if graph is modes[-1].graph or graph.building_function:
        return modes[-1]
    return None


@contextmanager
def entered(strategy: Any, replica_context: Any) -> Iterator[None]:
    """A block in replica context, or with None in cross-replica context."""
    modes = _of_thread.modes
    modes.append(Mode(strategy, replica_context, get_default_graph()))
    try:
        yield
    finally:
        modes.pop()


def update_device() -> str | None:
    """The device whose copy of a variable is being updated, or None."""
    return _of_thread.update_device


@contextmanager
def updating(device: str) -> Iterator[None]:
    """A block in which a mirrored variable is its copy on this device."""
    before, _of_thread.update_device = _of_thread.update_device, device
    try:
        yield
    finally:
        _of_thread.update_device = before


def whole_variable(variable: Any) -> Any:
    """The mirrored variable whose copy this is; otherwise the variable itself."""
    container = getattr(variable, "_distributed_container", None)
    return variable if container is None else container()


def first_copy(variable: Any) -> Any:
    """The first copy of a mirrored variable, or of the one whose copy this is."""
    whole = whole_variable(variable)
    return getattr(whole, "primary", whole)


def colocated_variables(variable: Any) -> AbstractContextManager[Any]:
    """A block whose variables stand where `variable` does."""
    strategy = getattr(variable, "_distribute_strategy", None)
    block: AbstractContextManager[Any] = (
        get_default_graph().colocate_with(variable)
        if strategy is None
        else strategy.extended.colocate_vars_with(variable)
    )
    return block


def scaled_loss(loss: Any) -> Any:
    """A replica's share of the loss, where an Estimator's strategy adds gradients.

    The mean over all examples is the mean of the replicas' means; sums are added as
    they are.
    """
    mode = current_mode()
    if mode is None or not mode.strategy._scale_loss_for_estimator:
        return loss
    count = mode.strategy.num_replicas_in_sync
    return loss if is_last_loss_a_sum() or count == 1 else loss * (1.0 / count)


def record_loss_reduction(reduction: str) -> None:
    """Note how the last loss was reduced, for `scaled_loss`."""
    mode = current_mode()
    if mode is not None:
        mode.graph._last_loss_reduction = reduction


def is_last_loss_a_sum() -> bool:
    """Whether the last loss of `tf.losses` was a sum."""
    mode = current_mode()
    last = None if mode is None else getattr(mode.graph, "_last_loss_reduction", None)
    return last == "weighted_sum"
