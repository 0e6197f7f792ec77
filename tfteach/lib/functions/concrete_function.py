"""`ConcreteFunction`: one trace of a function, with inputs of certain types.

In an eager program a call runs the trace's program.  In a graph a call is a node that
calls the function.
Source: python/eager/function.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfteach.engine.eager.function_program import FunctionProgram
from tfteach.framework import nest
from tfteach.framework.convert import convert, with_value
from tfteach.framework.defaults import get_default_graph
from tfteach.framework.errors import invalid_argument
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.body import effects_of
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.protos import pool
from tfteach.framework.recording import record_variable, tapes
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.lib.functions.argument_signature import user_specified_name
from tfteach.lib.functions.call_gradients import CallGradients
from tfteach.lib.functions.results import Results
from tfteach.lib.functions.trace import numbered
from tfteach.lib.functions.traced_graph import TracedGraph
from tfteach.ops.functions.calls import PartitionedCall, StatefulPartitionedCall
from tfteach.variables.resource import BaseResourceVariable


class ConcreteFunction:
    """A function of Tensors, traced once; see `tf.function`.

    Args:
      graph: the trace.
      attrs: attributes of the function in a graph's library: bools, numbers, strings.
      signature: what it accepts if it has no named arguments: TensorSpecs in a row.

    Attributes:
      graph: the trace.
      attrs: as AttrValues.
    """

    def __init__(
        self,
        graph: TracedGraph,
        attrs: Mapping[str, Any] | None = None,
        signature: Sequence[Any] | None = None,
    ) -> None:
        self.graph = graph
        self.attrs = function_attributes(attrs or {})
        self._name = numbered(f"__inference_{graph.name}")
        self._signature = signature
        # The names by which a call can pass arguments, once someone asks for them.
        self._arg_keywords: list[str] | None = None
        self._num_positional_args: int | None = None
        self._effects = effects_of(graph)
        self._program: FunctionProgram | None = None
        self._defined: DefinedFunction | None = None
        self._gradients = CallGradients(graph, self._effects)
        self._results = Results(graph.structured_outputs)

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
            lambda t: getattr(t, "shape", TensorShape(None)), self._components
        )

    @property
    def output_dtypes(self) -> Any:
        """The types of the results, nested as they are."""
        return nest.map_structure(
            lambda t: None if t is None else t.dtype, self._components
        )

    @property
    def _components(self) -> Any:
        """The results, with lists of Tensors for values that consist of Tensors."""

        def components(value: Any) -> Any:
            parts = nest.flatten(value, expand_composites=True)
            return value if len(parts) == 1 and parts[0] is value else parts

        return nest.map_structure(components, self.structured_outputs)

    @property
    def function_def(self) -> Any:
        """The FunctionDef."""
        return self.defined.definition

    @property
    def defined(self) -> DefinedFunction:
        """The function of a graph's library."""
        if self._defined is None:
            made = DefinedFunction(self._name, self.graph, attrs=self.attrs)
            made.python_gradient = self._gradients.of_node
            self._defined = made
        return self._defined

    def add_to_graph(self, g: Graph | None = None) -> None:
        """Add the function to the library of a graph, the default one if None."""
        self.defined.add_to_graph(get_default_graph() if g is None else g)

    def add_gradient_functions_to_graph(self, g: Graph | None = None) -> None:
        """Add the function and that of its gradient to the library of a graph."""
        graph = get_default_graph() if g is None else g
        self.add_to_graph(graph)
        for function in self._gradients.forward_and_backward():
            function.add_to_graph(graph)

    def __reduce__(self) -> Any:
        raise TypeError(
            f"cannot pickle the trace {self._name!r}: save it with "
            "tf.saved_model.save, or trace the Python function where it is loaded"
        )

    # ---- calls

    def name_arguments(self) -> None:
        """Determine the names by which calls can pass the arguments."""
        keywords: list[str] = []
        counts: dict[str, int] = {}
        for tensor in self.graph.inputs[: self._argument_count]:
            own = user_specified_name(tensor) or tensor.op.name
            name = own
            while name in keywords:
                counts[own] = counts.get(own, 0) + 1
                name = f"{own}_{counts[own]}"
            keywords.append(name)
        self._arg_keywords = keywords
        self._num_positional_args = len(keywords)

    @property
    def _argument_count(self) -> int:
        return len(self.graph.inputs) - len(self.graph.captures)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it with a Tensor for each argument, by position or by name.

        Raises:
          ValueError: an argument is no Tensor.
          TypeError: another number of arguments, or of other names.
          AssertionError: it was not made by `get_concrete_function`.
        """
        if self._arg_keywords is None:
            if self._signature is None:
                raise AssertionError(
                    "Tried to call a concrete function obtained from an internal API "
                    "through the public interface. Use get_concrete_function instead."
                )
            if kwargs:
                raise NotImplementedError(
                    "Keyword arguments not supported when calling a "
                    "wrap_function-decorated function."
                )
            return self.call_flat(args)
        return self.call_flat(self._bound(self._arg_keywords, args, kwargs))

    def _bound(
        self, keywords: list[str], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> list[Any]:
        most = self._num_positional_args or 0
        if len(args) > most:
            raise TypeError(
                f"Expected at most {most} positional arguments (and the rest keywords, "
                f"of {keywords}), got {args}. When calling a concrete function, "
                "positional arguments may not be bound to Tensors within nested "
                "structures."
            )
        given, passed = list(args), keywords[: len(args)]
        left = dict(kwargs)
        for name in keywords[len(args) :]:
            if name not in left:
                have = [*keywords[: len(given)], *left]
                missing = [known for known in keywords if known not in have]
                raise TypeError(
                    f"Expected argument names {keywords} but got values for {have}. "
                    f"Missing: {missing}."
                )
            given.append(left.pop(name))
        for name in left:
            if name in passed:
                raise TypeError(f"Got two values for keyword '{name}'.")
            raise TypeError(
                f"Keyword arguments {list(left)} unknown. Expected {keywords}."
            )
        return given

    def call_flat(
        self, arguments: Sequence[Any], captured: Sequence[Tensor] | None = None
    ) -> Any:
        """Call it with the Tensors or variables of its arguments.

        Args:
          arguments: for the inputs before the captured ones.
          captured: in place of the tensors that it captured.

        Returns:
          The results, nested as the Python function nests them.
        """
        tensors = self._checked(arguments)
        if len(tensors) != self._argument_count:
            raise ValueError(
                "Arguments and signature arguments do not match. got: "
                f"{len(tensors)}, expected: {self._argument_count} "
            )
        if not get_default_graph().is_eager:
            made = self._call_in_graph(tensors, captured)
            is_op = isinstance(made, Operation)
            if is_op and self.graph.structured_outputs is None:
                return made  # so that a session can run it
            return self._results.nested([] if is_op else made)
        if captured is not None:
            raise NotImplementedError(
                "ConcreteFunction.call_flat: captured: an eager call reads what the "
                "trace captured"
            )
        for i, (given, wanted) in enumerate(zip(tensors, self.inputs, strict=False)):
            if with_value(given).dtype is not wanted.dtype.base_dtype:
                raise invalid_argument(
                    f"cannot compute {self._name} as input #{i}(zero-based) was "
                    f"expected to be a {_type_name(wanted)} tensor but is a "
                    f"{_type_name(given)} tensor [Op:{self._name}]"
                )
        return self.run(tensors)

    def _checked(self, arguments: Sequence[Any]) -> list[Tensor]:
        """The Tensors to pass: the handles of variables, each of them once."""
        found: list[Tensor] = []
        passed: set[Tensor] = set()
        specs = self._signature
        for i, value in enumerate(arguments):
            if isinstance(value, Tensor):
                found.append(value)
            elif isinstance(value, BaseResourceVariable):
                if value.handle not in passed:
                    record_variable(value)
                    passed.add(value.handle)
                    found.append(value.handle)
            elif specs is not None and isinstance(specs[i], TensorSpec):
                found.append(convert(value, specs[i].dtype))
            else:
                raise ValueError(
                    "All inputs to `ConcreteFunction`s must be Tensors; on invocation "
                    f"of {self.graph.name}, the {i}-th input ({value}) was not a "
                    "Tensor."
                )
        return found

    def run(self, arguments: Sequence[Tensor]) -> Any:
        """The results of a call in an eager program, without checks of its arguments.

        Args:
          arguments: EagerTensors of the types of `inputs`.
        """
        if tapes.active:
            for variable in self.graph.variables:
                record_variable(variable)
            return self._results.nested(self._gradients.call(arguments))
        program = self._program
        if program is None:
            self._check_captures()
            program = FunctionProgram(self.graph, self.outputs, self._effects)
            self._program = program
        return self._results.nested(program(arguments))

    def _check_captures(self) -> None:
        for tensor in self.captured_inputs:
            with_value(tensor)

    def _call_in_graph(
        self, arguments: Sequence[Tensor], captured: Sequence[Tensor] | None
    ) -> Any:
        """Add a node that calls the function to the default graph."""
        graph = get_default_graph()
        for i, (given, wanted) in enumerate(zip(arguments, self.inputs, strict=False)):
            if not wanted.shape.is_compatible_with(given.shape):
                raise self._wrong_shape(i, given, wanted)
        self.defined.add_to_graph(graph)
        for variable in self.graph.variables:
            record_variable(variable)  # before its handle is captured
        more = self.captured_inputs if captured is None else captured
        inputs = [*arguments, *more]
        kind = StatefulPartitionedCall if self._is_stateful else PartitionedCall
        call: Any = kind(
            Tin=tuple(t.dtype.base_dtype for t in inputs),
            Tout=tuple(t.dtype.base_dtype for t in self.outputs),
            f=Function(self._name),
        )
        name = None if self.outputs else "PartitionedFunctionCall"
        with graph.control_dependencies(list(self.graph.control_captures)):
            made = call(inputs, name=name)
        if not self.outputs:
            return graph.operations[-1]
        for tensor, inner in zip(made, self.outputs, strict=True):
            tensor.set_shape(inner.shape)
        return list(made)

    def _wrong_shape(self, i: int, given: Tensor, wanted: Tensor) -> ValueError:
        names = self._arg_keywords
        argument = f"with index {i}" if names is None else f"'{names[i]}'"
        return ValueError(
            f"The argument {argument} (value {given}) is not compatible with the shape "
            f"this function was traced with. Expected shape {wanted.shape}, but got "
            f"shape {given.shape}.\n\nIf you called get_concrete_function, you may "
            "need to pass a tf.TensorSpec(..., shape=...) with a less specific shape, "
            "having None on axes which can vary."
        )

    @property
    def _is_stateful(self) -> bool:
        return any(op.op_def.is_stateful for op in self.graph.operations)


_SHORT_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def _type_name(tensor: Tensor) -> str:
    """The name of a tensor's type in messages of TensorFlow's core."""
    name = tensor.dtype.base_dtype.name
    return _SHORT_NAMES.get(name, name)


def function_attributes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes of a function as AttrValues.

    Raises:
      ValueError: one is no bool, number or string.
    """
    attr_value = pool.message("AttrValue")
    found: dict[str, Any] = {}
    for name, value in attributes.items():
        if isinstance(value, attr_value):
            found[name] = value
        elif isinstance(value, bool):
            found[name] = attr_value(b=value)
        elif isinstance(value, int):
            found[name] = attr_value(i=value)
        elif isinstance(value, float):
            found[name] = attr_value(f=value)
        elif isinstance(value, str | bytes):
            found[name] = attr_value(
                s=value if isinstance(value, bytes) else value.encode()
            )
        else:
            raise ValueError(
                f"Unsupported attribute type for {name} with type {type(value)}"
            )
    return found
