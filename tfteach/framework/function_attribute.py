"""`Function`: an attribute that names a function of the graph's library.

Source: core/framework/attr_value.proto, NameAttrList.
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Function(NamedTuple):
    """A function's name, with values for its attributes.

    Attributes:
      name: its name in the graph's library.
      attrs: (name, serialized AttrValue) pairs, sorted by name.

    Example:
      >>> Function("square").name
      'square'
    """

    name: str
    attrs: tuple[tuple[str, bytes], ...] = ()

    @staticmethod
    def from_proto(proto: Any) -> Function:
        """The function that a NameAttrList denotes."""
        attrs = proto.attr
        return Function(
            proto.name,
            tuple((key, attrs[key].SerializeToString()) for key in sorted(attrs)),
        )

    def as_proto(self) -> Any:
        """The NameAttrList."""
        from tfteach.framework.protos import pool

        proto = pool.message("NameAttrList")(name=self.name)
        for key, value in self.attrs:
            proto.attr[key].MergeFromString(value)
        return proto


def as_function(name: str, value: Any) -> Function:
    """A `Function`, from one, its name, a defined function or a NameAttrList.

    Raises:
      TypeError: `value` is none of them.
    """
    if isinstance(value, Function):
        return value
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        return Function(value)
    if hasattr(value, "SerializeToString") and hasattr(value, "attr"):
        return Function.from_proto(value)
    found = getattr(value, "name", None)
    if isinstance(found, str | bytes) and hasattr(value, "add_to_graph"):
        if isinstance(found, bytes):  # of a traced function
            value.add_to_graph()
            found = found.decode()
        return Function(found)
    raise TypeError(f"Expected func for argument '{name}' not {value!r}.")
