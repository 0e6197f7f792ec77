"""The calls that created or shared each variable of a graph, with their scopes."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tfteach.explain.graphs.public_names import called_name
from tfteach.framework.call_origin import Origin, SourceLine, line_of
from tfteach.framework.graph import Graph
from tfteach.framework.opened_scopes import OpenedScope
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.shape import text as shape_text
from tfteach.variables.scope.get_variable import store_of
from tfteach.variables.scope.requests import Request
from tfteach.variables.scope.reuse import AUTO_REUSE

__all__ = ["Uses", "VariableCall"]

_GRADIENTS = re.compile(r"(.*/)?gradients(_\d+)?/")  # as tf.gradients names them


class VariableCall(NamedTuple):
    """A call that returned a variable.

    Attributes:
      call: the function called, such as "tf.get_variable"; "" if unknown.
      line: the line of the user's code; None if unknown.
      made: True if it created the variable, False if it returned an existing one.
      name_scope: the prefix of the ops built there, such as "net_1"; "" at the top.
      variable_scope: the prefix of variables there, such as "net"; "" at the top.
      reuse: "True" or "tf.AUTO_REUSE" where the scope reuses variables, or "".
      place: the innermost of the scopes that the user's code opened around the call.
      ops: the names of the ops that use this call's result, without gradients.
    """

    call: str
    line: SourceLine | None
    made: bool
    name_scope: str
    variable_scope: str
    reuse: str
    place: str
    ops: tuple[str, ...]


class Uses(NamedTuple):
    """One variable, and the calls that returned it.

    Attributes:
      name: the name of its op.
      dtype: the name of its type.
      shape: a tuple of sizes, with None for unknown ones; None for an unknown rank.
      by_name: True if `get_variable` created it, which can share it by its name.
      calls: the calls, the one that created it first.
    """

    name: str
    dtype: str
    shape: Shape
    by_name: bool
    calls: tuple[VariableCall, ...]

    @property
    def made_by(self) -> SourceLine | None:
        """The line that created it, or None if unknown."""
        return self.calls[0].line

    @property
    def is_shared(self) -> bool:
        """True if more than one call returned it."""
        return len(self.calls) > 1

    @property
    def value(self) -> str:
        """Its type and shape: "float32 [784,10]"."""
        return f"{self.dtype} {shape_text(self.shape)}"


def uses_of(graph: Graph) -> Iterator[Uses]:
    """The variables of a graph in the order of creation, with their calls."""
    requests: dict[str, list[Request]] = {}
    for request in store_of(graph).requests:
        op = getattr(request.variable, "op", None)
        if isinstance(op, Operation):
            requests.setdefault(op.name, []).append(request)
    added = {
        id(op): each.origin
        for items in graph.added.values()
        for each in items
        if (op := getattr(each.value, "op", None)) is not None
    }
    scopes = scopes_of(graph)
    for op in graph.get_operations():
        if op.spec.returns_handle:
            asked = requests.get(op.name, [])
            calls = (
                _requested(op, asked)
                if asked
                else [_constructed(op, added.get(id(op)), scopes)]
            )
            spec: Any = op.spec
            dtype = spec.dtype.base_dtype.name
            yield Uses(op.name, dtype, spec.shape, bool(asked), tuple(calls))


def _requested(op: Operation, requests: list[Request]) -> Iterator[VariableCall]:
    """The `get_variable` calls: each op that follows one uses that one's result."""
    versions = [request.version for request in requests]
    ops: list[list[str]] = [[] for _ in requests]
    for user in _users(op):
        ops[max(0, bisect_left(versions, user.node_id) - 1)].append(user.name)
    for request, users in zip(requests, ops, strict=True):
        asked, origin = request.asked, request.origin
        reuse = {True: "True", AUTO_REUSE: "tf.AUTO_REUSE"}.get(asked.reuse, "")
        line = None if origin is None else line_of(origin)
        yield VariableCall(
            called_name(origin), line, request.made, asked.name_scope,
            asked.variable_scope, reuse, asked.users_scope,
            tuple(users),
        )  # fmt: skip


def _constructed(
    op: Operation, origin: Origin | None, scopes: dict[str, OpenedScope]
) -> VariableCall:
    """The call of `tf.Variable`, or of a function that calls it."""
    prefix = op.name.rpartition("/")[0]
    name = called_name(origin) or "tf.Variable"
    line = op.source
    place = prefix
    while place and place not in scopes:
        place = place.rpartition("/")[0]
    users = tuple(user.name for user in _users(op))
    return VariableCall(name, line, True, prefix, "", "", place, users)


def _users(op: Operation) -> Iterable[Operation]:
    """The ops that read a variable's value, in the order of creation."""
    found: dict[Operation, None] = {}
    for consumer in _consumers(op):
        spec = consumer.spec
        if len(consumer.inputs) == 1 and (spec.forwards_input or spec.reads_variable):
            found.update(dict.fromkeys(_consumers(consumer)))
        elif spec.reads_variable:
            found[consumer] = None
    # Ops without an output save the value.
    users = [u for u in found if u.outputs and not _GRADIENTS.match(u.name)]
    return sorted(users, key=lambda user: user.node_id)


def _consumers(op: Operation) -> list[Operation]:
    return op.graph.consumers_of(op.outputs[0])


# ---- scopes


def scopes_of(graph: Graph) -> dict[str, OpenedScope]:
    """Prefix of ops -> the scope that first had it."""
    found: dict[str, OpenedScope] = {}
    for scope in sorted(graph.opened_scopes.values(), key=lambda each: each.order):
        if scope.asked:
            found.setdefault(scope.prefix, scope)
    return found


def outer(scope: OpenedScope) -> str:
    """The prefix of the scope around another."""
    if scope.asked.endswith("/"):
        return ""  # absolute
    depth = scope.asked.count("/") + 1
    return "/".join(scope.prefix.split("/")[:-depth])
