"""Optimizer steps compiled to machine code, from their array operations.

A step is a few calls such as `xp.multiply(grad, rate, out=s)`.  Here it is traced once,
with names in place of arrays and an `xp` that records the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CellType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from tfteach.framework.numba_loops import FLOATS, Loop, Parameter, is_installed, loop_of

Step = Callable[[Any, Sequence[Any], Any, Sequence[Any]], None]


class _Written(NamedTuple):
    """A step as source, and the closure variables that are its numbers."""

    source: str
    numbers: tuple[str, ...]


_written: dict[tuple[Any, ...], _Written | None] = {}


def compiled_step(
    step: Step,
    dtype: np.dtype[Any],
    states: int,
    temporaries: int,
    by_rows: bool = False,
) -> tuple[Loop, list[Any]] | None:
    """The step as a loop over flat arrays, once it is compiled.

    Args:
      step: accepts (xp, state arrays, gradient, temporaries); its closure has numbers.
      dtype: the arrays' type.
      states: the number of arrays it updates.
      temporaries: the number of temporary arrays it requires.
      by_rows: whether the arrays are matrices and the gradient has some of the rows.

    Returns:
      A function of the state arrays, the gradient and numbers (by rows: also, before
      the gradient, its row indices, int64, all in range), and these numbers.
    """
    if not is_installed() or dtype not in FLOATS or not isinstance(step, FunctionType):
        return None
    cells = dict(zip(step.__code__.co_freevars, step.__closure__ or (), strict=True))
    values = {name: cell.cell_contents for name, cell in cells.items()}
    plain = {n: v for n, v in values.items() if not isinstance(v, np.generic | float)}
    try:
        key = step.__code__, states, by_rows, tuple(plain.items())
        if key not in _written:
            _written[key] = _write_down(
                step, values, plain, states, temporaries, by_rows
            )
    except TypeError:  # a closure variable is not hashable
        return None
    written = _written[key]
    if written is None:
        return None
    rank = 2 if by_rows else 1
    parameters = [Parameter(dtype, rank, is_written=True)] * states
    parameters += [Parameter(np.dtype(np.int64))] * by_rows + [Parameter(dtype, rank)]
    parameters += [Parameter(dtype, 0)] * len(written.numbers)
    loop = loop_of(written.source, parameters)
    if loop is None:
        return None
    return loop, [dtype.type(values[name]) for name in written.numbers]


def _write_down(
    step: FunctionType,
    values: dict[str, Any],
    plain: dict[str, Any],
    states: int,
    temporaries: int,
    by_rows: bool,
) -> _Written | None:
    """The step's source for one element; None if an operation is not supported."""
    numbers = tuple(name for name in values if name not in plain)
    inside = {**{name: _Name(name) for name in numbers}, **plain}
    closure = tuple(CellType(inside[name]) for name in step.__code__.co_freevars)
    same = FunctionType(step.__code__, step.__globals__, "step", None, closure)
    state = [_Name(f"v{i}") for i in range(states)]
    spare = [_Name(f"t{i}") for i in range(temporaries)]
    xp = _Writer()
    try:
        same(xp, state, _Name("g"), spare)
    except (TypeError, AttributeError):
        return None
    names = [f"a{i}" for i in range(states)]
    lines = [
        *(f"v{i} = {name}[here]" for i, name in enumerate(names)),
        *xp.lines,
        *(f"{name}[here] = v{i}" for i, name in enumerate(names)),
    ]
    frame = _BY_ROWS if by_rows else _FLAT
    arguments = [*names, *["ids"] * by_rows, "grad", *numbers]
    source = frame.format(", ".join(arguments))
    indent = source[source.rindex("\n") + 1 :]
    return _Written(source + f"\n{indent}".join(lines), numbers)


_FLAT = """\
def loop({}):
 for here in range(grad.size):
  g = grad[here]
  """
_BY_ROWS = """\
def loop({}):
 for i in range(ids.size):
  at = ids[i]
  for j in range(grad.shape[1]):
   here = at, j
   g = grad[i, j]
   """


class _Name:
    """A value in the source: the name of an element, or an expression."""

    def __init__(self, source: str) -> None:
        self.source = source

    def __add__(self, other: _Name) -> _Name:
        return _Name(f"({self.source} + {other.source})")

    def __sub__(self, other: _Name) -> _Name:
        return _Name(f"({self.source} - {other.source})")

    def __mul__(self, other: _Name) -> _Name:
        return _Name(f"({self.source} * {other.source})")

    def _refuse(self, other: Any) -> _Name:
        """Reject in-place changes of a name: such a step is not supported."""
        raise TypeError(other)

    __iadd__ = __isub__ = __imul__ = __itruediv__ = _refuse


_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}


class _Writer:
    """A substitute for NumPy that records the computations."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def sqrt(self, x: _Name, *, out: _Name) -> None:
        self.lines.append(f"{out.source} = sqrt({x.source})")

    def __getattr__(self, name: str) -> Callable[..., None]:
        sign = _SIGNS.get(name)
        if sign is None:
            raise AttributeError(name)

        def write(x: _Name, y: _Name, *, out: _Name) -> None:
            self.lines.append(f"{out.source} = {x.source} {sign} {y.source}")

        return write
