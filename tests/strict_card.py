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
from tests.card_arrays import Array, called, inside, run_kernel, to_host
from tests.card_blas import Cublas
from tests.card_capture import STATE
from tests.card_clock import CLOCKED, Clocks
from tests.card_devices import POOL, Arena, cuda
from tests.card_kernels import ElementwiseKernel
from tests.card_programs import RawKernel
from tests.card_signatures import SIGNATURES
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
_REDUCED = {
    "reduce": {"add", "multiply"},
    "accumulate": {"add", "multiply"},
    "reduceat": {"add"},
}


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
        return run_kernel(self._name, self._function, *args[: self.nin], **kwargs)

    def _check_types(self, args: tuple[Any, ...]) -> None:
        kinds = [np.asarray(a).dtype for a in inside(args) if not _is_weak(a)]
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
        args = a._host, inside(indices), inside(b)
        card_capture.write(f"{self._name}.at", self._function.at, args, {})

    def reduce(self, array: Any, axis: Any = 0, **kwargs: Any) -> Any:
        return self._only("reduce")(array, axis, **kwargs)

    def accumulate(self, array: Any, axis: int = 0, **kwargs: Any) -> Any:
        return self._only("accumulate")(array, axis, **kwargs)

    def reduceat(self, array: Any, indices: Any, axis: int = 0) -> Any:
        return self._only("reduceat")(array, indices, axis)

    def outer(self, a: Any, b: Any) -> Any:
        return run_kernel(f"{self._name}.outer", self._function.outer, a, b)

    def _only(self, method: str) -> Callable[..., Any]:
        if self._name not in _REDUCED[method]:
            raise NotImplementedError(f"`{self._name}.{method}` is not supported yet")
        function = getattr(self._function, method)
        return functools.partial(run_kernel, f"{self._name}.{method}", function)


def _is_weak(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex)


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
        return called(f"{self.__name__}.{name}", described["parameters"], found)


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
