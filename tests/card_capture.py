"""Streams of tests/strict_card.py, and what they record of CUDA graphs.

While a stream captures, as in CUDA, kernels are recorded and not run, so that their
results have no values yet; copies from and to the host, and whatever waits for a value,
are refused; cuBLAS and cuSOLVER are refused where CuPy calls them.  Beyond CUDA, memory
of the shared pool is refused, and a launch of a graph that uses memory which was freed.
"""

from __future__ import annotations

import ctypes
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from tests.card_clock import CLOCKED, CURRENT, root_of
from tests.card_transfers import TRANSFERS

# What CuPy computes by libraries that it does not let streams capture.
PRODUCTS = frozenset("dot matmul tensordot einsum vdot inner __matmul__".split())
# What has a result whose size the host has to read.
SIZED = frozenset(
    "unique nonzero flatnonzero argwhere extract bincount histogram median repeat "
    "array_equal allclose percentile isin setdiff1d intersect1d union1d".split()
)


class Memory(threading.local):
    """The allocator of the current thread: None is the shared pool."""

    pool: MemoryPool | None = None


ALLOCATOR = Memory()


class MemoryPool:
    """A pool that nothing else uses; it never gives memory back."""

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def malloc(self, size: int) -> Any:
        raise NotImplementedError("the stand-in takes the method, and does not call it")

    def total_bytes(self) -> int:
        return sum(root.nbytes for root in self.kept)

    used_bytes = total_bytes

    def set_limit(self, *, size: int) -> None:
        self.limit = size


class using_allocator:
    """`cupy.cuda.using_allocator(pool.malloc)`."""

    def __init__(self, malloc: Callable[[int], Any]) -> None:
        self._pool = malloc.__self__  # type: ignore[attr-defined]

    def __enter__(self) -> None:
        self._outer, ALLOCATOR.pool = ALLOCATOR.pool, self._pool

    def __exit__(self, *error: object) -> None:
        ALLOCATOR.pool = self._outer


class Operand:
    """An array of the card in a recorded call: an address, which may become stale."""

    def __init__(self, host: np.ndarray[Any, Any]) -> None:
        self._root = weakref.ref(root_of(host))
        low, high = byte_bounds(host) if host.size else (host.ctypes.data,) * 2
        self._place = low, high - low, host.ctypes.data - low
        self._form = host.shape, host.dtype, host.strides

    def value(self) -> np.ndarray[Any, Any]:
        if self._root() is None:
            raise AssertionError("the graph uses memory that was freed")
        (low, length, offset), (shape, dtype, strides) = self._place, self._form
        if not length:
            return np.empty(shape, dtype)
        memory = (ctypes.c_char * length).from_address(low)
        return np.ndarray(shape, dtype, memory, offset, strides)


def _frozen(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return Operand(value)
    if isinstance(value, list | tuple):
        return type(value)(map(_frozen, value))
    if isinstance(value, slice):
        return slice(*map(_frozen, (value.start, value.stop, value.step)))
    return value


def _thawed(value: Any) -> Any:
    if isinstance(value, Operand):
        return value.value()
    if isinstance(value, list | tuple):
        return type(value)(map(_thawed, value))
    if isinstance(value, slice):
        return slice(*map(_thawed, (value.start, value.stop, value.step)))
    return value


def _copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list | tuple):
        return type(value)(map(_copied, value))
    return value


def _arrays(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, list | tuple):
        return [array for part in value for array in _arrays(part)]
    if isinstance(value, slice):
        return _arrays((value.start, value.stop, value.step))
    return []


class Graph:
    """Recorded calls."""

    def __init__(self) -> None:
        self.card = CURRENT.number
        self.calls: list[Callable[[], None]] = []
        self.names: list[str] = []

    def launch(self, stream: Any = None) -> None:
        STATE.refuse_while_capturing("a launch of another graph")
        assert self.card == CURRENT.number, "a graph of another card"
        with np.errstate(all="ignore"):
            for name, call in zip(self.names, self.calls, strict=True):
                try:
                    call()
                except AssertionError as error:
                    raise AssertionError(f"{name}: {error}") from None
        STATE.launches += 1


