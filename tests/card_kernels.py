"""`cupy.ElementwiseKernel` of tests/strict_card.py: it reads the source in C++."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special

from tests import card_capture
from tests.card_arrays import inside, outside

TYPES: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "float16": np.float16,
    "bool": np.bool_,
    "int": np.int32,
    "long long": np.int64,
    "short": np.int16,
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "unsigned int": np.uint32,
    "unsigned long long": np.uint64,
}
_KEYWORDS = frozenset("new delete this class default union template and or".split())
_NAMES = "|".join(TYPES)
_TOKEN = re.compile(
    rf"\s*(\((?:{_NAMES})\)|\d+\.\d+(?:e[-+]?\d+)?f?|\d+(?:e[-+]?\d+)f?|0x\w+|\d\w*"
    r"|\w+(?:\.\w+)?|&&|\|\||<<|>>|[<>=!]=|[-+*/%<>!?:(),&|^\[\]])"
)
_SUFFIXES = {"": int, "u": np.uint32, "ull": np.uint64}
_STATEMENT = re.compile(rf"(?:({_NAMES}) )?(\w+) = (.*);")
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(np, name)
    for name in "exp expm1 log log1p sqrt fabs sin cos tan sinh cosh tanh floor ceil "
    "rint isnan isinf isfinite".split()
}
_FUNCTIONS |= {"erf": scipy.special.erf, "erfc": scipy.special.erfc, "pow": np.power}
_FUNCTIONS |= {f"a{n}": getattr(np, f"arc{n}") for n in "sin cos tan sinh cosh".split()}
_FUNCTIONS |= {f"{name}f": _FUNCTIONS[name] for name in "sin cos log sqrt".split()}
_FUNCTIONS |= {"atanh": np.arctanh, "atan2": np.arctan2}


def _divided(a: Any, b: Any) -> Any:
    """C's division, of integers that are not negative."""
    whole = np.asarray(a).dtype.kind in "iu" and np.asarray(b).dtype.kind in "iu"
    return a // b if whole else a / b


_LEVELS: list[dict[str, Callable[..., Any]]] = [
    {"||": np.logical_or},
    {"&&": np.logical_and},
    {"|": operator.or_},
    {"^": operator.xor},
    {"&": operator.and_},
    {"==": operator.eq, "!=": operator.ne},
    {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
    {"<<": operator.lshift, ">>": operator.rshift},
    {"+": operator.add, "-": operator.sub},
    {"*": operator.mul, "/": _divided, "%": operator.mod},
]


class Expression:
    """The value of an expression of C++."""

    def __init__(self, source: str, names: dict[str, Any]) -> None:
        self._tokens = _TOKEN.findall(source)
        read = "".join(self._tokens)
        assert read.replace(" ", "") == re.sub(r"\s", "", source), source
        self._names = names

    def value(self) -> Any:
        found = self._choice()
        assert not self._tokens, self._tokens
        return found

    def _next(self, expected: str = "") -> str:
        token: str = self._tokens.pop(0)
        assert expected in ("", token), (expected, token)
        return token

    def _choice(self) -> Any:
        test = self._level(0)
        if not self._tokens or self._tokens[0] != "?":
            return test
        self._next("?")
        yes = self._choice()
        self._next(":")
        return np.where(test, yes, self._choice())

    def _level(self, number: int) -> Any:
        if number == len(_LEVELS):
            return self._unary()
        left = self._level(number + 1)
        while self._tokens and self._tokens[0] in _LEVELS[number]:
            function = _LEVELS[number][self._next()]
            left = function(left, self._level(number + 1))
        return left

    def _unary(self) -> Any:
        token = self._next()
        if token == "-":
            return -self._unary()
        if token == "!":
            return np.logical_not(self._unary())
        if token[1:-1] in TYPES:
            return np.asarray(self._unary()).astype(TYPES[token[1:-1]])[()]
        if token == "(":
            found = self._choice()
            self._next(")")
            return found
        if token[0].isdigit():
            return _number(token)
        if token in self._names:
            found = self._names[token]
            if self._tokens and self._tokens[0] == "[":
                self._next("[")
                found = found[self._choice()]
                self._next("]")
            return found
        return self._call(_FUNCTIONS[token])

    def _call(self, function: Callable[..., Any]) -> Any:
        self._next("(")
        given = [self._choice()]
        while self._tokens[0] == ",":
            self._next(",")
            given.append(self._choice())
        self._next(")")
        return function(*given)


def _number(token: str) -> Any:
    is_hexadecimal = token.startswith("0x")
    digits = token.rstrip("ul") if is_hexadecimal else token.rstrip("ulf")
    suffix = token[len(digits) :]
    if suffix == "f":
        return np.float32(digits)
    if not is_hexadecimal and ("." in digits or "e" in digits):
        return np.float64(digits)
    return _SUFFIXES[suffix](int(digits, 0))


def _parameters(text: str) -> list[tuple[str, Any]]:
    pairs = [part.split() for part in text.split(",")]
    return [(name, np.dtype(kind)) for kind, name in pairs]


class ElementwiseKernel:
    """A kernel for each element of arrays of the card, which are broadcast."""

    def __init__(
        self, in_params: str, out_params: str, operation: str, name: str = "kernel"
    ) -> None:
        self._inputs, self._outputs = _parameters(in_params), _parameters(out_params)
        self._operation, self._name = operation, name

    def __call__(self, *args: Any) -> Any:
        given = inside(args)
        count = len(self._inputs)
        for value, (name, dtype) in zip(given, self._inputs, strict=False):
            if isinstance(value, np.ndarray) and value.dtype != dtype:
                raise TypeError(f"Type is mismatched. {name} {value.dtype} {dtype}")
        if len(given) == count + len(self._outputs):

            def write(*arrays: Any) -> None:
                targets = arrays[count:]
                made = self._run(arrays[:count], targets)
                for target, value in zip(targets, made, strict=True):
                    target[...] = value

            card_capture.write(self._name, write, given, {})
            return args[count:] if len(self._outputs) > 1 else args[count]
        if len(given) != count:
            raise TypeError(f"Wrong number of arguments for {self._name!r}")
        found = outside(card_capture.run(self._name, self._run, (given,)))
        return found if len(found) > 1 else found[0]

    def _run(self, values: Any, targets: Any = ()) -> tuple[Any, ...]:
        """The results; what is given for them can be read as well."""
        known = [*zip(values, self._inputs, strict=True)]
        known += zip(targets, self._outputs, strict=False)
        shape = np.broadcast_shapes(*(np.shape(value) for value, _ in known))
        names = {name: np.asarray(value, dtype) for value, (name, dtype) in known}
        with np.errstate(all="ignore"):
            for line in self._operation.splitlines():
                found = _STATEMENT.fullmatch(line.strip())
                assert found is not None, line
                kind, name, source = found.groups()
                value = np.asarray(Expression(source, names).value())
                assert name not in _KEYWORDS, line
                if not kind:  # declared before
                    dtype = dict(self._outputs).get(name) or names[name].dtype
                else:
                    assert name not in names, line
                    dtype = TYPES[kind]
                names[name] = value.astype(dtype)
        return tuple(
            np.array(np.broadcast_to(names[name], shape), dtype)
            for name, dtype in self._outputs
        )
