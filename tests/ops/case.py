"""A `Case`: one op with inputs and the answer, for every check of `test_all.py`.

`evaluate` computes tensors without the runtime, so that a broken executor cannot hide
a broken kernel (and the other way round).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

import tfteach.ops
from tests.ops import cases
from tfteach.framework.graph import Graph, Operation, Tensor
from tfteach.framework.op import Op, StatefulOp


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes:
      op: the op under test, with its attributes.
      inputs: an array per input of the signature; a list of arrays for `N*T`, `*Ts`.
      expect: the right output (a tuple for several), or a function of the inputs that
        computes it in another way than the kernel does.
      id: what tells this row from others of the same op.
      gradient: whether to hold the op's gradient (if it has one) against differences.
      tolerance: relative and absolute, for `expect`.
      exact_shape: whether full input shapes determine the output's shape.
    """

    op: Op
    inputs: tuple[Any, ...]
    expect: Any
    id: str = ""
    gradient: bool = True
    tolerance: float = 1e-6
    exact_shape: bool = True

    def __str__(self) -> str:
        return self.op.op_type + (f"-{self.id}" if self.id else "")

    @property
    def flat(self) -> list[np.ndarray[Any, Any]]:
        """The input arrays, lists flattened."""
        return [a for _, a in self.named]

    @property
    def named(self) -> list[tuple[str, np.ndarray[Any, Any]]]:
        """(argument's name, array) for each flat input."""
        args = type(self.op).inputs
        assert len(args) == len(self.inputs), f"{self}: needs {len(args)} inputs"
        found = []
        for arg, value in zip(args, self.inputs, strict=True):
            items = value if arg.is_sequence else [value]
            found += [(arg.name, as_input(item)) for item in items]
        return found

    @property
    def expected(self) -> tuple[Any, ...]:
        """The right outputs."""
        value = self.expect(*self.inputs) if callable(self.expect) else self.expect
        return value if isinstance(value, tuple) else (value,)


def each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of Python numbers as one of arrays, element by element."""

    def apply(*arrays: Any) -> Any:
        wide = np.broadcast_arrays(*arrays)
        rows = zip(*(a.ravel().tolist() for a in wide), strict=True)
        return np.array([function(*row) for row in rows]).reshape(wide[0].shape)

    return apply


def as_input(value: Any) -> np.ndarray[Any, Any]:
    """An input as the runtime would hand it over: text as an object array of bytes."""
    array = np.asarray(value)
    if array.dtype.kind not in "USO":
        return array
    boxed = np.empty(array.shape, object)
    flat = [s.encode() if isinstance(s, str) else s for s in array.reshape(-1).tolist()]
    boxed.reshape(-1)[:] = flat
    return boxed


class PlainContext:
    """What a stateful kernel needs of a session, kept for one op or one graph."""

    def __init__(self, op: Operation | None = None, xp: Any = np) -> None:
        self.op, self.xp, self.session, self.device = op, xp, None, None
        self.may_defer = False
        self.items: dict[Any, Any] = {}

    def once(self, factory: Any) -> Any:
        name = self.op.name if self.op is not None else ""
        return self.items.setdefault(("op", name), None) or self._keep(name, factory)

    def _keep(self, name: str, factory: Any) -> Any:
        self.items["op", name] = factory()
        return self.items["op", name]

    def resource(self, kind: str, name: str, factory: Any, container: str = "") -> Any:
        key = kind, container, name
        if key not in self.items:
            self.items[key] = factory()
        return self.items[key]


def compute(op: Op, arrays: Sequence[Any], node: Operation | None = None) -> tuple:
    """The kernel's outputs, always as a tuple."""
    first = PlainContext(node) if isinstance(op, StatefulOp) else np
    with np.errstate(all="ignore"):
        result = op.compute(first, *arrays)
    single = len(type(op).outputs) == 1 and not type(op).outputs[0].is_sequence
    return (result,) if single else tuple(result or ())


def evaluate(
    tensors: Sequence[Tensor], feeds: Mapping[Tensor, Any] | None = None
) -> list[np.ndarray[Any, Any]]:
    """The values of tensors of a graph without control flow or state."""
    known: dict[Tensor, Any] = dict(feeds or {})

    def value_of(tensor: Tensor) -> Any:
        if tensor not in known:
            node = tensor.op
            outputs = compute(node.spec, [value_of(t) for t in node.inputs], node)
            known.update(zip(node.outputs, outputs, strict=True))
        return known[tensor]

    return [np.asarray(value_of(t)) for t in tensors]


def fits(op: Op, bound: Mapping[str, Any], tensors: Sequence[Tensor]) -> list[Any]:
    """Flat tensors grouped as `Op.__call__` takes them."""
    rest = list(tensors)
    args = type(op).inputs
    grouped: list[Any] = []
    for arg in args:
        if arg.is_sequence:
            grouped.append([rest.pop(0) for _ in bound[arg.name]])
        else:
            grouped.append(rest.pop(0))
    return grouped


def node_of(case: Case, tensors: Sequence[Tensor]) -> Operation:
    """A node of the case's op on these (flat) tensors."""
    names = [arg.name for arg in type(case.op).inputs]
    grouped = fits(case.op, dict(zip(names, case.inputs, strict=True)), tensors)
    made = case.op(*grouped, name="it")
    graph = tensors[0].graph if tensors else Graph()
    if isinstance(made, Operation):
        return made
    if isinstance(made, Tensor):
        return made.op
    return made[0].op if made else graph.get_operation_by_name("it")


def modules_below(package: ModuleType) -> list[str]:
    """The full names of the modules of a package and of its subpackages, sorted."""
    found = pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    return sorted(module.name for module in found if not module.ispkg)


def cases_by_module() -> dict[str, list[Case]]:
    """The rows by the name of their module, such as "nn.activations"."""
    found = {}
    for name in modules_below(cases):
        rows = getattr(importlib.import_module(name), "CASES", None)
        if rows is not None:
            found[name.removeprefix(f"{cases.__name__}.")] = rows
    return found


def all_cases() -> list[Case]:
    """The rows of every module below `tests/ops/cases/`."""
    return [case for rows in cases_by_module().values() for case in rows]


def import_families() -> None:
    """Import every op family, so that the registry is complete."""
    for name in modules_below(tfteach.ops):
        importlib.import_module(name)
