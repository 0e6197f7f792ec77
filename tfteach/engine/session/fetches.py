"""Fetches: from any nested structure to a flat list, and the results back into it.

Source: python/client/session.py (`_FetchMapper`: structures, messages).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from tfteach.framework import nest
from tfteach.framework.errors import InaccessibleTensorError
from tfteach.framework.graph import Graph
from tfteach.framework.op import Op
from tfteach.framework.operation import Operation, Tensor

Element = Operation | Tensor
# Maps the values of all fetched tensors to the value of one part of the structure.
Rebuild = Callable[[Sequence[Any]], Any]


class Expansion(NamedTuple):
    """Fetching and feeding of a composite type."""

    fetch: Callable[[Any], tuple[list[Any], Callable[[list[Any]], Any]]]
    feed: Callable[[Any, Any], list[tuple[Any, Any]]] | None
    feed_keys: Callable[[Any], list[Any]] | None


_expansions: list[tuple[type, Expansion]] = []


def register_session_run_conversion_functions(
    tensor_type: type,
    fetch_function: Callable[[Any], Any],
    feed_function: Callable[[Any, Any], Any] | None = None,
    feed_function_for_partial_run: Callable[[Any], Any] | None = None,
) -> None:
    """Register a composite type that sessions can fetch and feed.

    Args:
      tensor_type: the type.
      fetch_function: value -> (list of tensors, function from their values to a value).
      feed_function: (key, value) -> list of (tensor, value).
      feed_function_for_partial_run: key -> list of tensors.

    Raises:
      ValueError: the type is registered already.
    """
    for known, _ in _expansions:
        if issubclass(tensor_type, known):
            raise ValueError(f"{tensor_type} has already been registered so ignore it.")
    _expansions.insert(
        0,
        (
            tensor_type,
            Expansion(fetch_function, feed_function, feed_function_for_partial_run),
        ),
    )


def expansion_of(value: Any) -> Expansion | None:
    """The `Composite` of `value`'s type, or None."""
    for kind, expansion in _expansions:
        if isinstance(value, kind):
            return expansion
    return None


def _converts(tensor: Tensor) -> bool:
    """Whether a session returns something else than the tensor's plain value."""
    return type(tensor.op.spec).fetched is not Op.fetched or _is_quantized(tensor)


def _is_quantized(tensor: Tensor) -> bool:
    """Whether the tensor has a quantized type, and is computed.

    TensorFlow returns plain integers for it, but a fed value with its type.
    """
    return tensor.dtype.is_quantized and not tensor.op.spec.must_be_fed


def _integers(tensor: Tensor, value: Any) -> Any:
    """The integers of a quantized array, in the same memory."""
    return value.view(value.dtype[0])


def _none(values: Sequence[Any]) -> None:
    return None


def structure_key(part: Any) -> Any:
    """What determines how fetches are resolved, and how their results are nested.

    Returns:
      Nested tuples: containers are led by their type, as a namedtuple equals a tuple,
      and mappings by their keys. Hashable if all other parts are.

    Example:
      >>> structure_key({"loss": loss, "both": [a, b]})
      (dict, ("loss", "both"), loss, (list, a, b))
    """
    kind = type(part)
    if kind is Tensor or kind is Operation:
        return part
    if kind is dict:
        return (dict, tuple(part), *[structure_key(item) for item in part.values()])
    if kind is list or kind is tuple or isinstance(part, tuple):
        return (kind, *[structure_key(child) for child in part])
    if isinstance(part, Mapping):
        return (kind, tuple(part), *[structure_key(part[key]) for key in part])
    if isinstance(part, list) or nest.is_attrs(part):
        return (kind, *[structure_key(child) for child in nest.children(part)])
    return part


class Fetches:
    """A structure of fetches, resolved against a graph.

    Attributes:
      elements: the unique tensors and operations in it.
      tensors: the tensors among the elements: a run returns a value for each.
      result: the values of `tensors` -> the structure with values in place of tensors
        and None in place of operations.
    """

    def __init__(self, graph: Graph, structure: Any) -> None:
        self._graph = graph
        self._found: dict[Element, None] = {}
        self._indices: dict[Tensor, int] = {}
        self.result = self._visit(structure)
        self.elements = list(self._found)
        self.tensors = list(self._indices)
        for element in self.elements:
            if not graph.is_fetchable(element):
                op = element.op if isinstance(element, Tensor) else element
                raise InaccessibleTensorError(
                    f"Operation {op.name!r} has been marked as not fetchable. "
                    "Typically this happens when it is defined in another function or "
                    "code block. Use return values,explicit Python locals or "
                    "TensorFlow collections to access it."  # TensorFlow's spelling
                )
        is_flat = type(structure) is list and structure == self.tensors
        if is_flat and not any(_converts(tensor) for tensor in self.tensors):
            self.result = list

    def _visit(self, part: Any) -> Rebuild:
        if type(part) is Tensor:  # most are; the checks below cost more than the lookup
            return self._element(part)
        if part is None:
            raise TypeError(f"Fetch argument {part!r} has invalid type {type(part)!r}")
        if isinstance(part, list | tuple) or nest.is_attrs(part):
            parts = [self._visit(child) for child in nest.children(part)]
            build = nest.builder_of(part)
            return lambda values: build([p(values) for p in parts])
        if isinstance(part, Mapping):
            pairs = [(key, self._visit(item)) for key, item in part.items()]
            if type(part) is dict:
                return lambda values: {key: p(values) for key, p in pairs}
            made: Any = type(part)

            def rebuilt(values: Sequence[Any]) -> Any:
                mapping = made()  # as in TF: a defaultdict has no factory then
                for key, rebuild in pairs:
                    mapping[key] = rebuild(values)
                return mapping

            return rebuilt
        expansion = expansion_of(part)
        if expansion is not None:
            items, contract = expansion.fetch(part)
            inner = [self._element(item) for item in items]
            return lambda values: contract([p(values) for p in inner])
        return self._element(part)

    def _element(self, part: Any) -> Rebuild:
        element = self._resolve(part)
        self._found[element] = None
        if isinstance(element, Operation):
            return _none
        value = itemgetter(self._indices.setdefault(element, len(self._indices)))
        if not _converts(element):
            return value
        is_quantized = _is_quantized(element)
        convert = _integers if is_quantized else element.op.spec.fetched
        return lambda values: convert(element, value(values))

    def _resolve(self, part: Any) -> Element:
        if isinstance(part, Tensor | Operation) and part.graph is self._graph:
            return part
        try:
            return self._graph.as_graph_element(part)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {part!r} has invalid type {type(part)!r}, must be a "
                f"string or Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            raise ValueError(
                f"Fetch argument {part!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
