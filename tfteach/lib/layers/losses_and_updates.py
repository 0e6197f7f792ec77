"""The losses and updates that layers record: dependencies and collections.

Source: python/layers/base.py, python/keras/engine/base_layer.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.dtypes import float32
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.type_aliases import TensorLike
from tfteach.lib.layers.call_context import call_context
from tfteach.variables.base import Variable
from tfteach.variables.creation import makes_eager_variables


class LossesAndUpdates:
    """The part of a layer that records losses and updates.

    Attributes:
      trainable: whether updates are reported.
    """

    def __init__(self, trainable: bool) -> None:
        self.trainable = trainable
        self._updates: list[tuple[Operation, bool]] = []
        self._losses: list[Any] = []
        self._eager_losses: list[Any] = []  # of the last call
        self._inputs: list[Any] = []

    @property
    def updates(self) -> list[Operation]:
        return [update for update, _ in self._updates] if self.trainable else []

    @property
    def losses(self) -> list[Any]:
        made = [loss for loss, _ in self._evaluated()]
        return [loss for loss in made if loss is not None]

    def add_loss(self, losses: Any, inputs: TensorLike | None = None) -> None:
        """Record losses, also in `tf.GraphKeys.REGULARIZATION_LOSSES`.

        Args:
          losses: a Tensor, a function that returns one (or None), or a list of them.
          inputs: the inputs that they depend on; None if they depend on none.
        """
        for given in nest.flatten(losses):
            if given is None:
                continue
            is_callable = callable(given) and not isinstance(given, Tensor)
            if not is_callable:
                given = convert(given, dtype=None if _is_tensor(given) else float32)
                if runs_at_once():
                    self._add_eager_loss(given, inputs)
                    continue
            self._losses.append((given, inputs is None))
            if get_default_graph().is_eager:
                continue  # it is called where `losses` are asked for
            loss = given() if is_callable else given
            if loss is not None:
                collect([loss], GraphKeys.REGULARIZATION_LOSSES)

    def _add_eager_loss(self, loss: Tensor, inputs: Any) -> None:
        if not call_context.is_open:
            raise ValueError(
                "Expected a symbolic Tensors or a callable for the loss value. Please "
                "wrap your loss computation in a zero argument `lambda`."
            )
        self._eager_losses.append((loss, inputs is None))

    def _evaluated(self) -> list[tuple[Any, bool]]:
        """The losses, with functions called, and whether they depend on no input."""
        tensors = [pair for pair in self._losses if isinstance(pair[0], Tensor)]
        functions = [pair for pair in self._losses if not isinstance(pair[0], Tensor)]
        made = [(make(), free) for make, free in functions]
        return (self._eager_losses or tensors) + made

    def add_update(self, updates: Any, inputs: TensorLike | None = None) -> None:
        """Record operations, also in `tf.GraphKeys.UPDATE_OPS`.

        In an eager program, and in a function that it traces, functions are called at
        once, unless the layer is not trainable; operations have run already.

        Args:
          updates: an operation, a Tensor, a function that returns one, or a list of
              them.
          inputs: ignored: the dependencies are found in the graph.
        """
        updates = updates if isinstance(updates, list) else [updates]
        if runs_at_once():
            for update in updates:
                if callable(update) and not call_context.is_frozen:
                    update()
            return
        for update in updates:
            if callable(update) and not isinstance(update, Tensor):
                update = update()
            op = update if isinstance(update, Operation) else _op_of(update)
            self._updates.append((op, not _depends(op, self._inputs)))

    def get_updates_for(self, inputs: TensorLike) -> list[Operation]:
        """The updates that depend on `inputs`; for None, those that depend on none."""
        if inputs is None:
            return [op for op, free in self._updates if free and self.trainable]
        wanted = nest.flatten(inputs)
        return [op for op, free in self._updates if not free and _depends(op, wanted)]

    def get_losses_for(self, inputs: TensorLike) -> list[Any]:
        """The losses that depend on `inputs`; for None, those that depend on none."""
        pairs = [pair for pair in self._evaluated() if pair[0] is not None]
        if inputs is None:
            return [loss for loss, free in pairs if free]
        wanted = nest.flatten(inputs)
        return [loss for loss, free in pairs if not free and _depends(loss.op, wanted)]


def runs_at_once() -> bool:
    """Whether effects take place where they are called, in program order.

    They do in an eager program, and in the functions that it traces.
    """
    return makes_eager_variables()


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Tensor | Variable)


def _op_of(update: Any) -> Operation:
    return update.op if hasattr(update, "op") else convert(update).op


def _depends(op: Operation, tensors: Iterable[Any]) -> bool:
    """Whether an op is computed from one of the tensors."""
    wanted = {t.op for t in tensors if isinstance(t, Tensor)}
    seen: set[Operation] = set()
    pending = [op]
    while pending:
        found = pending.pop()
        if found in wanted:
            return True
        if found not in seen:
            seen.add(found)
            pending += [tensor.op for tensor in found.inputs]
    return False


def collect(members: list[Any], key: str) -> None:
    """Add members that are not in a collection yet."""
    graph = get_default_graph()
    known = {id(member) for member in graph.collection_list(key)}
    for member in members:
        if id(member) not in known:
            graph.add_to_collection(key, member)
