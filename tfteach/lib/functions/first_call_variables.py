"""Variables that a `tf.function` creates during its first call.

Their initial values are tensors of the trace.  Where these depend on no argument, they
are lifted out of it, and computed before the function runs; otherwise the trace assigns
them itself, unless the variable has a value.
Source: python/eager/def_function.py, UnliftedInitializerVariable.
"""

from __future__ import annotations

import weakref
from typing import Any

from tfteach.control.branch import cond
from tfteach.framework.convert import convert
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import get_default_graph
from tfteach.framework.operation import Tensor
from tfteach.framework.scope import name_scope, open_init_scope, open_name_scope
from tfteach.framework.shape import as_shape
from tfteach.lib.functions.lift_to_graph import lift_to_graph
from tfteach.ops.state import resource_variables as ops
from tfteach.variables.creation import makes_eager_variables
from tfteach.variables.eager import EagerVariable
from tfteach.variables.resource import BaseResourceVariable, ResourceVariable
from tfteach.variables.uninitialized import UninitializedGraphVariable

# What is to be assigned to which variable.
Initializers = list[tuple[BaseResourceVariable, Tensor]]

_LATE = (
    "Creating variables on a non-first call to a function decorated with tf.function."
)


class FirstCall:
    """The variables that a function creates.

    Attributes:
      variables: weak references to them.
      initializers: what must be assigned to them before the function runs.
      is_over: whether it may create no more.
    """

    def __init__(self) -> None:
        self.variables: list[weakref.ref[Any]] = []
        self.initializers: Initializers = []
        self.is_over = False

    def create(self, _: Any, **kwargs: Any) -> Any:
        """Create a variable, in place of `tf.Variable`.

        Raises:
          ValueError: the first call is over.
        """
        if self.is_over:
            raise ValueError(_LATE)
        for name in ("use_resource", "expected_shape"):
            kwargs.pop(name, None)
        made = self._made(**kwargs)
        self.variables.append(weakref.ref(made))
        return made

    def _made(self, **kwargs: Any) -> BaseResourceVariable:
        if not get_default_graph().building_function:
            return ResourceVariable(**kwargs)
        if not makes_eager_variables():
            return UnliftedGraphVariable(**kwargs)
        variable = UnliftedEagerVariable(**kwargs)
        assert variable.given is not None
        self.initializers.append((variable, variable.given))
        return variable


class UnliftedEagerVariable(EagerVariable):
    """A variable of an eager program that its function initializes.

    Attributes:
      given: the initial value, a tensor of the trace.
    """

    given: Tensor | None = None

    def _create(self, value: Any, name: str | None, dtype: Any, shape: Any) -> None:
        scope, self.given = initial_value_in_trace(value, name, dtype)
        known = self.given._shape if shape is None else as_shape(shape)
        with open_init_scope(get_default_graph()):
            graph = get_default_graph()
            with open_name_scope(graph, "Variable" if name is None else name) as outer:
                self._create_handle(outer, self.given.dtype.base_dtype, known)
        with name_scope(scope):
            _assign_if_needed(self)


def _assign_if_needed(variable: UnliftedEagerVariable) -> None:
    """In the trace, assign the initial value if the variable has no value yet."""

    def assign() -> Tensor:
        with open_name_scope(get_default_graph(), "Assign") as name:
            ops.AssignVariableOp()(variable.handle, variable.given, name=name)
        return convert(1)

    cond(variable.is_initialized(), lambda: convert(0), assign)


class UnliftedGraphVariable(UninitializedGraphVariable):
    """A variable of a graph, made by a function whose calls are nodes of the graph."""

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        name: str | None = None,
        dtype: Any = None,
        constraint: Any = None,
        synchronization: Any = None,
        aggregation: Any = None,
        shape: Any = None,
        **_: Any,
    ) -> None:
        body = get_default_graph()
        assert isinstance(body, FuncGraph)
        scope, given = initial_value_in_trace(initial_value, name, dtype)
        super().__init__(
            given._shape if shape is None else shape,
            given.dtype.base_dtype,
            name,
            trainable,
            synchronization,
            aggregation,
            constraint,
        )
        arguments = {tensor.op for tensor in body.inputs}
        copies = lift_to_graph([given], self.graph, disallowed_placeholders=arguments)
        with name_scope(scope), open_init_scope(body):
            self._build_initializer(copies[given])

    def _build_initializer(self, value: Tensor) -> None:
        graph = get_default_graph()
        self._initial_value = value
        with open_name_scope(graph, "IsInitialized"):
            self.is_initialized()
        with open_name_scope(graph, "Assign") as name, graph.colocate_with(self.op):
            assign = ops.AssignVariableOp()
            self._initializer_op = assign(self._handle, value, name=name)


def initial_value_in_trace(
    value: Any, name: str | None, dtype: Any
) -> tuple[str, Tensor]:
    """The initial value as a tensor of the trace, and the variable's name scope in it.

    Raises:
      ValueError: there is none.
    """
    if value is None:
        raise ValueError("initial_value must be specified.")
    graph = get_default_graph()
    values = [] if callable(value) else [value]
    with (
        name_scope(name, "Variable", values) as scope,
        open_name_scope(graph, "Initializer"),
        graph.device(None),
    ):
        given = value() if callable(value) else value
        return scope, convert(given, dtype, "initial_value")
