"""The arrays of tests/strict_card.py, and how its functions take and return them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests import card_capture
from tests.card_capture import STATE
from tests.card_clock import CLOCKED, CURRENT, root_of
from tests.card_devices import POOL, Device
from tests.card_indexing import get_item, set_item
from tests.card_signatures import SIGNATURES, checked
from tests.card_transfers import TRANSFERS

# Functions that copy from the host's memory.
_COPIES = frozenset(
    "copy array asarray asanyarray ascontiguousarray asfortranarray".split()
)


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


def inside(value: Any) -> Any:
    """An argument for NumPy.

    Raises:
      TypeError: there is an array of the host in it.
    """
    if isinstance(value, Array):
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}: an array of the host")
    if isinstance(value, list | tuple):
        return type(value)(map(inside, value))
    if isinstance(value, slice):
        return slice(*map(inside, (value.start, value.stop, value.step)))
    return value


def outside(value: Any) -> Any:
    """A result of NumPy as CuPy returns it: never a NumPy scalar."""
    if isinstance(value, np.ndarray | np.generic):
        return _made(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_make"):  # SVDResult
        return value._make(map(outside, value))  # type: ignore[attr-defined]
    if isinstance(value, list | tuple):
        return type(value)(map(outside, value))
    return value


def _made(host: np.ndarray[Any, Any]) -> Array:
    card_capture.allocated(host)
    return Array(host)


def run_kernel(
    name: str, function: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """A kernel's result, as CuPy's functions return it; `out`, if that is given."""
    inputs = inside(args)
    named = {key: inside(item) for key, item in kwargs.items()}
    out = kwargs.get("out")
    if out is None:
        return outside(card_capture.run(name, function, inputs, named))
    card_capture.write(name, function, inputs, named)
    return out


def called(
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
        return run_kernel(name, function, *args, **kwargs)

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
        import cupy

        # NumPy makes arrays of no dimensions of its scalars before it asks.
        args = tuple(
            a[()] if isinstance(a, np.ndarray) and a.ndim == 0 else a for a in args
        )
        found = getattr(cupy, ufunc.__name__)
        return (found if method == "__call__" else getattr(found, method))(
            *args, **kwargs
        )

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        import cupy

        module: Any = cupy
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
            return outside(found)
        if name in ("fill", "sort", "partition", "put", "itemset"):
            return functools.partial(self._write, name)
        method = getattr(type(self._host), name)
        known = known["parameters"]
        known = None if known is None else ["self", *known]
        return functools.partial(called(f"ndarray.{name}", known, method), self)

    def _write(self, name: str, *args: Any) -> None:
        method = getattr(type(self._host), name)
        card_capture.write(name, method, (self._host, *inside(args)), {})

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
        inputs = self._host, inside(index)
        return outside(card_capture.run("__getitem__", get_item, inputs))  # type: ignore[no-any-return]

    def __setitem__(self, index: Any, value: Any) -> None:
        inputs = self._host, inside(index), inside(value)
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
            inputs = self._host, *map(inside, others)
            method = getattr(np.ndarray, name)
            if is_in_place:
                card_capture.write(name, method, inputs, {})
                return self
            found = card_capture.run(name, method, inputs)
            return found if found is NotImplemented else outside(found)

        return call

    for name in binary + "neg pos abs invert".split():
        is_in_place = name.startswith("i") and name != "invert"
        setattr(Array, f"__{name}__", method_for(f"__{name}__", is_in_place))


_add_operators()
