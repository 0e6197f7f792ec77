"""Runs a script or a notebook that was written for TensorFlow 1."""

from __future__ import annotations

import io
import os
import sys
import tokenize
import traceback
import urllib.request  # noqa: F401  as TensorFlow: programs `import urllib` only
from pathlib import Path
from types import ModuleType

import numpy as np

from tfteach.compat.running import advice, notebook, python2
from tfteach.compat.running.own_modules import OwnModules, Teller

_HERE = str(Path(__file__).parent)
_MAIN = str(Path(__file__).parents[2] / "__main__.py")


def read_source(path: Path) -> str:
    """The text of a Python file, in the encoding that it declares.

    Raises:
      SyntaxError: it has another one.
    """
    data = path.read_bytes()
    encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    try:
        return data.decode(encoding).replace("\r\n", "\n")
    except UnicodeDecodeError:  # in Python 2 only the compiler minded
        return data.decode("latin-1").replace("\r\n", "\n")


def _cells(path: Path) -> tuple[list[notebook.Cell], bool | None]:
    """The parts of a program; a script has one.  And whether they are Python 2."""
    if path.suffix != ".ipynb":
        return [notebook.Cell(str(path), read_source(path), [])], None
    cells, is_2 = notebook.cells(path.read_text(encoding="utf-8"), str(path))
    return cells, is_2 or None


def show(path: Path) -> str:
    """A script as it is run: translated, if it is written for Python 2."""
    cells, is_2 = _cells(path)
    everything = "".join(cell.source for cell in cells)
    is_2 = is_2 or any(python2.is_python_2(cell.source) for cell in cells)
    texts = []
    for cell in cells:
        source = cell.source
        if is_2:
            source = python2.translate(source, cell.name, everything)
        title = f"# {cell.name}\n" if len(cells) > 1 or cell.name != str(path) else ""
        texts.append(title + source)
    return "\n".join(texts)


def run(path: Path, arguments: list[str]) -> None:
    """Run a script or notebook as the main program.

    What is old in it is told on stderr.  An uncaught exception is printed with what to
    write instead, if that is known, and ends the process with status 1.

    Args:
      path: the .py or .ipynb file.
      arguments: its own.

    Raises:
      SystemExit: the program raised it, or an exception.
    """
    folder = path.resolve().parent
    teller = Teller(folder, path.parent)
    libraries = [
        Path(entry).resolve()
        for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)
        if entry
    ]
    modules = OwnModules(folder, teller, libraries)
    sys.meta_path.insert(0, modules)
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(folder))
    main = ModuleType("__main__")
    main.__file__ = str(path)
    sys.modules["__main__"] = main
    np.set_printoptions(legacy="1.25")  # print([np.float32(3)]) shows [3.0]
    try:
        _run_cells(path, modules, main)
    except Exception as error:
        _report(error, teller)
        raise SystemExit(1) from None


def _run_cells(path: Path, modules: OwnModules, main: ModuleType) -> None:
    cells, is_2 = _cells(path)
    everything = "".join(cell.source for cell in cells)
    if is_2 is None:
        is_2 = any(python2.is_python_2(cell.source) for cell in cells)
    modules.are_2 = is_2
    if is_2:
        modules.teller.say_python_2(str(path))
    is_notebook = path.suffix == ".ipynb"
    modules.prepare(main, is_2)
    if is_notebook:
        main.__dict__["display"] = print
    for cell in cells:
        for line, text in cell.left_out:
            name = modules.teller.shown(cell.name)
            modules.teller.say(f"{name}, line {line}: not run: {text}")
        code = modules.compiled(
            cell.source, cell.name, is_2, futures=everything, shows=is_notebook
        )
        exec(code, vars(main))


def _is_ours(file: str) -> bool:
    return file.startswith(_HERE) or file in (_MAIN, "<frozen runpy>")


def _report(error: Exception, teller: Teller) -> None:
    """Print an exception without the frames of this package that run the script."""
    found: traceback.TracebackException | None
    found = told = traceback.TracebackException.from_exception(error)
    while found is not None:
        kept = [frame for frame in found.stack if not _is_ours(frame.filename)]
        found.stack = traceback.StackSummary.from_list(kept)
        found = found.__cause__ or found.__context__
    print("".join(told.format()), end="", file=sys.stderr)
    hint = advice.advice(error)
    if hint:
        own = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if frame.filename in teller.names
        ]
        at = f"{teller.shown(own[-1].filename)}:{own[-1].lineno}: " if own else ""
        teller.say(at + hint)
