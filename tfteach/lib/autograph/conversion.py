"""Converted functions: rewritten, compiled, and bound to the values of the original.

The compiled code has the file and the lines of the user's source, so that tracebacks,
debuggers and the origins of ops name these.
Source: python/autograph/impl/conversion.py.
"""

from __future__ import annotations
import __future__

import ast
import copy
import threading
import weakref
from collections.abc import Iterator, Mapping
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from tfteach.lib.autograph.options import ConversionOptions
from tfteach.lib.autograph.source import find, write_out_private_names
from tfteach.lib.autograph.syntax.context import Context
from tfteach.lib.autograph.syntax.rewrite import (
    is_generator,
    rewrite_function,
    rewrite_lambda,
)
from tfteach.lib.autograph.verbosity import has_verbosity, log

_FUTURES = 0
for _name in __future__.all_feature_names:
    _FUTURES |= getattr(__future__, _name).compiler_flag
_HAS_OWN_VARIABLES = 0x1  # CO_OPTIMIZED: all but the bodies of classes and modules


class Conversion(NamedTuple):
    """The rewritten form of a function.

    Attributes:
      name: its new name.
      tree: its definition.
      code: the compiled function.
      codes: that, and the functions in it.
    """

    name: str
    tree: ast.stmt
    code: CodeType
    codes: frozenset[CodeType]


class ConvertedSource(NamedTuple):
    """The code that AutoGraph wrote for a function.

    Attributes:
      source: the code.
      lines: its line -> the line of the user's file that it comes from.
      file: that file.
    """

    source: str
    lines: dict[int, int]
    file: str


_lock = threading.RLock()
_known: weakref.WeakKeyDictionary[CodeType, dict[Any, Conversion]]
_known = weakref.WeakKeyDictionary()
_converted_codes: weakref.WeakSet[CodeType] = weakref.WeakSet()


def is_converted(function: Any) -> bool:
    """Whether a function is the result of a conversion, or was defined in one."""
    code = getattr(function, "__code__", None)
    return isinstance(code, CodeType) and code in _converted_codes


