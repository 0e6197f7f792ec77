"""Calls that tfteach refuses, beside the answers of TensorFlow 1.15.

`tests/ops/refusals/<package>/<module>.json` lists calls that reach every `raise` of
`tfteach/ops/<package>/<module>.py`.  Each call has TensorFlow's answer, "Class:
message", which is tfteach's too; or, where the two differ, the list of TensorFlow's
answer and tfteach's.

    python -m tests.ops.refusal           lists the lines that no call reaches
    python -m tests.ops.refusal --ask     asks TensorFlow about calls with `null`
    python -m tests.ops.refusal --move    moves calls after their `raise` moved
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import tfteach as tf
from tests.fuzz.call_worker import described_error, names, run_fetches
from tests.ops.case import import_families

ROOT = Path(__file__).parents[2]
OPS = ROOT / "tfteach" / "ops"
FOLDER = Path(__file__).parent / "refusals"
ACCEPTED = "accepted"
MOST_COMPARED = 250  # characters: `described_error` cuts messages, and names differ

Answer = str | list[str] | None


def modules() -> list[str]:
    """The names, such as "nn.lrn", of the modules with a `raise`, and of all tables."""
    raising = (path for path in OPS.rglob("*.py") if " raise " in path.read_text())
    found = {_name(path, OPS) for path in raising}
    return sorted(found | {_name(path, FOLDER) for path in FOLDER.rglob("*.json")})


def _name(path: Path, folder: Path) -> str:
    return ".".join(path.relative_to(folder).with_suffix("").parts)


def source_path(module: str) -> Path:
    return OPS.joinpath(*module.split(".")).with_suffix(".py")


def table_path(module: str) -> Path:
    return FOLDER.joinpath(*module.split(".")).with_suffix(".json")


def table(module: str) -> dict[str, Answer]:
    """The calls of a module with their answers."""
    path = table_path(module)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def raises(module: str) -> dict[int, tuple[int, str]]:
    """The `raise` statements of a module: first line -> (last line, function's name).

    A bare `raise` passes on an error that another one raised: it does not count, nor
    does the NotImplementedError that is all of an abstract method, or the StopIteration
    of an iterator.
    """
    tree = ast.parse(source_path(module).read_text(encoding="utf-8"))
    return dict(_raises_below(tree, ""))


def _raises_below(node: ast.AST, name: str) -> Iterator[tuple[int, tuple[int, str]]]:
    for child in ast.iter_child_nodes(node):
        inner = name
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inner = f"{name}.{child.name}".lstrip(".")
        if isinstance(child, ast.FunctionDef) and _is_abstract(child):
            continue
        if isinstance(child, ast.Raise) and not _ends_iteration(child.exc):
            yield child.lineno, (child.end_lineno or child.lineno, name)
        yield from _raises_below(child, inner)


def _ends_iteration(raised: ast.expr | None) -> bool:
    is_stop = isinstance(raised, ast.Name) and raised.id == "StopIteration"
    return raised is None or is_stop


def _is_abstract(function: ast.FunctionDef) -> bool:
    *docstring, last = function.body
    return (
        all(isinstance(statement, ast.Expr) for statement in docstring)
        and isinstance(last, ast.Raise)
        and isinstance(last.exc, ast.Name)
        and last.exc.id == "NotImplementedError"
    )


def outcome(call: str) -> tuple[str, set[tuple[str, int]]]:
    """The answer of tfteach, and the (file, line) pairs that its error came through."""
    with tf.Graph().as_default():
        try:
            run_fetches(tf, eval(call, names(tf)))
        except Exception as error:
            kind, message = described_error(error)
            return f"{kind}: {first_line(message)}", lines_of(error)
    return ACCEPTED, set()


def first_line(message: str) -> str:
    return message.split("\n")[0].strip()


def says(ours: str, theirs: str) -> bool:
    """Whether an answer begins with the class and the words of another.

    What follows may differ: tfteach may say more, and TensorFlow's list of the inputs
    that it computed depends on how far its shape function got.
    """
    if theirs == ACCEPTED:
        return ours == ACCEPTED
    words = re.split(r" for '[^']*' \(op: ", plain(theirs))[0]
    return plain(ours).startswith(words[:MOST_COMPARED].rstrip(". "))


def plain(answer: str) -> str:
    """An answer without what differs from process to process, blanks made single."""
    answer = re.sub(r"(TensorArray|TensorArrayV3|StackV2|pyfunc)_\d+", r"\1", answer)
    return " ".join(without_paths(answer).split())


def without_paths(answer: str) -> str:
    """An answer without the folders of the machine that gave it."""
    answer = re.sub(r" \(defined at [^)]*\)", "", answer)
    return re.sub(r"\S+/(?=written\.txt)", "", answer)


def lines_of(error: BaseException) -> set[tuple[str, int]]:
    """The lines in the tracebacks of an error and of those that it was made from."""
    found: set[tuple[str, int]] = set()
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        each = todo.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        todo += [each.__cause__, each.__context__]
        for frame, line in traceback.walk_tb(each.__traceback__):
            found.add((frame.f_code.co_filename, line))
    return found


def unreached(module: str, reached: set[tuple[str, int]]) -> dict[int, str]:
    """The `raise` statements of a module on none of these lines, with the function."""
    path = str(source_path(module))
    lines = {line for file, line in reached if file == path}
    return {
        first: name
        for first, (last, name) in raises(module).items()
        if lines.isdisjoint(range(first, last + 1))
    }


def ask(module: str, worker: Any) -> None:
    """Writes TensorFlow's answers to the calls of a table that have none."""
    answers = table(module)
    for call, answer in answers.items():
        if answer is not None:
            continue
        worker.send(call)
        found = worker.receive()
        error = found.get("build") or found.get("run")
        theirs = ACCEPTED
        if error is not None:
            theirs = without_paths(f"{error[0]}: {first_line(error[1])}")
        if "died" in found:
            theirs = f"died: {found['died']}"
        ours, _ = outcome(call)
        answers[call] = theirs if says(ours, theirs) else [theirs, ours]
        if not says(ours, theirs):
            print(f"{module}: {call}\n  theirs {theirs}\n  ours   {ours}")
    write(module, answers)


def write(module: str, answers: dict[str, Answer]) -> None:
    """Writes a module's table; removes one without calls."""
    path = table_path(module)
    if not answers:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(answers, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def move() -> None:
    """Moves calls whose `raise` now stands in another module to its table.

    The table of a module that is gone ends: its other calls are only printed.
    """
    places = {
        (str(source_path(module)), line): module
        for module in modules()
        if source_path(module).exists()
        for first, (last, _) in raises(module).items()
        for line in range(first, last + 1)
    }
    tables: dict[str, dict[str, Answer]] = {}
    for module in modules():
        home = tables.setdefault(module, {})
        for call, answer in table(module).items():
            reached = {places[at] for at in outcome(call)[1] if at in places}
            if reached and module not in reached:
                print(f"{module} -> {min(reached)}: {call}")
                tables.setdefault(min(reached), {})[call] = answer
            elif not source_path(module).exists():
                print(f"{module} -> nowhere: {call}")
            else:
                home[call] = answer
    for module, answers in tables.items():
        write(module, answers)


def main() -> None:
    from tests.conftest import find_oracle
    from tests.fuzz.random_calls import Worker

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ask", action="store_true")
    parser.add_argument("--move", action="store_true")
    parser.add_argument("modules", nargs="*")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    tf.logging.set_verbosity(tf.logging.FATAL)
    import_families()
    if options.move:
        move()
    chosen = options.modules or modules()
    if options.ask:
        python = find_oracle()
        assert python is not None, "set TFTEACH_ORACLE"
        worker = Worker(python, "tensorflow")
        for module in chosen:
            if None in table(module).values():
                ask(module, worker)
        worker.close()
    count = 0
    for module in chosen:
        reached: set[tuple[str, int]] = set()
        for call in table(module):
            reached |= outcome(call)[1]
        source = source_path(module).read_text(encoding="utf-8").splitlines()
        for line, name in unreached(module, reached).items():
            count += 1
            print(f"{module}:{line} {name}: {source[line - 1].strip()}")
    print(f"{count} unreached")


if __name__ == "__main__":
    main()
