"""`tf.compat.v1.wrap_function`: code of graphs and sessions as a function.

Source: python/eager/wrap_function.py (API and messages).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.graph_keys import GraphKeys
from tfteach.framework.graphdef.import_graph_def import import_graph_def
from tfteach.framework.logger import get_logger
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import name_scope
from tfteach.framework.shape import as_tensor_shape
from tfteach.framework.type_aliases import Structure
from tfteach.lib.files.data_structures import Mapping
from tfteach.lib.files.meta_graph import is_message
from tfteach.lib.functions.concrete_function import ConcreteFunction
from tfteach.lib.functions.lift_to_graph import lift_to_graph
from tfteach.lib.functions.trace import traced
from tfteach.lib.functions.traced_graph import TracedGraph
from tfteach.lib.saved_model.utils import get_tensor_from_tensor_info
from tfteach.variables.creation import variable_creator_scope
from tfteach.variables.resource import BaseResourceVariable
from tfteach.variables.uninitialized import uninitialized_variable


class WrappedGraphBody(TracedGraph):
    """A graph that a session would run: only what the results need."""

    orders_effects = False
    runs_all_effects = False

    def __init__(self, name: str) -> None:
        super().__init__(name, shares_collections=False)


class VariableHolder:
    """Owns the variables that a function creates.

    Args:
      fn: the function.
      share_variables: whether a variable of a known name is not created again.
    """

    def __init__(
        self, fn: Callable[..., Any] | None = None, share_variables: bool = False
    ) -> None:
        self._fn = fn
        self._share_variables = share_variables
        self._variables_by_name = Mapping()

    @property
    def variables(self) -> Mapping:
        """The variables by name."""
        return self._variables_by_name

    def add(self, name: str, variable: Any) -> None:
        """Own a variable."""
        self._variables_by_name[name] = variable

    def variable_creator_scope(self, next_creator: Any, **kwargs: Any) -> Any:
        """Create a variable, in the collections of the wrapped function's graph."""
        collections = kwargs.pop("collections", None)
        with name_scope(kwargs.get("name"), "Variable") as scope:
            kwargs["name"] = scope
        name = scope.rstrip("/")
        made = self.variables.get(name) if self._share_variables else None
        if made is None:
            made = next_creator(**kwargs)
            self.add(name, made)
        keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else [*collections]
        if made.trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
            keys.append(GraphKeys.TRAINABLE_VARIABLES)
        get_default_graph().add_to_collections(keys, made)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        assert self._fn is not None
        return self.call_with_variable_creator_scope(self._fn)(*args, **kwargs)

    def call_with_variable_creator_scope(
        self, fn: Callable[..., Any]
    ) -> Callable[..., Any]:
        """A function that creates its variables here."""

        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with variable_creator_scope(self.variable_creator_scope):
                return fn(*args, **kwargs)

        return wrapped


# ---- variables of imported graphs


def _lift_unlifted_variables(graph: TracedGraph, holder: VariableHolder) -> None:
    """Let the graph capture variables in place of those that were imported into it.

    An imported variable is a node of the graph, which nothing outside can read.
    """
    lifted: dict[int, Any] = {}
    captured = set(graph.captures.values())
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        variables = graph.get_collection_ref(key)
        for i, variable in enumerate(variables):
            if not isinstance(variable, BaseResourceVariable):
                get_logger().warning(
                    f"Unable to create a python object for variable {variable} because "
                    "it is a reference variable. It may not be visible to training "
                    "APIs. If this is a problem, consider rebuilding the SavedModel "
                    "after running tf.compat.v1.enable_resource_variables()."
                )
                continue
            if id(variable) not in lifted:
                if variable.handle in captured or not _is_of(variable, graph):
                    continue
                made = _lifted(variable, graph, key)
                lifted[id(variable)] = made
                holder.add(made.name.partition(":")[0], made)
            variables[i] = lifted[id(variable)]


def _lifted(variable: Any, graph: TracedGraph, key: str) -> Any:
    """A variable outside of the graph, which the graph captures."""
    made = uninitialized_variable(
        shape=variable.shape,
        dtype=variable.dtype,
        name=variable.op.name,
        trainable=variable.trainable,
    )
    made._initializer_op = variable._initializer_op
    graph.captures[made.handle] = variable.handle
    graph.inputs.append(variable.handle)
    graph.stands_for(variable.handle, made.handle)
    graph.record_variable(made)
    if key != GraphKeys.GLOBAL_VARIABLES and not is_eager(made):
        made.graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES).remove(made)
        made.graph.add_to_collection(key, made)
    return made


