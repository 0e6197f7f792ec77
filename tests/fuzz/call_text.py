"""Random calls of the public functions, as text.

A call begins as a good one: the example in the function's docstring, one of
`call_examples.py`, or values chosen by the names of the parameters.  Then some of its
arguments are replaced by wrong ones, or by right ones in another form.  The same seed
and number make the same call as long as the functions are the same.
"""

from __future__ import annotations

import ast
import csv
import inspect
import random
import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import tfteach as tf
from tests.fuzz.call_examples import EXAMPLES, LEFT_OUT
from tests.fuzz.call_worker import names

USAGE = Path(__file__).parent.parent / "golden" / "api_usage.csv"

# What is wrong almost everywhere, or right in an unusual form.
ODD_VALUES = """
None | 'a' | b'a' | '' | ['a', 'b'] | [b'a'] | [] | [[]] | [[1, 2], [3]] | [None] | ()
1 | -1 | 0 | 3 | 2.5 | -0.5 | True | False | 1j | 1e40
1000000000000 | 2147483648 | -1099511627776
float('nan') | float('inf') | [1, 2.5] | [True, 1] | [1, 'a'] | [1.0, None] | (1, 2)
{'a': 1} | {} | {1, 2} | (lambda x: x) | object | range(3) | Ellipsis | slice(1, 2)
tf.float32 | 'float32' | np.float64 | int | tf.string | tf.float32_ref | tf.nn.relu
np.array([1, 2], 'int8') | np.array([1.0, 2.0]) | np.float64(2) | np.int64(3)
np.array([1, 'a'], object) | np.array(['a', 'b']) | np.array(b'a') | np.bool_(True)
np.array(['2020-01-01'], 'datetime64[D]') | np.zeros([0, 3], 'f') | np.uint8(3)
np.array([[1.0, 2.0]], 'complex128') | np.array([1.5], 'f2') | np.array(3, 'uint64')
np.array([None, 1]) | np.arange(6).reshape(2, 3) | np.ones([2, 2, 2, 2, 2], 'f')
operation() | [operation()] | other() | [other()] | variable() | [variable(), 1.0]
resource() | variable(3) | sparse() | [sparse()] | slices() | store() | graph()
tf.Graph | tf.TensorShape([2, 3]) | tf.TensorShape(None) | tf.TensorShape([None, 2])
tf.Dimension(2) | tf.Dimension(None) | [tf.Dimension(2), 3] | [tf.Dimension(None)]
tf.placeholder(tf.float32) | tf.placeholder(tf.int32, [None]) | late(1.0) | late(2)
late([1, 2]) | late([[1.0, 2.0]], [None, None]) | late('a') | late([True])
[tf.constant(1), tf.constant(2)] | [tf.constant(1), tf.constant(2.0)]
[tf.constant(1.0), 2] | [tf.constant('a'), 1] | [[tf.constant(1)], [2]]
tf.constant('a') | tf.constant(['a', 'b']) | tf.constant(True) | tf.constant(1j)
tf.zeros([0, 3]) | tf.zeros([1, 1, 1, 1, 1]) | tf.ones([2, 2], tf.float16)
tf.constant(3, tf.uint8) | tf.constant(2, tf.int64) | tf.constant([1, 0])
tf.constant([2.0, 3.0], tf.float64) | tf.ones([2, 3]) | tf.ones([3])
tf.constant(3, tf.bfloat16) | tf.cast(1.0, tf.qint8) | tf.constant(1.0)
"""

ODD_NAMES = """
None | '' | 'n' | 'a/b' | 'a b' | '/a' | '_a' | 'a:0' | 'n/' | b'n' | 3 | 0 | 1.5
['n'] | [] | ('n',) | {'n': 1} | True | False | tf.float32 | tf.constant('n') | 'ä'
(lambda: 'n') | np.array('n') | operation() | tf.TensorShape([]) | np.str_('n')
"""

