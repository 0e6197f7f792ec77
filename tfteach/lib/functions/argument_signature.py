"""The signature of a trace: its arguments, with specs in place of Tensors.

Source: python/framework/func_graph.py, convert_structure_to_signature.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tfteach.framework import nest
from tfteach.framework.composite import spec_of_composite
from tfteach.framework.dtypes import DType
from tfteach.framework.operation import Tensor
from tfteach.framework.shallow_nest import flatten_with_tuple_paths_up_to
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.framework.type_spec import TypeSpec

USER_SPECIFIED_NAME = "_user_specified_name"


class UnknownArgument:
    """Stands for an argument that a signature does not describe, such as a string."""


def signature_of(structure: Any, arg_names: Sequence[str] | None = None) -> Any:
    """Arguments with TensorSpecs in place of Tensors.

    Args:
      structure: the arguments, with the placeholders of a trace.
      arg_names: the names of the positional ones.
    """
    pairs = flatten_with_tuple_paths_up_to(structure, structure)
    if arg_names is not None:
        pairs = [((arg_names[path[0]], *path[1:]), leaf) for path, leaf in pairs]
    specs = [_spec(leaf, path) for path, leaf in pairs]
    return nest.pack_sequence_as(structure, specs)


def _spec(leaf: Any, path: tuple[Any, ...]) -> Any:
    if isinstance(leaf, Tensor):
        name = user_specified_name(leaf)
        if not name or not path or name == path[0]:
            name = "/".join(map(str, path))
        return TensorSpec(leaf.shape, leaf.dtype, name)
    spec = spec_of_composite(leaf)
    if spec is not None:
        return spec
    if leaf is None or isinstance(leaf, int | float | DType | TypeSpec):
        return leaf
    return UnknownArgument()


def user_specified_name(placeholder: Tensor) -> str | None:
    """The name that a caller gave to an argument; the node's may differ."""
    found = (placeholder.op.extra_attrs or {}).get(USER_SPECIFIED_NAME)
    return None if found is None else found.decode()
