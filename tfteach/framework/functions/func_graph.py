"""`FuncGraph`: a graph that is the body of a function.

Source: python/framework/func_graph.py, python/framework/function.py (captures, names).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from tfteach.framework.defaults import default_graph, get_default_graph
from tfteach.framework.dtypes import as_dtype, string
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.errors import InaccessibleTensorError
from tfteach.framework.functions.body import Body, effects_of
from tfteach.framework.graph import Graph
from tfteach.framework.op import ROLES
from tfteach.framework.op_traits import Role
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.recording import record_same, tapes

# Elements of a tensor with a value that is copied into the functions that use it.
MOST_COPIED = 128

if TYPE_CHECKING:
    from tfteach.framework.graph_protocols import GraphFunction


class FuncGraph(Graph):
    """The body of a function, in which tensors of outer graphs can be used.

    An op built in it that reads a tensor of an outer graph reads a placeholder instead,
    the tensor's capture, which is a further input of the function.

    Args:
      name: the function's name.
      outer_graph: the graph whose tensors are captured; by default the default graph.
      functions: the library of the functions that the body calls; by default its own,
        which is added to that of each graph that gets the function.

    Attributes:
      name: the function's name.
      outer_graph: as given.
      inputs: the placeholders, those of the arguments before those of the captures.
      outputs: the tensors that the function returns.
      captures: outer tensor -> its placeholder, in the order of capture.
      control_captures: the outer ops that calls must wait for, as keys.
      control_outputs: ops that its FunctionDef declares to run in any case.
      read_by_gradients: the tensors that calls also return, for gradient functions.

    Example:
      >>> body = FuncGraph("double")
      >>> with body.as_default():
      ...     x = body.add_input(tf.float32, [2], "x")
      ...     body.outputs = [x * 2.0]
    """

    building_function = True
    # Whether control flow in it is built of functions; None: as the program chose.
    functional_flow: bool | None = None
    # Whether its ops with effects run in the order in which they are built, before its
    # results are returned.
    orders_effects = False
    # Whether a call runs all ops with effects, not only those that its results need.
    runs_all_effects = True
    # Whether captures are named after the captured ops.
    names_captures = True
    # Whether it captures a tensor with a value itself, not what the function around it
    # captured; and a small one, a constant in its body, is an input of calls, too.
    captures_values_itself = False

    def __init__(
        self,
        name: str,
        outer_graph: Graph | None = None,
        functions: dict[str, GraphFunction] | None = None,
    ) -> None:
        super().__init__()
        outer = get_default_graph() if outer_graph is None else outer_graph
        self.name = name
        self.outer_graph: Graph = outer
        self.inputs: list[Tensor] = []
        self.outputs: list[Tensor] = []
        self.control_outputs: list[Operation] = []
        self.control_captures: dict[Operation, None] = {}
        self.captures: dict[Tensor, Tensor] = {}
        self.read_by_gradients: set[Tensor] = set()
        self._outer_of: dict[Tensor, Tensor] = {}
        self._constants: dict[Tensor, Tensor] = {}  # the values of captured tensors
        if functions is not None:
            self.functions = functions
        self.seed = outer.seed

    def _first_observers(self) -> tuple[Any, ...]:
        return ()  # a body is shown with the graph that calls it

    def add_input(self, dtype: Any, shape: Any = None, name: str | None = None) -> Any:
        """A placeholder for the next argument.

        Args:
          dtype: its element type.
          shape: its static shape, possibly partial; None if it is unknown.
          name: its name.

        Returns:
          A Tensor of this graph.
        """
        with default_graph(self):
            tensor = _placeholder(dtype, shape, name)
        self.inputs.insert(len(self.inputs) - len(self.captures), tensor)
        return tensor

    @property
    def external_captures(self) -> list[Tensor]:
        """The outer tensors that calls pass after the arguments."""
        return list(self.captures)

    @property
    def internal_captures(self) -> list[Tensor]:
        """Their placeholders."""
        return list(self.captures.values())

    def captured(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        for tensor in inputs:
            if type(tensor) is EagerTensor or tensor.op.graph is not self:
                return tuple(map(self.capture, inputs))
        return inputs

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor of this graph with the value of `tensor`.

        Args:
          tensor: of this graph, which returns it, or of an outer one.
          name: the name of the placeholder that is added.

        Raises:
          ValueError: `tensor` belongs to a graph that does not enclose this one.
        """
        if type(tensor) is EagerTensor:
            return self._capture_eager(tensor, name)
        if tensor.op.graph is self:
            return tensor
        found = self.captures.get(tensor)
        if found is None:
            if tensor.op.graph is not self.outer_graph:
                self._check_encloses(tensor)
            found = self._add_capture(tensor, name)
        if tapes.active:
            record_same(found, tensor)
        return found

    def _capture_eager(self, tensor: EagerTensor, name: str | None) -> Tensor:
        """A tensor with a value: a constant if it is small, as in TF; else an input."""
        outer, itself = self.outer_graph, self.captures_values_itself
        if isinstance(outer, FuncGraph) and not itself:  # each function captures it
            return self.capture(outer.capture(tensor, name), name)
        found = self.captures.get(tensor)
        if found is None:
            found = self._constants.get(tensor)
        if found is not None:
            if tapes.active:
                record_same(found, tensor)
            return found
        is_value = tensor.dtype.is_numpy_compatible and tensor.dtype is not string
        if is_value and tensor._num_elements() <= MOST_COPIED:
            with default_graph(self), self.control_dependencies(None):
                make: Callable[..., Any] = ROLES[Role.CONSTANT]
                array = np.array(tensor.numpy())
                constant: Tensor = make(array, tensor.dtype)(name=name)
            if itself:
                self.captures[tensor] = constant
                self.inputs.append(constant)
            else:
                self._constants[tensor] = constant
            if tapes.active:
                record_same(constant, tensor)
            return constant
        return self._add_capture(tensor, name)

    def _add_capture(self, tensor: Tensor, name: str | None) -> Tensor:
        is_eager = type(tensor) is EagerTensor
        if name is None and self.names_captures and not is_eager:
            name = tensor.op.name
        found = self._capture_placeholder(tensor, name)
        self.captures[tensor] = found
        self.inputs.append(found)
        if tapes.active:
            record_same(found, tensor)
        return found

    def _capture_placeholder(self, tensor: Tensor, name: str | None) -> Tensor:
        found = self._capture_placeholder_of(
            tensor.dtype.base_dtype, tensor.static_shape, name
        )
        self._outer_of[found] = tensor
        return found

    def stands_for(self, placeholder: Tensor, tensor: Tensor) -> None:
        """State which outer tensor a placeholder gets, such as a variable's handle."""
        self._outer_of[placeholder] = tensor

    def stand_in(self, tensor: Tensor) -> Tensor:
        return self.captures.get(tensor, tensor)

    def captured_from(self, tensor: Tensor) -> Tensor | None:
        return self._outer_of.get(tensor)

    def _capture_placeholder_of(
        self, dtype: Any, shape: Any, name: str | None
    ) -> Tensor:
        with default_graph(self), self.control_dependencies(None):
            return _placeholder(dtype, shape, name)

    def unused_input(self, tensor: Tensor) -> Tensor:
        """A placeholder for a tensor that only another branch reads."""
        return self._capture_placeholder(tensor, None)

    def _check_encloses(self, tensor: Tensor) -> None:
        where = tensor.op.graph
        if any(graph is self for graph in enclosing(where)):
            raise InaccessibleTensorError(
                f"The tensor '{tensor}' cannot be accessed here: it is defined in "
                "another function or code block. Use return values, explicit Python "
                "locals or TensorFlow collections to access it. Defined in: "
                f"{where}; accessed from: {self}.\n"
            )
        if all(graph is not where for graph in enclosing(self.outer_graph)):
            self._refuse_foreign(tensor)

    def _refuse_foreign(self, tensor: Tensor) -> None:
        raise ValueError(
            f"Cannot capture {tensor!r} in the function '{self.name}': its graph does "
            "not enclose the function. Build the tensor in the graph that calls the "
            "function, or pass it as an argument."
        )

    def __str__(self) -> str:
        return f"FuncGraph(name={self.name}, id={id(self)})"

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Any:
        """As in a Graph; ops of outer graphs run before the call."""
        if control_inputs is None:
            return super().control_dependencies(None)
        own = []
        for value in control_inputs:
            op = operation_of(value)
            if _is_of(value, self):
                own.append(value)
            elif isinstance(op, Operation):
                self.control_captures[op] = None
        return super().control_dependencies(own)

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """As in a Graph; ops of outer graphs are ignored.  Eager variables are read."""
        if op is not None and not _is_of(op, self) and not _is_eager_variable(op):
            return nullcontext()
        return super().colocate_with(op, ignore_existing)

    def as_body(self) -> Body:
        """The body as the engine replaces calls by it."""
        return Body(
            self,
            tuple(self.inputs),
            tuple(self.outputs),
            effects_of(self),
            self.name,
        )


