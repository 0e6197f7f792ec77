"""Python 2 source: is it some, its translation, and the meaning of `/` in it."""

from __future__ import annotations

import ast
import copy
import difflib
import operator
import re
import warnings
from typing import Any

_MODULES = frozenset(
    "cPickle cStringIO StringIO urllib2 urlparse Queue ConfigParser HTMLParser Tkinter "
    "tkMessageBox __builtin__ httplib cookielib commands copy_reg itertools.izip "
    "SocketServer BaseHTTPServer SimpleHTTPServer".split()
)
_NAMES = frozenset(
    "xrange raw_input unicode basestring long unichr execfile reload".split()
)
# What Python 2's modules have, and Python 3's of the same name have not.
_ATTRIBUTES = {
    "urllib": "urlopen urlretrieve urlencode quote quote_plus unquote FancyURLopener",
    "itertools": "izip imap ifilter izip_longest",
    "sys": "maxint setdefaultencoding",
    "os": "getcwdu",
    "string": "letters lowercase uppercase maketrans",
}
_METHODS = frozenset("iteritems iterkeys itervalues has_key".split())
_STATEMENT = re.compile(r"^\s*(print [^=(]|except [\w.]+, \w+:|raise \w+, )", re.M)
_SHEBANG = re.compile(rb"#!.*python2")


def is_python_2(source: str) -> bool:
    """Whether a module is written for Python 2 and not for 3.

    What is guarded, as in `try: import cPickle except ImportError:`, does not count.
    """
    if _SHEBANG.match(source.encode()[:80]):
        return True
    try:
        tree = parsed(source)
    except SyntaxError:
        return _is_statement_of_2(source)
    guarded: set[ast.AST] = set()
    own: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Try | ast.If) and _is_guard(node):
            guarded.update(ast.walk(node))
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            own.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            own.add(node.name)
        elif isinstance(node, ast.arg):
            own.add(node.arg)
        elif isinstance(node, ast.alias):
            own.add((node.asname or node.name).partition(".")[0])
    return any(_is_sign(node, own) for node in ast.walk(tree) if node not in guarded)


def _is_guard(node: ast.Try | ast.If) -> bool:
    """Whether it chooses between code for Python 2 and for 3."""
    if isinstance(node, ast.If):
        test = ast.unparse(node.test)
        return "version" in test or "PY2" in test or "PY3" in test
    caught = " ".join(ast.unparse(h.type) if h.type else "" for h in node.handlers)
    guards = re.search("(Import|NotFound|Name|Attribute)Error", caught)
    return not caught or guards is not None


def _is_sign(node: ast.AST, own: set[str]) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name in _MODULES for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return node.module in _MODULES and not node.level
    if isinstance(node, ast.Name):
        return node.id in _NAMES - own
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.attr in _ATTRIBUTES.get(node.value.id, "").split()
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _METHODS
    return False


def _is_statement_of_2(source: str) -> bool:
    """Whether Python 2 would accept what is a syntax error in Python 3."""
    try:
        translate(source, "<source>")
    except ImportError:  # fissix is missing, which `translate` will say
        return _STATEMENT.search(source) is not None
    except Exception:
        return False
    return True


