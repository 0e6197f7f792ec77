"""Branches and loops as functions, which operators call.

    if x > 0:                       def if_true():
        y = x                           y = x
    else:                               return y
        y = -x           ->         def if_false():
                                        y = -x
                                        return y
                                    y = ag__.if_stmt(x > 0, if_true, if_false, ...)

A branch returns the variables that it assigns and that are read later. Those of a loop
are the parameters and results of its body.

Source: python/autograph/converters/control_flow.py.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

from tfteach.lib.autograph.syntax.activity import Activity
from tfteach.lib.autograph.syntax.blocks import in_blocks
from tfteach.lib.autograph.syntax.dataflow import Assigned, Assignments, Liveness
from tfteach.lib.autograph.syntax.symbols import Namer, Symbol
from tfteach.lib.autograph.syntax.template import (
    function,
    names,
    placed,
    statements,
)


class ControlFlow:
    """Rewrites the branches and loops of a function.

    Args:
      node: the function.
      namer: names the functions.
      declared: its global and nonlocal variables.
      flags: further variables that are read at its end.
      tests: `for` loops -> what must hold for going on with them.
    """

    def __init__(
        self,
        node: ast.FunctionDef,
        namer: Namer,
        declared: frozenset[str],
        flags: frozenset[str],
        tests: Mapping[ast.For, ast.expr],
    ) -> None:
        self._namer = namer
        self._tests = tests
        self._live = Liveness(node.body, declared | flags, tests)
        self._assigned = Assignments(node, declared, self._live)

    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The rewritten statements."""
        found: list[ast.stmt] = []
        for node in body:
            match node:
                case ast.If():
                    found += placed(self._if(node), node)
                case ast.While():
                    found += placed(self._while(node), node)
                case ast.For():
                    found += placed(self._for(node), node)
                case _:
                    in_blocks(node, self.block)
                    found.append(node)
        return found

    # ---- branches

    def _if(self, node: ast.If) -> list[ast.stmt]:
        body, orelse = Activity(node.body), Activity(node.orelse)
        results = sorted((body.writes | orelse.writes) & self._live.after[node])
        kept = [self._kept(b, a) for b, a in ((node.body, body), (node.orelse, orelse))]
        created = self._created_in_both(node)
        before = self._assigned_first(
            node, {*results, *kept[0], *kept[1]} - (created - {*kept[0], *kept[1]})
        )
        state, arguments = self._state({**body.composites, **orelse.composites})
        end = _result(results)
        if_true, if_false = self._namer.new("if_true"), self._namer.new("if_false")
        branches = [
            function(if_true, (), self.block(node.body) + end, kept[0]),
            function(if_false, (), self.block(node.orelse) + end, kept[1]),
        ]
        assigned = f"{', '.join(results)} = " if results else ""
        call = statements(
            f"{assigned}ag__.if_stmt(test, {if_true}, {if_false}, {arguments[0]}"
            f"basic_symbol_names=({_quoted(results)}){arguments[1]})",
            test=node.test,
        )
        return [*before, *state, *branches, *call]

    def _kept(self, block: list[ast.stmt], activity: Activity) -> list[str]:
        """The variables that a branch reads before it assigns them."""
        if not block:
            return []
        perhaps = self._assigned.before[block[0]].perhaps
        return sorted(activity.writes & self._live.before[block[0]] & perhaps)

    def _created_in_both(self, node: ast.If) -> frozenset[str]:
        """The variables that have values after each branch."""
        every: frozenset[str] | None = None
        for end in self._assigned.ends[node]:
            if end is not None:
                every = end.surely if every is None else every & end.surely
        return every or frozenset()

    # ---- loops

    def _while(self, node: ast.While) -> list[ast.stmt]:
        activity = Activity(node.body)
        variables = self._variables(node, activity.writes)
        before = self._assigned_first(node, variables)
        state, arguments = self._loop_state(node, activity)
        test, body = self._namer.new("loop_test"), self._namer.new("loop_body")
        functions = [
            function(test, variables, [ast.Return(node.test)]),
            function(body, variables, self.block(node.body) + _returned(variables)),
        ]
        call = statements(
            f"{_targets(variables)}ag__.while_stmt({test}, {body}, "
            f"{_loop_arguments(variables, arguments)})"
        )
        return [*before, *state, *functions, *call]

    def _for(self, node: ast.For) -> list[ast.stmt]:
        activity = Activity(node.body)
        target = Activity(node.target)
        variables = self._variables(node, activity.writes | target.writes)
        before = self._assigned_first(node, variables)
        state, arguments = self._loop_state(node, activity)
        name, block = self._iterate(node, variables)
        body = self._namer.new("loop_body")
        block = block + self.block(node.body) + _returned(variables)
        functions = [function(body, (name, *variables), block)]
        test = "None"
        if node in self._tests:
            test = self._namer.new("extra_test")
            returned: list[ast.stmt] = [ast.Return(self._tests[node])]
            functions.append(function(test, variables, returned))
        call = statements(
            f"{_targets(variables)}ag__.for_stmt(iterated, {test}, {body}, "
            f"{_loop_arguments(variables, arguments)})",
            iterated=node.iter,
        )
        return [*before, *state, *functions, *call]

    def _iterate(
        self, node: ast.For, variables: Sequence[str]
    ) -> tuple[str, list[ast.stmt]]:
        """The body's parameter for an item, and the statements that assign it."""
        if isinstance(node.target, ast.Name) and node.target.id not in variables:
            return node.target.id, []
        name = self._namer.new("iterates")
        assign = ast.Assign([node.target], ast.Name(name, ast.Load()))
        return name, placed([assign], node)

    def _variables(self, node: ast.While | ast.For, changed: set[str]) -> list[str]:
        return sorted(changed & (self._live.before[node] | self._live.after[node]))

    def _loop_state(
        self, node: ast.While | ast.For, activity: Activity
    ) -> tuple[list[ast.stmt], tuple[str, str]]:
        live = self._live.before[node]
        return self._state(
            {t: s for t, s in activity.composites.items() if s.variables <= live}
        )

    # ---- variables and other state

    def _assigned_first(self, node: ast.stmt, needed: Iterable[str]) -> list[ast.stmt]:
        """Statements that give variables without values one that stands for none."""
        state: Assigned = self._assigned.before[node]
        found: list[ast.stmt] = []
        for name in sorted({*needed} - state.surely):
            if name in state.perhaps:
                found += statements(
                    f"{name} = ag__.if_defined(lambda: {name}, {name!r})"
                )
            else:
                found += statements(f"{name} = ag__.Undefined({name!r})")
        return found

    def _state(
        self, composites: Mapping[str, Symbol]
    ) -> tuple[list[ast.stmt], tuple[str, str]]:
        """Functions that read and restore composite symbols, and arguments for them."""
        if not composites:
            return [], ("", "")
        texts = sorted(composites)
        getter, setter = self._namer.new("get_state"), self._namer.new("set_state")
        values = self._namer.new("values")
        assign = statements("(items,) = values", items=names(texts), values=values)
        definitions: list[ast.stmt] = [
            function(getter, (), _returned(texts)),
            function(setter, (values,), assign),
        ]
        first = f"get_state={getter}, set_state={setter}, "
        return definitions, (first, f", composite_symbol_names=({_quoted(texts)})")


def _returned(symbols: Sequence[str]) -> list[ast.stmt]:
    """`return (a, b)`."""
    return [ast.Return(ast.Tuple(names(symbols), ast.Load()))]


def _result(symbols: Sequence[str]) -> list[ast.stmt]:
    """`return a` or `return (a, b)`; nothing if there are none."""
    if len(symbols) == 1:
        return [ast.Return(names(symbols)[0])]
    return _returned(symbols) if symbols else []


def _targets(variables: Sequence[str]) -> str:
    return f"({_listed(variables)}) = " if variables else ""


def _loop_arguments(variables: Sequence[str], state: tuple[str, str]) -> str:
    return (
        f"{state[0]}init_vars=({_listed(variables)}), "
        f"basic_symbol_names=({_quoted(variables)}){state[1]}"
    )


def _listed(symbols: Sequence[str]) -> str:
    """Symbols as the items of a tuple."""
    return "".join(f"{symbol}, " for symbol in symbols)


def _quoted(symbols: Sequence[str]) -> str:
    """Their names as the items of a tuple."""
    return _listed([repr(symbol) for symbol in symbols])
