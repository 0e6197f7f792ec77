"""Dependencies between modules: real imports, without circles or names in strings."""

from __future__ import annotations

import ast
import fnmatch
import functools
import gc
import graphlib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import tfteach
from tests.ops.case import import_families
from tfteach.framework.op import OPS, Op
from tfteach.framework.op_traits import Traits
from tfteach.lib.distributed_runtime.transfer_ops import RecvPerhapsDead

import_families()

PACKAGE = Path(tfteach.__file__).parent

# Strings that are op types by accident: annotations of attributes, class names.
HOMONYMS = {
    "framework/attributes.py": {"Shape"},
    "framework/graphdef/graph_def.py": {"Shape"},
    "framework/type_aliases.py": {"Any"},
    "explain/building/growth.py": {"Round"},
    "explain/pipelines/pipeline_stages.py": {"Stage"},
}


def sources(*rooms: str, containing: str = "") -> Iterator[tuple[str, ast.Module]]:
    """The modules of some rooms: path below the package, and syntax tree.

    Args:
      *rooms: folders of the package.
      containing: only modules whose text matches this regular expression.
    """
    for room in rooms:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            if re.search(containing, _text(path)):
                yield path.relative_to(PACKAGE).as_posix(), _parsed(path)


@functools.cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@functools.cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(_text(path))


@pytest.fixture(scope="module", autouse=True)
def parsed_once() -> Iterator[None]:
    """The trees are a million objects: too many to keep for the tests that follow.

    While they grow, the garbage collector would look through them again and again.
    """
    gc.disable()
    yield
    gc.enable()
    _parsed.cache_clear()
    _text.cache_clear()


def test_no_op_is_known_by_its_name() -> None:
    """Outside of ops, traits (`framework/op_traits.py`) say what an op is."""
    known = {name for name, cls in OPS.items() if cls.__module__.startswith("tfteach")}
    found = [
        f"{path}:{constant.lineno} {constant.value!r}"
        for path, tree in sources("framework", "autodiff", "engine", "explain")
        for constant in _strings(tree)
        if _names_ops(constant.value, known - HOMONYMS.get(path, set()))
    ]
    assert not found