def converted_function(
    function: FunctionType,
    options: ConversionOptions,
    operators: Any,
    is_scoped: bool = False,
    cells: Mapping[str, CellType] | None = None,
) -> FunctionType:
    """A function rewritten to call operators.

    Args:
      function: the original.
      options: how to convert it.
      operators: what it uses as `ag__`.
      is_scoped: whether its body is in a `FunctionScope`.
      cells: in place of some of its free variables.

    Raises:
      ValueError: its source cannot be found.
      NotImplementedError: it is a generator.
    """
    conversion = conversion_of(function, options, is_scoped)
    own = function.__code__.co_freevars
    known = dict(zip(own, function.__closure__ or (), strict=True))
    known |= {"ag__": CellType(operators)} | dict(cells or {})
    made = FunctionType(
        conversion.code,
        function.__globals__,
        conversion.name,
        function.__defaults__,
        tuple(known[name] for name in conversion.code.co_freevars),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__ = function.__annotations__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    made.__doc__ = function.__doc__
    return made


def conversion_of(
    function: FunctionType, options: ConversionOptions, is_scoped: bool = False
) -> Conversion:
    """The rewritten form of a function, which is kept; see `converted_function`."""
    code = function.__code__
    key = options, is_scoped, code.co_filename, code.co_freevars
    with _lock:
        kept = _known.setdefault(code, {})
        if key not in kept:
            kept[key] = _convert(function, options, is_scoped)
        return kept[key]


def converted_source(
    function: FunctionType, options: ConversionOptions | None = None
) -> ConvertedSource:
    """The code that AutoGraph writes for a function, as its calls in a trace run it.

    Args:
      function: a function or a lambda, neither converted nor wrapped.
      options: how it is converted; by default as in a `tf.function`.

    Raises:
      ValueError: its source cannot be found.
      NotImplementedError: it is a generator, which stays as it is.
    """
    if options is None:
        options = ConversionOptions(recursive=True, optional_features=None)
    tree = conversion_of(function, options).tree
    source = ast.unparse(tree)
    lines = dict(_line_map(ast.parse(source).body, [tree]))
    return ConvertedSource(source, lines, function.__code__.co_filename)


def _line_map(
    written: list[ast.stmt], origins: list[ast.stmt]
) -> Iterator[tuple[int, int]]:
    """The lines of statements, beside those of the same statements as rewritten."""
    for new, old in zip(written, origins, strict=True):
        end = new.end_lineno or new.lineno
        inner: list[tuple[list[ast.stmt], list[ast.stmt]]] = []
        for name in ("body", "orelse", "finalbody"):
            inner.append((getattr(new, name, []), getattr(old, name, [])))
        for name in ("handlers", "cases"):
            pairs = zip(getattr(new, name, []), getattr(old, name, []), strict=True)
            inner += [(a.body, b.body) for a, b in pairs]
        inner = [(a, b) for a, b in inner if a and isinstance(a, list)]
        if inner:
            end = inner[0][0][0].lineno - 1
        for line in range(new.lineno, max(end, new.lineno) + 1):
            yield line, old.lineno
        for a, b in inner:
            yield from _line_map(a, b)


# ---- making one


def _convert(
    function: FunctionType, options: ConversionOptions, is_scoped: bool
) -> Conversion:
    log(1, "Converting %s", function)
    code = function.__code__
    if "ag__" in code.co_freevars:
        raise ValueError(f'entity {function} uses the reserved symbol "ag__"')
    found = copy.deepcopy(find(function))
    node = found.node
    if is_generator(node):
        raise NotImplementedError("Generators are not supported by AutoGraph")
    write_out_private_names(found)
    context = Context(node, options, is_scoped, _namespace(function))
    if isinstance(node, ast.Lambda):
        rewrite_lambda(node, context)
        name, tree = _named_lambda(node, context)
    else:
        node.decorator_list = []
        rewrite_function(node, context)
        name, tree = context.namer.new(f"tf__{node.name}"), node
        node.name = name  # the old one is that of the original, if it calls itself
    compiled = _compiled(tree, function, name)
    codes: set[CodeType] = set()
    compiled = _as_the_users(compiled, context.namer.made, code.co_name, codes)
    compiled = compiled.replace(co_qualname=code.co_qualname)
    codes.add(compiled)
    _converted_codes.update(codes)
    if has_verbosity(2):
        log(2, "Compiled output of %s:\n\n%s\n", function, ast.unparse(tree))
    return Conversion(name, tree, compiled, frozenset(codes))


def _namespace(function: FunctionType) -> dict[str, Any]:
    """The values of a function's global and free variables."""
    found = dict(function.__globals__)
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # it has none yet
            found[name] = None
    return found


def _named_lambda(node: ast.Lambda, context: Context) -> tuple[str, ast.stmt]:
    name = context.namer.new("tf__lambda")
    assign = ast.Assign([ast.Name(name, ast.Store())], node)
    return name, ast.copy_location(assign, node)


def _compiled(tree: ast.stmt, function: FunctionType, name: str) -> CodeType:
    """The code of a rewritten function, in which its free variables are free."""
    code = function.__code__
    parameters = ", ".join(("ag__", *code.co_freevars))
    module = ast.parse(f"def around({parameters}): pass")
    around = module.body[0]
    assert isinstance(around, ast.FunctionDef)
    around.body = [ast.fix_missing_locations(tree)]
    flags = code.co_flags & _FUTURES
    whole = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    wanted = code.co_name if code.co_name == "<lambda>" else name
    return next(inner for inner in _codes_in(whole) if inner.co_name == wanted)


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)


def _as_the_users(
    code: CodeType, helpers: set[str], name: str, found: set[CodeType]
) -> CodeType:
    """Code in which branches and loop bodies have the name of their function.

    Args:
      code: of a converted function.
      helpers: the names of the functions that the conversion made.
      name: of the user's function that it belongs to.
      found: is given all functions, but not the methods of classes: when they are
        called, these are converted.
    """
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType) and constant.co_flags & _HAS_OWN_VARIABLES:
            own = name if constant.co_name in helpers else constant.co_name
            constant = _as_the_users(constant, helpers, own, found)
            found.add(constant)
        constants.append(constant)
    return code.replace(co_consts=tuple(constants), co_name=name)
