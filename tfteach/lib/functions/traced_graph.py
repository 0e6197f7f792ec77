"""`TracedGraph`: the body of a traced function.

Source: python/framework/func_graph.py (names and messages).
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tfteach.framework.functions.func_graph import FuncGraph
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.functions.argument_signature import USER_SPECIFIED_NAME

_GONE = (
    "Called a function referencing variables which have been deleted. This likely "
    "means that function-local variables were created and not referenced elsewhere in "
    "the program. This is generally a mistake; consider storing variables in an object "
    "attribute on first call."
)


class TracedGraph(FuncGraph):
    """The body of a traced function.

    Args:
      name: the function's name.
      shares_collections: whether it has the collections of the graph around it.

    Attributes:
      structured_input_signature: the arguments, with specifications for Tensors.
      structured_outputs: the results as the Python function returned them.
      returned: the results' Tensors, which wait for the control outputs.
    """

    functional_flow = True
    orders_effects = True
    names_captures = False
    captures_values_itself = True
    structured_input_signature: Any = None
    structured_outputs: Any = None

    def __init__(self, name: str, shares_collections: bool = True) -> None:
        super().__init__(name)
        if shares_collections:
            self.share_collections(self.outer_graph)
        self._read: dict[int, weakref.ref[Any]] = {}
        self.returned: list[Tensor] = []

    # ---- as a tape, it is notified of the variables that its ops read

    def record(self, op: Operation) -> None:
        """Nothing: only variables are of interest."""

    def record_more_outputs(self, op: Operation, outputs: Sequence[Tensor]) -> None:
        """Nothing: only variables are of interest."""

    def record_function(self, outputs: Any, inputs: Any, backward: Any) -> None:
        """Nothing: only variables are of interest."""

    def record_variable(self, variable: Any) -> None:
        """Remember a variable that the function reads."""
        self._read.setdefault(id(variable), weakref.ref(variable))

    watch_variable = record_variable

    def forget_results_of_assignments(self) -> None:
        """Forget what was read and is gone at the end of tracing.

        The result of an assignment is read like a variable.
        """
        alive = [item for item in self._read.items() if item[1]() is not None]
        self._read = dict(alive)

    def forget_variables(self, variables: Iterable[Any]) -> None:
        """Leave out variables that are arguments."""
        for variable in variables:
            self._read.pop(id(variable), None)

    @property
    def variables(self) -> Iterator[Any]:
        """The variables that the function reads, in the order of the first reading.

        Raises:
          AssertionError: one of them exists no more.
        """
        for reference in self._read.values():
            variable = reference()
            if variable is None:
                raise AssertionError(_GONE)
            yield variable

    @variables.setter
    def variables(self, variables: Iterable[Any]) -> None:
        self._read = {id(v): weakref.ref(v) for v in variables}

    # ---- arguments

    def add_argument(self, dtype: Any, shape: Any, name: str | None) -> Tensor:
        """A placeholder for an argument, which remembers the name it was to have."""
        try:
            made: Tensor = self.add_input(dtype, shape, name)
        except ValueError:  # not every parameter's name is a node's
            made = self.add_input(dtype, shape)
        _remember_name(made, name)
        return made

    def add_variable_argument(self, variable: Any, name: str | None) -> None:
        """Capture the handle of a variable that is an argument; see `pop_capture`."""
        _remember_name(self.capture(variable.handle, name), name)

    def pop_capture(self, tensor: Tensor) -> Tensor | None:
        """Capture an outer tensor no longer; returns its placeholder, an argument."""
        found = self.captures.pop(tensor, None)
        if found is not None:
            self.inputs = [t for t in self.inputs if t is not found]
        return found

    def _refuse_foreign(self, tensor: Tensor) -> None:
        """Nothing, as in TensorFlow: a call of the function cannot pass the tensor."""


def _remember_name(placeholder: Tensor, name: str | None) -> None:
    if name is not None:
        op = placeholder.op
        op.extra_attrs = {**(op.extra_attrs or {}), USER_SPECIFIED_NAME: name.encode()}
