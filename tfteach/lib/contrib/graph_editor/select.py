"""Selects operations and tensors by regular expressions and filters.

Source: contrib/graph_editor/select.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

from tfteach.framework.export import export
from tfteach.framework.graph import Graph
from tfteach.framework.operation import Operation, Tensor
from tfteach.lib.contrib.graph_editor.util import (
    Ops,
    Tensors,
    input_tensors,
    make_list_of_op,
    make_list_of_t,
    unique,
)
from tfteach.lib.contrib.graph_editor.walks import OpFilter

_T = TypeVar("_T", Operation, Tensor)
Pattern: TypeAlias = "str | re.Pattern[str]"
TensorFilter: TypeAlias = "Callable[[Tensor], bool]"


@export("contrib.graph_editor.make_regex")
def make_regex(obj: Pattern) -> re.Pattern[str]:
    """A compiled regular expression.

    Raises:
      ValueError: `obj` is neither text nor a regular expression.

    Source: contrib/graph_editor/select.py.
    """
    if not can_be_regex(obj):
        raise ValueError(f"Expected a string or a regex, got: {type(obj)}")
    return re.compile(obj)


@export("contrib.graph_editor.can_be_regex")
def can_be_regex(obj: object) -> bool:
    """Whether an object is text or a regular expression.

    Source: contrib/graph_editor/select.py.
    """
    return isinstance(obj, str | re.Pattern)


@export("contrib.graph_editor.filter_ts")
def filter_ts(ops: Ops, positive_filter: TensorFilter | bool) -> list[Tensor]:
    """The inputs and outputs of operations that satisfy a filter.

    Args:
      ops: operations, or a Graph.
      positive_filter: a function of a Tensor, or True for all.

    Source: contrib/graph_editor/select.py.
    """
    items = make_list_of_op(ops)
    outputs = [tensor for op in items for tensor in op.outputs]
    found = unique([*input_tensors(items), *outputs])
    if isinstance(positive_filter, bool):
        return found if positive_filter else []
    return [tensor for tensor in found if positive_filter(tensor)]


@export("contrib.graph_editor.filter_ts_from_regex")
def filter_ts_from_regex(ops: Ops, regex: Pattern) -> list[Tensor]:
    """The inputs and outputs of operations whose names match.

    Source: contrib/graph_editor/select.py.
    """
    pattern = make_regex(regex)
    return filter_ts(ops, lambda tensor: bool(pattern.search(tensor.name)))


@export("contrib.graph_editor.filter_ops")
def filter_ops(ops: Ops, positive_filter: OpFilter | bool) -> list[Operation]:
    """The operations that satisfy a filter.

    Args:
      ops: operations, or a Graph.
      positive_filter: a function of an Operation, or True for all.

    Source: contrib/graph_editor/select.py.
    """
    items = make_list_of_op(ops)
    if isinstance(positive_filter, bool):
        return items if positive_filter else []
    return [op for op in items if positive_filter(op)]


@export("contrib.graph_editor.filter_ops_from_regex")
def filter_ops_from_regex(ops: Ops, regex: Pattern) -> list[Operation]:
    """The operations whose names match.

    Source: contrib/graph_editor/select.py.
    """
    pattern = make_regex(regex)
    return filter_ops(ops, lambda op: bool(pattern.search(op.name)))


@export("contrib.graph_editor.get_name_scope_ops")
def get_name_scope_ops(ops: Ops, scope: str) -> list[Operation]:
    """The operations in a name scope, and that of its name.

    Source: contrib/graph_editor/select.py.
    """
    name = scope.removesuffix("/")
    return filter_ops(ops, lambda op: op.name == name or op.name.startswith(f"{name}/"))


def _needs_graph(graph: Graph | None) -> Graph:
    if graph is None:
        raise ValueError("Use the keyword argument 'graph' to use regex.")
    if not isinstance(graph, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
    return graph


def _selected(
    args: tuple[Any, ...],
    graph: Graph | None,
    marks: tuple[str, str],
    restrict: bool,
    matching: Callable[[Graph, re.Pattern[str]], list[_T]],
    as_list: Callable[[Any], list[_T]],
) -> list[_T]:
    """The items that are given, or whose names match, without repetitions.

    Args:
      args: items, lists of them, graphs, or regular expressions.
      graph: the graph that regular expressions are about.
      marks: the beginnings of regular expressions for these items, and for others.
      restrict: whether others than the former are left out.
      matching: a function of a graph and a pattern: the items whose names match.
      as_list: a function of another argument: its items.
    """
    found: list[_T] = []
    own, foreign = marks
    for arg in args:
        if not can_be_regex(arg):
            found += as_list(arg)
            continue
        pattern, whole = make_regex(arg), _needs_graph(graph)
        text = pattern.pattern
        if not text.startswith(foreign) and (text.startswith(own) or not restrict):
            found += matching(whole, pattern)
    return unique(found)


@export("contrib.graph_editor.select_ops")
def select_ops(
    *args: Ops | Pattern,
    graph: Graph | None = None,
    positive_filter: OpFilter | None = None,
    restrict_ops_regex: bool = False,
    restrict_ts_regex: bool = False,
) -> list[Operation]:
    """The operations that are given, or whose names match regular expressions.

    Args:
      *args: operations, lists of them, graphs, or regular expressions.  One that
        begins with `(?#ts)` is for Tensors only.
      graph: the graph that regular expressions are about.
      positive_filter: a function of an Operation that must be true.
      restrict_ops_regex: whether only regular expressions that begin with `(?#ops)`
        count.
      restrict_ts_regex: without effect here; see `select_ts`.

    Raises:
      ValueError: there are regular expressions, and `graph` is None.
      TypeError: an argument is none of these.

    Example:
      >>> tf.contrib.graph_editor.select_ops("^hidden/", graph=tf.get_default_graph())

    Source: contrib/graph_editor/select.py.
    """
    found = _selected(
        args, graph, ("(?#ops)", "(?#ts)"), restrict_ops_regex, filter_ops_from_regex,
        lambda arg: make_list_of_op(arg, ignore_ts=True),
    )  # fmt: skip
    return [op for op in found if positive_filter is None or positive_filter(op)]


@export("contrib.graph_editor.select_ts", "contrib.graph_editor.ts")
def select_ts(
    *args: Tensors | Pattern,
    graph: Graph | None = None,
    positive_filter: TensorFilter | None = None,
    restrict_ts_regex: bool = False,
    restrict_ops_regex: bool = False,
) -> list[Tensor]:
    """The Tensors that are given, or whose names match regular expressions.

    Args:
      *args: Tensors, lists of them, graphs, or regular expressions.  One that begins
        with `(?#ops)` is for operations only.
      graph: the graph that regular expressions are about.
      positive_filter: a function of a Tensor that must be true.
      restrict_ts_regex: whether only regular expressions that begin with `(?#ts)`
        count.
      restrict_ops_regex: without effect here; see `select_ops`.

    Raises:
      ValueError: there are regular expressions, and `graph` is None.
      TypeError: an argument is none of these.

    Example:
      >>> tf.contrib.graph_editor.select_ts("logits:0$", graph=tf.get_default_graph())

    Source: contrib/graph_editor/select.py.
    """
    found = _selected(
        args, graph, ("(?#ts)", "(?#ops)"), restrict_ts_regex, filter_ts_from_regex,
        lambda arg: make_list_of_t(arg, ignore_ops=True),
    )  # fmt: skip
    return [t for t in found if positive_filter is None or positive_filter(t)]


@export("contrib.graph_editor.select_ops_and_ts")
def select_ops_and_ts(
    *args: Ops | Tensors | Pattern, graph: Graph | None = None
) -> tuple[list[Operation], list[Tensor]]:
    """`select_ops`, and `select_ts` with `restrict_ts_regex`.

    Source: contrib/graph_editor/select.py.
    """
    return (
        select_ops(*args, graph=graph),  # type: ignore[arg-type]
        select_ts(*args, graph=graph, restrict_ts_regex=True),  # type: ignore[arg-type]
    )