def _strings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The string constants that code looks at: no docstrings, messages, node names."""
    ignored: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr | ast.JoinedStr):
            children = [node.value] if isinstance(node, ast.Expr) else node.values
            ignored.update(c for c in children if isinstance(c, ast.Constant))
        elif isinstance(node, ast.keyword) and node.arg == "name":
            ignored.add(node.value)
        elif isinstance(node, ast.FunctionDef):
            arguments = node.args.args[len(node.args.args) - len(node.args.defaults) :]
            pairs = zip(arguments, node.args.defaults, strict=True)
            ignored.update(d for argument, d in pairs if argument.arg == "name")
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and node not in ignored:
            yield node


def _names_ops(text: str, known: set[str]) -> bool:
    words = text.split()
    return text in known or (len(words) > 1 and known.issuperset(words))


def test_traits_are_declared_by_ops() -> None:
    """Each trait is set by at least one op."""
    classes = [*OPS.values(), RecvPerhapsDead]  # the latter is in parts of steps only
    for trait, default in vars(Traits).items():
        if not trait.startswith("_"):
            assert any(getattr(cls, trait) != default for cls in classes), trait


# A graph that is read, or a user, names an op type; everybody else imports the class.
READERS = {
    "compat/generated_ops.py",
    "compat/raw_ops.py",
    "framework/export.py",
    "framework/graphdef/create_op.py",
    "framework/graphdef/import_graph_def.py",
    "framework/graphdef/import_node.py",
    "framework/graphdef/meta_graph.py",
    "explain/graphs/graph_rows.py",
    "lib/distributed_runtime/remote_code.py",
}
ROOMS = "framework ops autodiff engine control variables lib compat explain jupyter"


def test_ops_and_functions_are_imported_not_looked_up() -> None:
    """Only what reads graphs looks into the registry, nobody into the public names."""
    readers, public = set(), set()
    for path, tree in sources(*ROOMS.split(), containing="OPS|find_op|EXPORTS"):
        for node in ast.walk(tree):
            if {"OPS", "find_op"} & _imported(node, "tfteach.framework.op"):
                readers.add(path)
            if "EXPORTS" in _imported(node, "tfteach.framework.export"):
                public.add(path)
    assert readers == READERS
    assert public == set()


def test_operations_are_distinguished_by_class() -> None:
    """`isinstance(op.spec, Merge)` or a trait, where a type checker sees it."""
    rooms = "ops control variables lib"
    assert not [
        f"{path}:{node.lineno}"
        for path, tree in sources(*rooms.split(), containing=r"[.]type\b")
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare)
        and any(isinstance(n, ast.Attribute) and n.attr == "type" for n in _sides(node))
        and any(isinstance(n, ast.Constant) and n.value in OPS for n in _sides(node))
    ]


def _sides(node: ast.Compare) -> Iterator[ast.expr]:
    """What is compared, and the elements of tuples and sets that are."""
    for side in (node.left, *node.comparators):
        yield side
        if isinstance(side, ast.Tuple | ast.Set | ast.List):
            yield from side.elts


def test_no_module_is_known_by_its_name() -> None:
    """Below compat, whose subject are import paths, no string names a module."""
    rooms = "ops autodiff engine control variables lib explain"
    assert not [
        f"{path}:{constant.lineno} {constant.value!r}"
        for path, tree in sources(*rooms.split(), containing="[\"']tfteach[.]")
        for constant in _strings(tree)
        if constant.value.startswith("tfteach.")
    ]


def test_top_level_imports_have_no_circle() -> None:
    """So every module can be imported first; rules that need more import inside."""
    modules = {
        ".".join(("tfteach", *Path(path).with_suffix("").parts)): tree
        for path, tree in sources(*ROOMS.split())
    }
    modules = {name.removesuffix(".__init__"): tree for name, tree in modules.items()}
    names = set(modules)
    graph = {
        name: {
            target
            for statement in tree.body
            for target in _targets(statement, names)
            if target != name
        }
        for name, tree in modules.items()
    }
    assert sum(map(len, graph.values())) > 3000
    graphlib.TopologicalSorter(graph).prepare()


def test_modules_that_register_are_imported() -> None:
    """Operators, gradients and conversions are there after `import tfteach`."""
    command = [sys.executable, "-c", "import sys, tfteach; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    calls = "gradient_of|register_tensor_conversion_function|overload"
    rooms = "ops autodiff control variables"
    registering = {
        "tfteach." + path.removesuffix(".py").replace("/", ".")
        for path, tree in sources(*rooms.split(), containing=calls)
        if {*calls.split("|")} & {n for node in ast.walk(tree) for n in _called(node)}
    }
    assert len(registering) > 8
    assert registering - set(done.stdout.split()) == set()


def _imported(node: ast.AST, module: str) -> set[str]:
    """The names that a statement imports from a module."""
    if isinstance(node, ast.ImportFrom) and node.module == module:
        return {alias.name for alias in node.names}
    return set()


def _targets(statement: ast.stmt, modules: set[str]) -> Iterator[str]:
    """The modules that a top-level statement imports, or imports from."""
    if isinstance(statement, ast.Import):
        yield from modules & {alias.name for alias in statement.names}
    elif isinstance(statement, ast.ImportFrom) and statement.module in modules:
        for alias in statement.names:
            inner = f"{statement.module}.{alias.name}"
            yield inner if inner in modules else statement.module


def _called(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            yield node.func.id
        elif isinstance(node.func, ast.Attribute):
            yield node.func.attr


def test_ignored_imports_are_for_annotations_only() -> None:
    """The contract against circles leaves out imports that never run, and no others."""
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text("utf-8"))
    for contract in project["tool"]["importlinter"]["contracts"]:
        for edge in contract.get("ignore_imports", ()):
            importer, _, imported = edge.partition(" -> ")
            if importer == "tfteach.framework.export":
                continue  # a script's import, in a function that only the script calls
            path = PACKAGE.parent / (importer.replace(".", "/") + ".py")
            for name in _imported_at_run_time(ast.parse(path.read_text("utf-8"))):
                assert not fnmatch.fnmatch(name, imported), edge


def _imported_at_run_time(tree: ast.AST) -> Iterator[str]:
    """The modules imported by a module, in functions too, but not for annotations."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif not (isinstance(node, ast.If) and ast.unparse(node.test) == _ANNOTATIONS):
            yield from _imported_at_run_time(node)


_ANNOTATIONS = "TYPE_CHECKING"


def test_no_kernel_asks_which_array_module_it_has() -> None:
    """A kernel that differs on cards is written twice (`framework/card_kernels.py`)."""
    found = []
    for path, tree in sources("ops"):
        for node in ast.walk(tree):
            asks = isinstance(node, ast.Attribute) and node.attr == "__name__"
            if asks and ast.unparse(node.value) in ("xp", "ctx.xp"):
                found.append(f"{path}:{node.lineno}")
            if not isinstance(node, ast.Compare):
                continue
            sides = {ast.unparse(side) for side in (node.left, *node.comparators)}
            if sides & _MODULES and any(isinstance(o, _SAME) for o in node.ops):
                found.append(f"{path}:{node.lineno}")
    assert not found


_MODULES = {"np", "numpy", "cupy", "xp", "ctx.xp", "np.ndarray"}
_SAME = ast.Is | ast.IsNot | ast.Eq | ast.NotEq


def test_a_kernel_for_cards_belongs_to_its_kernel() -> None:
    """A class that redefines `compute` does not inherit another's `compute_on_card`."""
    for cls in OPS.values():
        if cls.compute_on_card is Op.compute_on_card:
            continue
        first = next(c for c in cls.__mro__ if "compute" in vars(c))
        assert "compute_on_card" in vars(first), cls.op_type
