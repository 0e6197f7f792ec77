"""The scopes of a graph: names, devices, control dependencies etc.

Each thread opens its own (framework/scope.py).
Source: python/framework/ops.py, Graph.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from tfteach.framework.call_origin import is_called_by_user, user_frame
from tfteach.framework.convert import convert
from tfteach.framework.opened_scopes import OpenedScope, open_recorded_scope
from tfteach.framework.operation import Operation, Tensor
from tfteach.framework.scope import (
    open_block,
    open_colocation,
    open_device,
    open_name_scope,
)
from tfteach.framework.scope_state import (
    ControlScope,
    DeviceLike,
    Scopes,
    ScopeState,
    ThreadScopes,
)


class GraphScopes:
    """The methods of `Graph` that concern names and scopes.

    Attributes:
      opened_scopes: those of the user's code, for tfteach.explain.graphs.names.
    """

    order: Iterator[int]
    # Whether ops run at once; overridden by `EagerGraph`.
    is_eager = False

    def __init__(self) -> None:
        makers: list[Scopes] = []
        self._of_thread = ThreadScopes(makers)
        self._of_maker = makers[0]
        self._separated: ScopeState | None = None  # see switch_to_thread_local
        self._names_in_use: dict[str, Any] = {}
        self._name_numbers: dict[str, Iterator[int]] = {}  # the next suffix to try
        self.opened_scopes: dict[Any, OpenedScope] = {}

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Operation | Tensor:
        raise NotImplementedError

    # ---- names

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name` within the current scope, with a suffix if it is taken.

        Names that differ only in case count as the same, as in TF.
        """
        prefix = self._of_thread.scopes.name
        full = f"{prefix}/{name}" if prefix else name
        if mark_as_used:
            return self.unique(full)
        key, number = full.lower(), 1
        if key not in self._names_in_use:
            return full
        while f"{key}_{number}" in self._names_in_use:
            number += 1
        return f"{full}_{number}"

    def unique(self, name: str) -> str:
        """Reserve a full name, with a suffix if it is taken."""
        # Without a lock, which would cost more than all of this: `setdefault` and
        # `next` are atomic, and the thread whose object is in the dict owns the name.
        key, mine = name.lower(), object()
        in_use = self._names_in_use
        if in_use.setdefault(key, mine) is mine:
            return name
        numbers = self._name_numbers.get(key)
        if numbers is None:
            numbers = self._name_numbers.setdefault(key, itertools.count(1))
        number = next(numbers)
        while in_use.setdefault(f"{key}_{number}", mine) is not mine:
            number = next(numbers)
        return f"{name}_{number}"

    # ---- scopes

    @property
    def scopes(self) -> Scopes:
        """The current thread's open scopes in this graph."""
        scopes = self._of_thread.scopes
        if scopes.state is scopes.outer:  # empty: use those of the graph's creator
            scopes.state = scopes.outer = self._outer_state()
        return scopes

    def _outer_state(self) -> ScopeState:
        state, fixed = self._of_maker.state, self._separated
        if fixed is None:
            return state
        return state.replace(
            {
                "control": fixed.control,
                "colocation": fixed.colocation,
                "devices": fixed.devices,
                "fixed_device": fixed.fixed_device,
            }
        )

    def switch_to_thread_local(self) -> None:
        """Let other threads inherit the blocks that are now open.

        Later changes of this thread's devices, colocation and control dependencies no
        longer affect threads that have opened no block themselves.
        """
        if self._separated is None:
            self._separated = self.scopes.state

    @property
    def control_flow_context(self) -> Any:
        """The innermost loop or branch that this thread is building, or None."""
        return self.scopes.state.context

    def _get_control_flow_context(self) -> Any:
        return self.scopes.state.context

    def _set_control_flow_context(self, context: Any) -> None:
        scopes = self.scopes
        scopes.state = scopes.state.replace({"context": context})

    def name_scope(self, name: str | None) -> Any:
        """A context manager that prefixes the names of new operations.

        Args:
          name: a scope name, made unique; one that ends in "/" is entered unchanged;
            None or "" returns to the top.

        Yields:
          The prefix, such as "layer/" ("" at the top).
        """
        if is_called_by_user():
            return open_recorded_scope(self, name, user_frame())
        return open_name_scope(self, name)

    def get_name_scope(self) -> str:
        """The name of the current scope, "" at the top."""
        return self._of_thread.scopes.name

    def device(self, device_name_or_function: DeviceLike) -> Any:
        """A context manager that requests a device for new operations.

        Args:
          device_name_or_function: a name in any of TF's forms, a function from an
            `Operation` to a name, or None to ignore the outer requests.

        Raises:
          ValueError: the name is malformed.
        """
        return open_device(self, device_name_or_function)

    def control_dependencies(self, control_inputs: Iterable[Any] | None) -> Any:
        """A context manager: new operations wait for `control_inputs`.

        Args:
          control_inputs: operations, tensors or variables; None ignores the outer
            dependencies (and the loop or branch being built).
        """
        if control_inputs is None:
            return ControlScope(self, None)
        ops: dict[Operation, None] = {}
        for value in control_inputs:
            value = getattr(value, "_control_element", value)
            element = self.as_graph_element(value)
            ops[element.op if isinstance(element, Tensor) else element] = None
        return ControlScope(self, list(ops))

    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Any:
        """A context manager that colocates new operations with `op`.

        Args:
          op: an operation or tensor, or None.
          ignore_existing: ignore the outer colocations.
        """
        return open_colocation(self, op, ignore_existing)

    def colocation_op(self, value: Any) -> Operation:
        """The operation of this graph with which `colocate_with(value)` colocates.

        Values that are no graph elements, such as lists, become constants.
        """
        as_element = getattr(value, "_as_graph_element", None)
        if as_element is not None and as_element() is None:
            value = convert(value, as_ref=True)  # an eager variable is read here
        value = getattr(value, "_control_element", value)
        if not isinstance(value, Operation | Tensor) and as_element is None:
            value = convert(value)
        element = self.as_graph_element(value)
        return element.op if isinstance(element, Tensor) else element

    def container(self, container_name: str) -> Any:
        """A context manager that names the resource container of stateful ops."""
        return open_block(self, "container", lambda _: container_name)

    def gradient_override_map(self, op_type_map: dict[str, str]) -> Any:
        """A context manager that overrides the gradients of some op types.

        Args:
          op_type_map: op types -> names registered with `tf.RegisterGradient`.
        """

        def update(outer: dict[str, str]) -> dict[str, str]:
            if not isinstance(op_type_map, dict) or not all(
                isinstance(k, str) and isinstance(v, str)
                for k, v in op_type_map.items()
            ):
                raise TypeError(
                    "op_type_map must be a dictionary mapping strings to strings"
                )
            return {**outer, **op_type_map}

        return open_block(self, "gradient_overrides", update)

    def _kernel_label_map(self, op_to_kernel_label_map: dict[str, str]) -> Any:
        return open_block(
            self, "kernel_labels", lambda outer: {**outer, **op_to_kernel_label_map}
        )

    def _attr_scope(self, attr_map: dict[str, Any]) -> Any:
        return open_block(
            self,
            "attrs",
            lambda outer: {
                k: v for k, v in {**outer, **attr_map}.items() if v is not None
            },
        )
