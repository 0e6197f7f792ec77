"""The body of a function whose ops a Python function builds.

Variables that it gets by `tf.get_variable` belong to the outer graph, and are captured.
Source: python/framework/function.py, func_graph_from_py_func.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from tfteach.framework.convert import convert
from tfteach.framework.defaults import default_graph, get_default_graph
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import Graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Operation, Tensor
from tfteach.ops.core.identity_reshape import (
    GuaranteeConst,
    Identity,
    guarantee_const,
)
from tfteach.variables.base import Variable
from tfteach.variables.scope.get_variable import (
    get_variable_scope,
    store_of,
    variable_scope,
)

_VARIABLE_STORE = ("__variable_store",)


class PythonFuncGraph(FuncGraph):
    """The body of a `Defun`.

    Attributes:
      by_value: whether ops of outer graphs that it reads are copied into it.
      copied_types: the ops with state that may be copied, too.
      reads_variables: whether a resource variable is read outside, and its value
        captured instead of its handle.
      extra_vars: the variables that it got.
    """

    names_captures = False

    def __init__(
        self,
        name: str,
        by_value: bool = False,
        copied_ops: Collection[Operation] = (),
        reads_variables: bool = True,
    ) -> None:
        super().__init__(name)
        self.seed = None  # as in TF, the outer graph's seed has no effect
        self.by_value = by_value
        self.copied_ops = copied_ops
        self.reads_variables = reads_variables
        self.extra_vars: list[Any] = []
        self._scope = get_variable_scope()
        outer = self.outer_graph
        store_of(outer)
        keys = [*GraphKeys._VARIABLE_COLLECTIONS, _VARIABLE_STORE]
        self._collections.update((key, outer.collection_list(key)) for key in keys)

    @property
    def extra_inputs(self) -> list[Tensor]:
        """The tensors that it captures."""
        return self.external_captures

    @property
    def extra_args(self) -> list[Tensor]:
        """Their placeholders."""
        return self.inputs[len(self.inputs) - len(self.captures) :]

    def get_variable(
        self,
        getter: Any,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        reuse: Any = None,
        trainable: Any = True,
        collections: Any = None,
        use_resource: Any = None,
        **_: Any,
    ) -> Any:
        """The getter of variables: they are made in the outer graph."""
        with default_graph(self.outer_graph):
            variable = self._scope.get_variable(
                store_of(self.outer_graph),
                name,
                shape=shape,
                dtype=dtype,
                initializer=initializer,
                reuse=reuse,
                trainable=trainable,
                collections=collections,
                use_resource=use_resource,
            )
            self.extra_vars.append(variable)
            is_resource = getattr(variable, "handle", None) is not None
            if isinstance(variable, Variable) and is_resource and self.reads_variables:
                return variable.value()
        return variable

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Any:
        """As in a Graph: an op of an outer graph is refused."""
        return Graph.control_dependencies(self, control_inputs)

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        if not self.by_value or tensor.op.graph is self:
            return super().capture(tensor, name)
        return self._copied(tensor)

    def _add_capture(self, tensor: Tensor, name: str | None) -> Tensor:
        found = super()._add_capture(tensor, name)
        if _is_guaranteed(tensor):
            with default_graph(self), self.control_dependencies(None):
                found = self.captures[tensor] = guarantee_const(found)
        return found

    def _copied(self, tensor: Tensor) -> Tensor:
        """A copy of the tensor in this graph, with all that it depends on."""
        found = self._copies.get(tensor)
        if found is None:
            op = tensor.op
            is_stateful = op.op_def.is_stateful and op not in self.copied_ops
            if is_stateful or op.spec.must_be_fed:
                kind = "placeholder" if op.spec.must_be_fed else "stateful node"
                raise ValueError(
                    f"Cannot capture a {kind} (name:{op.name}, type:{op.type}) by "
                    "value. Pass its value as an argument of the function."
                )
            inputs = [self._copied(t) for t in op.inputs]
            attrs = dict(op.node_def.attr)
            made = self.create_op(op.type, inputs, name=op.name, attrs=attrs)
            self._copies.update(zip(op.outputs, made.outputs, strict=True))
            found = self._copies[tensor]
        return found

    @property
    def _copies(self) -> dict[Tensor, Tensor]:
        known: dict[Tensor, Tensor] = self.__dict__.setdefault("copies", {})
        return known


def func_graph_from_py_func(
    func: Callable[..., Any],
    arg_names: Iterable[str],
    arg_types: Sequence[Any],
    name: str | None = None,
    capture_by_value: bool = False,
    device: Any = None,
    arg_shapes: Sequence[Any] | None = None,
    whitelisted_stateful_ops: Collection[Operation] = (),
    capture_resource_var_by_value: bool = True,
) -> PythonFuncGraph:
    """The body that a Python function builds.

    Args:
      func: a function of Tensors, which returns a value or a list or tuple of values.
      arg_names: the names of its arguments.
      arg_types: their element types.
      name: the function's name; that of `func` if None.
      capture_by_value: copy the outer ops that it reads into the body.
      device: requested for the body's ops.
      arg_shapes: the static shapes of the arguments; unknown if None.
      whitelisted_stateful_ops: ops with state that may be copied into the body.
      capture_resource_var_by_value: capture the values of resource variables that it
        gets, not their handles.

    Raises:
      ValueError: the function returns None among its values.
    """
    name = function_name(func) if name is None else name
    graph = PythonFuncGraph(
        name, capture_by_value, whitelisted_stateful_ops, capture_resource_var_by_value
    )
    shapes = [None] * len(arg_types) if arg_shapes is None else arg_shapes
    with graph.as_default(), graph.device(device):
        inputs = [
            graph.add_input(dtype, shape, argument)
            for argument, dtype, shape in zip(arg_names, arg_types, shapes, strict=True)
        ]
        with variable_scope("", custom_getter=graph.get_variable):
            found = func(*inputs)
        if found is None:
            outputs: Sequence[Any] = ()
        elif isinstance(found, list | tuple):
            outputs = found
        else:
            outputs = (found,)
        if any(value is None for value in outputs):
            raise ValueError(
                f"Function {name} can not return None. Return a tensor in its place, "
                "or leave it out of the results."
            )
        graph.outputs = [graph.capture(convert(value)) for value in outputs]
    return graph


def _is_guaranteed(tensor: Tensor) -> bool:
    """Whether it is the result of `tf.guarantee_const`, or an `Identity` of that."""
    while isinstance(tensor.op.spec, Identity):
        tensor = tensor.op.inputs[0]
    return isinstance(tensor.op.spec, GuaranteeConst)


def function_name(func: Any) -> str:
    """The name of a Python function as TF derives it, such as "f" or "Class.method"."""
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__func__.__name__}"
    name: str = func.__name__ if inspect.isfunction(func) else str(type(func))
    return name


def _building() -> PythonFuncGraph | None:
    graph = get_default_graph()
    return graph if isinstance(graph, PythonFuncGraph) else None


def get_extra_vars() -> list[Any]:
    """The variables that the function being built got so far; else an empty list."""
    graph = _building()
    return [] if graph is None else graph.extra_vars


def get_extra_inputs() -> list[Tensor]:
    """The tensors that the function being built captured so far; else []."""
    graph = _building()
    return [] if graph is None else graph.extra_inputs


def get_extra_args() -> list[Tensor]:
    """The placeholders of `get_extra_inputs`."""
    graph = _building()
    return [] if graph is None else graph.extra_args
