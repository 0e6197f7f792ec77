"""What is never converted: libraries, classes, generators.

Source: python/autograph/core/config.py, python/autograph/impl/conversion.py.
"""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any

from tfteach.lib.autograph.verbosity import warn

# Packages, beside Python's own.
PACKAGES = frozenset(
    "IPython ipdb mock numpy tensorflow tensorflow_datasets tensorflow_probability "
    "tfteach wrapt".split()
)


def is_untouched(function: Any) -> bool:
    """Whether something that is called belongs to a library, or cannot be converted."""
    if is_of_library(function):
        return True
    if inspect.isgeneratorfunction(function):
        warn(
            "Entity %s appears to be a generator function. It will not be converted by "
            "AutoGraph.",
            function,
        )
        return True
    if isinstance(function, functools._lru_cache_wrapper):
        return True
    if inspect.isclass(function):  # unless its metaclass says what its calls do
        return not inspect.isfunction(type(function).__call__)
    if inspect.ismethod(function):
        return _is_method_of_library(function)
    is_object = not inspect.isfunction(function)
    return is_object and is_of_library(type(function).__call__)


def _is_method_of_library(method: Any) -> bool:
    """Whether it is a method of a test, or one that a library's class defines."""
    owner = method.__self__
    owner = owner if inspect.isclass(owner) else type(owner)
    if any(base.__module__ == "unittest.case" for base in owner.__mro__):
        return True
    return is_of_library(method.__func__)


def _module_of(function: Any) -> str:
    """The module whose code a call runs: a wrapper has the name of what it wraps."""
    function = inspect.unwrap(function, stop=lambda f: not inspect.ismethod(f))
    function = getattr(function, "__func__", function)
    if inspect.isfunction(function):
        return str(function.__globals__.get("__name__", ""))
    kind = function if inspect.isclass(function) else type(function)
    return str(kind.__module__)


def is_of_library(function: Any) -> bool:
    """Whether a function, a class or an object's class belongs to a library."""
    package = _module_of(function).partition(".")[0]
    return package in PACKAGES or package in sys.stdlib_module_names
