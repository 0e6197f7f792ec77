"""Expressions of a loop as instructions of LLVM."""

from __future__ import annotations

import ast
import struct
from collections.abc import Sequence

import numpy as np

from tfteach.framework.loops.instructions import InstructionWriter, Value
from tfteach.framework.loops.language import (
    CASTS,
    EXTREMES,
    FUNCTIONS,
    INTRINSICS,
    SUFFIXES,
    Array,
    UnsupportedSyntaxError,
    types_of,
)

_ARITHMETIC: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
}
_OF_FLOATS: dict[type[ast.AST], str] = {**_ARITHMETIC, ast.Div: "div"}
_OF_INTEGERS: dict[type[ast.AST], str] = {
    **_ARITHMETIC,
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "ashr",
}
_COMPARISONS: dict[type[ast.AST], tuple[str, str]] = {  # of integers, of floats
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
}


class ExpressionWriter(InstructionWriter):
    """Writes instructions that compute expressions."""

    def __init__(self) -> None:
        super().__init__()
        self.arrays: dict[str, Array] = {}
        self._variables: dict[str, Value] = {}  # the type, and where it is stored

    # ---- variables and conditions

    def set(self, node: ast.AST, name: str, value: Value) -> None:
        """Assign to a variable, whose type its first assignment determines."""
        variable = self._variables.get(name)
        if variable is None:
            variable = Value(value.type, self.allocate(value.type))
            self._variables[name] = variable
        if variable.type != value.type:
            reason = f"{name} is {variable.type}, the value {value.type}"
            raise UnsupportedSyntaxError(node, reason)
        self.lines.append(f"store {value.type} {value.text}, ptr {variable.text}")

    def branch(self, condition: ast.expr, yes: str, no: str) -> None:
        """End a block: jump to one of two others."""
        test = self.value(condition)
        if test.type != "i1":
            raise UnsupportedSyntaxError(condition, "a condition must be a bool")
        self.lines.append(f"br i1 {test.text}, label %{yes}, label %{no}")

    # ---- expressions

    def integer(self, node: ast.expr) -> str:
        """The register or literal of an int."""
        value = self.value(node)
        if value.type != "i64":
            raise UnsupportedSyntaxError(node, f"must be an int, is {value.type}")
        return value.text

    def value(self, node: ast.expr, like: str | None = None) -> Value:
        """The value of an expression; literals may have the type `like`."""
        match node:
            case ast.Constant(value=bool() | int() | float() as number):
                return _literal(node, number, like)
            case ast.Name(id=name) if name in self._variables:
                kind, place = self._variables[name]
                return self.emit(kind, f"load {kind}, ptr {place}")
            case ast.Subscript(value=ast.Name(id=name)) if name in self.arrays:
                return self._load(node, self.arrays[name])
            case ast.Attribute(value=ast.Name(id=name), attr="size") if (
                name in self.arrays
            ):
                size, *others = self.arrays[name].shape
                for length in others:
                    size = self.emit("i64", f"mul nsw i64 {size}, {length}").text
                return Value("i64", size)
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"),
                slice=ast.Constant(value=int(axis)),
            ) if name in self.arrays:
                return Value("i64", self.arrays[name].shape[axis])
            case ast.BinOp(left=first, op=sign, right=second):
                left, right = self._pair(node, first, second, like)
                return self._operation(node, sign, left, right)
            case ast.UnaryOp():
                return self._unary(node, like)
            case ast.Compare(left=first, ops=[op], comparators=[second]) if (
                type(op) in _COMPARISONS
            ):
                left, right = self._pair(node, first, second, None)
                return self._comparison(type(op), left, right)
            case ast.BoolOp(op=ast.And(), values=[*firsts, last]):
                for value in reversed(firsts):
                    last = ast.IfExp(value, last, ast.Constant(False))
                return self.value(last)
            case ast.BoolOp(op=ast.Or(), values=[*firsts, last]):
                for value in reversed(firsts):
                    last = ast.IfExp(value, ast.Constant(True), last)
                return self.value(last)
            case ast.IfExp():
                return self._choice(node, like)
            case ast.Call(func=ast.Name(id=name), args=given) if name in FUNCTIONS:
                return self._call(node, name, given, like)
        raise UnsupportedSyntaxError(node, "unknown name, or no supported expression")

    def _pair(
        self, node: ast.expr, first: ast.expr, second: ast.expr, like: str | None
    ) -> tuple[Value, Value]:
        """Two operands; a literal has the type of the other one."""
        of_first, of_second = _literal_type(first), _literal_type(second)
        if of_first is None:
            left = self.value(first, like)
            right = self.value(second, left.type)
        elif of_second is None:
            right = self.value(second, like)
            left = self.value(first, right.type)
        else:
            like = like or ("double" if "double" in (of_first, of_second) else "i64")
            left, right = self.value(first, like), self.value(second, like)
        if left.type != right.type:
            raise UnsupportedSyntaxError(node, f"mixes {left.type} and {right.type}")
        return left, right

    def _operation(
        self, node: ast.expr, op: ast.operator, left: Value, right: Value
    ) -> Value:
        kind = left.type
        operands = f"{left.text}, {right.text}"
        if kind in SUFFIXES and type(op) in _OF_FLOATS:
            return self.emit(kind, f"f{_OF_FLOATS[type(op)]} {kind} {operands}")
        if kind == "i64" and type(op) in _OF_INTEGERS:
            return self.emit(kind, f"{_OF_INTEGERS[type(op)]} i64 {operands}")
        if kind == "i1" and isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor):
            return self.emit(kind, f"{_OF_INTEGERS[type(op)]} i1 {operands}")
        if kind != "i64" or not isinstance(op, ast.FloorDiv | ast.Mod):
            raise UnsupportedSyntaxError(node, f"no such operator for {kind}")
        # LLVM rounds towards zero; the processor stops the process if it divides by 0.
        is_zero = self.emit("i1", f"icmp eq i64 {right.text}, 0")
        by = self.emit("i64", f"select i1 {is_zero.text}, i64 1, i64 {right.text}").text
        quotient = self.emit("i64", f"sdiv i64 {left.text}, {by}").text
        rest = self.emit("i64", f"srem i64 {left.text}, {by}").text
        signs = self.emit("i64", f"xor i64 {rest}, {by}").text
        differ = self.emit("i1", f"icmp slt i64 {signs}, 0").text
        is_left = self.emit("i1", f"icmp ne i64 {rest}, 0").text
        rounds = self.emit("i1", f"and i1 {differ}, {is_left}").text
        if isinstance(op, ast.Mod):
            more = self.emit("i64", f"select i1 {rounds}, i64 {by}, i64 0").text
            return self.emit("i64", f"add i64 {rest}, {more}")
        less = self.emit("i64", f"sext i1 {rounds} to i64").text
        return self.emit("i64", f"add i64 {quotient}, {less}")

    def _unary(self, node: ast.UnaryOp, like: str | None) -> Value:
        value = self.value(node.operand, like)
        kind, text = value
        match node.op:
            case ast.USub() if kind in SUFFIXES:
                return self.emit(kind, f"fneg {kind} {text}")
            case ast.USub() if kind == "i64":
                return self.emit(kind, f"sub i64 0, {text}")
            case ast.Invert() if kind == "i64":
                return self.emit(kind, f"xor i64 {text}, -1")
            case ast.Not() if kind == "i1":
                return self.emit(kind, f"xor i1 {text}, true")
            case ast.UAdd() if kind != "i1":
                return value
        raise UnsupportedSyntaxError(node, f"no such operator for {kind}")

    def _comparison(
        self, comparison: type[ast.AST], left: Value, right: Value
    ) -> Value:
        of_integers, of_floats = _COMPARISONS[comparison]
        how = f"fcmp {of_floats}" if left.type in SUFFIXES else f"icmp {of_integers}"
        return self.emit("i1", f"{how} {left.type} {left.text}, {right.text}")

    def _choice(self, node: ast.IfExp, like: str | None) -> Value:
        yes, no, end = self.labels("yes", "no", "end")
        arms = [(yes, node.body), (no, node.orelse)]
        if _literal_type(node.body) is not None:  # has the type of the other one
            arms.reverse()
        self.branch(node.test, yes, no)
        place = None
        for label, arm in arms:
            self.begin(label)
            kind, text = self.value(arm, like)
            if place is None:
                like, place = kind, self.allocate(kind)
            if kind != like:
                raise UnsupportedSyntaxError(node, f"mixes {like} and {kind}")
            self.lines.append(f"store {kind} {text}, ptr {place}")
            self.go(end)
        self.begin(end)
        assert like is not None
        return self.emit(like, f"load {like}, ptr {place}")

    def _call(
        self, node: ast.expr, name: str, given: Sequence[ast.expr], like: str | None
    ) -> Value:
        if name in CASTS and len(given) == 1:
            return self._cast(CASTS[name], given[0])
        if name in EXTREMES and len(given) == 2:
            left, right = self._pair(node, given[0], given[1], like)
            test = self._comparison(EXTREMES[name], left, right).text
            if left.type in SUFFIXES:  # NaN, if one of them is
                is_nan = f"fcmp uno {left.type} {left.text}, {left.text}"
                is_nan = self.emit("i1", is_nan).text
                test = self.emit("i1", f"or i1 {test}, {is_nan}").text
            return self._select(test, left, right)
        if name in (*CASTS, *EXTREMES) or len(given) != 1:
            raise UnsupportedSyntaxError(node, "wrong number of arguments")
        value = self.value(given[0], like)
        kind, text = value
        if kind not in SUFFIXES:
            raise UnsupportedSyntaxError(node, f"of floats only, is {kind}")
        if name != "sign":
            function = f"@llvm.{INTRINSICS[name]}.{SUFFIXES[kind]}"
            return self.emit(kind, f"call {kind} {function}({kind} {text})")
        for number, comparison in ((0.0, ast.Eq), (-1.0, ast.Lt), (1.0, ast.Gt)):
            zero = Value(kind, "0.0")
            test = self._comparison(comparison, Value(kind, text), zero).text
            value = self._select(test, Value(kind, str(number)), value)
        return value

    def _select(self, test: str, yes: Value, no: Value) -> Value:
        kind = yes.type
        values = f"{kind} {yes.text}, {kind} {no.text}"
        return self.emit(kind, f"select i1 {test}, {values}")

    def _cast(self, kind: str, node: ast.expr) -> Value:
        value = self.value(node, None if _literal_type(node) is None else kind)
        if value.type == kind:
            return value
        how = {
            ("i1", "i64"): "zext",
            ("i1", "float"): "uitofp",
            ("i1", "double"): "uitofp",
            ("i64", "float"): "sitofp",
            ("i64", "double"): "sitofp",
            ("float", "double"): "fpext",
            ("double", "float"): "fptrunc",
            ("float", "i64"): "fptosi",
            ("double", "i64"): "fptosi",
        }[value.type, kind]
        return self.emit(kind, f"{how} {value.type} {value.text} to {kind}")

    # ---- elements of arrays

    def element(self, node: ast.Subscript, array: Array) -> str:
        """The address of an element."""
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(parts) != len(array.shape):
            raise UnsupportedSyntaxError(
                node, f"the array's rank is {len(array.shape)}"
            )
        index, *others = map(self.integer, parts)
        for length, part in zip(array.shape[1:], others, strict=True):
            row = self.emit("i64", f"mul nsw i64 {index}, {length}").text
            index = self.emit("i64", f"add nsw i64 {row}, {part}").text
        kind = types_of(array.dtype)[0]
        at = f"getelementptr inbounds {kind}, ptr {array.data}, i64 {index}"
        return self.emit("ptr", at).text

    def _load(self, node: ast.Subscript, array: Array) -> Value:
        memory, kind = types_of(array.dtype)
        place = self.element(node, array)
        value = self.emit(memory, f"load {memory}, ptr {place}, align 1")
        if kind == "i1":
            return self.emit("i1", f"icmp ne {memory} {value.text}, 0")
        if memory != kind:
            cast = "zext" if array.dtype.kind == "u" else "sext"
            return self.emit(kind, f"{cast} {memory} {value.text} to {kind}")
        return value


def _literal(node: ast.expr, number: float, like: str | None) -> Value:
    kind = _literal_type(node)
    if like in SUFFIXES and kind in ("i64", "double"):
        kind = like
    assert kind is not None
    if kind not in SUFFIXES:
        return Value(kind, str(int(number)))
    rounded = np.float32(number) if kind == "float" else number
    return Value(kind, f"0x{struct.pack('>d', rounded).hex()}")


def _literal_type(node: ast.expr) -> str | None:
    """The type of an expression of literals; None if it has other parts."""
    match node:
        case ast.Constant(value=bool()):
            return "i1"
        case ast.Constant(value=int()):
            return "i64"
        case ast.Constant(value=float()):
            return "double"
        case ast.UnaryOp(operand=operand):
            return _literal_type(operand)
        case ast.BinOp(left=left, right=right) | ast.IfExp(body=left, orelse=right):
            types = _literal_type(left), _literal_type(right)
            if None in types:
                return None
            return "double" if "double" in types else types[0]
    return None
