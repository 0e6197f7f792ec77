"""The `return`s in branches and loops as variables, returned at the end.

    if x > 0:                       do_return = False
        return x                    retval_ = ag__.UndefinedReturnValue()
    y = -x                          if x > 0:
    return y              ->            do_return = True
                                        retval_ = x
                                    else:
                                        y = -x
                                        do_return = True
                                        retval_ = y
                                    return ag__.retval(retval_)

Source: python/autograph/converters/return_statements.py.
"""

from __future__ import annotations

import ast

from tfteach.lib.autograph.syntax.blocks import in_blocks
from tfteach.lib.autograph.syntax.symbols import Namer
from tfteach.lib.autograph.syntax.template import expression, placed, statements


def needs_rewriting(body: list[ast.stmt]) -> bool:
    """Whether a branch or a loop returns: these become functions of their own."""
    return any(
        isinstance(node, ast.If | ast.While | ast.For) and _returns(node)
        for node in _statements(body)
    )


def with_returns_last(body: list[ast.stmt]) -> tuple[list[ast.stmt], bool]:
    """Move what follows an `if` that returns in one branch into the other branch.

    Returns:
      The statements, and whether all ways through them return.
    """
    found: list[ast.stmt] = []
    for i, node in enumerate(body):
        found.append(node)
        if isinstance(node, ast.Return):
            return found, True
        if isinstance(node, ast.If):
            rest = body[i + 1 :]
            node.body, body_returns = with_returns_last(node.body)
            if body_returns:
                node.orelse, both = with_returns_last(node.orelse + rest)
                return found, both
            node.orelse, orelse_returns = with_returns_last(node.orelse)
            if orelse_returns:
                node.body, both = with_returns_last(node.body + rest)
                return found, both
        elif isinstance(node, ast.With):
            node.body, returns = with_returns_last(node.body)
            if returns:
                return found, True
        else:
            in_blocks(node, lambda block: with_returns_last(block)[0])
    return found, False


class Returns:
    """Rewrites the returns of a function.

    Args:
      namer: names the variables.
      tests: `for` loops -> what must hold for going on with them; extended.

    Attributes:
      do_return: the variable that says whether the function has returned.
      retval: the variable with what it returns.
    """

    def __init__(self, namer: Namer, tests: dict[ast.For, ast.expr]) -> None:
        self._tests = tests
        self.do_return = namer.new("do_return")
        self.retval = namer.new("retval_")

    def function_body(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements of a function, with a single return at the end."""
        before = placed(
            statements(
                f"""
                {self.do_return} = False
                {self.retval} = ag__.UndefinedReturnValue()
                """
            ),
            body[0],
        )
        end = placed(statements(f"return ag__.retval({self.retval})"), body[-1])
        rewritten, _ = self._block(with_returns_last(body)[0])
        return [*before, *rewritten, *end]

    def _block(
        self, body: list[ast.stmt], has_returned: bool = False
    ) -> tuple[list[ast.stmt], bool]:
        """Statements without returns, and whether there was one in them.

        Args:
          body: the statements.
          has_returned: whether one before them perhaps returned.
        """
        found: list[ast.stmt] = []
        for i, node in enumerate(body):
            returns = _returns(node)
            found += self._statement(node, has_returned or returns)
            if returns:
                rest, _ = self._block(body[i + 1 :], has_returned=True)
                if rest:
                    test = expression(f"ag__.not_({self.do_return})")
                    found += placed([ast.If(test, rest, [])], rest[0])
                return found, True
        return found, False

    def _statement(self, node: ast.stmt, may_have_returned: bool) -> list[ast.stmt]:
        if isinstance(node, ast.Return):
            made = statements(
                f"""
                {self.do_return} = True
                {self.retval} = value
                """,
                value=node.value or ast.Constant(None),
            )
            return placed(made, node)
        in_blocks(node, lambda block: self._block(block)[0])
        if may_have_returned and isinstance(node, ast.While):
            node.test = self._with_test(node.test)
        elif may_have_returned and isinstance(node, ast.For):
            self._tests[node] = self._with_test(self._tests.get(node))
        return [node]

    def _with_test(self, test: ast.expr | None) -> ast.expr:
        """A condition that also requires that the function has not returned."""
        if test is None:
            return expression(f"ag__.not_({self.do_return})")
        return expression(
            f"ag__.and_(lambda: ag__.not_({self.do_return}), lambda: test)", test=test
        )


def _statements(body: list[ast.stmt]) -> list[ast.stmt]:
    """All statements of a function, those in blocks included."""
    found: list[ast.stmt] = []

    def collect(block: list[ast.stmt]) -> list[ast.stmt]:
        for node in block:
            found.append(node)
            in_blocks(node, collect)
        return block

    collect(body)
    return found


def _returns(node: ast.stmt) -> bool:
    return any(isinstance(inner, ast.Return) for inner in _statements([node]))
