"""`arg_scope`: default arguments of functions within a block.

Source: contrib/framework/python/ops/arg_scope.py.
"""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from tfteach.framework.export import export

_P = ParamSpec("_P")
_R = TypeVar("_R")

Scope = dict[Any, dict[str, Any]]

# The parameters with defaults of each decorated function, by its key.
_names: dict[Any, tuple[str, ...]] = {}


class _Open(threading.local):
    def __init__(self) -> None:
        self.scopes: list[Scope] = [{}]


_open = _Open()


@export("contrib.framework.current_arg_scope", "contrib.slim.current_arg_scope")
def current_arg_scope() -> Scope:
    """The open scope: arguments by function key."""
    return _open.scopes[-1]


@export("contrib.slim.arg_scope_func_key")
def arg_scope_func_key(op: Any) -> Any:
    """The key of a function in argument scopes."""
    return getattr(op, "_key_op", str(op))


@export("contrib.framework.has_arg_scope", "contrib.slim.has_arg_scope")
def has_arg_scope(func: Any) -> bool:
    """Whether `arg_scope` applies to a function."""
    return arg_scope_func_key(func) in _names


@export("contrib.framework.arg_scoped_arguments", "contrib.slim.arg_scoped_arguments")
def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """The arguments of a function that `arg_scope` can set."""
    return _names[arg_scope_func_key(func)]


@export("contrib.framework.arg_scope", "contrib.slim.arg_scope")
@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Set default arguments of functions within a block.

    Args:
      list_ops_or_scope: a list of functions decorated with `add_arg_scope`, or the
        scope of another `arg_scope`, to reopen it.
      **kwargs: the arguments.  Arguments of a call take precedence, then inner scopes.

    Yields:
      The scope.

    Raises:
      TypeError: it is not a list, tuple or dict.
      ValueError: a function is not decorated, or a dict is combined with arguments.

    Example:
      >>> slim = tf.contrib.slim
      >>> with slim.arg_scope([slim.conv2d, slim.fully_connected], activation_fn=None):
      ...     y = slim.conv2d(tf.ones([1, 8, 8, 3]), 4, 3)
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by suppling adictionary, kwargs "
                "must be empty."
            )
        scope = dict(list_ops_or_scope)
    else:
        if not isinstance(list_ops_or_scope, list | tuple):
            raise TypeError(
                "list_ops_or_scope must either be a list/tuple or reused scope (i.e. "
                "dict)"
            )
        scope = dict(current_arg_scope())
        for op in list_ops_or_scope:
            if not has_arg_scope(op):
                name = (op.__module__, op.__name__)
                raise ValueError("%s is not decorated with @add_arg_scope", name)
            key = arg_scope_func_key(op)
            scope[key] = {**scope.get(key, {}), **kwargs}
    _open.scopes.append(scope)
    try:
        yield scope
    finally:
        _open.scopes.pop()


@export("contrib.framework.add_arg_scope", "contrib.slim.add_arg_scope")
def add_arg_scope(func: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorator: makes `arg_scope` apply to the function.

    Example:
      >>> @tf.contrib.framework.add_arg_scope
      ... def scaled(x, factor=1.0):
      ...     return x * factor
      >>> with tf.contrib.framework.arg_scope([scaled], factor=2.0):
      ...     scaled(3.0)
      6.0
    """
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        defaults = current_arg_scope().get(key, {})
        return func(*args, **{**defaults, **kwargs})

    parameters = inspect.signature(func).parameters.values()
    _names[key] = tuple(p.name for p in parameters if p.default is not p.empty)
    call._key_op = key  # type: ignore[attr-defined]
    return call