class Stream:
    """`cupy.cuda.Stream`."""

    ptr = 1

    def __init__(self, null: bool = False, non_blocking: bool = False) -> None:
        self._card = None if null else CURRENT.number
        self._outer: list[Any] = []

    def _check_card(self) -> None:
        if self._card not in (None, CURRENT.number):
            raise RuntimeError(
                f"The device that the stream is created on ({self._card}) does not "
                f"match with the current device ({CURRENT.number})"
            )

    def __enter__(self) -> Stream:
        self._check_card()
        self._outer.append(STATE.stream)
        STATE.stream = self
        return self

    def __exit__(self, *error: object) -> None:
        STATE.stream = self._outer.pop()

    def begin_capture(self, mode: int | None = None) -> None:
        if self is DEFAULT:
            raise RuntimeError("cannot capture on the default (legacy) stream")
        STATE.graphs[self] = Graph()

    def end_capture(self) -> Graph:
        return STATE.graphs.pop(self)

    def synchronize(self) -> None:
        STATE.refuse_while_capturing("cudaStreamSynchronize")
        self._check_card()
        CLOCKED.clocks.synchronize(self)
        TRANSFERS.transfers.end(CLOCKED.clocks.host)
        STATE.wait()

    def record(self, event: Any) -> Any:
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        CLOCKED.clocks.wait(self, event.clock)
        TRANSFERS.transfers.arrive(event.clock)


class State:
    """The streams of the card.

    Attributes:
      streams: the current one of each card.
      graphs: what the streams that capture have recorded.
      launches: how many graphs were launched.
      kernels: how many kernels were, not counting those of graphs.
      wait: called when the host waits.
    """

    def __init__(self) -> None:
        self.graphs: dict[Any, Graph] = {}
        self.launches = self.kernels = 0
        self.wait: Callable[[], None] = lambda: None
        self.streams: dict[int, Any] = {}

    @property
    def stream(self) -> Any:
        """The current one of the current card."""
        return self.streams.get(CURRENT.number, DEFAULT)

    @stream.setter
    def stream(self, stream: Any) -> None:
        self.streams[CURRENT.number] = stream

    @property
    def graph(self) -> Graph | None:
        """What is being recorded, if the current stream captures."""
        return self.graphs.get(self.stream)

    def refuse_while_capturing(self, what: str) -> None:
        if self.graph is not None:
            raise RuntimeError(
                f"the current stream is capturing, so {what} is disallowed"
            )


STATE = State()
DEFAULT = Stream(null=True)
DEFAULT.ptr = 0


# The arrays that own memory, by address.
_MEMORY: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def memory_at(address: int, size: int) -> Callable[[], Any]:
    """The bytes of the card's memory at an address, when it is called.

    Raises:
      RuntimeError: no array of the card is there.
    """
    for low, root in [(address, _MEMORY.get(address)), *_MEMORY.items()]:
        if root is not None and low <= address and address + size <= low + root.nbytes:
            alive = weakref.ref(root)
            break
    else:
        raise RuntimeError(f"an illegal memory access: {size} bytes at {address:x}")
    del root

    def memory() -> Any:
        if alive() is None:
            raise AssertionError("the graph uses memory that was freed")
        return (ctypes.c_char * size).from_address(address)

    return memory


def allocated(host: np.ndarray[Any, Any]) -> None:
    """Account for an array that the card makes."""
    root = root_of(host)
    if root.size:
        _MEMORY[root.ctypes.data] = root
    CLOCKED.clocks.made(host, STATE.stream)
    pool = ALLOCATOR.pool
    if pool is not None:
        pool.kept.append(root_of(host))


