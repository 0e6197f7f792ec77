"""The public name of the function that a program called: "tf.layers.dense"."""

from __future__ import annotations

import functools
from types import CodeType

from tfteach.framework.call_origin import Origin
from tfteach.framework.export import public_names

_CONSTRUCTORS = ("__init__", "__new__", "__call__", "_make")
_FEW_SEE = ("compat.", "contrib.")


def called_name(origin: Origin | None) -> str:
    """The public name of what the user's call called; "" if unknown.

    A method has the name of the class that defines it, such as
    "tf.train.Optimizer.minimize".
    """
    return "" if origin is None or origin[2] is None else public_name(origin[2])


@functools.cache
def public_name(code: CodeType) -> str:
    """The public name of a function or method of this package.

    Returns:
      "tf." and the shortest public name; the function's own name if it has none.
    """
    owner, _, method = code.co_qualname.rpartition(".")
    if method in _CONSTRUCTORS:
        method = ""
    owner = owner.removeprefix("_").removesuffix("Meta")  # whose call constructs
    found = _shortest(public_names(code.co_filename, owner or method))
    if not owner:
        return f"tf.{found}" if found else method
    name = f"tf.{found}" if found else owner
    return f"{name}.{method}" if method else name


def _shortest(names: list[str]) -> str:
    return min(names, default="", key=lambda n: (n.startswith(_FEW_SEE), n.count(".")))
