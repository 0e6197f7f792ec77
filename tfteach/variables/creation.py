"""How `tf.Variable(...)` is created: creator scopes, and the kinds of variables.

Source: python/ops/variables.py, variable_scope.py (API and messages).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfteach.framework.export import export
from tfteach.framework.graph import Graph, get_default_graph
from tfteach.framework.scope import open_init_scope

Creator = Callable[..., Any]


class _OfThread(threading.local):
    creators: list[Creator] | None = None


_of_thread = _OfThread()


@contextmanager
def creators_of_thread(stack: list[Creator]) -> Iterator[None]:
    """A block in which this thread has creator scopes of its own."""
    before, _of_thread.creators = _of_thread.creators, stack
    try:
        yield
    finally:
        _of_thread.creators = before


def creators(graph: Graph) -> list[Creator]:
    """The functions involved in creating variables, innermost last.

    The body of a function, a branch or a loop begins with those of the graph around it.
    """
    if _of_thread.creators is not None:
        return _of_thread.creators
    stack: list[Creator] | None = graph.__dict__.get("_variable_creators")
    if stack is None:
        outer: Graph | None = getattr(graph, "outer_graph", None)
        stack = [] if outer is None else list(creators(outer))
        graph.__dict__["_variable_creators"] = stack
    return stack


@export("variable_creator_scope", v2="variable_creator_scope")
@contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """Within the block, `variable_creator` determines how variables are created.

    Args:
      variable_creator: `f(next_creator, **kwargs)`, which returns a variable; `kwargs`
        are the arguments of `tf.Variable`.

    Example:
      >>> def in_float64(make, **kwargs):
      ...     return make(**{**kwargs, "dtype": tf.float64})
      >>> with tf.variable_creator_scope(in_float64):
      ...     v = tf.Variable(1.0)
    """
    stack = creators(get_default_graph())
    stack.append(variable_creator)
    try:
        yield
    finally:
        stack.remove(variable_creator)


@contextmanager
def final_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """Within the block, `variable_creator` is the last to be asked for a variable.

    Creators of enclosing `tf.variable_creator_scope`s may change its arguments.
    """
    stack = creators(get_default_graph())
    stack.insert(0, variable_creator)
    try:
        yield
    finally:
        stack.remove(variable_creator)


class Kinds:
    """Creates the variable of `tf.Variable(...)`; consults the creator scopes."""

    ref: Callable[..., Any]
    resource: Callable[..., Any]
    use_resource_of_scope: Callable[[], bool | None] = staticmethod(lambda: None)
    use_resource_by_default = False


@export("enable_resource_variables")
def enable_resource_variables() -> None:
    """Create resource variables where `use_resource` is not given."""
    Kinds.use_resource_by_default = True


@export("disable_resource_variables")
def disable_resource_variables() -> None:
    """Create reference variables (TF 1's default) where `use_resource` is not given."""
    Kinds.use_resource_by_default = False


@export("resource_variables_enabled")
def resource_variables_enabled() -> bool:
    """Whether `tf.enable_resource_variables` is in effect."""
    return Kinds.use_resource_by_default


def makes_eager_variables() -> bool:
    """Whether a variable created here has its value at once.

    Variables are created outside all functions: those of a function that an eager
    program traces are eager, too.
    """
    graph = get_default_graph()
    if not graph.building_function:
        return graph.is_eager
    with open_init_scope(graph):
        return get_default_graph().is_eager


def default_creator(use_resource: bool | None = None, **kwargs: Any) -> Any:
    """Create a variable of the requested kind; an eager program has only one."""
    if makes_eager_variables():
        use_resource = True
    if use_resource is None:
        use_resource = Kinds.use_resource_of_scope()
    if use_resource is None:
        use_resource = Kinds.use_resource_by_default
    if not use_resource:
        return Kinds.ref(**kwargs)
    kwargs.pop("expected_shape")
    return Kinds.resource(**kwargs)


def create(make: Creator, **kwargs: Any) -> Any:
    """The variable that the open creator scopes, and at last `make`, make."""
    for creator in creators(get_default_graph()):
        make = _before(creator, make)
    return make(**kwargs)


def _before(creator: Creator, make: Creator) -> Creator:
    return lambda **kwargs: creator(make, **kwargs)
