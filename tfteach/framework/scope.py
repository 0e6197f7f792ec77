"""What surrounds an op while it is built: names, devices, control deps, colocation.

`Scopes` is the state of one graph; the module's functions act on the default graph.
Source: python/framework/ops.py (semantics).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tfteach.framework.device import DeviceSpec, canonical, merge_names
from tfteach.framework.export import export_value
from tfteach.framework.stacks import get_default_graph

if TYPE_CHECKING:
    from tfteach.framework.graph import Graph
    from tfteach.framework.operation import Operation

_OUTER_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/-]*\Z")
_INNER_NAME = re.compile(r"[A-Za-z0-9_.\\/-]*\Z")

DeviceLike = str | DeviceSpec | Callable[["Operation"], Any] | None


@functools.lru_cache(maxsize=4096)
def is_valid_name(name: str, inside_scope: bool) -> bool:
    """Whether TF accepts this as a node's or a scope's name."""
    pattern = _INNER_NAME if inside_scope else _OUTER_NAME
    return pattern.match(name) is not None


class ControlScope:
    """One `control_dependencies` block: its ops, and those built inside it."""

    def __init__(self, scopes: Scopes, control_inputs: list[Operation] | None) -> None:
        self._scopes = scopes
        self.clears = control_inputs is None
        self.control_inputs = control_inputs or []
        self._inside: set[Operation] = set()

    def __enter__(self) -> ControlScope:
        scopes = self._scopes
        if self.clears:
            self._saved = scopes.control, scopes.graph.control_flow_context
            scopes.control = []
            scopes.graph.control_flow_context = None
        scopes.control = [self, *scopes.control]
        return self

    def __exit__(self, *_: object) -> None:
        scopes = self._scopes
        if self.clears:
            scopes.control, scopes.graph.control_flow_context = self._saved
        else:
            scopes.control = scopes.control[1:]

    def add(self, op: Operation) -> None:
        self._inside.add(op)

    def holds(self, op: Operation) -> bool:
        return op in self._inside


class Scopes:
    """The scopes that are open in one graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.name = ""
        self.control: list[ControlScope] = []
        self.colocation: list[Operation] = []
        self._devices: list[DeviceLike] = []
        # The merged device, when no function takes part; None says: ask each time.
        self.fixed_device: str | None = ""
        self.attrs: dict[str, Any] = {}
        self.container = ""
        self.gradient_overrides: dict[str, str] = {}

    # ---- names

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Open a name scope; yields its prefix ("" or "scope/")."""
        if name:
            if name.endswith("/"):
                new = name[:-1]
            else:
                if not is_valid_name(name, bool(self.name)):
                    raise ValueError(f"'{name}' is not a valid scope name")
                new = self.graph.unique_name(name)
        else:
            new = ""
        saved, self.name = self.name, new
        try:
            yield new + "/" if new else ""
        finally:
            self.name = saved

    # ---- devices

    @contextmanager
    def device(self, device: DeviceLike) -> Iterator[None]:
        """Ask for a device: a name, a function of the op, or None to clear."""
        if device is not None and not callable(device):
            device = canonical(device)
        saved = self._devices, self.fixed_device
        self._devices = [*self._devices, device]
        if device is None:
            self.fixed_device = ""
        elif callable(device) or self.fixed_device is None:
            self.fixed_device = None
        else:
            self.fixed_device = merge_names(str(device), self.fixed_device)
        try:
            yield
        finally:
            self._devices, self.fixed_device = saved

    def device_of(self, op: Operation) -> str:
        """The device that the open scopes ask for `op` (functions are called)."""
        if self.fixed_device is not None:
            return self.fixed_device
        op.device = ""
        for device in reversed(self._devices):
            if device is None:
                break
            if callable(device):
                op.device = canonical(device(op))
            else:
                op.device = merge_names(op.device, str(device))
        return op.device

    # ---- control dependencies

    def control_inputs_for(self, input_ops: set[Operation]) -> list[Operation]:
        """What a new op with these inputs must wait for.

        A scope adds nothing when an input was built inside it (that input waits
        already), and an input is not waited for twice.
        """
        found: dict[Operation, None] = {}
        for scope in self.control:
            if not any(scope.holds(op) for op in input_ops):
                found.update((c, None) for c in scope.control_inputs)
        return [op for op in found if op not in input_ops]

    # ---- colocation

    @contextmanager
    def colocate_with(self, op: Operation | None, ignore: bool) -> Iterator[None]:
        """Put the block's ops on the device of `op`.

        The devices of the enclosing scopes are set aside inside the block.
        """
        saved = self.colocation, self._devices, self.fixed_device
        self._devices, self.fixed_device = [], ""
        if ignore:
            self.colocation = []
        if op is not None:
            self.colocation = [op, *self.colocation]
        try:
            yield
        finally:
            self.colocation, self._devices, self.fixed_device = saved

    # ---- attributes

    @contextmanager
    def attr_scope(self, attrs: dict[str, Any]) -> Iterator[None]:
        """Give the block's ops extra attributes (None removes one)."""
        saved = self.attrs
        merged = {**saved, **attrs}
        self.attrs = {k: v for k, v in merged.items() if v is not None}
        try:
            yield
        finally:
            self.attrs = saved

    @contextmanager
    def in_container(self, container: str) -> Iterator[str]:
        saved, self.container = self.container, container
        try:
            yield container
        finally:
            self.container = saved

    @contextmanager
    def overriding_gradients(self, op_type_map: dict[str, str]) -> Iterator[None]:
        saved = self.gradient_overrides
        self.gradient_overrides = {**saved, **op_type_map}
        try:
            yield
        finally:
            self.gradient_overrides = saved


