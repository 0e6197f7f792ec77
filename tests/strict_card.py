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
import sys
from collections import defaultdict
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.special

from tests import card_capture, card_cudnn
from tests.card_blas import Cublas
from tests.card_capture import STATE
from tests.card_clock import CLOCKED, CURRENT, Clocks, root_of
from tests.card_devices import POOL, Arena, Device, cuda
from tests.card_indexing import get_item, set_item
from tests.card_kernels import ElementwiseKernel
from tests.card_programs import RawKernel
from tests.card_signatures import SIGNATURES, checked
from tests.card_transfers import TRANSFERS, Transfers
from tfteach.engine.devices import devices
from tfteach.framework import card_products
from tfteach.ops.windows import conv_by_cudnn

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
_COPIES = frozenset(
    "copy array asarray asanyarray ascontiguousarray asfortranarray".split()
)
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
    STATE.refuse_while_capturing("an H2D transfer")
    made = np.array(host)
    CLOCKED.clocks.made(made, STATE.stream)
    CLOCKED.clocks.access(STATE.stream, [], [made])
    return _made(made)


def to_host(value: Any) -> Any:
    """The array that `value` stands for: what `cupy.asnumpy` returns."""
    return value._fetched().copy() if isinstance(value, Array) else np.asarray(value)


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
        return _made(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_make"):  # SVDResult
        return value._make(map(_outside, value))  # type: ignore[attr-defined]
    if isinstance(value, list | tuple):
        return type(value)(map(_outside, value))
    return value


def _made(host: np.ndarray[Any, Any]) -> Array:
    card_capture.allocated(host)
    return Array(host)


def _run(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A kernel's result, as CuPy's functions return it; `out`, if that is given."""
    inputs = _inside(args)
    named = {key: _inside(item) for key, item in kwargs.items()}
    out = kwargs.get("out")
    if out is None:
        return _outside(card_capture.run(name, function, inputs, named))
    card_capture.write(name, function, inputs, named)
    return out


def _called(
    name: str, known: list[str] | None, function: Callable[..., Any]
) -> Callable[..., Any]:
    copies = name.rpartition(".")[2] in _COPIES

    @functools.wraps(function, updated=())
    def call(*args: Any, **kwargs: Any) -> Any:
        checked(name, known, args, kwargs)
        is_of_host = not isinstance(args[0], Array)
        if copies and not is_of_host and args[0].device.id != CURRENT.number:
            return _peer_copy(name, args[0])
        if copies and is_of_host:
            return to_card(function(_of_scalars(args[0]), *args[1:], **kwargs))
        if name.endswith("take"):
            kwargs["mode"] = "wrap"
        return _run(name, function, *args, **kwargs)

    return call


def _peer_copy(name: str, source: Array) -> Array:
    """An array of another card in the memory of the current one, as CuPy copies it."""
    host = source._host
    if name.rpartition(".")[2] not in ("array", "asarray", "asanyarray", "copy"):
        CLOCKED.clocks.check_card([host])
    STATE.refuse_while_capturing("a copy between cards")
    if not (host.flags.c_contiguous or host.flags.f_contiguous):
        raise NotImplementedError(
            "CuPy cannot copy non-contiguous array between devices."
        )
    made = host.copy(order="K")
    CLOCKED.clocks.made(made, STATE.stream)
    CLOCKED.clocks.access(STATE.stream, [host], [made])
    CLOCKED.clocks.copies.append((source.device.id, CURRENT.number, host.nbytes))
    return _made(made)


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
        if len(args) > self.nin:
            kwargs["out"] = args[self.nin]
        return _run(self._name, self._function, *args[: self.nin], **kwargs)

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
        args = a._host, _inside(indices), _inside(b)
        card_capture.write(f"{self._name}.at", self._function.at, args, {})

    def reduce(self, array: Any, axis: Any = 0, **kwargs: Any) -> Any:
        return self._only("reduce")(array, axis, **kwargs)

    def accumulate(self, array: Any, axis: int = 0, **kwargs: Any) -> Any:
        return self._only("accumulate")(array, axis, **kwargs)

    def reduceat(self, array: Any, indices: Any, axis: int = 0) -> Any:
        return self._only("reduceat")(array, indices, axis)

    def outer(self, a: Any, b: Any) -> Any:
        return _run(f"{self._name}.outer", self._function.outer, a, b)

    def _only(self, method: str) -> Callable[..., Any]:
        if self._name not in _REDUCED[method]:
            raise NotImplementedError(f"`{self._name}.{method}` is not supported yet")
        function = getattr(self._function, method)
        return functools.partial(_run, f"{self._name}.{method}", function)


def _is_weak(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex)


_METHODS = {"shape", "dtype", "ndim", "size", "nbytes", "itemsize", "strides", "flags"}


class Array:
    """An array in the card's memory, as `cupy.ndarray`."""

    __slots__ = ("__weakref__", "_host", "_is_owner")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, shape: Any, dtype: Any = None, memptr: Any = None) -> None:
        host = shape if memptr is None else memptr.mem.reshape(shape)
        assert memptr is None or host.dtype == dtype, "memory of another type"
        self._host: np.ndarray[Any, Any] = host
        self._is_owner = memptr is not None or host.base is None
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
    def base(self) -> Array | None:
        return None if self._is_owner else Array(root_of(self._host))

    @property
    def data(self) -> Any:
        """Where it is, as `cupy.cuda.MemoryPointer`."""
        memory = root_of(self._host)
        return SimpleNamespace(ptr=self._host.ctypes.data, mem=memory)

    @property
    def device(self) -> Device:
        """The card that has its memory."""
        return Device(CLOCKED.clocks.card_of(self._host))

    @property
    def real(self) -> Array:
        return Array(self._host.real)

    @real.setter
    def real(self, value: Any) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Array:
        return Array(self._host.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag[...] = value

    def __getattr__(self, name: str) -> Any:
        known = SIGNATURES["ndarray"].get(name)
        if known is None or not hasattr(self._host, name):
            raise AttributeError(f"'ndarray' object has no attribute {name!r}")
        found = getattr(self._host, name)
        if name in _METHODS:
            return found
        if not callable(found):
            return _outside(found)
        if name in ("fill", "sort", "partition", "put", "itemset"):
            return functools.partial(self._write, name)
        method = getattr(type(self._host), name)
        known = known["parameters"]
        known = None if known is None else ["self", *known]
        return functools.partial(_called(f"ndarray.{name}", known, method), self)

    def _write(self, name: str, *args: Any) -> None:
        method = getattr(type(self._host), name)
        card_capture.write(name, method, (self._host, *_inside(args)), {})

    def set(self, arr: Any, stream: Any = None) -> None:
        STATE.refuse_while_capturing("an H2D transfer")
        if self.dtype != arr.dtype or self.shape != arr.shape:
            raise TypeError(f"{arr.dtype}{arr.shape} into {self.dtype}{self.shape}")
        with self.device:  # CuPy sets it
            TRANSFERS.transfers.upload(arr, self._host, stream, STATE.stream)

    def _fetched(self) -> np.ndarray[Any, Any]:
        """The array, for which the host waits until the card has computed it."""
        STATE.refuse_while_capturing("a D2H transfer")
        POOL.waits += 1
        self._read(is_blocking=True)
        return self._host

    def _read(self, is_blocking: bool) -> None:
        with self.device:  # CuPy sets it
            CLOCKED.clocks.access(STATE.stream, [self._host])
            if is_blocking:
                CLOCKED.clocks.synchronize(STATE.stream)
                TRANSFERS.transfers.end(CLOCKED.clocks.host)

    def get(
        self,
        stream: Any = None,
        order: str = "C",
        out: Any = None,
        blocking: bool = True,
    ) -> Any:
        STATE.refuse_while_capturing("a D2H transfer")
        POOL.waits += blocking
        self._read(blocking)
        if out is None:
            assert blocking, "the array has no values yet"
            out = np.empty(self.shape, self.dtype)
        if blocking:
            out[...] = self._host
            return out
        with self.device:
            TRANSFERS.transfers.download(self._host, out, STATE.stream)
        return out

    def item(self) -> Any:
        return self._fetched().item()

    def tolist(self) -> Any:
        return self._fetched().tolist()

    def __getitem__(self, index: Any) -> Array:
        inputs = self._host, _inside(index)
        return _outside(card_capture.run("__getitem__", get_item, inputs))  # type: ignore[no-any-return]

    def __setitem__(self, index: Any, value: Any) -> None:
        inputs = self._host, _inside(index), _inside(value)
        card_capture.write("__setitem__", set_item, inputs, {})

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
        self._is_owner = True


def _add_operators() -> None:
    names = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"
    binary = [n for base in names.split() for n in (base, f"r{base}", f"i{base}")]
    binary += "eq ne lt le gt ge divmod rdivmod".split()

    def method_for(name: str, is_in_place: bool) -> Any:
        def call(self: Array, *others: Any) -> Any:
            inputs = self._host, *map(_inside, others)
            method = getattr(np.ndarray, name)
            if is_in_place:
                card_capture.write(name, method, inputs, {})
                return self
            found = card_capture.run(name, method, inputs)
            return found if found is NotImplemented else _outside(found)

        return call

    for name in binary + "neg pos abs invert".split():
        is_in_place = name.startswith("i") and name != "invert"
        setattr(Array, f"__{name}__", method_for(f"__{name}__", is_in_place))


_add_operators()


class StrictCard(ModuleType):
    """`cupy`, or a module of it."""

    def __init__(self, name: str = "cupy") -> None:
        super().__init__(name)
        self.__version__ = SIGNATURES["version"]
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
        if name == "ElementwiseKernel":
            return ElementwiseKernel
        if name == "RawKernel":
            return RawKernel
        try:
            found = getattr(self._host_module, name)
        except AttributeError:
            raise AttributeError(f"{name!r} of CuPy is not in the stand-in") from None
        if isinstance(described, str):
            return found
        if "types" in described:
            return Ufunc(name, described, found)
        return _called(f"{self.__name__}.{name}", described["parameters"], found)


CARD = StrictCard()


def install(monkeypatch: pytest.MonkeyPatch, cards: int = 1) -> None:
    """Until the test ends `cupy` is this module, and there are so many cards."""
    monkeypatch.setattr(POOL, "arenas", defaultdict(Arena))
    monkeypatch.setattr(CLOCKED, "clocks", Clocks(cards))
    monkeypatch.setattr(TRANSFERS, "transfers", Transfers())
    monkeypatch.setattr(STATE, "streams", {})
    monkeypatch.setitem(vars(CARD), "cuda", cuda(cards))
    spec = importlib.machinery.ModuleSpec("cupy", None)
    monkeypatch.setitem(vars(CARD), "__spec__", spec)
    monkeypatch.setitem(vars(CARD), "get_default_memory_pool", lambda: POOL)
    scipy_of_card = SimpleNamespace(special=StrictCard("cupyx.scipy.special"))
    for name, module in {
        "cupy": CARD,
        "cupyx": SimpleNamespace(
            scipy=scipy_of_card, empty_pinned=TRANSFERS.transfers.empty_pinned
        ),
        "cupyx.scipy": scipy_of_card,
        "cudnn": card_cudnn.MODULE,
    }.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(devices, "cuda_cards", lambda: cards)
    monkeypatch.setattr(card_products, "library", Cublas)
    card_products._cublas.cache_clear()
    conv_by_cudnn._cudnn.cache_clear()
