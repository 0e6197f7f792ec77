"""Public signatures say what they take and return: `Any` may become rarer only.

`Any` is right for what is passed on unread (`*args`, `**kwargs`), for nests of a user's
own making (a cell's state, the results of a branch) and for what one of several classes
without a common base may be.  Everything else has a name in
tfteach/framework/type_aliases.py.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "tfteach"


class Ceiling(NamedTuple):
    parameters: int
    returns: int


class Slot(NamedTuple):
    """A parameter or a return of a public function."""

    room: str
    where: str
    name: str
    annotation: ast.expr | None

    @property
    def is_any(self) -> bool:
        return isinstance(self.annotation, ast.Name) and self.annotation.id == "Any"


# How many public parameters and returns may be `Any`: lower these, never raise them.
CEILINGS = {
    "autodiff": Ceiling(2, 1),
    "compat": Ceiling(83, 19),
    "control": Ceiling(11, 11),
    "engine": Ceiling(12, 1),
    "framework": Ceiling(3, 3),
    "lib": Ceiling(319, 142),
    "ops": Ceiling(78, 47),
    "variables": Ceiling(12, 14),
}


def is_exported(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Whether `@export`, or a decorator of the same kind, makes it public."""
    names = {"export", "public", "_public", "_both"}
    calls = [d.func for d in node.decorator_list if isinstance(d, ast.Call)]
    return any(isinstance(call, ast.Name) and call.id in names for call in calls)


def is_overload(node: ast.FunctionDef) -> bool:
    return any(
        isinstance(d, ast.Name) and d.id == "overload" for d in node.decorator_list
    )


def public_functions(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef, bool]]:
    """(qualified name, function, whether it is a method) of what a module exports.

    Of an overloaded function the overloads, not what implements them.
    """
    overloaded = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and is_overload(node)
    }
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            if node.name in overloaded:
                if is_overload(node):
                    yield node.name, node, False
            elif is_exported(node):
                yield node.name, node, False
        elif isinstance(node, ast.ClassDef) and is_exported(node):
            for member in node.body:
                if isinstance(member, ast.FunctionDef) and (
                    not member.name.startswith("_") or member.name == "__init__"
                ):
                    is_static = any(
                        isinstance(d, ast.Name) and d.id == "staticmethod"
                        for d in member.decorator_list
                    )
                    yield f"{node.name}.{member.name}", member, not is_static


@functools.cache
def slots() -> tuple[Slot, ...]:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0]
        if room == "api":
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for name, function, is_method in public_functions(tree):
            where = f"{path.relative_to(PACKAGE)}:{name}"
            args = function.args
            named = [*args.posonlyargs, *args.args][is_method:] + args.kwonlyargs
            stars = [a for a in (args.vararg, args.kwarg) if a is not None]
            for arg in named:
                found.append(Slot(room, where, arg.arg, arg.annotation))
            for arg in stars:
                assert arg.annotation is not None, f"{where}: {arg.arg}"
            found.append(Slot(room, where, "return", function.returns))
    return tuple(found)


def test_every_public_parameter_and_return_has_a_type() -> None:
    assert [f"{s.where} {s.name}" for s in slots() if s.annotation is None] == []


@pytest.mark.parametrize("room", CEILINGS)
def test_any_becomes_rarer(room: str) -> None:
    here = [s for s in slots() if s.room == room and s.is_any]
    returns = [s.where for s in here if s.name == "return"]
    parameters = [f"{s.where} {s.name}" for s in here if s.name != "return"]
    at_most = CEILINGS[room]
    assert len(parameters) <= at_most.parameters, parameters
    assert len(returns) <= at_most.returns, returns


def test_every_room_is_counted() -> None:
    assert {s.room for s in slots()} == CEILINGS.keys()