def _is_eager_variable(value: Any) -> bool:
    as_element = getattr(value, "_as_graph_element", None)
    return as_element is not None and as_element() is None


def operation_of(value: Any) -> Any:
    """The Operation, of whatever graph, that a value is or belongs to; else `value`."""
    value = getattr(value, "_control_element", value)
    convert = getattr(value, "_as_graph_element", None)
    value = convert() or value if convert is not None else value
    has_op = isinstance(value, Tensor) and type(value) is not EagerTensor
    return value.op if has_op else value


def _is_of(value: Any, graph: Graph) -> bool:
    found = operation_of(value)
    if type(found) is EagerTensor:
        return False
    return not isinstance(found, Operation) or found.graph is graph


def _placeholder(dtype: Any, shape: Any, name: str | None) -> Tensor:
    make: Callable[..., Any] = ROLES[Role.PLACEHOLDER]
    found: Tensor = make(as_dtype(dtype), shape)(name=name or "placeholder")
    return found


def enclosing(graph: Graph) -> Iterator[Graph]:
    """A graph, and the graphs around it if it is a function's body."""
    yield graph
    while isinstance(graph, FuncGraph):
        graph = graph.outer_graph
        yield graph


def outermost_graph(graph: Graph) -> Graph:
    """The graph that encloses `graph` and is no function's body."""
    while isinstance(graph, FuncGraph):
        graph = graph.outer_graph
    return graph


__all__ = ["FuncGraph", "GraphFunction", "outermost_graph"]
