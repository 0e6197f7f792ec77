"""The results of a call, nested as the Python function nests them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.operation import Tensor
from tfteach.framework.tensor_spec import TensorSpec


class Results:
    """How the results of a function are nested.

    Args:
      structure: its results: Tensors, None, values that consist of Tensors, and
        containers of them; or their specs. For a TensorArray a call returns its
        flow, as in TensorFlow.

    Attributes:
      nested: from the Tensors that a call returns to its results.
    """

    def __init__(self, structure: Any) -> None:
        self._structure = structure
        self._flat = nest.flatten(structure, expand_composites=True)
        self.nested: Callable[[Sequence[Tensor]], Any] = self._packed
        if type(structure) in (list, tuple):
            leaves = [isinstance(item, Tensor | TensorSpec) for item in structure]
            if all(leaves):
                self.nested = type(structure)
        elif structure is None:
            self.nested = _none
        elif isinstance(structure, Tensor | TensorSpec):
            self.nested = _first

    def _packed(self, tensors: Sequence[Tensor]) -> Any:
        left = iter(tensors)
        found: list[Any] = []
        for leaf in self._flat:
            found.append(None if leaf is None else next(left))
        return nest.pack_sequence_as(self._structure, found, expand_composites=True)


def _none(tensors: Sequence[Tensor]) -> None:
    return None


def _first(tensors: Sequence[Tensor]) -> Tensor:
    return tensors[0]
