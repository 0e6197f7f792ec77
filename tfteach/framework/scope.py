"""Scopes around ops under construction: names, devices, control dependencies...

What is open at a moment, for each thread, stands in `scope_state.py`.  The functions
without a graph among their arguments act on the default graph.
Source: python/framework/ops.py (semantics).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from tfteach.framework.defaults import get_default_graph, has_default_graph
from tfteach.framework.device import merge_names, scope_name
from tfteach.framework.export import export_value
from tfteach.framework.scope_state import DeviceLike

if TYPE_CHECKING:
    from tfteach.framework.graph import Graph
    from tfteach.framework.graph_scopes import GraphScopes

_OUTER_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_./-]*\Z")
_INNER_NAME = re.compile(r"[A-Za-z0-9_./-]*\Z")


@functools.lru_cache(maxsize=4096)
def is_valid_name(name: str, inside_scope: bool) -> bool:
    """Whether TF accepts this as a node's or scope's name."""
    pattern = _INNER_NAME if inside_scope else _OUTER_NAME
    return pattern.match(name) is not None


def name_text(name: object) -> str:
    """The text of a name given by a caller; "" for any false value.

    Raises:
      TypeError: it is neither text nor bytes.
    """
    if not name:
        return ""
    if isinstance(name, bytes):
        return name.decode()
    if not isinstance(name, str):
        raise TypeError(
            f"expected string or bytes-like object. A name is a string, got {name!r}"
        )
    return name


# ---- blocks, for the methods of `Graph`; evaluated on entry, in the thread that enters


class open_name_scope:
    """Open a name scope; entering it returns its prefix ("" or "scope/").

    A class, since most ops that are called open one: a generator takes twice as long.
    """

    __slots__ = ("_graph", "_name", "_saved", "_scopes")

    def __init__(self, graph: GraphScopes, name: object) -> None:
        self._graph, self._name = graph, name

    def __enter__(self) -> str:
        graph, name = self._graph, self._name
        scopes = self._scopes = graph._of_thread.scopes
        saved = self._saved = scopes.name
        if type(name) is not str:
            name = name_text(name)
        if not name:
            new = ""
        elif not graph.is_eager and not is_valid_name(name, saved != ""):
            raise ValueError(f"'{name}' is not a valid scope name")
        elif name[-1] == "/":
            new = name[:-1]
        else:
            new = graph.unique(f"{saved}/{name}" if saved else name)
        scopes.name = new
        return new + "/" if new else ""

    def __exit__(self, *error: object) -> None:
        self._scopes.name = self._saved


@contextmanager
def open_device(graph: GraphScopes, device: DeviceLike) -> Iterator[None]:
    """Request a device: a name, a function of the op, or None to clear."""
    if device is not None and not callable(device):
        device = scope_name(device)
    scopes = graph.scopes
    outer = scopes.state.fixed_device
    if device is None:
        fixed: str | None = ""
    elif callable(device) or outer is None:
        fixed = None
    else:
        fixed = merge_names(str(device), outer)
    devices = (*scopes.state.devices, device)
    entered = scopes.enter({"devices": devices, "fixed_device": fixed})
    try:
        yield
    finally:
        if scopes.state.devices is not devices:
            raise RuntimeError("Exiting device scope without proper scope nesting.")
        scopes.leave(entered, "devices fixed_device")


@contextmanager
def open_colocation(graph: GraphScopes, op: Any, ignore: bool) -> Iterator[None]:
    """Colocate the block's ops with `op`.

    The devices of the enclosing blocks are suspended inside the block.
    """
    if op is None and not ignore:
        raise ValueError(
            "Trying to reset colocation (op is None) but ignore_existing is not True"
        )
    if op is not None:
        op = graph.colocation_op(op)
    scopes = graph.scopes
    colocation = () if ignore else scopes.state.colocation
    if op is not None:
        colocation = (op, *colocation)
    state = scopes.state
    entry = state.entry
    if entry is None and has_default_graph():
        entry = len(state.set_aside)
    entered = scopes.enter(
        {
            "colocation": colocation,
            "devices": (),
            "fixed_device": "",
            "set_aside": (*state.set_aside, (state.devices, state.fixed_device)),
            "entry": entry,
        }
    )
    try:
        yield
    finally:
        scopes.leave(entered, "colocation devices fixed_device set_aside entry")


@contextmanager
def open_init_scope(graph: GraphScopes) -> Iterator[None]:
    """New ops have no control dependencies, and are outside branches and loops.

    In the body of a function they are built in the graph outside all functions.
    Devices suspended by an enclosing `colocate_with` apply again, as for variables in
    TF, unless others are requested inside that block.
    """
    outer: Any = getattr(graph, "outer_graph", None)
    if outer is not None:  # the body of a function: to the graph around all bodies
        name = graph.scopes.name
        while getattr(outer, "outer_graph", None) is not None:
            outer = outer.outer_graph
        prefix = f"{name}/" if name else None
        with outer.as_default(), open_init_scope(outer), open_name_scope(outer, prefix):
            yield
        return
    scopes = graph.scopes
    state = scopes.state
    changes: dict[str, Any] = {"entry": len(state.set_aside)}
    if not state.devices and state.entry is not None:
        for devices, fixed in state.set_aside[state.entry : state.entry + 1]:
            changes |= {"devices": devices, "fixed_device": fixed}
    with graph.control_dependencies(None):
        entered = scopes.enter(changes)
        try:
            yield
        finally:
            scopes.leave(entered, "entry devices fixed_device")


@contextmanager
def open_block(
    graph: GraphScopes, name: str, update: Callable[[Any], Any]
) -> Iterator[Any]:
    """Change one attribute of the state by a function; yields the new value."""
    scopes = graph.scopes
    value = update(getattr(scopes.state, name))
    entered = scopes.enter({name: value})
    try:
        yield value
    finally:
        scopes.leave(entered, name)


class name_scope:
    """Open a name scope in the graph of `values`, or the default graph.

    Args:
      name: the scope's name; `default_name` if None.
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
        if default_name is not None and not isinstance(default_name, str):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You "
                "likely meant to pass this into the `values` kwarg."
            )
        self._name = default_name if name is None else name
        self._scope: Any = None
        self._values = values if values else (None if values is None else ())

    @property
    def name(self) -> str | None:
        return self._name

    def __enter__(self) -> str:
        default = get_default_graph()
        if default.is_eager:
            self._default = None
            self._scope = self._open(default)
            return self._scope.__enter__()  # type: ignore[no-any-return]
        graph = graph_of(self._values or ())
        if self._name is None and self._values is not None:
            raise ValueError(
                "At least one of name (None) and default_name (None) must be provided."
            )
        self._default = graph.as_default() if graph is not default else None
        if self._default is not None:
            self._default.__enter__()
        try:
            self._scope = self._open(graph)
            prefix: str = self._scope.__enter__()
            return prefix
        except BaseException:
            if self._default is not None:
                self._default.__exit__(None, None, None)
            raise

    def _open(self, graph: Graph) -> AbstractContextManager[str]:
        return open_name_scope(graph, self._name)

    def __exit__(self, *error: Any) -> None:
        self._scope.__exit__(*error)
        if self._default is not None:
            self._default.__exit__(*error)