def is_eager(variable: Any) -> bool:
    """Whether a variable belongs to an eager program, not to a graph."""
    return isinstance(variable.handle, EagerTensor)


def _is_of(variable: Any, graph: TracedGraph) -> bool:
    return not is_eager(variable) and variable.graph is graph


# ---- functions


class WrappedFunction(ConcreteFunction):
    """A graph as a function; see `tf.compat.v1.wrap_function`.

    Args:
      fn_graph: the graph.
      variable_holder: owns the variables.
      attrs, signature: as for a ConcreteFunction.
    """

    def __init__(
        self,
        fn_graph: TracedGraph,
        variable_holder: VariableHolder,
        attrs: Any = None,
        signature: Sequence[Any] | None = None,
    ) -> None:
        self._variable_holder = variable_holder
        _lift_unlifted_variables(fn_graph, variable_holder)
        super().__init__(fn_graph, attrs, signature)

    def prune(
        self,
        feeds: Structure,
        fetches: Structure,
        name: str | None = None,
        input_signature: Structure = None,
    ) -> WrappedFunction:
        """A function of a part of the graph.

        Args:
          feeds: its arguments: Tensors of the graph, or their names.
          fetches: its results: Tensors, Operations, their names, or TensorInfo protos,
            nested as the results will be.  An Operation runs, and its result is None.
          name: the function's name.
          input_signature: what its `structured_input_signature` is to be.

        Returns:
          A WrappedFunction with the same variables.

        Raises:
          ValueError: a feed is no Tensor, or one belongs to another graph.
          UnliftableError: the fetches need another placeholder.

        Example:
          >>> imported = tf.compat.v1.wrap_function(import_graph, [])
          >>> half = imported.prune("x:0", "half:0")
        """
        graph = self.graph
        captured = graph.internal_captures
        # `inputs` of a function may be fed, as they are.
        inputs = [t for t in self._feeds(feeds) if all(t is not c for c in captured)]
        found = nest.map_structure(self._element, fetches)
        elements = nest.flatten(found, expand_composites=True)
        with graph.as_default():
            pruned = WrappedGraphBody(name or "pruned")
        copies = lift_to_graph(
            elements, pruned, sources=[*inputs, *captured], base_graph=graph
        )
        for item in elements:
            if isinstance(item, Operation):
                pruned.control_outputs.append(copies[item])
            else:
                pruned.outputs.append(copies[item])
        pruned.inputs = [copies[t] for t in inputs]
        for outer, inner in graph.captures.items():
            pruned.captures[outer] = copies[inner]
            pruned.inputs.append(copies[inner])
            pruned.stands_for(copies[inner], outer)
        _set_shapes(pruned, fetches)
        for function in graph.functions.values():
            pruned.add_function(function)
        pruned.variables = graph.variables
        pruned.structured_outputs = nest.map_structure(
            lambda item: None if isinstance(item, Operation) else copies[item],
            found,
            expand_composites=True,
        )
        pruned.structured_input_signature = input_signature
        made = WrappedFunction(pruned, self._variable_holder)
        made._num_positional_args = len(inputs)
        made._arg_keywords = [tensor.op.name for tensor in inputs]
        return made

    def _feeds(self, feeds: Any) -> list[Tensor]:
        found = []
        for feed in nest.flatten(feeds, expand_composites=True):
            element = self.graph.as_graph_element(feed)
            if not isinstance(element, Tensor):
                raise ValueError("Feeds must be tensors.")
            found.append(element)
        return found

    def _element(self, fetch: Any) -> Any:
        """A fetch as a Tensor, an Operation, or a value that consists of Tensors."""
        graph = self.graph
        if is_message(fetch, "TensorInfo"):
            if fetch.WhichOneof("encoding") == "name":
                return graph.as_graph_element(fetch.name)  # perhaps an Operation
            return get_tensor_from_tensor_info(fetch, graph)
        parts = nest.flatten(fetch, expand_composites=True)
        for part in parts:
            if isinstance(part, Tensor | Operation) and part.graph is not graph:
                raise ValueError(
                    "Can only prune function whose feeds and fetches are from this "
                    f"graph ({graph}). Input {part} is from graph {part.graph}"
                )
        found = [graph.as_graph_element(part) for part in parts]
        return nest.pack_sequence_as(fetch, found, expand_composites=True)


