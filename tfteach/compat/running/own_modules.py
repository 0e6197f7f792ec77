"""A script and the modules beside it: how they are compiled and what they import.

They are translated if they are written for Python 2, and see the names that NumPy,
SciPy and Python dropped; so are modules on PYTHONPATH that are written for Python 2.
All other modules are imported as ever.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib.abc
import importlib.machinery
import importlib.util
import linecache
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from tfteach.compat.running import dropped_names, python2

_HERE = Path(__file__).resolve()
_METHOD = "__tfteach_method__"
_SHOW = "__tfteach_show__"
_PICKLES = ("pickle", "cPickle", "_pickle")


class Teller:
    """Tells a script's reader what is old in it: each thing once, on stderr.

    Args:
      folder: the script's.
      given: the folder as the user wrote it.

    Attributes:
      names: the files of the modules that are the script's own.
    """

    def __init__(self, folder: Path, given: Path) -> None:
        self._folders = f"{folder}/", f"{given}/"
        self.names: set[str] = set()
        self._told: set[str] = set()

    def __call__(self, what: str, instead: str, every_line: bool = False) -> None:
        """Tell that something is gone, with the line that uses it: once.

        Args:
          what: what is gone.
          instead: what to write.
          every_line: whether each line that uses it is told.
        """
        place = self.place() if every_line or what not in self._told else ""
        key = f"{place}: {what}" if every_line else what
        if key not in self._told:
            self._told.add(key)
            self.say(f"{place}: {what}: write {instead}")

    def say(self, text: str) -> None:
        """Print a line on stderr."""
        print(f"tfteach: {text}", file=sys.stderr)

    def say_python_2(self, name: str) -> None:
        """Tell that a file will be translated."""
        self.say(f"{self.shown(name)} is written for Python 2: translated")

    def place(self) -> str:
        """`file:line` of the innermost own module that is running."""
        frame = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename in self.names:
                return f"{self.shown(frame.f_code.co_filename)}:{frame.f_lineno}"
            frame = frame.f_back  # type: ignore[assignment]
        return "?"

    def shown(self, name: str) -> str:
        """A file's name for messages."""
        for folder in self._folders:
            name = name.removeprefix(folder)
        return name


def _is_in(folder: Path, file: str) -> bool:
    """Whether a file is the user's, below a folder."""
    inner = Path(file).resolve()
    if not inner.is_relative_to(folder):
        return False
    parts = inner.relative_to(folder).parts
    return "site-packages" not in parts and "dist-packages" not in parts


class OwnModules(importlib.abc.MetaPathFinder):
    """Finds the modules in the script's folder, and runs own code.

    Args:
      folder: the script's.
      teller: is told what is old.
      libraries: other folders in which modules of Python 2 may be.

    Attributes:
      are_2: whether the main program, and so all of it, is written for Python 2.
    """

    def __init__(
        self, folder: Path, teller: Teller, libraries: Sequence[Path] = ()
    ) -> None:
        self._folder, self.teller = folder, teller
        # Not where this package is: it is imported as ever.
        self._libraries = [
            other for other in libraries if not _HERE.is_relative_to(other)
        ]
        self.are_2 = False

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        """The spec of a module in the folder, or None."""
        where = path
        if path is None:
            where = [str(folder) for folder in (self._folder, *self._libraries)]
        spec = importlib.machinery.PathFinder.find_spec(name, where)
        origin = spec.origin if spec is not None else None
        if not origin or not origin.endswith(".py"):
            return None
        assert spec is not None
        if _is_in(self._folder, origin):
            spec.loader = _Loader(name, origin, self, self.are_2)
        elif any(_is_in(folder, origin) for folder in self._libraries):
            loader = _Loader(name, origin, self, False)
            if not loader.is_python_2():
                return None
            spec.loader = loader
        else:
            return None
        return spec

    def compiled(
        self,
        source: str,
        name: str,
        is_2: bool,
        futures: str = "",
        shows: bool = False,
    ) -> CodeType:
        """The code of an own module.

        Args:
          source: its text.
          name: of its file.
          is_2: whether it is written for Python 2.
          futures: text whose `from __future__` imports hold, too.
          shows: whether the value of the last line is printed, as in a notebook.
        """
        self.teller.names.add(name)
        lines = source.splitlines(keepends=True)
        linecache.cache[name] = (len(source), None, lines, name)
        if not is_2:
            tree = python2.parsed(source, name)
        else:
            translated = python2.translate(source, name, futures)
            tree = python2.parsed(translated, name)
            if not python2.asks_for_true_division(source + "\n" + futures):
                tree = ast.fix_missing_locations(python2.Divisions().visit(tree))
            _move(tree, source, python2.original_lines(source, translated))
        tree = ast.fix_missing_locations(_OldMethods().visit(tree))
        if shows and not source.rstrip().endswith(";"):
            _show_last_value(tree)
        code: CodeType = compile(tree, name, "exec", dont_inherit=True)
        return code

    def execute(self, code: CodeType, module: ModuleType, is_2: bool) -> None:
        """Run own code in a module."""
        self.prepare(module, is_2)
        exec(code, vars(module))

    def prepare(self, module: ModuleType, is_2: bool) -> None:
        """Give a module what own code needs."""
        names = dict(vars(builtins))
        names["__import__"] = functools.partial(self._import, is_2)
        names[_METHOD] = functools.partial(_method, self.teller)
        names[python2.DIVIDE] = functools.partial(self._divide, python2.divide)
        names[python2.DIVIDE_IN_PLACE] = functools.partial(
            self._divide, python2.divide_in_place
        )
        names[python2.SLICE] = slice
        names[_SHOW] = _show
        module.__dict__["__builtins__"] = names

    def _import(
        self,
        is_2: bool,
        name: str,
        namespace: Any = None,
        local: Any = None,
        fromlist: Any = (),
        level: int = 0,
    ) -> Any:
        if level:
            return builtins.__import__(name, namespace, local, fromlist, level)
        if is_2 and name in _PICKLES:
            return _pickle_of_2()
        return dropped_names.imported(
            name,
            lambda: builtins.__import__(name, namespace, local, fromlist, level),
            self.teller,
        )

    def _divide(
        self, divide: Callable[[Any, Any], tuple[Any, bool]], a: Any, b: Any
    ) -> Any:
        result, differs = divide(a, b)
        if differs:
            what = "integers are divided, as in Python 2, without remainder"
            self.teller(what, "a // b", every_line=True)
        return result