# Parameters by name: (pattern, values that are often right).
USUAL_VALUES = [
    ("name|op_name|scope|name_scope", ODD_NAMES),
    (
        ".*axis|.*axes|dim|dimension|reduction_indices|.*_dim",
        "0 | 1 | -1 | [0] | [0, 1] | None | 2 | -2 | [1, 1] | 5",
    ),
    (
        ".*dtype|out_type|.*_type|DstT|Tout|T|type|idx",
        "tf.float32 | tf.int32 | tf.int64 | tf.float64 | 'float32' | np.int32 | tf.bool"
        " | tf.string | tf.complex64 | tf.float16 | tf.uint8 | np.float64 | float",
    ),
    (
        ".*shape|dims|.*sizes|size|multiples|begin|end",
        "[2, 3] | [] | [2] | 2 | [2, -1] | [None, 3] | None | tf.TensorShape([2, 3])"
        " | (3, 2) | tf.constant([2, 3]) | late([2, 3])",
    ),
    ("seed|op_seed", "None | 1 | 0 | 2147483648 | tf.constant(1) | (1, 2) | 1.5"),
    ("padding", "'SAME' | 'VALID' | 'same' | 'valid' | 'FULL' | [[1, 1], [1, 1]]"),
    (
        "data_format",
        "'NHWC' | 'NCHW' | 'channels_last' | 'channels_first' | 'NWC' | None | 'NDHWC'",
    ),
    (
        "strides?|ksize|kernel_size|pool_size|dilation.*|rates?|block_size",
        "1 | 2 | [1, 1, 1, 1] | [1, 2, 2, 1] | (2, 2) | [2] | 0",
    ),
    ("collections|.*_collections", "None | ['c'] | 'c' | [] | ()"),
    (
        "num_.*|depth|n|k|units|filters|.*_size|.*_count",
        "3 | 2 | 1 | 0 | tf.constant(2)",
    ),
    ("activation.*", "None | tf.nn.relu | tf.tanh | 'relu'"),
    (".*initializer", "None | tf.zeros_initializer() | tf.ones_initializer | 0.5"),
    (".*regularizer|.*constraint", "None | tf.nn.l2_loss | (lambda x: x)"),
    (".*_fn|fn|func|function|pred", "(lambda x: x) | (lambda: 1.0) | tf.nn.relu"),
    ("cell|cell_.*", "tf.nn.rnn_cell.GRUCell(2) | tf.nn.rnn_cell.LSTMCell(2)"),
    ("ref|var|variable|v|var_list", "variable() | resource() | [variable()]"),
    ("sp_.*|sparse.*", "sparse() | sparse()"),
    ("graph", "graph() | None | tf.Graph()"),
    ("reuse|trainable|.*training", "None | True | False | tf.AUTO_REUSE"),
    ("weights", "1.0 | [1.0, 0.0] | tf.ones([2, 1]) | 0.5 | None"),
    (
        "x|y|a|b|input|inputs|tensor|value|values|.*tensor|.*",
        "[1.0, 2.0] | [[1.0, 2.0], [3.0, 4.0]] | tf.ones([2, 3]) | [1, 2] | 2.0 | 3"
        " | tf.ones([1, 4, 4, 3]) | tf.constant([1, 0]) | [[1, 0], [0, 1]]"
        " | late([[1.0, 2.0]], [None, None]) | tf.zeros([2, 2, 2]) | ['a', 'bc']"
        " | [True, False] | np.ones([2, 2], 'f') | tf.constant([1.0], tf.float64)",
    ),
]

# A literal inside an argument becomes one of these.
ODD_LITERALS = "-1 | 0 | 7 | 70000 | 2.5 | 'a' | None | True | -2 | 1 | 8589934592 | []"

# An argument in another form.
FORMS = """
late({0}) | late({0}, None) | tf.constant({0}) | [{0}] | [{0}, {0}] | tf.identity({0})
np.array({0}) | np.array({0}, 'f') | np.array({0}, 'int32') | np.array({0}, 'float64')
tf.cast({0}, tf.float64) | tf.cast({0}, tf.int32) | tf.cast({0}, tf.int64)
tf.cast({0}, tf.float16) | tf.expand_dims({0}, 0) | tf.Variable({0}) | ({0},)
tf.cast({0}, tf.bool) | tf.as_string({0}) | tf.cast({0}, tf.complex64) | {0}[0]
"""


def split(text: str) -> list[str]:
    """The values of a table: separated by ` | ` or by lines."""
    parts = [part.strip() for line in text.splitlines() for part in line.split(" | ")]
    return [part for part in parts if part]


class Function(NamedTuple):
    """A function that is called, and how."""

    name: str
    parameters: list[inspect.Parameter]
    example: str | None
    weight: float


