"""`Graph`: operations by index and by name, with scopes and collections.

Ops are only ever appended.  A later change of an op (a control input added, a device
set) increments `mutations`, so that compiled programs can be invalidated.
Source: python/framework/ops.py (API, naming rules and messages).
"""

from __future__ import annotations

import bisect
import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tfteach.framework.call_origin import SourceLine
from tfteach.framework.defaults import default_graph, get_default_graph, set_graph_class
from tfteach.framework.errors import invalid_argument
from tfteach.framework.export import export_value
from tfteach.framework.graph_collections import GraphCollections
from tfteach.framework.graph_scopes import GraphScopes
from tfteach.framework.observers import (
    GraphMade,
    Observer,
    OpAdded,
    SessionClosed,
    SessionOpened,
    SessionRun,
    Subscription,
    observe_all,
    observe_lifetimes,
    observers_of_new,
)
from tfteach.framework.operation import Operation, Tensor

if TYPE_CHECKING:
    from tfteach.framework.constant_values import KnownValues
    from tfteach.framework.dtypes import DType
    from tfteach.framework.eager_tensor import EagerTensor
    from tfteach.framework.graph_protocols import GraphFunction, Planner
    from tfteach.framework.op import Op

__all__ = [
    "Graph",
    "GraphMade",
    "OpAdded",
    "Operation",
    "SessionClosed",
    "SessionOpened",
    "SessionRun",
    "SourceLine",
    "Subscription",
    "Tensor",
    "get_default_graph",
    "observe_all",
    "observe_lifetimes",
]


