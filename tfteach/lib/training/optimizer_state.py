"""The variables that an optimizer makes: slots beside the model's, and its own.

Slots are found by their variable: by its number if it is eager, else by its graph and
name.  The optimizer's own variables are found by name and graph.
Source: python/training/optimizer.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.replicas import colocated_variables, first_copy
from tfteach.framework.scope import open_init_scope
from tfteach.framework.trackable import Trackable, TrackableReference, match_awaited
from tfteach.framework.type_aliases import DTypeLike
from tfteach.lib.training import slot_creator
from tfteach.variables.base import Variable
from tfteach.variables.resource import BaseResourceVariable


def is_resource(variable: Any) -> bool:
    """Whether the variable is a resource variable."""
    return isinstance(variable, BaseResourceVariable)


def graph_of_state() -> Graph | None:
    """The graph that holds variables made here, outside all functions.

    None in an eager program, where variables belong to no graph.
    """
    graph = get_default_graph()
    with open_init_scope(graph):
        graph = get_default_graph()
    return None if graph.is_eager else graph


def _graph_of(variable: Any) -> Graph | None:
    return None if _number_of(variable) is not None else variable.op.graph


def _number_of(variable: Any) -> str | None:
    """What identifies an eager variable, whose name need not be unique."""
    return getattr(variable, "_unique_id", None)


def _key(variable: Any) -> str | tuple[Graph, str]:
    variable = first_copy(variable)
    number = _number_of(variable)
    return (variable.op.graph, variable.op.name) if number is None else number


class OptimizerState(Trackable):
    """Base of `Optimizer`: what it has made."""

    _name: str

    def __init__(self) -> None:
        self._slots: dict[str, dict[Any, Any]] = {}
        self._non_slots: dict[tuple[str, Graph | None], Any] = {}

    def get_slot(self, var: Any, name: str) -> Any:
        """The slot of that name that belongs to `var`, or None.

        Args:
          var: a variable of the model.
          name: one of `get_slot_names()`.
        """
        slots = self._slots.get(name)
        return slots.get(_key(var)) if slots else None

    def get_slot_names(self) -> list[str]:
        """The names of the slots, such as ["m", "v"] for Adam."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """All variables that this optimizer created in the default graph, by name."""
        graph = graph_of_state()
        made = [*self._non_slots.values()]
        for slots in self._slots.values():
            made += slots.values()
        return sorted(
            (v for v in made if _graph_of(v) is graph), key=lambda v: str(v.name)
        )

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """What checkpoints have beside the slots: variables of the default graph."""
        graph = graph_of_state()
        own = sorted(name for name, its_graph in self._non_slots if its_graph is graph)
        return super()._checkpoint_dependencies + [
            TrackableReference(name, self._non_slots[name, graph]) for name in own
        ]

    def _lookup_dependency(self, name: str) -> Any:
        found = super()._lookup_dependency(name)
        return self._get_non_slot_variable(name) if found is None else found

    # ---- slots

    def _slot_dict(self, slot_name: str) -> dict[Any, Any]:
        return self._slots.setdefault(slot_name, {})

    def _slot_once(self, var: Any, slot_name: str, make: Callable[[], Any]) -> Any:
        slots = self._slot_dict(slot_name)
        key = _key(var)
        if key not in slots:
            slots[key] = make()
            match_awaited(self)
        return slots[key]

    def _get_or_make_slot(
        self, var: Any, val: Any, slot_name: str, op_name: str
    ) -> Any:
        return self._slot_once(
            var, slot_name, lambda: slot_creator.create_slot(var, val, op_name)
        )

    def _get_or_make_slot_with_initializer(
        self,
        var: Any,
        initializer: Any,
        shape: Any,
        dtype: DTypeLike,
        slot_name: str,
        op_name: str,
    ) -> Any:
        return self._slot_once(
            var, slot_name,
            lambda: slot_creator.create_slot_with_initializer(
                var, initializer, shape, dtype, op_name
            ),
        )  # fmt: skip

    def _zeros_slot(self, var: Any, slot_name: str, op_name: str) -> Any:
        return self._slot_once(
            var, slot_name, lambda: slot_creator.create_zeros_slot(var, op_name)
        )

    # ---- the optimizer's own variables

    def _create_non_slot_variable(
        self, initial_value: Any, name: str, colocate_with: Any
    ) -> Any:
        """A variable of the optimizer itself, created once per graph."""
        key = name, _graph_of(colocate_with)
        found = self._non_slots.get(key)
        if found is None:
            restored = self._preload_simple_restoration(name)
            if restored is not None:
                initial_value = restored
            with colocated_variables(colocate_with):
                make: Any = Variable  # its metaclass accepts the arguments
                found = make(
                    initial_value,
                    name=name,
                    trainable=False,
                    use_resource=is_resource(colocate_with),
                )
            self._non_slots[key] = found
            match_awaited(self)
        return found

    def _get_non_slot_variable(self, name: str, graph: Graph | None = None) -> Any:
        graph = graph_of_state() if graph is None else graph
        return self._non_slots.get((name, graph))

    def _non_slot_variables(self) -> list[Any]:
        return list(self._non_slots.values())
