"""The functions of a SavedModel's objects: how they can be called once it is loaded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tfteach.explain.graphs.output_types import shape_words
from tfteach.framework import nest
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.lib.saved_model.signature_functions import SIGNATURES
from tfteach.lib.saved_model.structure_coder import StructureCoder

__all__ = ["ModelFunction"]


class ModelFunction(NamedTuple):
    """A function of an object in a SavedModel; `tf.saved_model.load_v2` has it, too.

    Attributes:
      name: the attributes that lead to it, such as "encoder.embed".
      traces: for each trace that was saved what it accepts, such as
        "x: float32 ?×2, training=False".
    """

    name: str
    traces: list[str]

    def __str__(self) -> str:
        return f"{self.name}({') or ('.join(self.traces)})"


def functions_of(meta_graph: Any) -> list[ModelFunction]:
    """The functions of the objects, by name; none of a graph without objects.

    Args:
      meta_graph: a MetaGraphDef.
    """
    saved = meta_graph.object_graph_def
    return [
        ModelFunction(name, list(_traces(saved, saved.nodes[number])))
        for name, number in sorted(_functions(saved.nodes))
    ]


def _functions(nodes: Sequence[Any]) -> Iterator[tuple[str, int]]:
    """(name, number) of each function, but signatures and those of tables."""
    pending, seen = [("", 0)] if nodes else [], {0}
    for path, number in pending:  # which grows
        for child in nodes[number].children:
            name = f"{path}{child.local_name}"
            kind = nodes[child.node_id].WhichOneof("kind")
            if kind in ("function", "bare_concrete_function"):
                yield name, child.node_id
            elif kind == "user_object" and child.node_id not in seen:
                seen.add(child.node_id)
                if name != SIGNATURES:
                    pending.append((f"{name}.", child.node_id))


def _traces(saved: Any, node: Any) -> Iterator[str]:
    if node.WhichOneof("kind") == "bare_concrete_function":
        names = [node.bare_concrete_function.concrete_function_name]
        parameters = list(node.bare_concrete_function.argument_keywords)
    else:
        names = list(node.function.concrete_functions)
        spec = node.function.function_spec
        parameters = StructureCoder().decode_proto(spec.fullargspec).args
        parameters = parameters[1:] if spec.is_method else parameters
    for name in names:
        signature = saved.concrete_functions[name].canonicalized_input_signature
        try:
            args, kwargs = StructureCoder().decode_proto(signature)
        except ValueError:  # a type of a newer TensorFlow
            yield "..."
            continue
        more = [""] * (len(args) - len(parameters))
        pairs = [
            *zip([*parameters, *more], args, strict=False),
            *sorted(kwargs.items()),
        ]
        yield ", ".join(_argument(key, value) for key, value in pairs)


def _argument(name: str, value: Any) -> str:
    if isinstance(value, TensorSpec):
        name = name or (value.name or "")
        return f"{name}: {_words(value)}" if name else _words(value)
    if nest.is_nested(value):
        value = nest.map_structure(_Words, value)
    return f"{name}={value}" if name else str(value)


def _words(spec: TensorSpec) -> str:
    dims = spec.shape.dims_or_none
    shape = None if dims is None else [-1 if d is None else int(d) for d in dims]
    return f"{spec.dtype.name} {shape_words(shape)}"


class _Words:
    """A leaf of a structure, shown in words if it is a TensorSpec."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        is_spec = isinstance(self._value, TensorSpec)
        return _words(self._value) if is_spec else repr(self._value)
