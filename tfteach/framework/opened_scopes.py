"""`tf.name_scope`, and the record of the scopes that a program opens.

This package's own name scopes, which are many, are not recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from tfteach.framework.call_origin import Origin, user_frame
from tfteach.framework.export import export_value
from tfteach.framework.scope import name_scope, name_text, open_name_scope

if TYPE_CHECKING:
    from tfteach.framework.graph import Graph
    from tfteach.framework.graph_scopes import GraphScopes


class OpenedScope(NamedTuple):
    """A name scope or variable scope that the user's code opened.

    Attributes:
      prefix: of ops' names, without the final slash.
      asked: the name given, which `prefix` may end with, and a number; "" if the scope
        stays in the open name scope.
      variables: the prefix of variables' names; None for a name scope.
      origin: the `with`; None if unknown.
      order: as in the records of collections.
    """

    prefix: str
    asked: str
    variables: str | None
    origin: Origin | None
    order: int


@contextmanager
def recorded_scope(
    graph: GraphScopes, asked: object, variables: str | None, origin: Origin | None
) -> Iterator[None]:
    """Record the open name scope as one that the user's code has opened."""
    scopes = graph._of_thread.scopes
    prefix, outer = scopes.name, scopes.users
    # A program that opens the same scope again and again, as "name/", adds nothing.
    which = prefix, variables, origin and (id(origin[0]), origin[1])
    if which not in graph.opened_scopes:
        opened = OpenedScope(
            prefix, name_text(asked), variables, origin, next(graph.order)
        )
        graph.opened_scopes[which] = opened
    scopes.users = prefix
    try:
        yield
    finally:
        scopes.users = outer


@contextmanager
def open_recorded_scope(
    graph: GraphScopes, name: object, origin: Origin | None
) -> Iterator[str]:
    """Open a name scope that the user's code asked for."""
    with (
        open_name_scope(graph, name) as prefix,
        recorded_scope(graph, name, None, origin),
    ):
        yield prefix


class RecordedNameScope(name_scope):
    """`tf.name_scope`."""

    def _open(self, graph: Graph) -> AbstractContextManager[str]:
        return open_recorded_scope(graph, self._name, user_frame())


# What a program sees.
RecordedNameScope.__name__ = RecordedNameScope.__qualname__ = name_scope.__name__
RecordedNameScope.__doc__ = name_scope.__doc__

export_value(__name__, RecordedNameScope="name_scope")
