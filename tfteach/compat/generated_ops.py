"""`tensorflow.python.ops.gen_math_ops` and its like: ops as functions, by position.

TensorFlow generates a module of functions for each file of op definitions, and its
other modules re-export most of them.  generated_ops.txt records which op is where and
which module re-exports which; here the functions are made from the classes of ops.

Source: python/ops/gen_*.py (API).
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable
from inspect import Parameter
from pathlib import Path
from types import ModuleType
from typing import Any

from tfteach.compat.raw_ops import RENAMED_INPUTS, build, of_raw_ops
from tfteach.framework.op import Op, find_op

# Ops that have a public function which is not the generated one: TensorFlow hides that.
_HIDDEN = frozenset(
    "Abs All Any Assert BatchNormWithGlobalNormalization ClipByValue Complex Exit For "
    "FusedBatchNorm HistogramFixedWidth If Max Min Pow Print Range Slice Stack Sum "
    "While".split()
)


def function_name(op_type: str) -> str:
    """The name of an op's function: "max_pool3d_grad" for "MaxPool3DGrad"."""
    words = re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z0-9])(?=[A-Z])", "_", op_type)
    name = re.sub(r"(\d)_D(?=_|$)", r"\1d", words).lower()
    return f"_{name}" if op_type in _HIDDEN else name


@functools.cache
def _table() -> tuple[dict[str, dict[str, str]], dict[str, tuple[str, ...]]]:
    """Module -> function -> op type; and module -> the modules that it re-exports."""
    modules: dict[str, dict[str, str]] = {}
    exported: dict[str, tuple[str, ...]] = {}
    file = Path(__file__).with_suffix(".txt")
    for line in file.read_text("utf-8").splitlines():
        path, sign, rest = line.partition(" > ")
        if sign:
            exported[path] = tuple(rest.split())
        else:
            path, _, rest = line.partition(": ")
            modules[path] = {function_name(kind): kind for kind in rest.split()}
    return modules, exported


def re_exported(path: str, name: str) -> Callable[..., Any] | None:
    """The generated function `name` of an inner module which is not generated itself.

    Args:
      path: below `tensorflow.python.`, such as "ops.math_ops".
      name: as in "segment_sum".
    """
    modules, exported = _table()
    for module in () if name.startswith("_") else exported.get(path, ()):
        op_type = modules[module].get(name)
        if op_type is not None:
            return _function(op_type)
    return None


def exporters() -> list[str]:
    """The paths of the modules that re-export generated functions."""
    return [*_table()[1]]


@functools.cache
def module(path: str) -> ModuleType | None:
    """The generated module of that path below `tensorflow.python.`, or None.

    Modules of `tf.contrib` are below `tensorflow.`.
    """
    functions = _table()[0].get(path)
    return None if functions is None else _Generated(path, functions)


class _Generated(ModuleType):
    """A generated module; its functions are made when they are looked up."""

    def __init__(self, path: str, functions: dict[str, str]) -> None:
        root = "tensorflow" if path.startswith("contrib.") else "tensorflow.python"
        super().__init__(f"{root}.{path}")
        self.__path__: list[str] = []
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        found: Any = None
        if name in self._functions:
            found = _function(self._functions[name])
        elif name in self._functions.values() and find_op(name) is not None:
            found = of_raw_ops(name)
        if found is None:
            message = f"module {self.__name__!r} has no attribute {name!r}"
            if name in self._functions or name in self._functions.values():
                message += ": tfteach does not have this op"
            raise AttributeError(message, name=name, obj=self)
        setattr(self, name, found)
        return found

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._functions})


def parameters(cls: type[Op]) -> list[Parameter]:
    """The parameters of an op's function: inputs, attributes, the op's name.

    Attributes that the inputs determine are none of them.
    """
    renamed = RENAMED_INPUTS.get(cls.op_type, {})
    inferred = {arg.number_attr for arg in cls.inputs}
    inferred |= {arg.type_attr for arg in cls.inputs}
    fields = [field for field in cls.fields if field not in inferred]
    needed = [renamed.get(arg.name, arg.name) for arg in cls.inputs]
    needed += [renamed.get(f, f) for f in fields if f not in cls.defaults]
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return [
        *(Parameter(name, kind) for name in needed),
        *(
            Parameter(renamed.get(f, f), kind, default=cls.defaults[f])
            for f in fields
            if f in cls.defaults
        ),
        Parameter("name", kind, default=None),
    ]


@functools.cache
def _function(op_type: str) -> Callable[..., Any] | None:
    """The function of an op type; None if tfteach does not have it."""
    cls = find_op(op_type)
    if cls is None:
        return None
    signature = inspect.Signature(parameters(cls))

    def generated(*args: Any, **kwargs: Any) -> Any:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{function_name(op_type)}(): {error}") from None
        return build(cls, **bound.arguments)

    generated.__name__ = generated.__qualname__ = function_name(op_type)
    generated.__doc__ = cls.__doc__
    vars(generated)["__signature__"] = signature
    return generated