class CallMaker:
    """Makes calls; `call(number)` is one of them."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.functions = list(functions())
        self._weights = [f.weight for f in self.functions]
        self._odd, self._names = split(ODD_VALUES), split(ODD_NAMES)
        self._literals, self._forms = split(ODD_LITERALS), split(FORMS)
        self._usual = [
            (re.compile(f"(?:{pattern})\\Z"), split(values))
            for pattern, values in USUAL_VALUES
        ]

    def call(self, number: int) -> str:
        """The text of one call."""
        rng = random.Random(f"{self.seed}:{number}")
        (function,) = rng.choices(self.functions, self._weights)
        args, kwargs = self._good_arguments(rng, function)
        for _ in range(rng.choices([0, 1, 2], [3, 5, 2])[0]):
            self._change(rng, function, args, kwargs)
        given = [*args, *(f"{name}={value}" for name, value in kwargs.items())]
        return f"{function.name}({', '.join(given)})"

    def _good_arguments(
        self, rng: random.Random, function: Function
    ) -> tuple[list[str], dict[str, str]]:
        args: list[str] = []
        kwargs: dict[str, str] = {}
        if function.example is not None:
            call = ast.parse(function.example, mode="eval").body
            assert isinstance(call, ast.Call)
            args = [ast.unparse(arg) for arg in call.args]
            kwargs = {str(k.arg): ast.unparse(k.value) for k in call.keywords}
        else:
            for parameter in function.parameters:
                if parameter.default is parameter.empty:
                    kwargs[parameter.name] = self._usual_value(rng, parameter)
        optional = [
            p for p in self._free(function, args, kwargs) if p.default is not p.empty
        ]
        for parameter in optional:
            if rng.random() < 0.6 / len(optional):
                kwargs[parameter.name] = self._usual_value(rng, parameter)
        return args, kwargs

    def _free(
        self, function: Function, args: list[str], kwargs: dict[str, str]
    ) -> list[inspect.Parameter]:
        """The parameters that have no argument yet."""
        return [p for p in function.parameters[len(args) :] if p.name not in kwargs]

    def _usual_value(self, rng: random.Random, parameter: inspect.Parameter) -> str:
        default = parameter.default
        if isinstance(default, bool):
            return rng.choice(["True", "False"])
        if isinstance(default, float | int) and rng.random() < 0.5:
            return rng.choice([repr(default), "2", "0.5"])
        if isinstance(default, str) and rng.random() < 0.3:
            return repr(default)
        for pattern, values in self._usual:
            if pattern.match(parameter.name):
                return rng.choice(values)
        raise LookupError(parameter.name)

    def _change(
        self,
        rng: random.Random,
        function: Function,
        args: list[str],
        kwargs: dict[str, str],
    ) -> None:
        """Replace, reshape or add one argument."""
        places: list[Any] = [*range(len(args)), *kwargs]
        if not places or rng.random() < 0.15:
            free = self._free(function, args, kwargs)
            if free:
                name = rng.choice(free).name
                kwargs[name] = rng.choice(self._names if name == "name" else self._odd)
            return
        place = rng.choice(places)
        where: Any = args if isinstance(place, int) else kwargs
        old = where[place]
        kind = rng.random()
        if place == "name":
            where[place] = rng.choice(self._names)
        elif kind < 0.45:
            where[place] = rng.choice(self._odd)
        elif kind < 0.75:
            where[place] = rng.choice(self._forms).format(old)
        else:
            where[place] = self._with_other_literal(rng, old)

    def _with_other_literal(self, rng: random.Random, text: str) -> str:
        tree = ast.parse(text, mode="eval")
        literals = [n for n in ast.walk(tree) if isinstance(n, ast.Constant)]
        if not literals:
            return rng.choice(self._odd)
        chosen = rng.choice(literals)
        value = rng.choice(self._literals)

        class Replace(ast.NodeTransformer):
            def visit_Constant(self, node: ast.Constant) -> ast.AST:
                return ast.parse(value, mode="eval").body if node is chosen else node

        return ast.unparse(Replace().visit(tree))


def functions() -> Iterator[Function]:
    """All functions that are called, each under one name."""
    with USAGE.open() as file:
        rank = {row["symbol"]: i for i, row in enumerate(csv.DictReader(file))}
    by_object: dict[int, list[str]] = {}
    found = dict(_walk(tf, "tf", 0))
    for name, item in found.items():
        by_object.setdefault(id(item), []).append(name)
    for aliases in by_object.values():
        name = min(aliases, key=lambda n: (rank.get(n, 999), n.count("."), len(n)))
        if any(re.match(LEFT_OUT, alias) for alias in aliases):
            continue
        item = found[name]
        weight = 6.0 if rank.get(name, 999) < 150 else 3.0 if name in rank else 1.0
        if name.startswith(("tf.contrib", "tf.distributions")):
            weight /= 2
        example = EXAMPLES.get(name) or docstring_example(item, aliases)
        yield Function(name, _parameters(item), example, weight)
    for name, example in EXAMPLES.items():
        if name not in found:
            item = eval(name, names(tf))
            yield Function(name, _parameters(item), example, 2.0)


def _walk(module: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(module)):
        if name.startswith("_") or name == "api":
            continue
        item = getattr(module, name)
        if isinstance(item, types.ModuleType):
            if item.__name__.startswith("tfteach.api") and depth < 5:
                yield from _walk(item, f"{path}.{name}", depth + 1)
        elif callable(item) and not is_proto(item):
            yield f"{path}.{name}", item


def is_proto(item: Any) -> bool:
    """Whether it is a message's class: modules have these once they were asked for."""
    return isinstance(item, type) and hasattr(item, "DESCRIPTOR")


def _parameters(item: Any) -> list[inspect.Parameter]:
    try:
        found = inspect.signature(item).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p for p in found if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def docstring_example(item: Any, aliases: list[str]) -> str | None:
    """The first call in the docstring's example that can be evaluated by itself."""
    lines = [line.strip() for line in (inspect.getdoc(item) or "").splitlines()]
    code = "\n".join(line[4:] for line in lines if line.startswith((">>> ", "... ")))
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in aliases:
            used = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            bound = {a.arg for a in ast.walk(node) if isinstance(a, ast.arg)}
            plain = all(k.arg for k in node.keywords)
            starred = any(isinstance(a, ast.Starred) for a in node.args)
            if used <= {"tf", "np", *bound} and plain and not starred:
                return ast.unparse(node)
    return None
