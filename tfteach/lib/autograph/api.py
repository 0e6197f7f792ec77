"""`tf.autograph`: conversion without `tf.function`.

Source: python/autograph/impl/api.py (API and messages).
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable
from types import CellType, FunctionType
from typing import Any

from tfteach.framework.autograph_status import Status
from tfteach.framework.export import export
from tfteach.framework.type_aliases import Structure
from tfteach.lib.autograph.calls import call, do_not_convert_calls_of
from tfteach.lib.autograph.conversion import conversion_of, converted_function
from tfteach.lib.autograph.errors import ConversionError
from tfteach.lib.autograph.options import ConversionOptions, Features
from tfteach.lib.autograph.runtime import operators_for
from tfteach.lib.autograph.untouched import is_of_library
from tfteach.lib.autograph.verbosity import log


@export("autograph.to_graph")
def to_graph(
    entity: Callable[..., Any],
    recursive: bool = True,
    arg_values: Structure = None,
    arg_types: Structure = None,
    experimental_optional_features: Features = None,
) -> Callable[..., Any]:
    """A function whose control flow over Tensors becomes ops of the default graph.

    Args:
      entity: a function, a method or a class.
      recursive: whether the functions that it calls are converted, too.
      arg_values, arg_types: have no effect, as in TensorFlow 1.15.
      experimental_optional_features: `tf.autograph.experimental.Feature`s to turn on.

    Returns:
      The converted function, to which a method's object is passed as the first
      argument; or a class with converted methods.

    Raises:
      ConversionError: it cannot be converted.

    Example:
      >>> def positive(x):
      ...     return x if x > 0 else -x
      >>> tf.Session().run(tf.autograph.to_graph(positive)(tf.constant(-2)))
      2

    Source: python/autograph/impl/api.py.
    """
    del arg_values, arg_types
    options = _options(recursive, experimental_optional_features)
    try:
        if inspect.isclass(entity):
            return _converted_class(entity, options)
        return _converted(_function_of(entity), options)
    except (ValueError, AttributeError, KeyError, NameError, AssertionError) as error:
        log(1, "Error converting %s", entity, shows_error=True)
        raise ConversionError(
            f"converting {entity}: {type(error).__name__}: {error}"
        ) from None


@export("autograph.to_code")
def to_code(
    entity: Callable[..., Any],
    recursive: bool = True,
    arg_values: Structure = None,
    arg_types: Structure = None,
    indentation: str = "  ",
    experimental_optional_features: Features = None,
) -> str:
    """The Python code that `tf.autograph.to_graph` makes of a function.

    Args:
      entity: a function, a method or a class.
      recursive: whether the functions that it calls are converted, too.
      arg_values, arg_types, indentation: have no effect, as in TensorFlow 1.15.
      experimental_optional_features: `tf.autograph.experimental.Feature`s to turn on.

    Returns:
      The source.

    Raises:
      ConversionError: it cannot be converted.

    Example:
      >>> print(tf.autograph.to_code(f))

    Source: python/autograph/impl/api.py.
    """
    del arg_values, arg_types, indentation
    options = _options(recursive, experimental_optional_features)
    try:
        if not inspect.isclass(entity):
            return _source(_function_of(entity), options)
        body = [_method_tree(m, options) for m in _methods(entity).values()]
        definition = ast.ClassDef(_class_name(entity), [], [], body, [])
        return ast.unparse(definition) + "\n"
    except (ValueError, AttributeError, KeyError, NameError, AssertionError) as error:
        raise ConversionError(
            f"converting {entity}: {type(error).__name__}: {error}"
        ) from None


@export("autograph.experimental.do_not_convert", "contrib.autograph.do_not_convert")
def do_not_convert(func: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Decorator: AutoGraph leaves the function as it is, and what it calls.

    Args:
      func: the function; None to get the decorator.

    Returns:
      A function that calls it.

    Example:
      >>> @tf.autograph.experimental.do_not_convert
      ... def f(x):
      ...     return x + 1

    Source: python/autograph/impl/api.py.
    """
    if func is None:
        return do_not_convert
    return do_not_convert_calls_of(func, Status.DISABLED)


def _options(recursive: bool, features: Features) -> ConversionOptions:
    return ConversionOptions(
        recursive=recursive, user_requested=True, optional_features=features
    )


def _function_of(entity: Any) -> FunctionType:
    """The function of an entity that is no class."""
    function = getattr(entity, "__func__", entity)
    if isinstance(function, FunctionType):
        return function
    raise NotImplementedError(
        f'cannot convert entity "{entity}": object conversion is not yet supported.'
    )


def _converted(
    function: FunctionType,
    options: ConversionOptions,
    cells: dict[str, CellType] | None = None,
) -> FunctionType:
    operators = operators_for(options, call)
    return converted_function(function, options, operators, is_scoped=True, cells=cells)


def _source(function: FunctionType, options: ConversionOptions) -> str:
    return ast.unparse(conversion_of(function, options, is_scoped=True).tree) + "\n"


# ---- classes


def _methods(cls: type) -> dict[str, FunctionType]:
    """The methods that a class defines.

    Raises:
      ValueError: there are none.
    """
    found = {n: v for n, v in vars(cls).items() if isinstance(v, FunctionType)}
    if not found:
        raise ValueError(f"cannot convert {cls}: no member methods")
    return found


def _method_tree(method: FunctionType, options: ConversionOptions) -> ast.stmt:
    """The definition of a converted method, under its own name."""
    tree = copy.copy(conversion_of(method, options, is_scoped=True).tree)
    assert isinstance(tree, ast.FunctionDef)
    tree.name = method.__name__
    return tree


def _class_name(cls: type) -> str:
    return f"Tf{cls.__name__[:1].upper()}{cls.__name__[1:]}"


def _converted_class(cls: type, options: ConversionOptions) -> type:
    """A class like another, with converted methods."""
    if any(base is not object and not is_of_library(base) for base in cls.__bases__):
        raise NotImplementedError(
            "Conversion of classes that do not directly extend classes from "
            "whitelisted modules is temporarily suspended. If this breaks existing "
            "code please notify the AutoGraph team immediately."
        )
    own_class = CellType()  # what `super()` in the methods refers to
    members = {
        name: value
        for name, value in vars(cls).items()
        if name not in ("__dict__", "__weakref__")
    }
    for name, method in _methods(cls).items():
        members[name] = _converted(method, options, {"__class__": own_class})
    made = type(cls)(_class_name(cls), cls.__bases__, members)
    own_class.cell_contents = made
    return made