class Graph(GraphCollections, GraphScopes):
    """A dataflow graph of operations, whose edges carry tensors.

    Example:
      >>> graph = tf.Graph()
      >>> with graph.as_default():
      ...     total = tf.add(2, 3, name="total")
      >>> [op.name for op in graph.get_operations()]
      ['total/x', 'total/y', 'total']
    """

    def __init__(self) -> None:
        GraphCollections.__init__(self)
        GraphScopes.__init__(self)
        self.lock = threading.RLock()
        self.operations: list[Operation] = []
        self.has_control_flow = False  # whether a context has ever been opened
        self.observers: tuple[Observer, ...] = self._first_observers()
        self.mutations = 0
        self.known: KnownValues | None = None
        self.is_planned = False  # whether sessions have cached plans
        self.planners: tuple[weakref.ref[Planner], ...] = ()
        self.finalized = False
        self._seed: int | None = None
        self._by_name: dict[str, Operation] = {}
        self._unfeedable: set[Tensor] = set()
        self._unfetchable: set[Operation] = set()
        self._consumers: dict[Tensor, list[Operation]] = {}
        self._control_outputs: dict[Operation, list[Operation]] = {}
        # Node bytes of earlier exports, and the `mutations` they are valid for.
        self.encoded: tuple[int, list[bytes]] = (0, [])
        self._indexed = 0  # the number of operations in the reverse edges
        self.functions: dict[str, GraphFunction] = {}  # the library, by name

    def _first_observers(self) -> tuple[Observer, ...]:
        return observers_of_new(self)

    # ---- defaults and state

    def as_default(self) -> Any:
        """A context manager that makes this the default graph."""
        return default_graph(self)

    @property
    def version(self) -> int:
        """A number that grows as operations are added."""
        return len(self.operations)

    @property
    def seed(self) -> int | None:
        """The graph-level random seed."""
        return self._seed

    @seed.setter
    def seed(self, seed: int | None) -> None:
        self._seed = seed

    def next_op_seed(self) -> int:
        """The seed of an op that has none of its own."""
        return self.version

    # Whether an op without a seed of its own was created under the graph's seed.
    seed_used = False

    # Whether this is the body of a function; overridden by `FuncGraph`.
    building_function = False

    def execute(self, op: Op, values: tuple[Any, ...], name: str | None) -> Any:
        """Run an op at once; see `EagerGraph`."""
        raise NotImplementedError

    def hold(self, value: Any, dtype: DType) -> EagerTensor:
        """A tensor with a value; see `EagerGraph`."""
        raise NotImplementedError

    @property
    def _last_id(self) -> int:
        """TensorFlow's name of the number of ops, from which it derives seeds."""
        return self.version

    @property
    def _building_function(self) -> bool:
        """TensorFlow's name of `building_function`, which tests read."""
        return self.building_function

    def captured(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The inputs of a new op, with those of outer graphs brought into a body."""
        return inputs

    def capture(self, tensor: Tensor, name: str | None = None) -> Tensor:
        """The tensor with the value of `tensor` in a function's body."""
        raise NotImplementedError

    def stand_in(self, tensor: Tensor) -> Tensor:
        """What a function's body reads in place of a tensor; others unchanged."""
        return tensor

    def captured_from(self, tensor: Tensor) -> Tensor | None:
        """The outer tensor that a placeholder of a function's body stands for."""
        return None

    def add_function(self, function: GraphFunction) -> None:
        """Add a function to the library, from which nodes can call it.

        It replaces an equal one, which may have another gradient in Python.

        Raises:
          InvalidArgumentError: the library has a different function of that name.
        """
        known = self.functions.get(function.name)
        if known is function:
            return
        if known is not None and known.definition != function.definition:
            raise invalid_argument(
                f"Cannot add function '{function.name}' because a different function "
                "with the same name already exists."
            )
        self.functions[function.name] = function
        for other in function.needs():
            self.add_function(other)

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

    def record_mutation(self) -> None:
        """Count a mutation of an existing op."""
        self._check_not_finalized()
        with self.lock:
            self.mutations += 1

    # ---- adding operations

    def append(self, op: Operation, announce: bool = True) -> None:
        """Add a new operation; called only by `framework/build.py`."""
        if self._by_name.setdefault(op.name, op) is not op:
            raise ValueError(f"Duplicate node name in graph: '{op.name}'")
        operations = self.operations
        op.node_id = number = len(operations) + 1
        operations.append(op)
        if operations[number - 1] is not op:  # another thread was faster
            op.node_id = operations.index(op, number) + 1
        if self.planners:
            self._notify_planners(op)
        if announce and self.observers:
            self.announce(op)

    def add_planner(self, planner: Planner) -> None:
        """Call `planner.graph_grew(op)` for each op that is added from now on."""
        with self.lock:
            alive = [r for r in self.planners if r() is not None]
            self.planners = (*alive, weakref.ref(planner))

    def _notify_planners(self, op: Operation) -> None:
        for reference in self.planners:
            planner = reference()
            if planner is not None:
                planner.graph_grew(op)

    def take_back(self, operations: list[Operation]) -> None:
        """Remove operations that were appended, and not yet visible to observers."""
        gone = set(operations)
        with self.lock:
            for op in operations:
                del self._by_name[op.name]
                self._names_in_use.pop(op.name.lower(), None)
                self._unfeedable.difference_update(op.outputs)
            self._unfetchable -= gone
            self.operations[:] = [op for op in self.operations if op not in gone]
            for number, op in enumerate(self.operations, 1):
                op.node_id = number
            self._consumers.clear()
            self._control_outputs.clear()
            self._indexed = 0
            self.known = None
            self.mutations += 1

    def announce(self, op: Operation) -> None:
        """Notify the observers of a new operation."""
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
        with self.lock:
            self.observers = (*self.observers, callback)
        return Subscription(self, callback)

    # ---- lookup

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
        """The Tensor or Operation of this graph that `obj` is, names, or converts to.

        Raises:
          TypeError: `obj` has an unsupported type.
          ValueError: it belongs to another graph, or the name is malformed.
          KeyError: the name is not in this graph.
        """
        convert = getattr(obj, "_as_graph_element", None)
        if convert is not None:
            element = convert()
            obj = obj if element is None else element
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, Tensor) and allow_tensor:
            if obj.graph is not self:
                raise ValueError(f"Tensor {obj} is not an element of this graph.")
            return obj
        if isinstance(obj, Operation) and allow_operation:
            if obj.graph is not self:
                raise ValueError(f"Operation {obj} is not an element of this graph.")
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
            if not index.removeprefix("-").isdigit():
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
            if not -len(op.outputs) <= int(index) < len(op.outputs):
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

    # ---- reverse edges, recorded on first use

    def _index_edges(self) -> None:
        if self._indexed == len(self.operations):
            return
        with self.lock:
            for op in self.operations[self._indexed :]:
                for tensor in dict.fromkeys(op.inputs):
                    self._consumers.setdefault(tensor, []).append(op)
                for other in op.control_inputs:
                    self._control_outputs.setdefault(other, []).append(op)
                self._indexed = op.node_id

    def edges_changed(
        self, op: Operation, inputs: Sequence[Tensor], controls: list[Operation]
    ) -> None:
        """Record the previous inputs and control inputs of an op that has changed."""
        with self.lock:
            if op.node_id > self._indexed:
                return
            _move(op, self._consumers, set(inputs), set(op.inputs))
            _move(op, self._control_outputs, set(controls), set(op.control_inputs))

    def consumers_of(self, tensor: Tensor) -> list[Operation]:
        """The operations that have `tensor` as an input, in order of creation."""
        self._index_edges()
        return list(self._consumers.get(tensor, ()))

    def control_outputs_of(self, op: Operation) -> list[Operation]:
        """The operations that wait for `op` by a control edge."""
        self._index_edges()
        return list(self._control_outputs.get(op, ()))

    # ---- feeds and fetches

    def prevent_feeding(self, tensor: Tensor) -> None:
        """Forbid `tensor` as a key of feed dicts."""
        self._unfeedable.add(tensor)
        if self.is_planned:  # invalidates plans
            with self.lock:
                self.mutations += 1

    def is_feedable(self, tensor: Tensor) -> bool:
        """Whether `tensor` may be fed."""
        return tensor not in self._unfeedable

    def prevent_fetching(self, op: Operation) -> None:
        """Forbid `op` and its outputs as fetches."""
        self._unfetchable.add(op)
        if self.is_planned:  # invalidates plans
            with self.lock:
                self.mutations += 1

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether a session may fetch this tensor or operation."""
        op = tensor_or_op.op if isinstance(tensor_or_op, Tensor) else tensor_or_op
        return op not in self._unfetchable

    # ---- nodes by the name of their op type (framework/graphdef/create_op.py)

    def create_op(
        self,
        op_type: str,
        inputs: Iterable[Tensor],
        dtypes: Any = None,
        input_types: Any = None,
        name: str | None = None,
        attrs: dict[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Add a node of the op type of this name.

        Args:
          op_type: the op type, such as "MatMul".
          inputs: tensors of this graph.
          name: the node's name, made unique; one that ends in "/" is used unchanged.
          attrs: AttrValue protos by name; those determined by the inputs or with
            defaults may be omitted.
          dtypes, input_types, op_def, compute_shapes, compute_device: ignored, as in
            TF: the op's definition determines them.

        Raises:
          NotFoundError: the op type is unknown.
          TypeError: an input is not a tensor, or an attribute not an AttrValue.
          ValueError: attributes or inputs contradict the op's definition.
        """
        return self._node_of_type(op_type, inputs, name, attrs)

    if TYPE_CHECKING:  # set by framework/graphdef/methods.py

        @property
        def graph_def_versions(self) -> Any: ...
        def as_graph_def(
            self, from_version: int | None = None, add_shapes: bool = False
        ) -> Any: ...
        def add_library(self, library: Any, producer_op_list: Any = None) -> None:
            """Add the functions of a FunctionDefLibrary."""

        def _node_of_type(
            self,
            op_type: str,
            inputs: Iterable[Tensor],
            name: str | None,
            attrs: dict[str, Any] | None,
        ) -> Operation: ...


def _move(
    op: Operation, users: dict[Any, list[Operation]], old: set[Any], new: set[Any]
) -> None:
    """Move `op` from the users of the `old` keys to those of the `new` keys."""
    for key in old - new:
        users[key].remove(op)
    for key in new - old:
        bisect.insort(users.setdefault(key, []), op, key=lambda user: user.node_id)


set_graph_class(Graph)
export_value(
    __name__, Graph="Graph", Operation="Operation",
    Tensor="Tensor",
)  # fmt: skip