class name_scope:
    """Open a name scope in the graph of `values`, or the default graph.

    Args:
      name: the scope's name; None takes `default_name`.
      default_name: used when `name` is None.
      values: tensors whose graph is used.

    Example:
      >>> with tf.name_scope("layer") as scope:
      ...     tf.constant(1.0, name="w").name
      'layer/w:0'
    """

    def __init__(
        self,
        name: str | None,
        default_name: str | None = None,
        values: Iterable[Any] | None = None,
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(
                f"name for name_scope must be a string, got {type(name).__name__}"
            )
        self._name = default_name if name is None else name
        self._scope: Any = None
        if self._name is None and values is not None:
            raise ValueError(
                "At least one of name (None) and default_name (None) must be provided."
            )
        self._values = [] if values is None else list(values)

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> str:
        graph = graph_of(self._values)
        self._default = graph.as_default() if graph is not get_default_graph() else None
        if self._default is not None:
            self._default.__enter__()
        try:
            self._scope = graph.name_scope(self._name)
            prefix: str = self._scope.__enter__()
            return prefix
        except BaseException:
            if self._default is not None:
                self._default.__exit__(None, None, None)
            raise

    def __exit__(self, *error: Any) -> None:
        self._scope.__exit__(*error)
        if self._default is not None:
            self._default.__exit__(*error)


def graph_of(values: Iterable[Any]) -> Graph:
    """The graph that `values` belong to; the default graph if they are no tensors.

    Raises:
      ValueError: they belong to different graphs.
    """
    first, graph = None, None
    for value in values:
        value = getattr(value, "_graph_element", value)
        found = getattr(value, "graph", None)
        if found is None or isinstance(value, str):
            continue
        if graph is None:
            first, graph = value, found
        elif found is not graph:
            raise ValueError(f"{value} must be from the same graph as {first}.")
    return get_default_graph() if graph is None else graph


def device(device_name_or_function: DeviceLike) -> Any:
    """Ask for a device for the ops built in the block; see `Graph.device`."""
    return get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs: Iterable[Any] | None) -> Any:
    """Make the block's ops wait for others; see `Graph.control_dependencies`."""
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """Put the block's ops on the device of `op`; see `Graph.colocate_with`."""
    return get_default_graph().colocate_with(op, ignore_existing)


def container(container_name: str) -> Any:
    """Name the resource container of the block's stateful ops."""
    return get_default_graph().container(container_name)


def add_to_collection(name: str, value: Any) -> None:
    """Add `value` to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names: Any, value: Any) -> None:
    """Add `value` to each of the named collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """A copy of a collection of the default graph, filtered by name scope."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key: str) -> list[Any]:
    """A collection of the default graph, the list itself."""
    return get_default_graph().get_collection_ref(key)


def set_random_seed(seed: int | None) -> None:
    """Set the default graph's seed, which each op's own seed is combined with."""
    get_default_graph().seed = seed


export_value(
    __name__, name_scope="name_scope", device="device",
    control_dependencies="control_dependencies", colocate_with="colocate_with",
    container="container", add_to_collection="add_to_collection",
    add_to_collections="add_to_collections", get_collection="get_collection",
    get_collection_ref="get_collection_ref",
    set_random_seed="set_random_seed random.set_random_seed",
)  # fmt: skip
