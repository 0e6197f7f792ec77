"""Dependencies that imports do not show: op types by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import tfteach
from tfteach.framework.op import OPS, Op

PACKAGE = Path(tfteach.__file__).parent

# Strings that are op types by accident: annotations of attributes, class names.
HOMONYMS = {
    "framework/attributes.py": {"Shape"},
    "framework/graphdef/graph_def.py": {"Shape"},
    "explain/growth.py": {"Round"},
}


def sources(*rooms: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules of some rooms: path below the package, and syntax tree."""
    for room in rooms:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            name = path.relative_to(PACKAGE).as_posix()
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def test_no_op_is_known_by_its_name() -> None:
    """Outside of ops, what an op is follows from its traits (`framework/op.py`)."""
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
    """Each trait that engine and framework read is set by at least one op."""
    traits = (
        "flow collection_role folds_while_building forwards_input holds_value "
        "does_nothing must_be_fed reads_variable passes_handle stops_gradients "
        "outputs_shape stacks_scalars only_metadata beside_input host_on_gpu "
        "host_types_on_gpu int32_on_gpu strings_on_gpu"
    )
    for trait in traits.split():
        default = getattr(Op, trait)
        assert any(getattr(cls, trait) != default for cls in OPS.values()), trait
