"""Functions that users pass to datasets, as functions of the graph.

Source: python/data/ops/dataset_ops.py, StructuredFunctionWrapper;
python/eager/function.py, python/framework/func_graph.py (names of nodes).
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections.abc import Callable
from typing import Any

from tfteach.control.automatic_control import returned
from tfteach.framework.convert import convert
from tfteach.framework.function_attribute import Function
from tfteach.framework.functions.defined_function import DefinedFunction
from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.operation import Tensor
from tfteach.lib.autograph.calls import tf_convert
from tfteach.lib.data import structures
from tfteach.lib.data.element_specs import converts

_numbers = itertools.count()


def function_name(function: Callable[..., Any]) -> str:
    """The name of a Python function, as in the names of its graph functions."""
    if isinstance(function, functools.partial):
        return function_name(function.func)
    name = getattr(function, "__name__", None)
    return type(function).__name__ if name is None else str(name)


class FunctionBody(FuncGraph):
    """A body whose captures are named after the tensors."""

    functional_flow = True
    orders_effects = True

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        return super().capture(tensor, name or tensor.op.name)


class StructuredFunction:
    """A user's function of nested structures, in the graph's library.

    Args:
      function: of the parts of an element, or of an element that is no tuple.
      transformation: such as "Dataset.map()", for names and messages.
      specs: the structure of its argument.
      adds_to_graph: False to leave that to `add_to_graph`.

    Attributes:
      output_specs: the structure of what it returns.
      attribute: by which a node names it.
      captured_inputs: the outer tensors that it reads.
      returned: what the function returned.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        transformation: str,
        specs: Any,
        adds_to_graph: bool = True,
    ) -> None:
        prefix = transformation.replace(".", "_")[:-2]
        name = f"{prefix}_{function_name(function)}"
        outer = get_default_graph()
        body = FunctionBody(f"__inference_{name}_{next(_numbers)}")
        body.share_collections(outer)
        tables = len(body.collection_list(GraphKeys.TABLE_INITIALIZERS))
        with body.as_default():
            tensors = [
                body.add_input(dtype, shape, f"args_{i}")
                for i, (dtype, shape) in enumerate(_arguments(specs))
            ]
            argument = structures.from_tensors(specs, tensors)
            parts = argument if type(argument) is tuple else (argument,)
            found = tf_convert(function)(*_unpacked(argument, parts))
            if isinstance(found, list):
                found = tuple(found)
            self.returned = found
            try:
                found = structures.mapped(_as_value, found)
                self.output_specs = structures.specs_of(found)
            except (ValueError, TypeError):
                raise TypeError(
                    f"Unsupported return value from function passed to "
                    f"{transformation}: {found}."
                ) from None
            results = structures.to_tensors(self.output_specs, found)
            body.outputs = returned(body, [convert(t) for t in results])
        self.body = body
        if len(body.collection_list(GraphKeys.TABLE_INITIALIZERS)) > tables:
            warnings.warn(
                f"Creating resources inside a function passed to {transformation} is "
                "not supported. Create each resource outside the function, and capture "
                "it inside the function to use it.",
                stacklevel=3,
            )
        if body.seed_used and body.seed is not None and body.seed == outer.seed:
            warnings.warn(
                f"Seed {outer.seed} from outer graph might be getting used by function "
                f"{name}, if the random op has not been provided any seed. Explicitly "
                "set the seed in the function if this is not the intended behavior.",
                stacklevel=3,
            )
        if adds_to_graph:
            self.add_to_graph()
        self.attribute = Function(body.name)
        self.captured_inputs: list[Tensor] = body.external_captures

    def add_to_graph(self) -> None:
        """Add the function to the library of the default graph."""
        graph = get_default_graph()
        DefinedFunction(self.body.name, self.body, library=graph).add_to_graph(graph)

    @property
    def captured_types(self) -> tuple[Any, ...]:
        """The types of the captured inputs."""
        return tuple(t.dtype.base_dtype for t in self.captured_inputs)

    @property
    def flat(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """The types and the shapes of the components of what it returns."""
        specs = self.output_specs
        return structures.flat_types(specs), structures.flat_shapes(specs)


def folding_function(
    function: Callable[..., Any],
    transformation: str,
    state: Any,
    element: Any,
    state_of: Callable[[Any], Any],
) -> tuple[StructuredFunction, Any]:
    """A function of (state, element), and the specs of a state that fit all its states.

    The state's shapes are relaxed until the function preserves them.

    Args:
      function: the user's.
      transformation: such as "tf.data.experimental.scan()".
      state, element: the structures of its arguments.
      state_of: the part of what it returns that is the new state.

    Raises:
      TypeError: classes or types of the new state differ.
    """
    while True:
        made = StructuredFunction(function, transformation, (state, element), False)
        new = state_of(made.output_specs)
        for kind, structure in (
            ("classes", structures.legacy_classes),
            ("types", structures.legacy_types),
        ):
            pairs = zip(
                structures.flatten(structure(new)),
                structures.flatten(structure(state)),
                strict=False,
            )
            if any(one != other for one, other in pairs):
                raise TypeError(
                    f"The element {kind} for the new state must match the initial "
                    f"state. Expected {structure(state)}; got {structure(new)}."
                )
        weaker = structures.merged(state, new)
        if weaker == state:
            made.add_to_graph()
            return made, state
        state = weaker


def _as_value(leaf: Any) -> Any:
    """A leaf of the result that no spec converts once more."""
    if isinstance(leaf, Tensor) or not converts(leaf):
        return leaf
    return convert(leaf)


def _arguments(specs: Any) -> list[tuple[Any, Any]]:
    types, shapes = structures.flat_types(specs), structures.flat_shapes(specs)
    return list(zip(types, shapes, strict=True))


def _unpacked(argument: Any, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """A tuple's items are separate arguments; a named tuple is one."""
    return parts if isinstance(argument, tuple) else (argument,)
