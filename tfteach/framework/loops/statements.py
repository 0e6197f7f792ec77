"""Statements of a loop as instructions of LLVM."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from tfteach.framework.loops.expressions import ExpressionWriter
from tfteach.framework.loops.instructions import Value
from tfteach.framework.loops.language import (
    Array,
    Parameter,
    UnsupportedSyntaxError,
    types_of,
)


class Translation(NamedTuple):
    """A loop in LLVM's language.

    Attributes:
      code: of the function `@loop`.
      parameters: of the function: those of the source, but for an array its address
        and its shape.
      is_function: whether it returns a number.
    """

    code: str
    parameters: list[Value]
    is_function: bool


def translate(source: str, parameters: Sequence[Parameter]) -> Translation:
    """A loop in LLVM's language.

    Args:
      source: `def loop(...):`.
      parameters: its parameters, in order.

    Raises:
      UnsupportedSyntaxError: the source is not within the supported subset.
    """
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    writer = _StatementWriter()
    names = [argument.arg for argument in function.args.args]
    flat: list[Value] = []
    for name, (dtype, rank, _) in zip(names, parameters, strict=True):
        kind = types_of(dtype)[1]
        value = Value("ptr" if rank else kind, f"%{name}")
        shape = tuple(f"%{name}.{axis}" for axis in range(rank))
        if rank:
            writer.arrays[name] = Array(dtype, value.text, shape)
        else:
            writer.set(function, name, value)
        flat += [value, *(Value("i64", length) for length in shape)]
    writer.write(function.body)
    taken = ", ".join(f"{kind} {name}" for kind, name in flat)
    lines = [
        f"define internal i64 @loop({taken}) {{",
        *writer.allocations,
        *writer.lines,
        "ret i64 0",
        "}",
    ]
    is_function = any(isinstance(node, ast.Return) for node in ast.walk(function))
    return Translation("\n".join(lines), flat, is_function)


class _StatementWriter(ExpressionWriter):
    def __init__(self) -> None:
        super().__init__()
        self._around: list[tuple[str, str]] = []  # labels of continue and break

    def write(self, body: Sequence[ast.stmt]) -> None:
        """Write some statements."""
        for statement in body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                self._assign(target, ast.BinOp(target, op, value))
            case ast.For(
                target=ast.Name(id=name),
                iter=ast.Call(func=ast.Name(id="range"), args=bounds),
                orelse=[],
            ):
                self._for(node, name, bounds)
            case ast.While(test=test, body=body, orelse=[]):
                head, inside, end = self.labels("while", "do", "end")
                self.go_on(head)
                self.branch(test, inside, end)
                self.begin(inside)
                self._around.append((head, end))
                self.write(body)
                self._around.pop()
                self.go(head)
                self.begin(end)
            case ast.If(test=test, body=body, orelse=otherwise):
                yes, no, end = self.labels("then", "else", "end")
                self.branch(test, yes, no)
                self.begin(yes)
                self.write(body)
                self.go(end)
                self.begin(no)
                self.write(otherwise)
                self.go_on(end)
            case ast.Break() | ast.Continue() if self._around:
                label = self._around[-1][isinstance(node, ast.Break)]
                self._leave(f"br label %{label}")
            case ast.Return(value=ast.expr() as value):
                result = self.value(value)
                if result.type != "i64":
                    raise UnsupportedSyntaxError(node, "only an int can be returned")
                self._leave(f"ret i64 {result.text}")
            case ast.Pass():
                pass
            case _:
                raise UnsupportedSyntaxError(node, "not a supported statement")

    def _leave(self, jump: str) -> None:
        """A jump; what follows it in the source is in an unreachable block."""
        [label] = self.labels("after")
        self.lines.append(jump)
        self.begin(label)

    def _assign(self, target: ast.expr, expression: ast.expr) -> None:
        match target:
            case ast.Name(id=name) if name not in self.arrays:
                known = self._variables.get(name)
                value = self.value(expression, known and known.type)
                self.set(target, name, value)
            case ast.Subscript(value=ast.Name(id=name)) if name in self.arrays:
                memory, kind = types_of(self.arrays[name].dtype)
                value = self.value(expression, kind)
                if value.type != kind:
                    reason = f"the array is {kind}, the value {value.type}"
                    raise UnsupportedSyntaxError(target, reason)
                place = self.element(target, self.arrays[name])
                if memory != kind:
                    cast = "zext" if kind == "i1" else "trunc"
                    value = self.emit(memory, f"{cast} {kind} {value.text} to {memory}")
                self.lines.append(f"store {memory} {value.text}, ptr {place}, align 1")
            case _:
                raise UnsupportedSyntaxError(target, "cannot be assigned to")

    def _for(self, node: ast.For, name: str, bounds: Sequence[ast.expr]) -> None:
        first: ast.expr = ast.Constant(0)
        match bounds:
            case [last]:
                step = 1
            case [first, last]:
                step = 1
            case [first, last, ast.Constant(value=int(step))] if step > 0:
                pass
            case _:
                raise UnsupportedSyntaxError(node, "the step must be a literal above 0")
        start, stop = self.integer(first), self.integer(last)
        place = self.allocate("i64")
        head, inside, following, end = self.labels("for", "do", "next", "end")
        self.lines.append(f"store i64 {start}, ptr {place}")
        self.go_on(head)
        now = self.emit("i64", f"load i64, ptr {place}")
        more = self.emit("i1", f"icmp slt i64 {now.text}, {stop}")
        self.lines.append(f"br i1 {more.text}, label %{inside}, label %{end}")
        self.begin(inside)
        self.set(node, name, now)
        self._around.append((following, end))
        self.write(node.body)
        self._around.pop()
        self.go_on(following)
        later = self.emit("i64", f"add nsw i64 {now.text}, {step}")
        self.lines.append(f"store i64 {later.text}, ptr {place}")
        self.go(head)
        self.begin(end)
