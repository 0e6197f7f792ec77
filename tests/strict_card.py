"""An array module with CuPy's rules, computed by NumPy, for tests without a card.

It has CuPy's names, parameters and ufunc types (recorded in
tests/golden/cupy_signatures.json) and refuses what CuPy refuses: arrays of the host and
of the card in one call, implicit copies to the host, names and keywords that only NumPy
has, types that no kernel computes with.  As in CuPy results of reductions are arrays of
no dimensions, and an index that is out of range wraps around.
"""

from __future__ import annotations

import functools
import importlib.machinery
import json
import sys
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.special

from tests.golden import cupy_signatures
from tfteach.engine.devices import devices

SIGNATURES: dict[str, Any] = json.loads(
    Path(cupy_signatures.__file__).with_suffix(".json").read_text()
)
_HOST_MODULES = {
    "cupy": np,
    "cupy.linalg": np.linalg,
    "cupy.random": np.random,
    "cupy.fft": np.fft,
    "cupy.lib": np.lib,
    "cupy.lib.stride_tricks": np.lib.stride_tricks,
    "cupyx.scipy.special": scipy.special,
}
# What the atomic functions behind `ufunc.at` support.
_SUMS = {"add", "subtract"}
_COMPARED = {"int32", "float32", "float64", "uint32", "uint64"}
_ADDED = _COMPARED | {"float16"}
# Functions that copy from the host's memory.
_COPIES = {"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"}
_REDUCED = {
    "reduce": {"add", "multiply"},
    "accumulate": {"add", "multiply"},
    "reduceat": {"add"},
}


def to_card(value: Any) -> Array:
    """A copy in the card's memory."""
    host = np.asarray(value)
    if host.dtype.kind in "OSUV" and host.dtype.name != "bfloat16":
        raise ValueError(f"Unsupported dtype {host.dtype}")
    return Array(np.array(host))


def to_host(value: Any) -> Any:
    """The array that `value` stands for: what `cupy.asnumpy` returns."""
    return value._host.copy() if isinstance(value, Array) else np.asarray(value)


def _inside(value: Any) -> Any:
    """An argument for NumPy.

    Raises:
      TypeError: there is an array of the host in it.
    """
    if isinstance(value, Array):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}: an array of the host")
    if isinstance(value, list | tuple):
        return type(value)(map(_inside, value))
    if isinstance(value, slice):
        return slice(*map(_inside, (value.start, value.stop, value.step)))
    return value


