"""The passes that rewrite a function, and what they know of its names."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tfteach.lib.autograph.directives import set_element_type
from tfteach.lib.autograph.options import ConversionOptions, Feature
from tfteach.lib.autograph.syntax.activity import Activity, free_variables
from tfteach.lib.autograph.syntax.context import Context
from tfteach.lib.autograph.syntax.rewrite import rewrite_function, rewrite_lambda
from tfteach.lib.autograph.syntax.symbols import Namer, symbol_of
from tfteach.lib.autograph.syntax.template import expression, statements

FILE = Path(__file__).with_name("rewritten.txt")
SECTIONS = dict(re.findall(r"^=== (.+)\n((?:(?!===).*\n)+)", FILE.read_text(), re.M))


def rewritten(source: str, *features: Feature, **namespace: Any) -> str:
    (node,) = ast.parse(source).body
    assert isinstance(node, ast.FunctionDef)
    options = ConversionOptions(recursive=True, optional_features=features)
    rewrite_function(node, Context(node, options, False, namespace))
    return ast.unparse(ast.fix_missing_locations(node))


@pytest.mark.parametrize("title", SECTIONS)
def test_rewritten_functions(title: str) -> None:
    before, after = SECTIONS[title].split("\n--->\n")
    named = re.search(r"\[(.+)\]", title)
    features = [Feature[name] for name in named[1].split()] if named else []
    assert rewritten(before, *features) == after.strip()


def test_a_lambda_in_a_scope() -> None:
    node = ast.parse("lambda x: x and f(x)", mode="eval").body
    assert isinstance(node, ast.Lambda)
    rewrite_lambda(node, Context(node, ConversionOptions(), True, {}))
    assert ast.unparse(node) == (
        "lambda x: ag__.with_function_scope(lambda lambda_scope: ag__.and_(lambda: x, "
        "lambda: ag__.converted_call(f, x)), 'lambda_scope', ag__.options)"
    )


def test_what_is_known_of_the_elements_of_a_list() -> None:
    source = """
def f(l, m):
    d.set_element_type(l, int, [2])
    d.set_element_type(entity=m, dtype=float)
    x = l.pop()
    return d.stack(m), l[0], m.pop(), x
"""
    d = SimpleNamespace(set_element_type=set_element_type)
    text = rewritten(source, Feature.LISTS, d=d)
    assert "set_element_type" not in text
    assert "opts=ag__.ListPopOpts(element_dtype=int, element_shape=[2])" in text
    assert "opts=ag__.ListPopOpts(element_dtype=float, element_shape=None)" in text
    assert "ag__.ListStackOpts(element_dtype=float, original_call=d.stack)" in text
    assert "ag__.get_item(l, 0, opts=ag__.GetItemOpts(element_dtype=int))" in text
    twice = source.replace("entity=m, dtype=float", "l, float")
    with pytest.raises(ValueError, match="l has ambiguous annotations"):
        rewritten(twice, Feature.LISTS, d=d)
    with pytest.raises(ValueError, match="the entity must be a variable"):
        rewritten(source.replace("(l, int", "(g(l), int"), Feature.LISTS, d=d)
    # A variable of the function is not the module.
    assert "set_element_type" in rewritten(
        source.replace("def f(l, m)", "def f(l, m, d)"), Feature.LISTS, d=d
    )


def test_builtin_names_that_are_something_else() -> None:
    source = "def f(x):\n    return max(x)"
    converted = "ag__.converted_call(max, x)"
    assert converted not in rewritten(source)
    assert converted in rewritten(source, max=1)
    assert converted in rewritten("def f(x):\n    max = g\n    return max(x)")


# ---- names


@pytest.mark.parametrize(
    ("text", "symbol", "variables"),
    [
        ("x", "x", "x"),
        ("x.y.z", "x.y.z", "x"),
        ("x[i].y", "x[i].y", "x i"),
        ("x['k']", "x['k']", "x"),
        ("x[0][j.k]", "x[0][j.k]", "x j"),
        ("x[1.5]", None, ""),
        ("x[1:2]", None, ""),
        ("x[-1]", None, ""),
        ("f(x).y", None, ""),
    ],
)
def test_symbols(text: str, symbol: str | None, variables: str) -> None:
    found = symbol_of(ast.parse(text, mode="eval").body)
    if symbol is None:
        assert found is None
    else:
        assert found == (symbol, frozenset(variables.split()))


@pytest.mark.parametrize(
    ("code", "reads", "writes"),
    [
        ("x = y", "y", "x"),
        ("x += y", "x y", "x"),
        ("x.a = y", "x y", ""),
        ("x[i] = y", "x i y", ""),
        ("del x", "x", "x"),
        ("a, *b = c", "c", "a b"),
        ("f = lambda x, y=z: x + y + w", "z w", "f"),
        ("s = [x + y for x in z for y in x if y]", "z", "s"),
        ("s = {k: v for k, v in z}", "z", "s"),
        ("s = [y := x for x in z]", "z", "s y"),
        ("import a.b, c as d", "", "a d"),
        ("from m import e", "", "e"),
        ("def g(a, b=c, *d, e=f, **h): return a + i + b + k", "c f i k", "g"),
        ("def g():\n    nonlocal v\n    v = w", "w v", "g"),
        ("@d\nclass C(B, metaclass=M):\n    x = y\n    z = x", "d B M y", "C"),
        ("try:\n    pass\nexcept E as e:\n    pass", "E", "e"),
        ("match s:\n    case {'k': a, **b}: pass\n    case [*c]: pass", "s", "a b c"),
        ("with o as w: pass", "o", "w"),
        ("async def g(): return x", "x", "g"),
    ],
)
def test_names_that_code_reads_and_writes(code: str, reads: str, writes: str) -> None:
    found = Activity(ast.parse(code).body)
    assert found.reads == set(reads.split())
    assert found.writes == set(writes.split())


def test_composites_and_declarations() -> None:
    found = Activity(ast.parse("global g\na.b = a[i].c = 1\nf().d = 2").body)
    assert set(found.composites) == {"a.b", "a[i].c"}
    assert found.declared == {"g"}
    function = ast.parse("lambda x: x + y", mode="eval").body
    assert isinstance(function, ast.Lambda)
    assert free_variables(function) == {"y"}


def test_new_names() -> None:
    namer = Namer({"x", "x_1", "y"})
    assert [namer.new(root) for root in ("x", "z", "z", "y_1")] == [
        "x_2",
        "z",
        "z_1",
        "y_1",
    ]
    assert namer.made == {"x_2", "z", "z_1", "y_1"}


def test_templates() -> None:
    made = statements(
        "target = call(a, rest, k=a)",
        target=expression("(x.y, z[0])"),
        rest=[expression("b"), expression("c")],
    )
    assert not any(hasattr(node, "lineno") for node in ast.walk(made[0]))
    text = ast.unparse(ast.fix_missing_locations(ast.Module(made, [])))
    assert text == "x.y, z[0] = call(a, b, c, k=a)"
