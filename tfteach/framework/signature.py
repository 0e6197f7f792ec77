"""The inputs and outputs of an op as its signature lists them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from tfteach.framework import dtypes
from tfteach.framework.dtypes import DType

if TYPE_CHECKING:
    from tfteach.framework.op import Op
    from tfteach.framework.operation import Tensor


class Arg(NamedTuple):
    """One input or output of a signature."""

    name: str
    dtype: DType | None = None  # a fixed type,
    type_attr: str = ""  # or the attribute that names the type (or the type list)
    number_attr: str = ""  # the attribute with the count, for `N*T`
    is_list: bool = False  # `*Ts`
    is_ref: bool = False

    @property
    def is_sequence(self) -> bool:
        """Whether this argument denotes several tensors."""
        return self.is_list or bool(self.number_attr)


def parse_args(text: str) -> tuple[Arg, ...]:
    """The arguments of one side of a signature."""
    args = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        name, kind = (p.strip() for p in part.split(":"))
        is_ref = kind.startswith("ref ")
        kind = kind.removeprefix("ref ").strip()
        if kind.startswith("*"):
            args.append(Arg(name, type_attr=kind[1:], is_list=True, is_ref=is_ref))
            continue
        number, star, kind_name = kind.rpartition("*")
        try:
            dtype, type_attr = dtypes.dtypes_of(kind_name)[0], ""
        except KeyError:  # NumPy's names do not count: "S" is a type attribute
            dtype, type_attr = None, kind_name
        args.append(Arg(name, dtype, type_attr, number if star else "", False, is_ref))
    return tuple(args)


def checked_positions(op: type[Op]) -> tuple[int, ...] | None:
    """The positions of the inputs that `check_shapes` names; negative after a list."""
    code = op.check_shapes.__code__
    if code.co_flags & inspect.CO_VARARGS:
        return None
    names = [arg.name for arg in op.inputs]
    lists = [i for i, arg in enumerate(op.inputs) if arg.is_sequence]
    found = []
    for name in code.co_varnames[1 : code.co_argcount]:
        i = names.index(name)
        found.append(i - len(names) if lists and i > lists[0] else i)
    return tuple(found)


def split_args(
    args: Iterable[Arg], tensors: Iterable[Tensor], attribute: Callable[[str], Any]
) -> list[Any]:
    """Group a node's flat inputs or outputs by the signature's arguments.

    Args:
      args: the arguments.
      tensors: the tensors, flat.
      attribute: the value of an attribute by its name: a length, or a list.
    """
    flat = iter(tensors)
    groups: list[Any] = []
    for arg in args:
        if arg.is_sequence:
            size = attribute(arg.number_attr or arg.type_attr)
            count = size if isinstance(size, int) else len(size)
            groups.append([next(flat) for _ in range(count)])
        else:
            groups.append(next(flat))
    return groups
