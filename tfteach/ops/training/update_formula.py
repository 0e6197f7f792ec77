"""The arithmetic of an update rule, stated once as a formula for one element.

    m += (grad - m) * (1 - beta1)
    var -= lr * m

From it are generated a function that returns new values, for small variables; one that
updates large ones in place, with temporary arrays that it reuses; and a loop over the
elements, which LLVM compiles.  All compute the same operations in the same order.
What depends on scalar inputs only is computed once per update.
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.codegen import GeneratedFunction, SourceWriter
from tfteach.framework.cuda_source import C_TYPES, cuda_expression, number_type
from tfteach.framework.loops.compile_loop import Loop
from tfteach.framework.loops.compiled_loops import CALL, loop_of
from tfteach.framework.loops.language import FLOATS, Parameter
from tfteach.framework.machine_code import is_installed
from tfteach.framework.type_aliases import ArrayModule
from tfteach.ops.training.row_kernel import row_update, sources

_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.USub: "negative",
}
_FUNCTIONS = {
    "sqrt": "sqrt",
    "exp": "exp",
    "sign": "sign",
    "abs": "absolute",
    "maximum": "maximum",
    "power": "power",
}
# NumPy's versions are vectorized and may differ from the compiler's in the last bit.
_NOT_COMPILED = {"exp", "power"}


class Functions(NamedTuple):
    """The functions generated from a formula for one array module.

    Attributes:
      numbers: scalars -> a tuple of the numbers that the other functions accept.
      new_values: (*variables, grad, *numbers) -> the variables' new values.
      update: (*variables, grad, *numbers, *temporaries): writes into the variables.
      at_once: for arrays on a card: their type -> a kernel that does all of it, of
        (grad, *scalars, *variables), or None if there is none.
      rows_at_once: the same for some rows, by the types of the arrays and of the ids:
        a function of (ids, grad, scalars, variables).
    """

    numbers: Callable[..., tuple[Any, ...]]
    new_values: Callable[..., tuple[Any, ...]]
    update: Callable[..., None]
    at_once: Callable[[np.dtype[Any]], Any] | None = None
    rows_at_once: Callable[[np.dtype[Any], np.dtype[Any]], Any] | None = None


class UpdateFormula:
    """Assignments to variables and local names.

    Args:
      text: lines of the form `name = ...`, `name += ...` etc., with the operators `+ -
        * /`, sqrt, exp, power, sign, abs and maximum.
      cells: the names of the variables.  The gradient is `grad`.
      scalars: the names of the scalar inputs.

    Attributes:
      temporaries: the number of temporary arrays that `update` requires.
      generated: the generated functions, with their source.
    """

    def __init__(
        self, text: str, cells: tuple[str, ...], scalars: tuple[str, ...]
    ) -> None:
        self._cells, self._scalars = cells, scalars
        self._known = set(scalars)  # names that depend on scalars only
        self._scalar_lines: list[str] = []
        self._hoisted: dict[str, str] = {}  # source of a scalar expression -> its name
        self._assignments: list[tuple[str, ast.expr]] = []
        for statement in ast.parse(textwrap.dedent(text)).body:
            target, value = _assignment(statement)
            if self._is_scalar(value):
                self._scalar_lines.append(f"{target} = {ast.unparse(value)}")
                self._known.add(target)
            else:
                self._assignments.append((target, self._hoist(value)))
        used = [n for _, value in self._assignments for n in _names(value)]
        self._numbers = [name for name in dict.fromkeys(used) if name in self._known]
        self._functions: dict[Any, Functions] = {}
        self._sources: dict[bool, str] = {}
        self._card_kernels: dict[tuple[ArrayModule, str], Any] = {}
        self.generated: list[GeneratedFunction[None]] = []
        nodes = (node for _, value in self._assignments for node in ast.walk(value))
        kinds = ast.BinOp | ast.UnaryOp | ast.Call
        self._operations = sum(isinstance(node, kinds) for node in nodes)
        self._is_compiled = not any(map(_is_inexact, self._assignments))
        in_place = _InPlaceWriter(cells, self._numbers)
        for target, value in self._assignments:
            in_place.assign(target, value, self._live_after(target, value))
        self.temporaries = in_place.finish()
        self._writers = self._scalar_writer(), self._value_writer(), in_place.writer

    def functions(self, xp: ArrayModule) -> Functions:
        """The generated functions for arrays of `xp`."""
        found = self._functions.get(xp)
        if found is None:
            made = []
            for writer in self._writers:
                writer.namespace = {}  # the function of another module keeps the last
                for name in (*_OPERATORS.values(), *_FUNCTIONS.values()):
                    writer.bind(name, getattr(xp, name))
                # The operator has fast paths, and returns another result for scalars.
                writer.bind("power", lambda x, y: xp.asarray(x) ** y)
                made.append(writer.compile("update rule"))
            self.generated += made  # keeps their source visible in tracebacks
            on_card: list[Any] = []
            if hasattr(xp, "ElementwiseKernel"):
                kernels = self._card_kernel, self._row_kernel
                on_card = [functools.partial(kernel, xp) for kernel in kernels]
            numbers, new_values, update = (generated.function for generated in made)
            found = Functions(numbers, new_values, update, *on_card)
            self._functions[xp] = found
        return found

    def _scalar_writer(self) -> SourceWriter[None]:
        writer = SourceWriter[None]("numbers", self._scalars)
        for line in self._scalar_lines:
            writer.line(line)
        writer.line(f"return ({''.join(f'{name}, ' for name in self._numbers)})")
        return writer

    def _value_writer(self) -> SourceWriter[None]:
        parameters = [*self._cells, "grad", *self._numbers]
        writer = SourceWriter[None]("new_values", parameters)
        for target, value in self._assignments:
            writer.line(f"{target} = {ast.unparse(value)}")
        writer.line(f"return {', '.join(self._cells)},")
        return writer

    def loop(
        self,
        dtype: np.dtype[Any],
        numbers: Sequence[Any],
        size: int,
        by_rows: bool = False,
    ) -> tuple[Loop, list[Any]] | None:
        """The formula as a loop over flat arrays, once it is compiled.

        Args:
          dtype: of the arrays.
          numbers: the result of `Functions.numbers`.
          size: of the gradient.
          by_rows: whether the arrays are matrices and the gradient has some of the
              rows.

        Returns:
          A function of the variables, the gradient and numbers (by rows: also, before
          the gradient, its row indices, int64, all in range), and these numbers.
        """
        if not is_installed() or dtype not in FLOATS or not self._is_compiled:
            return None
        if by_rows not in self._sources:
            self._sources[by_rows] = self._loop_source(by_rows)
        rank = 2 if by_rows else 1
        parameters = [Parameter(dtype, rank, is_written=True)] * len(self._cells)
        parameters += [Parameter(np.dtype(np.int64))] * by_rows
        parameters += [Parameter(dtype, rank)]
        parameters += [Parameter(dtype, 0)] * len(numbers)
        work = self._operations * (size + CALL)
        loop = loop_of(self._sources[by_rows], parameters, work)
        return None if loop is None else (loop, [dtype.type(n) for n in numbers])

    def _card_kernel(self, xp: ArrayModule, dtype: np.dtype[Any]) -> Any:
        """The formula as one kernel of a card, which writes into the variables."""
        kind = number_type(dtype)
        if kind is None:
            return None
        key = xp, dtype.name
        if key not in self._card_kernels:
            source = self._card_source(kind)
            taken = ", ".join(f"{dtype.name} a_{n}" for n in ("grad", *self._scalars))
            made = ", ".join(f"{dtype.name} a_{name}" for name in self._cells)
            self._card_kernels[key] = source and xp.ElementwiseKernel(
                taken, made, source, "update"
            )
        return self._card_kernels[key]

    def _row_kernel(
        self, xp: ArrayModule, dtype: np.dtype[Any], ids: np.dtype[Any]
    ) -> Any:
        """The formula as a kernel of a card that updates some rows of the variables."""
        kind = number_type(dtype)
        if kind is None or kind != C_TYPES[dtype.name]:
            return None
        key = xp, f"{dtype.name} by {ids.name}"
        if key not in self._card_kernels:
            lines = self._card_lines(kind)
            names = self._cells, self._scalars
            self._card_kernels[key] = lines and row_update(
                xp, *sources(kind, C_TYPES[ids.name], *names, lines)
            )
        return self._card_kernels[key]

    def _card_source(self, kind: str) -> str | None:
        """The body of the kernel: floats of two bytes are computed in four."""
        lines = self._card_lines(kind)
        if lines is None:
            return None
        names = ("grad", *self._scalars, *self._cells)
        load = [f"{kind} {name}_ = a_{name};" for name in names]
        store = [f"a_{name} = {name}_;" for name in self._cells]
        return "\n".join([*load, *lines, *store])

    def _card_lines(self, kind: str) -> list[str] | None:
        """The assignments in C++, to names with "_" after them."""
        lines = []
        known = {"grad", *self._scalars, *self._cells}
        scalars = map(_assignment, ast.parse("\n".join(self._scalar_lines)).body)
        for target, value in (*scalars, *self._assignments):
            written = cuda_expression(ast.unparse(_with_suffix(value)), kind)
            if written is None:
                return None
            declared = "" if target in known else f"{kind} "
            lines.append(f"{declared}{target}_ = {written};")
            known.add(target)
        return lines

    def _loop_source(self, by_rows: bool) -> str:
        arrays = [f"all_{name}" for name in self._cells]
        parameters = [*arrays, *["ids"] * by_rows, "all_grad", *self._numbers]
        writer = SourceWriter[None]("loop", parameters)

        def write_element(at: str, grad: str) -> None:
            writer.line(f"grad = all_grad[{grad}]")
            for name in self._cells:
                writer.line(f"{name} = all_{name}[{at}]")
            for target, value in self._assignments:
                writer.line(f"{target} = {ast.unparse(value)}")
            for name in self._cells:
                writer.line(f"all_{name}[{at}] = {name}")

        if by_rows:
            with writer.block("for i in range(ids.size):"):
                writer.line("row = ids[i]")
                with writer.block("for j in range(all_grad.shape[1]):"):
                    write_element("row, j", "i, j")
        else:
            with writer.block("for i in range(all_grad.size):"):
                write_element("i", "i")
        return writer.source

    # ---- scalar expressions, and liveness of names

    def _is_scalar(self, value: ast.expr) -> bool:
        return self._known.issuperset(_names(value))

    def _hoist(self, value: ast.expr) -> ast.expr:
        """The expression with its scalar parts replaced by names."""
        if isinstance(value, ast.Name | ast.Constant):
            return value
        if self._is_scalar(value):
            source = ast.unparse(value)
            name = self._hoisted.get(source)
            if name is None:
                name = self._hoisted[source] = f"scalar{len(self._hoisted)}"
                self._scalar_lines.append(f"{name} = {source}")
                self._known.add(name)
            return ast.Name(name)
        for field, part in ast.iter_fields(value):
            if isinstance(part, ast.expr):
                setattr(value, field, self._hoist(part))
            elif isinstance(part, list):
                setattr(value, field, [self._hoist(item) for item in part])
        return value

    def _live_after(self, target: str, value: ast.expr) -> set[str]:
        """The names that are live after an assignment."""
        later = self._assignments[self._assignments.index((target, value)) + 1 :]
        return {name for _, following in later for name in _names(following)}


def _assignment(statement: ast.stmt) -> tuple[str, ast.expr]:
    """The name and the value; `x += y` is `x = x + y`."""
    if isinstance(statement, ast.AugAssign):
        target, value = statement.target, statement.value
        assert isinstance(target, ast.Name)
        return target.id, ast.BinOp(ast.Name(target.id), statement.op, value)
    assert isinstance(statement, ast.Assign)
    [name] = statement.targets
    assert isinstance(name, ast.Name)
    return name.id, statement.value


def _with_suffix(value: ast.expr) -> ast.expr:
    """The expression with names that are none of C++'s own, such as `new`."""
    value = copy.deepcopy(value)
    functions = {id(n.func) for n in ast.walk(value) if isinstance(n, ast.Call)}
    for node in ast.walk(value):
        if isinstance(node, ast.Name) and id(node) not in functions:
            node.id += "_"
    return value


