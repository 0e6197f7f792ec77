"""Which variables have values before a statement, and which are read after it.

Both follow the structure of the code, in which no statement leaves a loop: the other
passes have replaced `break`, `continue` and the `return`s in loops and branches.
Source: python/autograph/pyct/static_analysis/{liveness,reaching_definitions}.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tfteach.lib.autograph.syntax.activity import Activity, parameters

Names = frozenset[str]
NONE: Names = frozenset()


class Assigned(NamedTuple):
    """The variables with values at a point of the code.

    Attributes:
      perhaps: on some way to it.
      surely: on each way to it.
    """

    perhaps: Names
    surely: Names


class Liveness:
    """Which variables are read later, for each `if` and loop of a function.

    Args:
      body: the function's statements.
      at_exit: the variables that others read after the function.
      tests: loops -> further conditions for going on with them.

    Attributes:
      before, after: statement -> the variables whose values there are read later.
    """

    def __init__(
        self,
        body: Sequence[ast.stmt],
        at_exit: Names,
        tests: Mapping[ast.For, ast.expr],
    ) -> None:
        self._at_exit = at_exit
        self._tests = tests
        self._in_handlers = NONE  # live where an exception is handled
        self.before: dict[ast.stmt, Names] = {}
        self.after: dict[ast.stmt, Names] = {}
        self._block(body, at_exit)

    def _block(self, body: Sequence[ast.stmt], live: Names) -> Names:
        for statement in reversed(body):
            self.after[statement] = live
            live = self._statement(statement, live) | self._in_handlers
            self.before[statement] = live
        return live

    def _statement(self, node: ast.stmt, live: Names) -> Names:
        match node:
            case ast.If(test, body, orelse):
                either = self._block(body, live) | self._block(orelse, live)
                return either | _reads(test)
            case ast.While(test, body):
                return self._loop(body, live | _reads(test), NONE)
            case ast.For(target, iterated, body):
                start = live | _reads(self._tests.get(node))
                start = self._loop(body, start, _writes(target)) | _reads(target)
                return start | _reads(iterated)
            case ast.Try() | ast.TryStar():
                return self._try(node, live)
            case ast.With(items, body):
                return self._changed(items, self._block(body, live))
            case ast.Match(subject, cases):
                return _reads(subject).union(
                    live, *(self._case(c, live) for c in cases)
                )
            case ast.Return(value):
                return self._at_exit | _reads(value)
            case ast.Raise():
                return _reads(node)
            case _:
                return self._changed([node], live)

    def _changed(self, nodes: Sequence[ast.AST], live: Names) -> Names:
        activity = Activity(nodes)
        return (live - activity.writes) | activity.reads

    def _loop(self, body: Sequence[ast.stmt], start: Names, assigned: Names) -> Names:
        """Live before a loop's first iteration, if `start` is before the last test."""
        while True:
            before = start | (self._block(body, start) - assigned)
            if before == start:
                return start
            start = before

    def _try(self, node: ast.Try | ast.TryStar, live: Names) -> Names:
        outer = self._in_handlers
        live = self._block(node.finalbody, live)
        self._in_handlers = outer | live  # what `finally` reads
        handled = [self._block(h.body, live) | _reads(h.type) for h in node.handlers]
        after_body = self._block(node.orelse, live)
        self._in_handlers = self._in_handlers.union(*handled)
        live = self._block(node.body, after_body)
        self._in_handlers = outer
        return live

    def _case(self, case: ast.match_case, live: Names) -> Names:
        inside = self._block(case.body, live) | _reads(case.guard)
        return self._changed([case.pattern], inside)


