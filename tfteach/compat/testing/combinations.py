"""Tests that run once for each combination of their arguments.

Source: python/framework/{combinations,test_combinations}.py (API).
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import unittest
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from absl.testing import parameterized

from tfteach.framework.graph import Graph

Combination = OrderedDict[str, Any]


class NamedObject:
    """An argument that is shown by a name in the name of the test.

    Args:
      name: the name.
      obj: the object, to which attributes and calls are delegated.
    """

    def __init__(self, name: str, obj: Any) -> None:
        self._name = name
        self._obj = obj

    def __getattr__(self, name: str) -> Any:
        return getattr(self._obj, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._obj(*args, **kwargs)

    def __repr__(self) -> str:
        return self._name


def combine(**kwargs: Any) -> list[Combination]:
    """All combinations of values of arguments, each a dict sorted by names.

    Args:
      **kwargs: a value, or a list of values, for each argument.

    Example:
      >>> [dict(c) for c in combine(a=1, b=[2, 3])]
      [{'a': 1, 'b': 2}, {'a': 1, 'b': 3}]
    """
    names = sorted(kwargs)
    columns = [
        value if isinstance(value, list) else [value]
        for value in (kwargs[name] for name in names)
    ]
    rows = itertools.product(*columns)
    return [OrderedDict(zip(names, row, strict=True)) for row in rows]


def times(*combined: list[Combination]) -> list[Combination]:
    """The products of lists of combinations of different arguments.

    Raises:
      ValueError: two of them have an argument of the same name.
    """
    if not combined:
        raise ValueError("times() requires at least one list of combinations.")
    found = combined[0]
    for other in combined[1:]:
        product = []
        for one, two in itertools.product(found, other):
            if one.keys() & two.keys():
                raise ValueError(
                    f"Keys need to not overlap: {one.keys()} vs {two.keys()}"
                )
            product.append(OrderedDict([*one.items(), *two.items()]))
        found = product
    return found


def generate(combinations: Sequence[Combination]) -> Callable[[Any], Any]:
    """A decorator of a test method, or of all of a class, of `parameterized.TestCase`.

    The method runs once for each combination.  "mode" ("graph" or "eager") and
    "tf_api_version" (1 or 2) state the conditions of a test, which is skipped for
    eager execution and for TensorFlow 2's behavior; it receives those that its
    signature has.  A test in graph mode has a new default graph.

    Args:
      combinations: see `combine` and `times`.

    Raises:
      ValueError: in the test: the arguments are not those of its signature.
    """

    def decorate(test: Any) -> Any:
        if not isinstance(test, type):
            return _generated(test, combinations)
        for name, member in list(vars(test).items()):
            is_test = name.startswith(unittest.TestLoader.testMethodPrefix)
            if is_test and inspect.isfunction(member):
                setattr(test, name, _generated(member, combinations))
        # The metaclass of absl expands the methods while it creates a class.
        members = {k: v for k, v in vars(test).items() if k not in _OWN}
        return type(test)(test.__name__, test.__bases__, members)

    return decorate


_OWN = ("__dict__", "__weakref__")


def _generated(test: Callable[..., Any], combinations: Sequence[Combination]) -> Any:
    named = [
        OrderedDict([*combination.items(), ("testcase_name", _suffix(combination))])
        for combination in combinations
    ]
    return parameterized.named_parameters(*named)(_with_conditions(test))


def _suffix(combination: Combination) -> str:
    def plain(value: Any) -> str:
        return "".join(filter(str.isalnum, str(value)))

    parts = (f"_{plain(k)}_{plain(v)}" for k, v in combination.items())
    return f"_test{''.join(parts)}"


def _with_conditions(test: Callable[..., Any]) -> Callable[..., Any]:
    parameters = inspect.signature(test).parameters

    @functools.wraps(test)
    def wrapped(self: unittest.TestCase, **given: Any) -> None:
        passed = dict(given)
        for name in ("mode", "tf_api_version"):
            if name not in parameters:
                passed.pop(name, None)
        _check_arguments(parameters, passed)
        if given.get("tf_api_version") == 2:
            self.skipTest("Skipping a TF2 test when TF2 is not enabled.")
        with _mode(self, given.get("mode")):
            test(self, **passed)

    # absl passes arguments by the signature of what it calls.
    del wrapped.__wrapped__
    return wrapped


def _check_arguments(parameters: Any, passed: dict[str, Any]) -> None:
    kinds = inspect.Parameter
    names = [n for n, p in parameters.items() if p.kind is not kinds.VAR_KEYWORD]
    takes_all = len(names) < len(parameters)
    unknown = set() if takes_all else passed.keys() - set(names)
    if unknown:
        raise ValueError(
            f"The test does not take parameters that were passed : {unknown} ."
        )
    needed = {n for n in names[1:] if parameters[n].default is kinds.empty}
    if needed - passed.keys():
        raise ValueError(
            "The test requires parameters whose arguments were not passed: "
            f"{needed - passed.keys()} ."
        )


@contextlib.contextmanager
def _mode(case: unittest.TestCase, mode: str | None) -> Iterator[None]:
    if mode not in (None, "eager", "graph"):
        raise ValueError(f"'mode' has to be either 'eager' or 'graph' and not {mode}")
    if mode == "eager":
        case.skipTest("tfteach has TensorFlow 1's graphs and sessions only.")
    if mode is None:
        yield
        return
    with Graph().as_default():
        yield
