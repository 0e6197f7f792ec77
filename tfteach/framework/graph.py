"""`Graph`: the operations, by number and by name, with scopes and collections.

Ops are only ever appended.  A later change of an op (a control input added, a device
set) counts in `mutations`, so that compiled programs know when to stand aside.
Source: python/framework/ops.py (API, naming rules and messages).
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from tfteach.framework.export import export_value
from tfteach.framework.observers import (
    Observer,
    OpAdded,
    SessionRun,
    Subscription,
    observe_all,
    observers_of_new,
)
from tfteach.framework.operation import Operation, SourceLine, Tensor
from tfteach.framework.scope import ControlScope, DeviceLike, Scopes
from tfteach.framework.stacks import default_graph, get_default_graph

__all__ = [
    "Graph",
    "OpAdded",
    "Operation",
    "SessionRun",
    "SourceLine",
    "Subscription",
    "Tensor",
    "get_default_graph",
    "observe_all",
]


class Graph:
    """A dataflow graph of operations, whose edges carry tensors.

    Example:
      >>> graph = tf.Graph()
      >>> with graph.as_default():
      ...     total = tf.add(2, 3, name="total")
      >>> [op.name for op in graph.get_operations()]
      ['total/x', 'total/y', 'total']
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.operations: list[Operation] = []
        self.scopes = Scopes(self)
        self.control_flow_context: Any = None
        self.has_control_flow = False  # whether there was ever a context
        self.observers: tuple[Observer, ...] = observers_of_new(self)
        self.mutations = 0
        self.is_planned = False  # whether sessions have checked feeds
        self.finalized = False
        self._seed: int | None = None
        self._by_name: dict[str, Operation] = {}
        self._names_in_use: dict[str, int] = {}
        self._collections: dict[Any, list[Any]] = {}
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()
        self._consumers: dict[Tensor, list[Operation]] = {}
        self._control_outputs: dict[Operation, list[Operation]] = {}
        # Node bytes of earlier exports, and the mutations they stand for.
        self.encoded: tuple[int, list[bytes]] = (0, [])
        self._indexed = (0, 0)  # operations, mutations seen by the reverse edges

    # ---- defaults and state

    def as_default(self) -> Any:
        """A context manager that makes this the default graph."""
        return default_graph(self)

    @property
    def version(self) -> int:
        """A number that grows as operations are added."""
        return len(self.operations)

    @property
    def graph_def_versions(self) -> Any:
        """The VersionDef that exported GraphDefs carry."""
        from tfteach.framework.graphdef import versions

        return versions()

    @property
    def seed(self) -> int | None:
        """The graph-level random seed."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    @property
    def building_function(self) -> bool:
        return False

    def finalize(self) -> None:
        """Make the graph read-only: adding an op raises RuntimeError from now on."""
        self.finalized = True

    def _unsafe_unfinalize(self) -> None:
        self.finalized = False

    def _check_not_finalized(self) -> None:
        if self.finalized:
            raise RuntimeError(
                "Graph is finalized and cannot be modified. An op was built after "
                "graph.finalize(), often in a training loop: build it before the loop."
            )

    def note_mutation(self) -> None:
        """Count a change of an existing op."""
        self._check_not_finalized()
        self.mutations += 1

    # ---- names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` within the current scope, with a suffix if it is taken.

        Names that differ only in case count as the same, as in TF.
        """
        prefix = self.scopes.name
        if prefix:
            name = f"{prefix}/{name}"
        key = name.lower()
        in_use = self._names_in_use
        count = in_use.get(key, 0)
        if mark_as_used:
            in_use[key] = count + 1
        if count:
            base = key
            while key in in_use:
                key = f"{base}_{count}"
                count += 1
            if mark_as_used:
                in_use[key] = 1
            name = f"{name}_{count - 1}"
        return name

    # ---- adding operations

    def append(self, op: Operation, announce: bool = True) -> None:
        """Enter a new operation; only `framework/build.py` calls this."""
        by_name = self._by_name
        if op.name in by_name:
            raise ValueError(f"Duplicate node name in graph: '{op.name}'")
        by_name[op.name] = op
        self.operations.append(op)
        op.node_id = len(self.operations)
        if announce and self.observers:
            self.announce(op)

    def announce(self, op: Operation) -> None:
        """Tell the observers of a new operation."""
        event = OpAdded(op)
        for observer in self.observers:
            observer(event)

    def observe(self, callback: Observer) -> Subscription:
        """Call `callback(event)` for every op added and every session run.

        Args:
          callback: gets an `OpAdded` or a `SessionRun`, in the thread where it happens.

        Returns:
          A `Subscription`; close it to stop listening.
        """
        self.observers = (*self.observers, callback)
        return Subscription(self, callback)

    # ---- looking up

    def get_operations(self) -> list[Operation]:
        """A list of all operations, in the order they were added."""
        return list(self.operations)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of that name; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(
                f"Operation names are strings (or similar), not {type(name).__name__}."
            )
        element = self.as_graph_element(name, allow_tensor=False, allow_operation=True)
        return element  # type: ignore[return-value]

    def get_tensor_by_name(self, name: str) -> Tensor:
        """The tensor named "op:index"; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(
                f"Tensor names are strings (or similar), not {type(name).__name__}."
            )
        element = self.as_graph_element(name, allow_tensor=True, allow_operation=False)
        return element  # type: ignore[return-value]

    def find_operation(self, name: str) -> Operation | None:
        """The operation of that name, or None."""
        return self._by_name.get(name)

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Operation | Tensor:
        """The Tensor or Operation of this graph that `obj` is, names or stands for.

        Raises:
          TypeError: `obj` is of the wrong kind.
          ValueError: it belongs to another graph, or the name has the wrong form.
          KeyError: the name is not in this graph.
        """
        convert = getattr(obj, "_as_graph_element", None)
        if convert is not None:
            element = convert()
            obj = obj if element is None else element
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, Tensor) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj!r} is not an element of this graph.")
            return obj
        wanted = " or ".join(
            ["Tensor"] * allow_tensor + ["Operation"] * allow_operation
        )
        raise TypeError(f"Can not convert a {type(obj).__name__} into a {wanted}.")

    def _element_by_name(
        self, name: str, allow_tensor: bool, allow_operation: bool
    ) -> Operation | Tensor:
        if ":" in name and allow_tensor:
            op_name, _, index = name.partition(":")
            if not index.isdigit():
                raise ValueError(
                    f"The name {name!r} looks a like a Tensor name, but is not a valid "
                    'one. Tensor names must be of the form "<op_name>:<output_index>".'
                )
            op = self._by_name.get(op_name)
            if op is None:
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The "
                    f"operation, {op_name!r}, does not exist in the graph."
                )
            if int(index) >= len(op.outputs):
                raise KeyError(
                    f"The name {name!r} refers to a Tensor which does not exist. The "
                    f"operation, {op_name!r}, exists but only has {len(op.outputs)} "
                    "outputs."
                )
            return op.outputs[int(index)]
        if ":" in name:
            raise ValueError(
                f"Name {name!r} appears to refer to a Tensor, not a Operation."
            )
        if not allow_operation:
            if name in self._by_name:
                raise ValueError(
                    f"The name {name!r} refers to an Operation, not a Tensor. Tensor "
                    'names must be of the form "<op_name>:<output_index>".'
                )
            raise ValueError(
                f"The name {name!r} looks like an (invalid) Operation name, not a "
                'Tensor. Tensor names must be of the form "<op_name>:<output_index>".'
            )
        op = self._by_name.get(name)
        if op is None:
            raise KeyError(
                f"The name {name!r} refers to an Operation not in the graph."
            )
        return op

    # ---- reverse edges, kept up only when somebody asks

    def _index_edges(self) -> None:
        with self.lock:
            done, mutations = self._indexed
            if mutations != self.mutations:
                done = 0
                self._consumers.clear()
                self._control_outputs.clear()
            for op in self.operations[done:]:
                for tensor in dict.fromkeys(op.inputs):
                    self._consumers.setdefault(tensor, []).append(op)
                for other in op.control_inputs:
                    self._control_outputs.setdefault(other, []).append(op)
            self._indexed = (len(self.operations), self.mutations)

    def consumers_of(self, tensor: Tensor) -> list[Operation]:
        """The operations that take `tensor`, in the order they were added."""
        self._index_edges()
        return list(self._consumers.get(tensor, ()))

    def control_outputs_of(self, op: Operation) -> list[Operation]:
        """The operations that wait for `op` by a control edge."""
        self._index_edges()
        return list(self._control_outputs.get(op, ()))

    # ---- scopes (framework/scope.py)

    def name_scope(self, name: str | None) -> Any:
        """A context manager that prefixes the names of new operations.

        Args:
          name: a scope name, made unique; one that ends in "/" is entered as it is;
            None or "" goes back to the top.

        Yields:
          The prefix, such as "layer/" ("" at the top).
        """
        return self.scopes.name_scope(name)

    def get_name_scope(self) -> str:
        """The name of the current scope, "" at the top."""
        return self.scopes.name

    def device(self, device_name_or_function: DeviceLike) -> Any:
        """A context manager that asks for a device for new operations.

        Args:
          device_name_or_function: a name in any of TF's forms, a function from an
            `Operation` to a name, or None to set the outer requests aside.

        Raises:
          ValueError: the name has no form TF knows.
        """
        return self.scopes.device(device_name_or_function)

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Any:
        """A context manager: new operations wait for `control_inputs`.

        Args:
          control_inputs: operations, tensors or variables; None sets the outer
            dependencies (and the loop or branch being built) aside.
        """
        if control_inputs is None:
            return ControlScope(self.scopes, None)
        ops: dict[Operation, None] = {}
        for value in control_inputs:
            value = getattr(value, "_control_element", value)
            element = self.as_graph_element(value)
            ops[element.op if isinstance(element, Tensor) else element] = None
        return ControlScope(self.scopes, list(ops))

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """A context manager that puts new operations where `op` is.

        Args:
          op: an operation or tensor, or None.
          ignore_existing: set the outer colocations aside.
        """
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but ignore_existing is not "
                "True"
            )
        if op is not None:
            element = self.as_graph_element(getattr(op, "_control_element", op))
            op = element.op if isinstance(element, Tensor) else element
        return self.scopes.colocate_with(op, ignore_existing)

    def container(self, container_name: str) -> Any:
        """A context manager that names the resource container of stateful ops."""
        return self.scopes.in_container(container_name)

    def gradient_override_map(self, op_type_map: dict[str, str]) -> Any:
        """A context manager: take another registered gradient for some op types.

        Args:
          op_type_map: from op types to names given to `tf.RegisterGradient`.
        """
        if not isinstance(op_type_map, dict) or not all(
            isinstance(k, str) and isinstance(v, str) for k, v in op_type_map.items()
        ):
            raise TypeError(
                "op_type_map must be a dictionary mapping strings to strings"
            )
        return self.scopes.overriding_gradients(op_type_map)

    def _attr_scope(self, attr_map: dict[str, Any]) -> Any:
        return self.scopes.attr_scope(attr_map)

    # ---- collections

    @property
    def collections(self) -> list[Any]:
        """The names of the collections."""
        return list(self._collections)

    def get_all_collection_keys(self) -> list[Any]:
        return [key for key in self._collections if isinstance(key, str)]

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Add `value` to a collection."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Add `value` to one collection, or to each of several."""
        for name in (names,) if isinstance(names, str) else dict.fromkeys(names):
            self.add_to_collection(name, value)

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The collection itself: changing the list changes the collection."""
        return self._collections.setdefault(name, [])

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """A copy of a collection.

        Args:
          name: the collection's key, such as `tf.GraphKeys.TRAINABLE_VARIABLES`.
          scope: keep only items whose name begins with a match of this regex.
        """
        import re

        found = self._collections.get(name, [])
        if scope is None:
            return list(found)
        pattern = re.compile(scope)
        return [
            item for item in found if hasattr(item, "name") and pattern.match(item.name)
        ]

    def clear_collection(self, name: Any) -> None:
        """Empty a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)

    # ---- feeds and fetches

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Forbid `tensor` as a key of feed dicts."""
        self._unfeedable.add(tensor)
        self.mutations += self.is_planned  # sessions look again

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether `tensor` may be fed."""
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        """Forbid `op` and its outputs as fetches."""
        self._unfetchable.add(op)
        self.mutations += self.is_planned  # sessions look again

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether a session may fetch this tensor or operation."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    # ---- GraphDef (framework/graphdef.py)

    def as_graph_def(
        self, from_version: int | None = None, add_shapes: bool = False
    ) -> Any:
        """This graph as a GraphDef proto.

        Args:
          from_version: leave out the operations that were there at this `version`.
          add_shapes: give each node an `_output_shapes` attribute.
        """
        from tfteach.framework.graphdef import as_graph_def

        return as_graph_def(self, from_version, add_shapes)


export_value(
    __name__, Graph="Graph", Operation="Operation",
    Tensor="Tensor",
)  # fmt: skip