class Assignments:
    """The variables with values before each statement of a function.

    The body of a loop and the branches of an `if` count as functions, which have values
    of the variables that they get only.

    Args:
      node: the function.
      declared: its global and nonlocal variables.
      liveness: of its body.

    Attributes:
      before: statement -> the variables with values there.
      ends: `if` -> the variables with values at the end of either branch; None if that
        is never reached.
    """

    def __init__(
        self, node: ast.FunctionDef, declared: Names, liveness: Liveness
    ) -> None:
        self._liveness = liveness
        self.before: dict[ast.stmt, Assigned] = {}
        self.ends: dict[ast.If, tuple[Assigned | None, Assigned | None]] = {}
        at_start = declared | frozenset(parameters(node))
        self._block(node.body, Assigned(at_start, at_start))

    def _block(self, body: Sequence[ast.stmt], state: Assigned) -> Assigned | None:
        """The state after some statements; None if no way leads there."""
        end: Assigned | None = state
        for statement in body:
            # What never runs is converted, too.
            self.before[statement] = state = end or Assigned(NONE, NONE)
            end = self._statement(statement, state)
        return end

    def _statement(self, node: ast.stmt, state: Assigned) -> Assigned | None:
        match node:
            case ast.If(_, body, orelse):
                ends = self._branch(body, state), self._branch(orelse, state)
                self.ends[node] = ends
                after = _merged(ends)
                results = _writes([*body, *orelse]) & self._liveness.after[node]
                return after and _assigned(after, results)
            case ast.While(_, body):
                return self._loop(node, body, NONE, state)
            case ast.For(target, _, body):
                return self._loop(node, body, _writes(target), state)
            case ast.Try() | ast.TryStar():
                return self._try(node, state)
            case ast.With(items, body):
                return self._block(body, _assigned(state, _writes(items)))
            case ast.Match(_, cases):
                ways = [
                    self._block(c.body, _assigned(state, _writes(c.pattern)))
                    for c in cases
                ]
                return _merged([state, *ways])
            case ast.Return() | ast.Raise():
                return None
            case ast.Delete():
                gone = _writes(node)
                return Assigned(state.perhaps - gone, state.surely - gone)
            case _:
                return _assigned(state, _writes(node))

    def _branch(self, body: Sequence[ast.stmt], state: Assigned) -> Assigned | None:
        own = _writes(body) - (self._liveness.before[body[0]] if body else NONE)
        return self._block(body, Assigned(state.perhaps, state.surely - own))

    def _loop(
        self,
        node: ast.While | ast.For,
        body: Sequence[ast.stmt],
        target: Names,
        state: Assigned,
    ) -> Assigned:
        changed = _writes(body) | target
        live = self._liveness.before[node] | self._liveness.after[node]
        variables = changed & live
        within = Assigned(
            state.perhaps | changed, (state.surely - changed) | variables | target
        )
        self._block(body, within)
        return Assigned(within.perhaps, state.surely | variables)

    def _try(self, node: ast.Try | ast.TryStar, state: Assigned) -> Assigned | None:
        within = self._block(node.body, state)
        ends = [within and self._block(node.orelse, within)]
        failed = Assigned(state.perhaps | _writes(node.body), state.surely)
        for handler in node.handlers:
            named = NONE if handler.name is None else frozenset([handler.name])
            end = self._block(handler.body, _assigned(failed, named))
            ends.append(end and Assigned(end.perhaps - named, end.surely - named))
        after = _merged(ends)
        if not node.finalbody:
            return after
        final = self._block(node.finalbody, after or failed)
        return after and final


def _reads(nodes: ast.AST | None) -> Names:
    return frozenset(Activity(nodes).reads)


def _writes(nodes: ast.AST | Iterable[ast.AST | None]) -> Names:
    return frozenset(Activity(nodes).writes)


def _assigned(state: Assigned, names: Names) -> Assigned:
    return Assigned(state.perhaps | names, state.surely | names)


def _merged(states: Sequence[Assigned | None]) -> Assigned | None:
    """The state where several ways meet."""
    found = [state for state in states if state is not None]
    if not found:
        return None
    return Assigned(
        NONE.union(*(s.perhaps for s in found)),
        frozenset.intersection(*(s.surely for s in found)),
    )