def _set_shapes(graph: TracedGraph, fetches: Any) -> None:
    """Give tensors the static shapes that TensorInfos state."""
    for info in nest.flatten(fetches):
        if is_message(info, "TensorInfo") and info.WhichOneof("encoding") == "name":
            element = graph.as_graph_element(info.name)
            if isinstance(element, Tensor):
                element.set_shape(as_tensor_shape(info.tensor_shape))


class WrappedGraph:
    """Several functions with one graph, and so with the same variables.

    Args:
      variable_holder: owns the variables; by default one that shares them by name.
      name: the graph's name.

    Attributes:
      graph: the graph.
    """

    def __init__(
        self,
        variable_holder: VariableHolder | None = None,
        name: str = "wrapped_function_graph",
    ) -> None:
        self._variable_holder = variable_holder or VariableHolder(share_variables=True)
        self.graph = WrappedGraphBody(name)
        self._wrapped_function = WrappedFunction(self.graph, self._variable_holder)
        self._functions: dict[str, WrappedFunction] = {}

    @property
    def functions(self) -> dict[str, WrappedFunction]:
        """The functions by name."""
        return self._functions

    @property
    def variables(self) -> Mapping:
        """The variables by name."""
        return self._variable_holder.variables

    def wrap_function(
        self, fn: Callable[..., Any], signature: Any, name: str | None = None
    ) -> WrappedFunction:
        """Make a function of the graph; see `tf.compat.v1.wrap_function`.

        Args:
          fn: may also return Operations, which run, and whose results are None.
          signature: TensorSpecs of its arguments.
          name: its name among the `functions`.
        """
        operations: dict[int, Operation] = {}

        def without_operations(*args: Any) -> Any:
            results = self._variable_holder.call_with_variable_creator_scope(fn)(*args)
            flat = nest.flatten(results)
            operations.update(
                (i, item) for i, item in enumerate(flat) if isinstance(item, Operation)
            )
            kept = [None if i in operations else item for i, item in enumerate(flat)]
            return nest.pack_sequence_as(results, kept)

        traced(self.graph, without_operations, list(signature), {}, None)
        count = len(self.graph.inputs) - len(self.graph.captures)
        flat = nest.flatten(self.graph.structured_outputs)
        for i, operation in operations.items():
            flat[i] = operation
        outputs = nest.pack_sequence_as(self.graph.structured_outputs, flat)
        name = name or fn.__name__
        made = self._wrapped_function.prune(
            self.graph.inputs[:count],
            outputs,
            name,
            self.graph.structured_input_signature,
        )
        self._functions[name] = made
        return made


@export("wrap_function")
def wrap_function(
    fn: Callable[..., Structure], signature: Sequence[object], name: str | None = None
) -> WrappedFunction:
    """Make code of graphs and sessions a function.

    It is traced once, and as in `Session.run` a call computes only what its results
    need, in no certain order.  The variables that it creates belong to it.

    Args:
      fn: the function.
      signature: its arguments: TensorSpecs, of which calls pass Tensors, and values.
      name: its name.

    Returns:
      A function of the Tensors, with a method `prune(feeds, fetches)`, which makes a
      function of a part of the graph.

    Example:
      >>> def add(x):
      ...     v = tf.Variable(5.0)
      ...     with tf.control_dependencies([v.assign_add(x)]):
      ...         return v.read_value()
      >>> added = tf.compat.v1.wrap_function(add, [tf.TensorSpec([], tf.float32)])

    Source: python/eager/wrap_function.py.
    """
    holder = VariableHolder(fn)
    graph_name = "wrapped_function" if name is None else f"wrapped_function_{name}"
    graph = traced(WrappedGraphBody(graph_name), holder, signature, {}, None)
    return WrappedFunction(graph, holder, signature=signature)


def function_from_graph_def(
    graph_def: Any, inputs: Structure, outputs: Structure
) -> WrappedFunction:
    """A function of a GraphDef.

    Args:
      graph_def: the GraphDef.
      inputs: the names of its arguments.
      outputs: the names of its results, nested as they will be.
    """

    def import_all() -> None:
        import_graph_def(graph_def, name="")

    imported = wrap_function(import_all, [])
    return imported.prune(inputs, outputs)