def graph_of(values: Iterable[Any]) -> Graph:
    """The graph of `values`; the default graph if they are not tensors.

    Raises:
      ValueError: they belong to different graphs.
    """
    first, graph = None, None
    default = get_default_graph()
    if default.building_function or default.is_eager:
        return default  # which captures tensors of outer graphs, or refuses them
    for value in values:
        value = getattr(value, "_graph_element", value)
        found = getattr(value, "graph", None)
        if found is None or isinstance(value, str):
            continue
        if graph is None:
            first, graph = value, found
        elif found is not graph:
            raise ValueError(f"{value} must be from the same graph as {first}.")
    return default if graph is None else graph


def device(device_name_or_function: DeviceLike) -> Any:
    """Request a device for the ops built in the block; see `Graph.device`."""
    return get_default_graph().device(device_name_or_function)


def control_dependencies(control_inputs: Iterable[Any] | None) -> Any:
    """Make the block's ops wait for others; see `Graph.control_dependencies`."""
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """Colocate the block's ops with `op`; see `Graph.colocate_with`."""
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
    """Set the default graph's seed, which is combined with each op's seed."""
    get_default_graph().seed = seed


export_value(
    __name__, device="device",
    control_dependencies="control_dependencies", colocate_with="colocate_with",
    container="container", add_to_collection="add_to_collection",
    add_to_collections="add_to_collections", get_collection="get_collection",
    get_collection_ref="get_collection_ref",
    set_random_seed="set_random_seed random.set_random_seed "
    "compat.v2.random.set_seed",
)  # fmt: skip
