"""Methods that are traced: a function for each object, which it does not keep alive."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any

_Unbound = tuple[Callable[..., Any], Callable[[], Any]]
_unbound: weakref.WeakKeyDictionary[Callable[..., Any], _Unbound]
_unbound = weakref.WeakKeyDictionary()


def bound_method(instance: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function bound to an object by a weak reference.

    Its parameters are those of `function` without the first.
    """
    reference = weakref.ref(instance)

    @functools.wraps(function)
    def method(*args: Any, **kwargs: Any) -> Any:
        return function(reference(), *args, **kwargs)

    signature = inspect.signature(function, follow_wrapped=False)
    first, *rest = signature.parameters.values()
    is_rest = first.kind is inspect.Parameter.VAR_POSITIONAL
    bound = inspect.Signature([first, *rest] if is_rest else rest)
    method.__signature__ = bound  # type: ignore[attr-defined]
    _unbound[method] = function, reference
    return method


def unbound(method: Callable[..., Any]) -> _Unbound | None:
    """The function that `bound_method` bound, and a reference to the object; or None.

    AutoGraph converts that function.
    """
    return _unbound.get(method)