def _method(teller: Teller, owner: Any, name: str) -> Any:
    return dropped_names.method(owner, name, teller)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads an own module; `is_2` says that it is written for Python 2."""

    def __init__(self, name: str, path: str, modules: OwnModules, is_2: bool) -> None:
        super().__init__(name, path)
        self._modules = modules
        self._is_2 = is_2

    def is_python_2(self) -> bool:
        """Whether the module shows that it is written for Python 2."""
        return python2.is_python_2(
            importlib.util.decode_source(self.get_data(self.path))
        )

    def get_code(self, fullname: str) -> CodeType:
        source = importlib.util.decode_source(self.get_data(self.path))
        self._is_2 = self._is_2 or python2.is_python_2(source)
        if self._is_2:
            self._modules.teller.say_python_2(self.path)
        return self._modules.compiled(source, self.path, self._is_2)

    def exec_module(self, module: ModuleType) -> None:
        self._modules.execute(self.get_code(module.__name__), module, self._is_2)


class _OldMethods(ast.NodeTransformer):
    """Replaces `a.ptp(...)` by a call that knows the methods NumPy dropped."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        owner = node.func
        if isinstance(owner, ast.Attribute) and owner.attr in dropped_names.METHODS:
            name = ast.Name(_METHOD, ast.Load())
            attribute = ast.Constant(owner.attr)
            node.func = ast.copy_location(
                ast.Call(name, [owner.value, attribute], []), owner
            )
        return node


def _show_last_value(tree: ast.Module) -> None:
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        call = ast.Call(ast.Name(_SHOW, ast.Load()), [last.value], [])
        last.value = ast.copy_location(call, last.value)
        ast.fix_missing_locations(last)


def _show(value: object) -> None:
    if value is not None:
        print(repr(value))


def _move(tree: ast.AST, source: str, lines: list[int]) -> None:
    """Give the nodes of a translation the lines of its source."""
    widths = [len(line.encode()) for line in source.splitlines()] + [0]
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt | ast.excepthandler | ast.alias):
            line = lines[min(node.lineno, len(lines)) - 1]
            node.lineno = node.end_lineno = line
            # All of the line: a traceback then marks no part of it.
            node.col_offset = 0
            node.end_col_offset = widths[min(line, len(widths)) - 1]
        elif isinstance(node, ast.arg | ast.keyword):
            line = lines[min(node.lineno, len(lines)) - 1]
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0


@functools.cache
def _pickle_of_2() -> ModuleType:
    """`pickle` that reads what Python 2 wrote: its `str` as latin-1."""
    import pickle

    made = ModuleType("pickle", pickle.__doc__)
    made.__dict__.update(
        {name: value for name, value in vars(pickle).items() if name[:2] != "__"},
        load=functools.partial(pickle.load, encoding="latin1"),
        loads=functools.partial(pickle.loads, encoding="latin1"),
    )
    return made
