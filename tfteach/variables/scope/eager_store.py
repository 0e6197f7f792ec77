"""`tf.contrib.eager.EagerVariableStore`: variables by name in an eager program.

Source: python/ops/variable_scope.py, EagerVariableStore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_collections import VARIABLE_STORE
from tfteach.variables.resource import ResourceVariable
from tfteach.variables.scope.store import VariableStore


@export("contrib.eager.EagerVariableStore")
class EagerVariableStore:
    """Keeps the variables of `tf.get_variable`, so that later calls find them by name.

    An eager program's variables live only as long as it refers to them. A function that
    gets its variables by name, such as `tf.layers.dense`, creates new ones in each call
    unless it is called in a block of this store.

    Args:
      store: the store of another EagerVariableStore, to share its variables.

    Raises:
      ValueError: `store` belongs to a graph.

    Example:
      >>> store = tf.contrib.eager.EagerVariableStore()
      >>> for x in batches:
      ...     with store.as_default():
      ...         y = tf.layers.dense(x, 10, name="layer")
      >>> store.trainable_variables()  # layer/bias, layer/kernel

    Source: python/ops/variable_scope.py, EagerVariableStore.
    """

    def __init__(self, store: VariableStore | None = None) -> None:
        if store is None:
            store = VariableStore(stores_eager_variables=True)
        elif not store._store_eager_variables:
            raise ValueError(
                "Cannot construct EagerVariableStore from a VariableStore object that "
                "does not hold eager variables."
            )
        self._store = store

    @contextmanager
    def as_default(self) -> Iterator[None]:
        """A context manager: `tf.get_variable` uses this store in the block."""
        current = get_default_graph().collection_list(VARIABLE_STORE)
        outer, current[:] = list(current), [self._store]
        try:
            yield
        finally:
            current[:] = outer

    def _sorted(self, is_wanted: Callable[[Any], bool]) -> list[Any]:
        found = filter(is_wanted, self._store._vars.values())
        return sorted(found, key=lambda variable: variable.name)

    def variables(self) -> list[Any]:
        """All its variables, sorted by name."""
        return self._sorted(lambda variable: True)

    def trainable_variables(self) -> list[Any]:
        """Its trainable variables, sorted by name."""
        return self._sorted(lambda variable: variable.trainable)

    def non_trainable_variables(self) -> list[Any]:
        """Its other variables, sorted by name."""
        return self._sorted(lambda variable: not variable.trainable)

    def copy(self) -> EagerVariableStore:
        """A store of copies of its variables."""
        made = EagerVariableStore()
        for name, variable in self._store._vars.items():
            made._store._vars[name] = ResourceVariable(
                variable.read_value(),
                name=variable.name.partition(":")[0],
                trainable=variable.trainable,
            )
        return made