def _is_inexact(assignment: tuple[str, ast.expr]) -> bool:
    """Whether the compiler's result may differ from NumPy's in the last bit."""
    nodes = ast.walk(assignment[1])
    return any(isinstance(n, ast.Name) and n.id in _NOT_COMPILED for n in nodes)


def _names(value: ast.expr) -> list[str]:
    nodes = ast.walk(value)
    found = [node.id for node in nodes if isinstance(node, ast.Name)]
    return [name for name in found if name not in _FUNCTIONS]


class _InPlaceWriter:
    """Writes the function that updates arrays in place, one call per operation.

    Args:
      cells: the names of the variables.
      numbers: the names of the scalars that it accepts.
    """

    def __init__(self, cells: Sequence[str], numbers: Sequence[str]) -> None:
        self.writer = SourceWriter[None]("update", [*cells, "grad", *numbers])
        self._cells = cells
        self._temporaries: dict[str, None] = {}
        self._local: dict[str, str] = {}  # local name -> the temporary that holds it
        self._powers = itertools.count()

    def assign(self, target: str, value: ast.expr, live: set[str]) -> None:
        """Write `target = value`; `live` are the names used later."""
        assert not isinstance(value, ast.Name | ast.Constant), "two names of one array"
        if target in self._cells:
            self._emit(value, target)
        else:
            held = self._emit(value)
            if target in self._local:
                self._release({self._local[target]})
            self._local[target] = held
        self._release({self._local.pop(name) for name in self._local.keys() - live})

    def finish(self) -> int:
        """Complete the function; returns the number of temporaries that it requires."""
        self.writer.parameters += self._temporaries
        return len(self._temporaries)

    def _release(self, names: set[str]) -> None:
        self.writer.release(*sorted(names & self._temporaries.keys()))

    def _emit(self, value: ast.expr, cell: str | None = None) -> str:
        """The name that receives the value: `cell`, or an existing or temporary one."""
        if isinstance(value, ast.Name):
            return self._local.get(value.id, value.id)
        if isinstance(value, ast.Constant):
            return repr(value.value)
        if isinstance(value, ast.Call):
            assert isinstance(value.func, ast.Name)
            function, parts = _FUNCTIONS[value.func.id], value.args
        elif isinstance(value, ast.UnaryOp):
            function, parts = _OPERATORS[type(value.op)], [value.operand]
        else:
            assert isinstance(value, ast.BinOp)
            function = _OPERATORS[type(value.op)]
            parts = [value.left, value.right]
        operands = [self._emit(part) for part in parts]
        self._release(set(operands) - set(self._local.values()))
        if function == "power":
            name = f"power{next(self._powers)}"  # of a scalar: no array to write into
            self.writer.line(f"{name} = power({', '.join(operands)})")
            return name
        name = cell or self.writer.temporary()
        if cell is None:
            self._temporaries[name] = None
        self.writer.line(f"{function}({', '.join(operands)}, out={name})")
        return name
