"""The arguments of calls of traced functions, and how those of two calls differ."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from tfteach.framework import nest
from tfteach.framework.composite import spec_of_composite
from tfteach.framework.eager_tensor import EagerTensor
from tfteach.framework.operation import Tensor
from tfteach.framework.shape import TensorShape
from tfteach.framework.tensor_spec import TensorSpec
from tfteach.lib.functions.argument_signature import UnknownArgument
from tfteach.lib.functions.trace_key import PLAIN, encoded

__all__ = ["Argument", "Difference"]

Kind = Literal["tensor", "python", "object"]
DifferenceKind = Literal[
    "python", "shape", "rank", "dtype", "object", "type", "structure", "graph"
]

LONGEST = 40  # characters of a value


class Argument(NamedTuple):
    """A Tensor or value that a call passed.

    Attributes:
      name: the parameter, with the place in its structure, such as "batch['image']".
      kind: "tensor"; "python" for a number, a string or None; "object" for another
        Python object.
      text: what a trace depends on: type and shape of a Tensor, such as "float32 2x3";
        a Python value itself; the class of an object.
      dtype: the name of a Tensor's type; "" for others.
      shape: of a Tensor: a tuple, or None if the rank is unknown.
      key: calls with equal keys share a trace.
    """

    name: str
    kind: Kind
    text: str
    dtype: str
    shape: tuple[int | None, ...] | None
    key: Hashable


class Difference(NamedTuple):
    """An argument that had no trace.

    Attributes:
      argument: its name.
      kind: what is different: "python", a Python value; "shape", "rank" or "dtype" of a
        Tensor; "object", another object; "type", a Tensor in place of a Python value,
        or the other way round; "structure", an argument that is there or not; "graph",
        a Tensor of a graph in place of one with a value, or the other way round.
      before: what it was in the trace that is most like this call.
      now: what it is.
    """

    argument: str
    kind: DifferenceKind
    before: str
    now: str

    def __str__(self) -> str:
        if self.kind == "structure":
            return f"{self.argument}: {self.now}, before {self.before}"
        if self.kind == "object" and self.before == self.now:
            return f"{self.argument} is another {self.now}"
        verb = "has" if self.kind in ("shape", "rank") else "is"
        noun = "shape " if self.kind in ("shape", "rank") else ""
        return f"{self.argument} {verb} {noun}{self.now}, before {self.before}"


def arguments_of(
    names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Argument, ...]:
    """The arguments of a call, each part of a structure for itself.

    Args:
      names: the parameters of the positional ones.
      args, kwargs: the arguments, bound to the parameters.
    """
    pairs = [*zip(names, args, strict=False), *sorted(kwargs.items())]
    return tuple(
        _described(name, leaf)
        for parameter, value in pairs
        for name, leaf in _leaves(parameter, value)
    )


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from _leaves(f"{name}[{key!r}]", value[key])
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        for field, item in zip(value._fields, value, strict=True):
            yield from _leaves(f"{name}.{field}", item)
    elif isinstance(value, list | tuple) and spec_of_composite(value) is None:
        for i, item in enumerate(value):
            yield from _leaves(f"{name}[{i}]", item)
    else:
        yield name, value


def _described(name: str, value: Any) -> Argument:
    if isinstance(value, TensorSpec):  # whose name makes no difference here
        value = TensorSpec(value.shape, value.dtype)
    key = _key(value)
    if isinstance(value, Tensor | TensorSpec):
        shape = TensorShape(value.shape).dims_or_none
        dtype = value.dtype.base_dtype.name
        is_symbolic = isinstance(value, Tensor) and not isinstance(value, EagerTensor)
        where = ", of a graph" if is_symbolic and shape != () else ""
        text = f"{dtype} {shape_text(shape)}{where}"
        return Argument(name, "tensor", text, dtype, shape, key)
    spec = spec_of_composite(value)
    if spec is not None:
        return Argument(name, "tensor", _cut(str(spec)), "", None, key)
    if type(value) in PLAIN:
        return Argument(name, "python", _cut(repr(value)), "", None, key)
    if isinstance(value, UnknownArgument):
        return Argument(name, "object", "an object", "", None, key)
    if isinstance(value, type) or callable(value):
        text = getattr(value, "__qualname__", None) or type(value).__name__
        return Argument(name, "object", _cut(str(text)), "", None, key)
    text = f"{type(value).__name__} object"
    if nest.is_attrs(value) or type(value).__module__ == "numpy":
        text = _cut(repr(value))
    return Argument(name, "object", text, "", None, key)


def _key(value: Any) -> Hashable:
    try:
        key = encoded(value)
        hash(key)
    except TypeError:  # the call itself refuses it
        return id(value)
    return key


def shape_text(shape: Sequence[int | None] | None) -> str:
    """A static shape, such as "2x3", "scalar" or "?x3"."""
    if shape is None:
        return "of unknown rank"
    sizes = "x".join("?" if n is None else str(n) for n in shape)
    if len(shape) == 1:
        return f"[{sizes}]"
    return sizes or "scalar"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def differences(
    before: Sequence[Argument], now: Sequence[Argument]
) -> tuple[Difference, ...]:
    """How the arguments of a call differ from those of another one."""
    known = {argument.name: argument for argument in before}
    found = []
    for argument in now:
        old = known.pop(argument.name, None)
        if old is None:
            found.append(
                Difference(argument.name, "structure", "not there", argument.text)
            )
        elif old.key != argument.key:
            found.append(_difference(old, argument))
    found += [
        Difference(name, "structure", old.text, "not there")
        for name, old in known.items()
    ]
    return tuple(found)


def _difference(old: Argument, new: Argument) -> Difference:
    if old.kind != new.kind:
        words = {"tensor": "a Tensor, ", "python": "the Python value ", "object": ""}
        before, now = (f"{words[a.kind]}{a.text}" for a in (old, new))
        return Difference(new.name, "type", before, now)
    kind: DifferenceKind = "object" if new.kind == "object" else "python"
    if new.kind == "tensor":
        if old.dtype != new.dtype:
            return Difference(new.name, "dtype", old.dtype, new.dtype)
        if old.shape == new.shape:
            return Difference(new.name, "graph", old.text, new.text)
        before, now = shape_text(old.shape), shape_text(new.shape)
        known = old.shape is not None and new.shape is not None
        is_size = known and len(old.shape or ()) == len(new.shape or ())
        return Difference(new.name, "shape" if is_size else "rank", before, now)
    return Difference(new.name, kind, old.text, new.text)
