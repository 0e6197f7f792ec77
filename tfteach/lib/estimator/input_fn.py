"""Calls of input functions, whose results are Tensors or a dataset.

Source: tensorflow_estimator/python/estimator/util.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tfteach.framework.defaults import get_default_graph
from tfteach.framework.observers import InputsMade, announce_lifetime
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.training.hooks.session_run_hook import SessionRunHook


class DatasetInitializerHook(SessionRunHook):
    """Initializes a dataset's iterator in each new session."""

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator

    def begin(self) -> None:
        """Look the op up, before the graph is finalized."""
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: SessionLike, coord: Any) -> None:
        """Run it."""
        session.run(self._initializer)


def argument_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a function's arguments; of a partial function only the open ones."""
    parameters = inspect.signature(function).parameters.values()
    bound = getattr(function, "keywords", None) or {}  # of a partial function
    return tuple(
        p.name
        for p in parameters
        if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and p.name not in bound
    )


def is_dataset(value: Any) -> bool:
    """Whether an input function returned a dataset."""
    return hasattr(value, "make_initializable_iterator") or hasattr(
        value, "_as_variant_tensor"
    )


def features_and_labels(
    result: Any, mode: str
) -> tuple[Any, Any, list[SessionRunHook]]:
    """What an input function returned: features, labels or None, and hooks.

    Args:
      result: what it returned.
      mode: what for, a `tf.estimator.ModeKeys`.

    Raises:
      ValueError: it is a list or tuple of another length than two.
    """
    features, labels, hooks = parse_input_fn_result(result)
    announce_lifetime(InputsMade(get_default_graph(), mode, features))
    return features, labels, hooks


def parse_input_fn_result(result: Any) -> tuple[Any, Any, list[SessionRunHook]]:
    """As `features_and_labels`, without reporting the inputs to views."""
    hooks: list[SessionRunHook] = []
    if is_dataset(result):
        iterator = result.make_initializable_iterator()
        hooks.append(DatasetInitializerHook(iterator))
        result = iterator.get_next()
    if isinstance(result, list | tuple):
        if len(result) != 2:
            raise ValueError(
                "input_fn should return (features, labels) as a len 2 tuple."
            )
        features, labels = result
    else:
        features, labels = result, None
    return features, labels, hooks
