"""`DefinedFunction`: a function of a graph's library.

It has a body, from which its FunctionDef is written when a graph is exported; or a
FunctionDef, from which its body is built when something calls it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from tfteach.framework.defaults import default_graph
from tfteach.framework.dtypes import as_dtype
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import Body
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.functions.function_def import function_def, graph_def_of
from tfteach.framework.functions.function_hash import hashed_name
from tfteach.framework.graph import Graph
from tfteach.framework.graph_protocols import GraphFunction
from tfteach.framework.graphdef.import_graph_def import import_graph
from tfteach.framework.op import MultiOutputOp, Op, op_class
from tfteach.framework.operation import Operation
from tfteach.framework.protos import pool
from tfteach.framework.shape import Shape
from tfteach.framework.signature import Arg


class FunctionCall(MultiOutputOp, abstract=True):
    """A node that calls a function by its name: the op type is the function's.

    Attributes:
      defined: the function.
    """

    defined: ClassVar[DefinedFunction]
    calls_function: ClassVar[bool] = True
    waits_for_context: ClassVar[bool] = True
    is_foldable: ClassVar[bool] = False

    def compute(self, context: Any, *args: Any) -> Any:
        """Of a function that calls itself, or that is not to be inlined."""
        found = tuple(context.function(Function(self.defined.name))(args))
        outputs = type(self).outputs
        return found[0] if len(outputs) == 1 and not outputs[0].is_sequence else found

    def function_body(self, op: Operation) -> Body | None:
        if self.defined.keeps_calls:
            return None
        return self.defined.body(Function(self.defined.name))


class DefinedFunction:
    """A function: made of a body, or read from a FunctionDef.

    Args:
      name: its name in the library.
      graph: its body, or None.
      definition: its FunctionDef, or None.
      library: the graph whose library it belongs to.
      out_names: the names of the outputs of a body.
      gradient_name: the function that computes its gradient, or None.
      attrs: AttrValues of the FunctionDef, such as `_noinline`, by name.
      hashes: whether the name in the library is `name` with the definition's hash.
      description: of the signature.

    Example:
      >>> body = FuncGraph("double")
      >>> with body.as_default():
      ...     body.outputs = [body.add_input(tf.float32, [2], "x") * 2.0]
      >>> DefinedFunction("double", body).add_to_graph(tf.get_default_graph())
    """

    def __init__(
        self,
        name: str,
        graph: FuncGraph | None = None,
        definition: Any = None,
        library: Graph | None = None,
        out_names: Sequence[str] = (),
        gradient_name: str | None = None,
        attrs: Mapping[str, Any] | None = None,
        hashes: bool = False,
        description: str = "",
    ) -> None:
        self.name = name
        self._description = description
        self.gradient_name = gradient_name
        self.attrs = dict(attrs or {})
        self._graph = graph
        self._definition = definition
        self._library = library
        self._out_names = tuple(out_names)
        if hashes:
            self.name = hashed_name(name, self._written())
        self._bodies: dict[Function, Body] = {}
        self._output_shapes: dict[
            tuple[Function, tuple[Shape, ...]], Sequence[Shape] | None
        ] = {}
        self._lock = threading.RLock()
        self.gradient_bodies: dict[Function, Body] = {}  # by `tf.gradients`
        self._call_class: type[FunctionCall] | None = None
        self.producer_op_list: Any = None  # of the program that wrote the definition
        self.python_gradient: Callable[..., Any] | None = None  # (op, *grads)
        self.companions: list[GraphFunction] = []  # such as the gradient's function

    def add_to_graph(self, graph: Graph) -> None:
        """Add the function to a graph's library."""
        graph.add_function(self)

    @property
    def graph(self) -> FuncGraph | None:
        """The body that the function was made of; None if it was read."""
        return self._graph

    def _written(self) -> Any:
        assert self._graph is not None
        return function_def(self.name, self._graph, self._out_names, self._description)

    @property
    def keeps_calls(self) -> bool:
        """Whether calls are nodes of the step, instead of the body's ops."""
        attrs = self.attrs if self._definition is None else self._definition.attr
        return "_noinline" in attrs and bool(attrs["_noinline"].b)

    @property
    def definition(self) -> Any:
        """The FunctionDef."""
        if self._definition is None:
            made = self._written()
            for key, value in self.attrs.items():
                made.attr[key].CopyFrom(value)
            self._definition = made
        return self._definition

    def needs(self) -> list[GraphFunction]:
        """The functions that its body calls; none for one that was read."""
        found = [] if self._graph is None else list(self._graph.functions.values())
        return [*found, *self.companions]

    @property
    def signature(self) -> Any:
        """The OpDef: names and types of arguments and results."""
        return self.definition.signature

    def body(self, function: Function) -> Body:
        """The body, for the values of its attributes in `function`."""
        with self._lock:
            found = self._bodies.get(function)
            if found is None:
                found = self._bodies[function] = self._built(function)
            return found

    def _built(self, function: Function) -> Body:
        if self._graph is not None:
            return self._graph.as_body()
        assert self._library is not None
        return self.rebuilt(self._library, function).as_body()

    def rebuilt(
        self, outer: Graph, function: Function, shapes: Sequence[Shape] | None = None
    ) -> FuncGraph:
        """A new body, with the names and the order of nodes of the FunctionDef.

        Args:
          outer: the graph in which it is called.
          function: the values of its attributes.
          shapes: the static shapes of the arguments; unknown if None.
        """
        graph = FuncGraph(self.name, outer, outer.functions)
        self.rebuild_in(graph, function, shapes)
        return graph

    def rebuild_in(
        self, graph: FuncGraph, function: Function, shapes: Sequence[Shape] | None
    ) -> None:
        """Build the body in an empty graph, which has the functions that it calls.

        Args:
          graph: the graph.
          function, shapes: as for `rebuilt`.
        """
        attrs: dict[str, Any] = {}
        for attr in self.signature.attr:
            if attr.HasField("default_value"):
                attrs[attr.name] = attr.default_value
        for key, value in function.attrs:
            attrs[key] = pool.message("AttrValue").FromString(value)
        known = graph.functions

        def class_of(op_type: str) -> type[Op]:
            defined = known.get(op_type)
            return op_class(op_type) if defined is None else defined.call_class()

        graph_def, names, results = graph_def_of(
            self.definition, class_of, attrs, shapes
        )
        with default_graph(graph):
            import_graph(graph_def, name="", producer_op_list=self.producer_op_list)
        graph.inputs = [graph.get_tensor_by_name(f"{name}:0") for name in names]
        graph.outputs = [graph.get_tensor_by_name(name) for name in results]
        if self._graph is not None:  # errors then blame the lines that built the body
            arguments = {tensor.op for tensor in self._graph.inputs}
            theirs = [op for op in self._graph.operations if op not in arguments]
            for node, op in zip(self.definition.node_def, theirs, strict=True):
                graph.get_operation_by_name(node.name)._origin = op._origin

    def output_shapes(
        self, outer: Graph, function: Function, shapes: Sequence[Shape]
    ) -> Sequence[Shape] | None:
        """The static shapes of a call's results; None inside the function itself.

        Args:
          outer: the graph in which it is called.
          function: the values of its attributes.
          shapes: the static shapes of the arguments.
        """
        key = function, tuple(shapes)
        with self._lock:
            if key not in self._output_shapes:
                self._output_shapes[key] = (
                    None  # for a call of the function in its body
                )
                body = self.rebuilt(outer, function, shapes)
                self._output_shapes[key] = [t.static_shape for t in body.outputs]
            return self._output_shapes[key]

    def call_class(self) -> type[FunctionCall]:
        """The op type of nodes that call the function by its name."""
        with self._lock:
            if self._call_class is None:
                self._call_class = self._made_class()
            return self._call_class

    def _made_class(self) -> type[FunctionCall]:
        signature = self.signature
        inputs = tuple(_arg(arg) for arg in signature.input_arg)
        namespace = {
            "op_type": self.name,
            "inputs": inputs,
            "outputs": tuple(_arg(arg) for arg in signature.output_arg),
            "is_stateful": signature.is_stateful,
            "defined": self,
            "__doc__": f"A call of the function {self.name}.",
        }
        make: Callable[..., type[FunctionCall]] = type(FunctionCall)
        return make(self.name, (FunctionCall,), namespace, abstract=True)


def _arg(proto: Any) -> Arg:
    dtype = as_dtype(proto.type) if proto.type else None
    return Arg(
        proto.name,
        dtype,
        proto.type_list_attr or proto.type_attr,
        proto.number_attr,
        bool(proto.type_list_attr),
        proto.is_ref,
    )