def _outside(value: Any) -> Any:
    """A result of NumPy as CuPy returns it: never a NumPy scalar."""
    if isinstance(value, np.ndarray | np.generic):
        return Array(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_make"):  # SVDResult
        return value._make(map(_outside, value))  # type: ignore[attr-defined]
    if isinstance(value, list | tuple):
        return type(value)(map(_outside, value))
    return value


def _checked(
    name: str, known: list[str] | None, args: tuple[Any, ...], keywords: Iterable[str]
) -> None:
    """Raises TypeError: CuPy's function does not have these parameters."""
    if known is None:
        return
    if len(args) > len(known):
        raise TypeError(f"{name}() accepts {len(known)} arguments, got {len(args)}")
    for keyword in keywords:
        if keyword not in known:
            raise TypeError(f"{name}() got an unexpected keyword argument {keyword!r}")


def _called(
    name: str, known: list[str] | None, function: Callable[..., Any]
) -> Callable[..., Any]:
    copies = name in _COPIES

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        _checked(name, known, args, kwargs)
        if copies and not isinstance(args[0], Array):
            return to_card(function(_of_scalars(args[0]), *args[1:], **kwargs))
        inputs = _inside(args), {key: _inside(item) for key, item in kwargs.items()}
        if name == "take":
            inputs[1]["mode"] = "wrap"
        found = function(*inputs[0], **inputs[1])
        out = kwargs.get("out")
        return _outside(found) if out is None else out

    return call


def _of_scalars(value: Any) -> Any:
    """An argument of `asarray`: lists may hold arrays of the card, which is rare."""
    if isinstance(value, list | tuple):
        return type(value)(map(_of_scalars, value))
    return value._host if isinstance(value, Array) else value


class Ufunc:
    """A ufunc with the types that CuPy has kernels for."""

    def __init__(self, name: str, described: dict[str, Any], function: Any) -> None:
        self._name = name
        self._function = function
        self._keywords = described["keywords"]
        self._scatters = described["scatters"]
        self._inputs = [types.partition("->")[0] for types in described["types"]]
        self.nin = len(self._inputs[0])

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for keyword in kwargs:
            if keyword not in self._keywords:
                raise TypeError(f"Wrong arguments {{{keyword!r}}} of {self._name}")
        self._check_types(args[: self.nin])
        found = self._function(
            *_inside(args), **{key: _inside(item) for key, item in kwargs.items()}
        )
        out = kwargs.get("out", args[self.nin] if len(args) > self.nin else None)
        return _outside(found) if out is None else out

    def _check_types(self, args: tuple[Any, ...]) -> None:
        kinds = [np.asarray(a).dtype for a in _inside(args) if not _is_weak(a)]
        if any(kind.name == "bfloat16" for kind in kinds):
            return
        for types in self._inputs:
            if all(np.can_cast(kind, types[-1]) for kind in kinds):
                return
        raise TypeError(f"Wrong type {kinds} of arguments for {self._name}")

    def at(self, a: Any, indices: Any, b: Any = None) -> None:
        if not self._scatters:
            raise NotImplementedError(f"`{self._name}.at` is not supported yet")
        if a.dtype.name not in (_ADDED if self._name in _SUMS else _COMPARED):
            raise TypeError(f"scatter_{self._name} does not support {a.dtype}")
        self._function.at(a._host, _inside(indices), _inside(b))

    def reduce(self, array: Any, axis: Any = 0, **kwargs: Any) -> Any:
        return self._only("reduce")(_inside(array), axis, **kwargs)

    def accumulate(self, array: Any, axis: int = 0, **kwargs: Any) -> Any:
        return self._only("accumulate")(_inside(array), axis, **kwargs)

    def reduceat(self, array: Any, indices: Any, axis: int = 0) -> Any:
        return self._only("reduceat")(_inside(array), _inside(indices), axis)

    def outer(self, a: Any, b: Any) -> Any:
        return _outside(self._function.outer(_inside(a), _inside(b)))

    def _only(self, method: str) -> Callable[..., Any]:
        if self._name not in _REDUCED[method]:
            raise NotImplementedError(f"`{self._name}.{method}` is not supported yet")
        function = getattr(self._function, method)
        return lambda *args, **kwargs: _outside(function(*args, **kwargs))


def _is_weak(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex)


class Pool:
    """CuPy's memory pool, which limits what it hands out.

    Attributes:
      limit, used: in bytes; without a limit (0) nothing is counted.
      waits: how often the host waited for the card, to read a value.
      ends: how often it waited for all that the card computes.
    """

    limit = 0
    used = 0
    waits = 0
    ends = 0

    def wait(self) -> None:
        self.ends += 1

    def allocate(self, owner: Array, size: int) -> None:
        """Memory for an array, until it is collected."""
        if self.used + size > self.limit:
            raise MemoryError(f"Out of memory allocating {size} bytes")
        self.used += size
        weakref.finalize(owner, self.free, size)

    def free(self, size: int) -> None:
        self.used -= size

    def set_limit(self, *, size: int) -> None:
        self.limit = size

    def get_limit(self) -> int:
        return self.limit


POOL = Pool()


_METHODS = {"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "strides", "flags"}


class Array:
    """An array in the card's memory, as `cupy.ndarray`."""

    __slots__ = ("__weakref__", "_host")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, host: np.ndarray[Any, Any]) -> None:
        self._host = host
        if POOL.limit:
            POOL.allocate(self, host.nbytes)

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` "
            "to construct a NumPy array explicitly."
        )

    def __array_ufunc__(
        self, ufunc: Any, method: str, *args: Any, **kwargs: Any
    ) -> Any:
        # NumPy makes arrays of no dimensions of its scalars before it asks.
        args = tuple(
            a[()] if isinstance(a, np.ndarray) and a.ndim == 0 else a for a in args
        )
        found = getattr(CARD, ufunc.__name__)
        return (found if method == "__call__" else getattr(found, method))(
            *args, **kwargs
        )

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        module: Any = CARD
        for part in function.__module__.split(".")[1:]:
            module = getattr(module, part)
        return getattr(module, function.__name__)(*args, **kwargs)

    @property
    def real(self) -> Array:
        return Array(self._host.real)

    @real.setter
    def real(self, value: Any) -> None:
        self._host.real = _inside(value)

    @property
    def imag(self) -> Array:
        return Array(self._host.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self._host.imag = _inside(value)

    def __getattr__(self, name: str) -> Any:
        known = SIGNATURES["ndarray"].get(name)
        if known is None or not hasattr(self._host, name):
            raise AttributeError(f"'ndarray' object has no attribute {name!r}")
        found = getattr(self._host, name)
        if name in _METHODS:
            return found
        if not callable(found):
            return _outside(found)
        return _called(name, known["parameters"], found)

    def _fetched(self) -> np.ndarray[Any, Any]:
        """The array, for which the host waits until the card has computed it."""
        POOL.waits += 1
        return self._host

    def get(self) -> np.ndarray[Any, Any]:
        return self._fetched().copy()

    def item(self) -> Any:
        return self._fetched().item()

    def tolist(self) -> Any:
        return self._fetched().tolist()

    def __getitem__(self, index: Any) -> Array:
        return Array(np.asarray(self._host[self._wrapped(index)]))

    def __setitem__(self, index: Any, value: Any) -> None:
        self._host[self._wrapped(index)] = _inside(value)

    def _wrapped(self, index: Any) -> Any:
        """The index; integers in arrays count modulo the dimension."""
        if not isinstance(index, tuple):
            index = (index,)
        parts: list[Any] = []
        axis = 0
        for i, part in enumerate(index):
            inner = _inside(part)
            if part is None:
                parts.append(inner)
                continue
            if part is Ellipsis:
                axis = self._host.ndim - sum(p is not None for p in index[i + 1 :])
            elif isinstance(part, Array) and inner.dtype.kind in "iu":
                inner = inner % max(self._host.shape[axis], 1)
            if part is not Ellipsis:
                axis += 1
            parts.append(inner)
        return tuple(parts)

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self._fetched())

    def __int__(self) -> int:
        return int(self._fetched().item())

    def __float__(self) -> float:
        return float(self._fetched().item())

    def __complex__(self) -> complex:
        return complex(self._fetched().item())

    def __index__(self) -> int:
        return int(self._fetched().__index__())

    def __repr__(self) -> str:
        return f"card {self._host!r}"

    def __getstate__(self) -> Any:
        return self._host

    def __setstate__(self, host: Any) -> None:
        self._host = host


def _add_operators() -> None:
    names = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
    binary = [n for base in names.split() for n in (base, f"r{base}", f"i{base}")]
    binary += "eq ne lt le gt ge divmod rdivmod".split()

    def operator(name: str, is_in_place: bool) -> Any:
        def call(self: Array, *others: Any) -> Any:
            method = getattr(self._host, name)
            found = method(*map(_inside, others))
            if found is NotImplemented:
                return found
            return self if is_in_place else _outside(found)

        return call

    for name in binary + "neg pos abs invert".split():
        is_in_place = name.startswith("i") and name != "invert"
        setattr(Array, f"__{name}__", operator(f"__{name}__", is_in_place))


_add_operators()


class StrictCard(ModuleType):
    """`cupy`, or a module of it."""

    def __init__(self, name: str = "cupy") -> None:
        super().__init__(name)
        self._known = SIGNATURES.get(name, {})
        self._host_module = _HOST_MODULES[name]

    def __getattr__(self, name: str) -> Any:
        inner = f"{self.__name__}.{name}"
        if inner in _HOST_MODULES:
            found: Any = StrictCard(inner)
        else:
            found = self._function(name)
        setattr(self, name, found)
        return found

    def _function(self, name: str) -> Any:
        described = self._known.get(name)
        if described is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name == "ndarray":
            return Array
        if name == "asnumpy":
            return to_host
        try:
            found = getattr(self._host_module, name)
        except AttributeError:
            raise AttributeError(f"{name!r} of CuPy is not in the stand-in") from None
        if isinstance(described, str):
            return found
        if "types" in described:
            return Ufunc(name, described, found)
        return _called(name, described["parameters"], found)


CARD = StrictCard()


class _Device:
    """The only card, as `cupy.cuda.Device`."""

    compute_capability = "90"
    pci_bus_id = "0000:00:00.0"

    def __init__(self, number: int = 0) -> None:
        self.id = number

    def __enter__(self) -> _Device:
        return self

    def __exit__(self, *error: object) -> None:
        pass


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until the test ends `cupy` is this module, and there is one card."""
    facts = {"name": b"strict stand-in", "totalGlobalMem": 8 << 30}
    runtime = SimpleNamespace(
        getDeviceCount=lambda: 1, getDeviceProperties=lambda number: facts
    )
    stream = SimpleNamespace(synchronize=POOL.wait)
    cuda = SimpleNamespace(
        Device=_Device, runtime=runtime, get_current_stream=lambda: stream
    )
    monkeypatch.setattr(POOL, "limit", 0)
    monkeypatch.setitem(vars(CARD), "cuda", cuda)
    spec = importlib.machinery.ModuleSpec("cupy", None)
    monkeypatch.setitem(vars(CARD), "__spec__", spec)
    monkeypatch.setitem(vars(CARD), "get_default_memory_pool", lambda: POOL)
    scipy_of_card = SimpleNamespace(special=StrictCard("cupyx.scipy.special"))
    for name, module in {
        "cupy": CARD,
        "cupyx": SimpleNamespace(scipy=scipy_of_card),
        "cupyx.scipy": scipy_of_card,
    }.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(devices, "cuda_cards", lambda: 1)