def run(name: str, function: Callable[..., Any], args: Any, kwargs: Any = None) -> Any:
    """The result of a kernel, or of a view of an array; recorded, while capturing.

    Args:
      name: CuPy's name of it.
      function: of NumPy; it changes none of its arguments.
      args, kwargs: its arguments, with the host's arrays.
    """
    graph, kwargs = STATE.graph, kwargs or {}
    if graph is None:
        STATE.kernels += 1
        found = function(*args, **kwargs)
        _date(found, _arrays((args, tuple(kwargs.values()))))
        return found
    _check_capture(name, args)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = function(*args, **kwargs)
    results = _arrays(found) if isinstance(found, tuple | list) else [found]
    results = [r for r in results if isinstance(r, np.ndarray | np.generic)]
    roots = {id(root_of(array)) for array in _arrays((args, tuple(kwargs.values())))}
    if any(isinstance(r, np.ndarray) and id(root_of(r)) in roots for r in results):
        return found  # a view
    made = [np.asarray(r) for r in results]
    if ALLOCATOR.pool is None:
        raise AssertionError(f"{name} takes memory of the shared pool while capturing")
    found = (
        type(found)(made)
        if type(found) in (tuple, list)
        else (found if isinstance(found, tuple) else made[0])
    )
    if isinstance(found, tuple) and hasattr(found, "_make"):
        found = found._make(made)  # type: ignore[attr-defined]
    ALLOCATOR.pool.kept += [root_of(array) for array in made]
    frozen, named = _frozen(args), {k: _frozen(v) for k, v in kwargs.items()}
    targets = [Operand(array) for array in made]

    def call() -> None:
        values = function(*_thawed(frozen), **{k: _thawed(v) for k, v in named.items()})
        parts = values if isinstance(values, tuple | list) else [values]
        for target, value in zip(targets, parts, strict=True):
            target.value()[...] = value

    graph.calls.append(call)
    graph.names.append(name)
    for array in made:
        array[...] = np.nan if array.dtype.kind in "fc" else 0
    return found


def _date(found: Any, used: list[Any]) -> None:
    """Account for a kernel's accesses; a view is made by the host."""
    roots = {id(root_of(array)) for array in used}
    made = _arrays(found if isinstance(found, tuple | list) else [found])
    if any(id(root_of(array)) in roots for array in made):
        return
    CLOCKED.clocks.check_card(used)
    for array in made:
        CLOCKED.clocks.made(array, STATE.stream)
    CLOCKED.clocks.access(STATE.stream, used, made)


def write(name: str, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """A kernel that writes into its arguments; recorded, while capturing."""
    graph = STATE.graph
    if graph is None:
        STATE.kernels += 1
        used = _arrays((args, tuple(kwargs.values())))
        CLOCKED.clocks.check_card(used)
        CLOCKED.clocks.access(STATE.stream, used, used)
        function(*args, **kwargs)
        return
    _check_capture(name, args)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function(*_copied(args), **{k: _copied(v) for k, v in kwargs.items()})
    frozen, named = _frozen(args), {k: _frozen(v) for k, v in kwargs.items()}

    def call() -> None:
        function(*_thawed(frozen), **{k: _thawed(v) for k, v in named.items()})

    graph.calls.append(call)
    graph.names.append(name)


def launch(name: str, call: Callable[[], None]) -> None:
    """A kernel that reads and writes memory by addresses."""
    if STATE.graph is None:
        STATE.kernels += 1
        call()
    else:
        STATE.graph.calls.append(call)
        STATE.graph.names.append(name)


def _check_capture(name: str, args: Any) -> None:
    base = name.rpartition(".")[2]
    is_float = any(array.dtype.kind in "fcV" for array in _arrays(args))
    if name.startswith("cupy.linalg.") or (base in PRODUCTS and is_float):
        raise NotImplementedError(
            "calling cuBLAS API during stream capture is currently unsupported"
        )
    if base in SIZED or (base == "where" and len(args) == 1):
        STATE.refuse_while_capturing("a D2H transfer")
    if base == "__getitem__" and any(a.dtype == bool for a in _arrays(args[1:])):
        STATE.refuse_while_capturing("a D2H transfer")
