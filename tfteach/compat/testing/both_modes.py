"""Tests that run twice: in a graph with a session, and eagerly.

Source: python/framework/test_util.py.
"""

from __future__ import annotations

import functools
import inspect
import unittest
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, TypeVar

from tfteach.compat.testing.leftovers import no_leftovers
from tfteach.engine.eager.context import eager_mode, graph_mode
from tfteach.framework.export import export
from tfteach.framework.graph import get_default_graph
from tfteach.framework.type_aliases import Proto

_Class = TypeVar("_Class", bound=type)
Method = Callable[..., Any]


@export("contrib.eager.run_test_in_graph_and_eager_modes")
def run_in_graph_and_eager_modes(
    func: Method | None = None,
    config: Proto | None = None,
    use_gpu: bool = True,
    reset_test: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Method:
    """A decorator: the method of a `tf.test.TestCase` runs in a graph, then eagerly.

    `self.evaluate` gives the values in both.

    Args:
      func: the method; if None, a decorator is returned.
      config: a ConfigProto for the session of the graph.
      use_gpu: whether ops may run on GPUs.
      reset_test: whether `tearDown` and `setUp` are called in between.
      assert_no_eager_garbage: whether the eager test must leave no tensors behind, and
        no reference cycles.

    Returns:
      The method that runs both, or a decorator.

    Raises:
      ValueError: `func` is a class.

    Example:
      >>> class AddTest(tf.test.TestCase):
      ...     @tf.contrib.eager.run_test_in_graph_and_eager_modes
      ...     def testAdd(self):
      ...         self.assertEqual(self.evaluate(tf.add(1, 2)), 3)

    Source: python/framework/test_util.py.
    """

    def decorator(method: Method) -> Method:
        if inspect.isclass(method):
            raise ValueError(
                "`run_in_graph_and_eager_modes` only supports test methods. Did you "
                "mean to use `run_all_in_graph_and_eager_modes`?"
            )

        @functools.wraps(method)
        def both(self: Any, *args: Any, **kwargs: Any) -> None:
            try:
                with graph_mode(), self.test_session(use_gpu=use_gpu, config=config):
                    method(self, *args, **kwargs)
            except unittest.SkipTest:
                pass
            if reset_test:
                self.tearDown()
            with no_leftovers() if assert_no_eager_garbage else nullcontext():
                eagerly(self, *args, **kwargs)

        def eagerly(self: Any, *args: Any, **kwargs: Any) -> None:
            with eager_mode():
                if reset_test:
                    self.setUp()
                cpu = get_default_graph().device("/device:CPU:0")
                with nullcontext() if use_gpu else cpu:
                    method(self, *args, **kwargs)

        return both

    return decorator if func is None else decorator(func)


@export("contrib.eager.run_all_tests_in_graph_and_eager_modes")
def run_all_in_graph_and_eager_modes(cls: _Class) -> _Class:
    """A decorator: all tests of a `tf.test.TestCase` run in a graph, then eagerly.

    Those whose names begin with `testSkipEager` or `test_skip_eager` run as they are.

    Args:
      cls: the class.

    Source: python/framework/test_util.py.
    """
    for name in dir(cls):
        is_test = name.startswith("test") and name != "test_session"
        skips = name.startswith(("testSkipEager", "test_skip_eager"))
        if is_test and not skips and callable(getattr(cls, name)):
            setattr(cls, name, run_in_graph_and_eager_modes(getattr(cls, name)))
    return cls
