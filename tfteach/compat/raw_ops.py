"""`tf.raw_ops`: each op as a function of its inputs and attributes, by their names.

Source: python/ops/gen_*.py (API).
"""

from __future__ import annotations

import collections
import functools
from collections.abc import Callable, Sequence
from typing import Any

from tfteach.framework.export import export_value
from tfteach.framework.graph import get_default_graph
from tfteach.framework.input_conversion import list_dtypes
from tfteach.framework.op import Op, find_op
from tfteach.framework.signature import Arg, split_args

# Functions name some inputs and attributes unlike the op's definition.
_AXIS = {"reduction_indices": "axis"}
RENAMED_INPUTS = {
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
    **dict.fromkeys("All Any EuclideanNorm Max Mean Min Prod Sum".split(), _AXIS),
}


def build(cls: type[Op], **kwargs: Any) -> Any:
    """Add a node to the default graph.

    Args:
      cls: of the op.
      **kwargs: its inputs, attributes and `name`, as functions name them.

    Raises:
      TypeError: an input or attribute is missing or unknown.
    """
    kind = cls.op_type
    name = kwargs.pop("name", None)
    renamed = RENAMED_INPUTS.get(kind, {})
    inputs = [arg.name for arg in cls.inputs]
    known = {renamed.get(key, key) for key in (*inputs, *cls.fields)}
    for unknown in kwargs.keys() - known:
        raise TypeError(f"{kind}() got an unexpected keyword argument '{unknown}'")
    for own, other in renamed.items():
        if other in kwargs:
            kwargs[own] = kwargs.pop(other)
    for arg in cls.inputs:
        _infer_attributes(cls, arg, kwargs)
    needed = [*inputs, *(f for f in cls.fields if f not in cls.defaults)]
    missing = [repr(renamed.get(key, key)) for key in needed if key not in kwargs]
    if missing:
        more = "s" if len(missing) > 1 else ""
        raise TypeError(
            f"{kind}() missing {len(missing)} required positional argument{more}: "
            f"{' and '.join(missing)}"
        )
    for key in [k for k, kind in cls.fields.items() if "Function" in kind]:
        _add_to_library(kwargs[key])
    values = [kwargs.pop(key) for key in inputs]
    op = cls(**kwargs)
    made: Any = op(*values, name=name)
    outputs: tuple[Arg, ...] = cls.outputs
    if len(outputs) > 1:
        if made and any(arg.is_sequence for arg in outputs):
            made = split_args(outputs, made, lambda key: _attribute(op, values, key))
        return collections.namedtuple(kind, [arg.name for arg in outputs])(*made)
    return made


def _attribute(op: Op, values: Sequence[Any], name: str) -> Any:
    """A length or a list of types: a field, or what the lists of inputs tell."""
    if name in op.fields:
        return getattr(op, name)
    pairs = zip(type(op).inputs, values, strict=True)
    return next(len(v) for arg, v in pairs if name in (arg.number_attr, arg.type_attr))


def _add_to_library(value: Any) -> None:
    """Add the functions of an attribute to the library of the default graph."""
    for function in value if isinstance(value, list | tuple) else [value]:
        add = getattr(function, "add_to_graph", None)
        if add is not None:
            add(get_default_graph())


def _infer_attributes(cls: type[Op], arg: Arg, given: dict[str, Any]) -> None:
    """Add what a list of inputs tells: the fields for its length and its types."""
    value = given.get(arg.name)
    if not arg.is_sequence or not isinstance(value, list | tuple):
        return
    if arg.number_attr in cls.fields:
        given.setdefault(arg.number_attr, len(value))
    if arg.is_list and arg.type_attr in cls.fields and arg.type_attr not in given:
        given[arg.type_attr] = list_dtypes(value)


@functools.cache
def _function(kind: str) -> Callable[..., Any] | None:
    """The function of an op type; None if it is unknown."""
    cls = find_op(kind)
    if cls is None:
        return None

    def raw_op(*args: Any, **kwargs: Any) -> Any:
        if args:
            keys = [*(arg.name for arg in cls.inputs), *cls.fields, "name"]
            keys = [RENAMED_INPUTS.get(kind, {}).get(key, key) for key in keys]
            raise TypeError(
                f"{kind} only takes keyword args (possible keys: {keys}). Please pass "
                "these args as kwargs instead."
            )
        return build(cls, **kwargs)

    raw_op.__name__ = raw_op.__qualname__ = kind
    raw_op.__doc__ = cls.__doc__
    return raw_op


def of_raw_ops(name: str) -> Callable[..., Any]:
    """The function of an op type, as `tf.raw_ops.MatMul(a=x, b=y)` calls it."""
    found = None if name.startswith("_") else _function(name)
    if found is None:
        raise AttributeError(f"module 'tfteach.raw_ops' has no attribute {name!r}")
    return found


export_value(__name__, of_raw_ops="raw_ops.__getattr__")
