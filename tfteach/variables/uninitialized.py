"""Resource variables without an initial value: what is loaded or restored sets them.

Source: python/ops/resource_variable_ops.py, UninitializedVariable (names).
"""

from __future__ import annotations

from typing import Any

from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.scope import name_scope, open_init_scope, open_name_scope
from tfteach.framework.shape import Shape, as_shape, as_tensor_shape
from tfteach.ops.state import resource_variables as ops
from tfteach.variables.base import check_modes
from tfteach.variables.creation import makes_eager_variables
from tfteach.variables.eager import EagerVariable
from tfteach.variables.resource import ResourceVariable


class UninitializedEagerVariable(EagerVariable):
    """A variable of an eager program that has no value yet."""

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        name: str | None = None,
        trainable: bool | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        constraint: Any = None,
    ) -> None:
        modes = check_modes(synchronization, aggregation, trainable, name)
        self._synchronization, self._aggregation, self._trainable = modes
        self._constraint, self._initial_value = constraint, None
        with open_init_scope(get_default_graph()):
            graph = get_default_graph()
            with open_name_scope(graph, "Variable" if name is None else name) as scope:
                self._create_handle(scope, dtype, as_shape(shape))


class UninitializedGraphVariable(ResourceVariable):
    """A variable of a graph whose initializer is set later."""

    def __init__(
        self,
        shape: Any,
        dtype: Any,
        name: str | None = None,
        trainable: bool | None = None,
        synchronization: Any = None,
        aggregation: Any = None,
        constraint: Any = None,
    ) -> None:
        modes = check_modes(synchronization, aggregation, trainable, name)
        self._synchronization, self._aggregation, self._trainable = modes
        self._constraint, self._initial_value = constraint, None
        with (
            open_init_scope(get_default_graph()),
            name_scope(name, "Variable") as scope,
        ):
            self._build_handle(scope, dtype, as_shape(shape))
        self.graph.add_variable([GraphKeys.GLOBAL_VARIABLES], self)

    def _build_handle(self, scope: str, dtype: Any, shape: Shape) -> None:
        graph = get_default_graph()
        self._dtype, self._shape = dtype, as_tensor_shape(shape)
        self._handle = ops.VarHandleOp("", scope[:-1], dtype, shape)(name=scope)
        with open_name_scope(graph, "Read"), graph.device(self._handle.device):
            self._graph_element = self._read()


def uninitialized_variable(**kwargs: Any) -> Any:
    """A variable without a value, of the kind that the program has.

    Args:
      **kwargs: `shape`, `dtype`, `name`, `trainable`, `synchronization`, `aggregation`
        and `constraint`, as for `tf.Variable`.
    """
    if makes_eager_variables():
        return UninitializedEagerVariable(**kwargs)
    return UninitializedGraphVariable(**kwargs)
