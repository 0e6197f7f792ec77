"""The scopes that are open in each thread: names, devices, control dependencies etc.

Each thread has its own `Scopes` in each graph, so that threads can build in one graph
concurrently.  A thread starts without a name scope; until it opens one of the other
scopes itself, it inherits those of the thread that created the graph: a helper thread
started inside `with tf.device(...)` builds on that device, as in TensorFlow.  (There
all threads share one stack per kind of scope and disturb each other.)

Source: python/framework/ops.py (semantics).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tfteach.framework.device import DeviceSpecV2, merge_names, written_name

if TYPE_CHECKING:
    from tfteach.framework.graph_scopes import GraphScopes
    from tfteach.framework.operation import Operation

DeviceLike = str | DeviceSpecV2 | Callable[["Operation"], Any] | None


class ScopeState:
    """The open scopes at one moment, except names; immutable.

    Attributes:
      control: the `control_dependencies` blocks, outermost first.
      colocation: the ops of the `colocate_with` blocks, innermost first.
      devices: the arguments of the `device` blocks, outermost first.
      fixed_device: the devices merged into one name; None if one is a function, which
        must be called for each op.
      attrs, container, gradient_overrides, kernel_labels: the combination of the blocks
        that set them.
      context: the innermost loop or branch that is being built.
      set_aside: the devices suspended by the `colocate_with` blocks, outermost first,
        as (devices, fixed_device).
      entry: the index in `set_aside` used by an `init_scope`: the devices at the
        innermost block that sets a default graph; None outside any.
    """

    __slots__ = (
        "attrs",
        "colocation",
        "container",
        "context",
        "control",
        "devices",
        "entry",
        "fixed_device",
        "gradient_overrides",
        "kernel_labels",
        "set_aside",
    )

    def __init__(self) -> None:
        self.control: tuple[ControlScope, ...] = ()
        self.colocation: tuple[Operation, ...] = ()
        self.devices: tuple[DeviceLike, ...] = ()
        self.fixed_device: str | None = ""
        self.attrs: dict[str, Any] = {}
        self.container = ""
        self.gradient_overrides: dict[str, str] = {}
        self.kernel_labels: dict[str, str] = {}
        self.context: Any = None
        self.set_aside: tuple[tuple[tuple[DeviceLike, ...], str | None], ...] = ()
        self.entry: int | None = None

    def replace(self, changes: dict[str, Any]) -> ScopeState:
        """A copy with some attributes replaced."""
        copy = ScopeState.__new__(ScopeState)
        copy.control, copy.colocation = self.control, self.colocation
        copy.devices, copy.fixed_device = self.devices, self.fixed_device
        copy.attrs, copy.container = self.attrs, self.container
        copy.gradient_overrides = self.gradient_overrides
        copy.kernel_labels, copy.context = self.kernel_labels, self.context
        copy.set_aside, copy.entry = self.set_aside, self.entry
        for name, value in changes.items():
            setattr(copy, name, value)
        return copy

    def device_of(self, op: Operation) -> str:
        """The device requested for `op` by the open blocks (functions are called)."""
        if self.fixed_device is not None:
            return self.fixed_device
        op.device = ""
        for device in reversed(self.devices):
            if device is None:
                break
            if callable(device):
                op.device = written_name(device(op))
            elif device:
                op.device = merge_names(op.device, str(device))
        return op.device

    def control_inputs_for(self, input_ops: set[Operation]) -> list[Operation]:
        """Control inputs for a new op with these inputs, outer blocks first.

        A block adds nothing if an input was built inside it (that input already waits),
        nor an op that is itself an input.
        """
        found: dict[Operation, None] = {}
        for scope in self.control:
            if not any(scope.holds(op) for op in input_ops):
                found.update((c, None) for c in scope.control_inputs)
        return [op for op in found if op not in input_ops]


class Scopes:
    """One thread's open scopes in one graph.

    Attributes:
      name: the name scope, "" at the top.
      users: the innermost name scope that the user's code opened.
      state: all other blocks.
      outer: the state inherited by this thread until it opens a block itself; None in
        the thread that created the graph.
    """

    __slots__ = ("name", "outer", "state", "users")

    def __init__(self, outer: ScopeState | None = None) -> None:
        self.name = self.users = ""
        self.outer = outer
        self.state = ScopeState() if outer is None else outer

    def enter(self, changes: dict[str, Any]) -> tuple[ScopeState, ScopeState]:
        """Open a block that changes these attributes of the state.

        Returns:
          The states before and inside, for `leave`.
        """
        before = self.state
        self.state = inside = before.replace(changes)
        return before, inside

    def leave(self, entered: tuple[ScopeState, ScopeState], names: str) -> None:
        """Close a scope: restore the space-separated `names` that it changed."""
        before, inside = entered
        if self.state is inside:
            self.state = before
        else:  # a block of another kind was opened inside and is still open
            self.state = self.state.replace(
                {name: getattr(before, name) for name in names.split()}
            )


class ThreadScopes(threading.local):
    """The `Scopes` of each thread in one graph, at `.scopes`.

    It does not refer to the graph: a cycle through thread-local memory would keep both
    alive as long as the thread.
    """

    def __init__(self, of_maker: list[Scopes]) -> None:
        if of_maker:
            self.scopes = Scopes(of_maker[0].state)
        else:  # the thread that creates the graph
            self.scopes = Scopes()
            of_maker.append(self.scopes)


class ControlScope:
    """One `control_dependencies` block: its ops, and those built inside it."""

    def __init__(
        self, graph: GraphScopes, control_inputs: list[Operation] | None
    ) -> None:
        self._graph = graph
        self._clears = control_inputs is None
        self.control_inputs = control_inputs or []
        self._inside: set[Operation] = set()
        self._entered: list[tuple[Scopes, tuple[ScopeState, ScopeState]]] = []

    def __enter__(self) -> None:
        scopes = self._graph.scopes
        changes: dict[str, Any] = (
            {"control": (self,), "context": None}
            if self._clears
            else {"control": (*scopes.state.control, self)}
        )
        self._entered.append((scopes, scopes.enter(changes)))

    def __exit__(self, *_: object) -> None:
        scopes, entered = self._entered[-1]
        if scopes.state.control[-1:] != (self,):
            raise AssertionError(
                "Exiting control_dependencies without proper scope nesting."
            )
        self._entered.pop()
        scopes.leave(entered, "control context" if self._clears else "control")

    def add(self, op: Operation) -> None:
        self._inside.add(op)

    def holds(self, op: Operation) -> bool:
        return op in self._inside
