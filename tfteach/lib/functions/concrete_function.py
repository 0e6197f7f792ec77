"""`ConcreteFunction`: one trace of a function, with inputs of certain types.

In an eager program a call runs the trace's program.  In a graph a call is a node that
calls the function.
Source: python/eager/function.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.engine.eager.function_program import FunctionProgram
from tfteach.framework import nest
from tfteach.framework.convert import convert
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.errors import invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import effects_of
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.recording import record_variable, tapes
from tfteach.framework.shape import TensorShape
from tfteach.lib.functions.call_gradients import CallGradients
from tfteach.lib.functions.trace import TracedGraph, numbered
from tfteach.ops.functions.calls import PartitionedCall, StatefulPartitionedCall


class ConcreteFunction:
    """A function of Tensors, traced once; see `tf.function`.

    Args:
      graph: the trace.

    Attributes:
      graph: the trace.
      name: the function's name in a graph's library.
    """

    def __init__(self, graph: TracedGraph) -> None:
        self.graph = graph
        self._name = numbered(f"__inference_{graph.name}")
        self._effects = effects_of(graph)
        self._program: FunctionProgram | None = None
        self._defined: DefinedFunction | None = None
        self._arguments = len(graph.inputs) - len(graph.captures)
        self._gradients = CallGradients(graph, self._effects)
        self._has_plain_result = not nest.is_nested(graph.structured_outputs)

    # ---- what it is

    @property
    def name(self) -> bytes:
        """The name in a graph's library."""
        return self._name.encode()

    @property
    def inputs(self) -> list[Tensor]:
        """The placeholders of the arguments, then those of the captured tensors."""
        return self.graph.inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The results, in the trace."""
        return self.graph.outputs

    @property
    def captured_inputs(self) -> list[Tensor]:
        """The outer tensors that the function reads."""
        return self.graph.external_captures

    @property
    def structured_input_signature(self) -> Any:
        """(args, kwargs), with specifications in place of Tensors."""
        return self.graph.structured_input_signature

    @property
    def structured_outputs(self) -> Any:
        """The results as the Python function nests them."""
        return self.graph.structured_outputs

    @property
    def output_shapes(self) -> Any:
        """The static shapes of the results, nested as they are."""
        return nest.map_structure(
            lambda t: TensorShape(None) if t is None else t.shape,
            self.structured_outputs,
        )

    @property
    def output_dtypes(self) -> Any:
        """The types of the results, nested as they are."""
        return nest.map_structure(
            lambda t: None if t is None else t.dtype, self.structured_outputs
        )

    @property
    def function_def(self) -> Any:
        """The FunctionDef."""
        return self.defined.definition

    @property
    def defined(self) -> DefinedFunction:
        """The function of a graph's library."""
        if self._defined is None:
            self._defined = DefinedFunction(self._name, self.graph)
            self._defined.python_gradient = self._gradients.of_node
        return self._defined

    def add_to_graph(self, g: Graph | None = None) -> None:
        """Add the function to the library of a graph, the default one if None."""
        self.defined.add_to_graph(get_default_graph() if g is None else g)

    # ---- calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it with a Tensor for each argument of its signature.

        Raises:
          ValueError: an argument is no Tensor.
          TypeError: another number of arguments, or of other names.
        """
        names = [t.op.name for t in self.graph.inputs[: self._arguments]]
        given = [*args, *(kwargs.pop(n) for n in names[len(args) :] if n in kwargs)]
        if kwargs or len(given) != len(names):
            have = [*names[: len(args)], *kwargs]
            missing = ", ".join(repr(n) for n in names[len(given) :])
            raise TypeError(
                f"Expected argument names {names} but got values for {have}. Missing: "
                f"[{missing}]."
            )
        for i, value in enumerate(given):
            if not isinstance(value, Tensor):
                raise ValueError(
                    "All inputs to `ConcreteFunction`s must be Tensors; on invocation "
                    f"of {self.graph.name}, the {i}-th input ({value}) was not a "
                    "Tensor."
                )
        return self.call_flat(given)

    def call_flat(self, arguments: Sequence[Tensor]) -> Any:
        """Call it with the Tensors of its arguments; returns the nested results."""
        if not get_default_graph().is_eager:
            return self._nested(self._call_in_graph(arguments))
        for i, (given, wanted) in enumerate(zip(arguments, self.inputs, strict=False)):
            if given.dtype is not wanted.dtype.base_dtype:
                raise invalid_argument(
                    f"cannot compute {self._name} as input #{i}(zero-based) was "
                    f"expected to be a {wanted.dtype.name} tensor but is a "
                    f"{given.dtype.name} tensor [Op:{self._name}]"
                )
        if tapes.active:
            for variable in self.graph.variables:
                record_variable(variable)
            return self._nested(self._gradients.call(arguments))
        if self._program is None:
            self._program = FunctionProgram(self.graph, self.outputs, self._effects)
        return self._nested(self._program(arguments))

    def _call_in_graph(self, arguments: Sequence[Tensor]) -> list[Tensor]:
        """Add a node that calls the function to the default graph."""
        graph = get_default_graph()
        self.defined.add_to_graph(graph)
        for variable in self.graph.variables:
            record_variable(variable)  # before its handle is captured
        inputs = [convert(t) for t in (*arguments, *self.captured_inputs)]
        kind = StatefulPartitionedCall if self._is_stateful else PartitionedCall
        made: Any = kind(
            Tin=tuple(t.dtype.base_dtype for t in inputs),
            Tout=tuple(t.dtype.base_dtype for t in self.outputs),
            f=Function(self._name),
        )(inputs)
        if isinstance(made, Operation):
            return []
        for tensor, inner in zip(made, self.outputs, strict=True):
            tensor.set_shape(inner.shape)
        return list(made)

    @property
    def _is_stateful(self) -> bool:
        return any(op.op_def.is_stateful for op in self.graph.operations)

    def _nested(self, flat: Sequence[Tensor]) -> Any:
        """The results as the Python function nests them."""
        if self._has_plain_result:
            return flat[0] if flat else None
        left = iter(flat)
        structure = self.structured_outputs
        values = [
            None if t is None else next(left) for t in nest.flatten(structure, True)
        ]
        return nest.pack_sequence_as(structure, values, True)
