"""`converted_call`: a call in converted code, which converts what it calls.

Source: python/autograph/impl/api.py (API and messages).
"""

from __future__ import annotations

import builtins
import functools
import inspect
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any, TypeVar

from tfteach.framework.autograph_status import (
    ControlStatusCtx,
    Status,
    control_status_ctx,
)
from tfteach.framework.export import export
from tfteach.lib.autograph.conversion import (
    conversion_of,
    converted_function,
    is_converted,
)
from tfteach.lib.autograph.errors import add_metadata
from tfteach.lib.autograph.function_scope import FunctionScope
from tfteach.lib.autograph.operators.py_builtins import overload_of
from tfteach.lib.autograph.options import ConversionOptions, Features
from tfteach.lib.autograph.runtime import operators_for
from tfteach.lib.autograph.untouched import is_untouched
from tfteach.lib.autograph.verbosity import log, warn

T = TypeVar("T")
_BUILTINS = frozenset(id(value) for value in vars(builtins).values())
# The functions whose conversion failed, of which the program was warned.
_failed: weakref.WeakSet[CodeType] = weakref.WeakSet()


@export("contrib.autograph.converted_call")
def converted_call(
    f: Callable[..., T],
    options: ConversionOptions,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
    caller_fn_scope: FunctionScope | None = None,
) -> T:
    """Call a function, converted if it is one of the program.

    Args:
      f: what to call.
      options: how to convert it.
      args, kwargs: its arguments.
      caller_fn_scope: as TensorFlow's; nothing depends on it.

    Returns:
      Its result.
    """
    result: T = call(f, options, args, kwargs)
    return result


def call(
    f: Any,
    options: ConversionOptions,
    args: Sequence[Any],
    kwargs: Mapping[str, Any] | None,
) -> Any:
    """See `converted_call`."""
    kwargs = dict(kwargs or {})
    if isinstance(f, BuiltinFunctionType) or id(f) in _BUILTINS:
        return overload_of(f)(*args, **kwargs)
    while isinstance(f, functools.partial):
        args, kwargs, f = (*f.args, *args), {**f.keywords, **kwargs}, f.func
    target = _to_convert(f, options)
    if target is None:
        return _call_unconverted(f, args, kwargs)
    function, owner = target
    if owner is not None:
        args = (owner, *args)
    status: Any = nullcontext()
    if options.user_requested:
        status = ControlStatusCtx(Status.ENABLED, options)
    options = options.call_options()
    try:
        operators = operators_for(options, call)
        made = converted_function(function, options, operators)
        codes = conversion_of(function, options).codes
    except Exception as error:
        _tell_failure(f, function, error)
        return _call_unconverted(f, args[owner is not None :], kwargs)
    try:
        with status:
            return made(*args, **kwargs)
    except Exception as error:
        add_metadata(error, codes)
        raise


def _to_convert(f: Any, options: ConversionOptions) -> tuple[FunctionType, Any] | None:
    """The function to convert, and the object that it is a method of.

    Returns:
      None if `f` is to be called as it is.
    """
    if hasattr(f, "__ag_compiled") or is_converted(f):
        return None
    if not options.internal_convert_user_code or is_untouched(f):
        return None
    target, owner = f, None
    if not inspect.isfunction(f) and not inspect.ismethod(f):
        target = type(f).__call__
        owner = f
    elif inspect.ismethod(f):
        target, owner = f.__func__, f.__self__
    if not isinstance(target, FunctionType) or is_converted(target):
        return None
    if target.__code__ in _failed:
        return None
    if target.__code__.co_filename == "<string>":
        log(2, "Not converted: %s: made by exec", f)
        return None
    return target, owner


def _call_unconverted(f: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    try:
        return f(*args, **kwargs)
    except Exception as error:
        if not is_converted(f):  # else it is part of the function around it
            add_metadata(error, ())
        raise


def _tell_failure(f: Any, function: FunctionType, error: Exception) -> None:
    """Warn that a function is called as it is, unless errors are to be raised."""
    log(1, "Error transforming entity %s", f, shows_error=True)
    if int(os.environ.get("AUTOGRAPH_STRICT_CONVERSION", 0)) > 0:
        raise error
    warn(
        "Entity %s could not be transformed and will be executed as-is. Please report "
        "this to the AutoGraph team. When filing the bug, set the verbosity to 10 (on "
        "Linux, `export AUTOGRAPH_VERBOSITY=10`) and attach the full output. Cause: %s",
        f,
        error,
    )
    _failed.add(function.__code__)


# ---- for functions that call those of the program


@export("contrib.autograph.convert")
def convert(
    recursive: bool = False,
    optional_features: Features = None,
    user_requested: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function is converted when it is called.

    Args:
      recursive: whether those that it calls are converted, too.
      optional_features: Features, or None.
      user_requested: whether the program asked for it.
    """
    options = ConversionOptions(
        recursive, user_requested, optional_features=optional_features
    )

    def decorator(f: Callable[..., Any]) -> Callable[..., Any]:
        def converted(*args: Any, **kwargs: Any) -> Any:
            try:
                return call(f, options, args, kwargs)
            except Exception as error:
                metadata = getattr(error, "ag_error_metadata", None)
                if metadata is None:
                    raise
                raise metadata.to_exception(error) from None

        return _marked(converted, f)

    return decorator


def do_not_convert_calls_of(f: Callable[..., Any], new: Status) -> Callable[..., Any]:
    """A function that is called as it is, under a status."""

    def unconverted(*args: Any, **kwargs: Any) -> Any:
        with ControlStatusCtx(new):
            return f(*args, **kwargs)

    return _marked(unconverted, f)


def call_with_unspecified_conversion_status(
    func: Callable[..., Any],
) -> Callable[..., Any]:
    """A function that is called as if nothing was asked for."""
    return do_not_convert_calls_of(func, Status.UNSPECIFIED)


def tf_convert(
    f: Callable[..., Any],
    ctx: ControlStatusCtx | None = None,
    convert_by_default: bool = True,
    user_requested: bool = False,
) -> Callable[..., Any]:
    """A function of the program as a library is to call it.

    Args:
      f: the function.
      ctx: the context where the program gave it; by default the current one.
      convert_by_default: whether to convert where nothing was asked for.
      user_requested: whether the program asked for the conversion.
    """
    if hasattr(f, "__ag_compiled"):
        return f
    asked = (ctx or control_status_ctx()).status
    if asked is Status.DISABLED:
        return do_not_convert_calls_of(f, Status.DISABLED)
    if asked is Status.ENABLED or convert_by_default:
        return convert(recursive=True, user_requested=user_requested)(f)
    return call_with_unspecified_conversion_status(f)


def _marked(wrapper: Callable[..., Any], f: Callable[..., Any]) -> Callable[..., Any]:
    """A wrapper that is itself never converted."""
    if inspect.isfunction(f) or inspect.ismethod(f):
        wrapper = functools.update_wrapper(wrapper, f)
    setattr(wrapper, "__ag_compiled", True)
    return wrapper
