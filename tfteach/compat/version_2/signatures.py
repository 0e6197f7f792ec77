"""Functions of `tf.compat.v1` under the parameters that they have in `tf.compat.v2`."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from tfteach.framework.codegen import define
from tfteach.framework.export import export, public_names

R = TypeVar("R")


def with_parameters(
    function: Callable[..., R], parameters: str, *, v2: str, **values: Any
) -> Callable[..., R]:
    """A function of `tf.compat.v1` with TensorFlow 2's parameters, exported.

    Args:
      function: a function that has public names.
      parameters: their names in TensorFlow 2's order, those before a bar required:
        "input | axis name".  `filters:filter` renames `filter`.
      v2: the public names below `tf.compat.v2`, blank-separated.
      values: defaults, where they differ from those of `function`.  A value that is not
        for one of `parameters` is passed in every call.

    Returns:
      A function whose name is that of `function` and `_v2`: assign it to this name.

    Example:
      >>> shape_v2 = with_parameters(shape, "input | out_type name", v2="shape")
    """
    signature = inspect.signature(function)
    required, _, optional = parameters.partition("|")
    pairs = (word.split(":") for word in f"{required} {optional}".split())
    old_names = {pair[0]: pair[-1] for pair in pairs}
    old = {new: signature.parameters[name] for new, name in old_names.items()}
    has_default = [*old][len(required.split()) :]
    defaults = [values.pop(new, old[new].default) for new in has_default]
    assert inspect.Parameter.empty not in defaults, has_default
    assert values.keys() <= signature.parameters.keys(), values

    # Written as source, it is called, and raises TypeErrors, as any function of Python.
    name = function.__name__.removesuffix("_v2") + "_v2"
    passed = ", ".join(f"{old_names[new]}={new}" for new in old)
    source = f"def {name}({', '.join(old)}):\n    return _version_1({passed})\n"
    namespace = {
        "_version_1": functools.partial(function, **values),
        "__name__": sys._getframe(1).f_globals["__name__"],
    }
    made = define(source, name, namespace, f"{__file__} ({name})")
    made.__defaults__ = tuple(defaults)
    made.__annotations__ = {new: old[new].annotation for new in old}
    made.__annotations__["return"] = signature.return_annotation
    gone = [n for n in signature.parameters if n not in old_names.values()]
    made.__doc__ = _documentation(function, v2.split(), gone)
    found: Callable[..., R] = export(v2=v2)(made)
    return found


def _documentation(
    function: Callable[..., Any], names: list[str], gone: list[str]
) -> str:
    """The summary of TensorFlow 1's function, and how this one differs from it."""
    file = sys.modules[function.__module__].__file__ or ""
    publics = public_names(file, function.__qualname__)
    public = next((name for name in names if name in publics), publics[0])
    summary = (function.__doc__ or "").partition("\n")[0]
    dropped = f", without {', '.join(f'`{name}`' for name in gone)}" if gone else ""
    return f"{summary}\n\n`tf.{public}` with TensorFlow 2's parameters{dropped}."