def parsed(source: str, path: str = "<source>") -> ast.Module:
    """The syntax tree; without the warnings about escapes such as `\\d`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source, path)


def translate(source: str, path: str, futures: str = "") -> str:
    """A Python 2 module in Python 3.

    Args:
      source: the module's text.
      path: its name, for messages.
      futures: text whose `from __future__` imports hold, too.

    Raises:
      ImportError: fissix is not installed.
      SyntaxError: it is neither.
    """
    try:
        from fissix import pygram, refactor
        from fissix.pgen2.parse import ParseError
    except ImportError:
        raise ImportError(
            f"{path} is written for Python 2; to translate it, install fissix: "
            "pip install 'tfteach[python2]'"
        ) from None
    fixers = refactor.get_fixers_from_package("fissix.fixes")
    unwanted = ("buffer", "idioms", "set_literal", "ws_comma")
    chosen = [f for f in fixers if not f.endswith(tuple(f"fix_{n}" for n in unwanted))]
    tool = _quiet(refactor.RefactoringTool)(chosen)
    text = source if source.endswith("\n") else source + "\n"
    grammars = [
        pygram.python_grammar,
        pygram.python_grammar_no_print_statement,
    ]
    if "print_function" in text + futures:
        grammars.reverse()
    for grammar in grammars:  # the other cells of a notebook need not be alike
        tool.driver.grammar = grammar
        try:
            found = str(tool.refactor_string(text, path))
        except ParseError as err:
            line, value = err.context[1][0], err.value
            continue
        parsed(found, path)  # raises SyntaxError
        return found
    raise SyntaxError(
        f"invalid syntax, in Python 2 and in 3: {value!r}",
        (path, line, None, (text.splitlines() or [""])[line - 1]),
    )


def _quiet(tool: Any) -> Any:
    class Quiet(tool):
        def log_error(self, msg: str, *args: Any, **kwds: Any) -> None:
            raise

        def log_message(self, msg: str, *args: Any) -> None:
            pass

        log_debug = log_message

    return Quiet


def original_lines(source: str, translated: str) -> list[int]:
    """For each line of the translation, the line of the source it comes from."""
    old, new = source.splitlines(), translated.splitlines()
    lines = list(range(1, len(new) + 2))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for _, i1, i2, j1, j2 in matcher.get_opcodes():
        for j in range(j1, j2):
            lines[j] = min(i1 + j - j1, max(i1, i2 - 1)) + 1
    return lines


# ---- division

DIVIDE = "__tfteach_divide__"
DIVIDE_IN_PLACE = "__tfteach_divide_in_place__"
SLICE = "__tfteach_slice__"  # `slice`, which a program may have named something else
_OWNER, _PLACE = "__tfteach_owner__", "__tfteach_place__"


class Divisions(ast.NodeTransformer):
    """Replaces `a / b` by a call of `divide`, `a /= b` of `divide_in_place`."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or _has_float(node.left, node.right):
            return node
        return self._call(node, DIVIDE, node.left, node.right)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div) or _has_float(node.value):
            return node
        target = node.target
        if isinstance(target, ast.Name):
            return self._divide_in_place(node, target)
        # What leads to the target is evaluated once.
        before = [self._assign(node, _OWNER, target.value)]
        target.value = ast.Name(_OWNER, ast.Load())
        if isinstance(target, ast.Subscript):
            before.append(self._assign(node, _PLACE, _without_colons(target.slice)))
            target.slice = ast.Name(_PLACE, ast.Load())
        names = [_OWNER, _PLACE][: len(before)]
        after = ast.Delete([ast.Name(name, ast.Del()) for name in names])
        divide = self._divide_in_place(node, target)
        return [*before, divide, ast.copy_location(after, node)]

    def _divide_in_place(
        self, node: ast.AugAssign, target: ast.Name | ast.Attribute | ast.Subscript
    ) -> ast.stmt:
        current = copy.deepcopy(target)
        current.ctx = ast.Load()
        value = self._call(node, DIVIDE_IN_PLACE, current, node.value)
        return ast.copy_location(ast.Assign([target], value), node)

    def _assign(self, node: ast.AST, name: str, value: ast.expr) -> ast.stmt:
        assign = ast.Assign([ast.Name(name, ast.Store())], value)
        return ast.copy_location(assign, node)

    def _call(
        self, node: ast.AST, function: str, left: ast.expr, right: ast.expr
    ) -> ast.expr:
        name = ast.copy_location(ast.Name(function, ast.Load()), node)
        return ast.copy_location(ast.Call(name, [left, right], []), node)


def _without_colons(index: ast.expr) -> ast.expr:
    """An index, such as `1:n`, as an expression that can stand outside of brackets."""
    if isinstance(index, ast.Tuple):
        return ast.Tuple([_without_colons(item) for item in index.elts], ast.Load())
    if not isinstance(index, ast.Slice):
        return index
    bounds = index.lower, index.upper, index.step
    given = [ast.Constant(None) if bound is None else bound for bound in bounds]
    return ast.Call(ast.Name(SLICE, ast.Load()), given, [])


def _has_float(*nodes: ast.expr) -> bool:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, float):
            return True
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id == "float":
            return True
    return False


def asks_for_true_division(source: str) -> bool:
    """Whether a module has `from __future__ import division`."""
    return bool(re.search(r"^from __future__ import .*\bdivision\b", source, re.M))


def divide(a: Any, b: Any) -> tuple[Any, bool]:
    """`a / b` as in Python 2, and whether it differs from Python 3's."""
    if _is_integral(a) and _is_integral(b):
        return a // b, True
    return a / b, False


def divide_in_place(a: Any, b: Any) -> tuple[Any, bool]:
    """What `a /= b` makes of `a` in Python 2, and whether it differs from Python 3."""
    if _is_integral(a) and _is_integral(b):
        return operator.ifloordiv(a, b), True
    return operator.itruediv(a, b), False


def _is_integral(value: Any) -> bool:
    if isinstance(value, int):
        return True
    dtype = getattr(value, "dtype", None)
    if getattr(dtype, "is_integer", False):
        return True  # a Tensor: `__div__` of integers is floordiv
    return getattr(dtype, "kind", "") in ("i", "u", "b") and dtype is not None
