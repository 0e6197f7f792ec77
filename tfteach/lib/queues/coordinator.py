"""`tf.train.Coordinator`: threads that stop together.

Source: python/training/coordinator.py (API, messages, what is logged).
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from tfteach.framework.errors import OutOfRangeError
from tfteach.framework.export import export
from tfteach.framework.logger import get_logger

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None]

# Between looks at threads that end without asking for a stop, in seconds.  TensorFlow
# looks once a second: programs rely on it for short threads that they forgot to name.
_FIRST_LOOK_S, _LONGEST_LOOK_S = 0.025, 1.0


@export("train.Coordinator")
class Coordinator:
    """Stops several threads together, and reports the error of the first that failed.

    Each thread works until `should_stop()`; any of them may call `request_stop`, and
    one waits for all with `join`.

    Args:
      clean_stop_exception_types: exceptions after which `join` raises nothing; None
        for `tf.errors.OutOfRangeError`, with which queues report their end.

    Example:
      >>> coord = tf.train.Coordinator()
      >>> def work():
      ...     with coord.stop_on_exception():
      ...         while not coord.should_stop():
      ...             coord.request_stop()
      >>> thread = threading.Thread(target=work)
      >>> thread.start()
      >>> coord.join([thread])

    Source: python/training/coordinator.py.
    """

    def __init__(
        self, clean_stop_exception_types: tuple[type[BaseException], ...] | None = None
    ) -> None:
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (OutOfRangeError,)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._exc_info_to_raise: _ExcInfo | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    @property
    def joined(self) -> bool:
        """Whether `join` has returned or raised."""
        return self._joined

    def request_stop(self, ex: BaseException | _ExcInfo | None = None) -> None:
        """Ask the threads to stop.

        Args:
          ex: the exception that is the reason, or what `sys.exc_info()` returned;
            `join` raises the first one.  None for none.

        Raises:
          Exception: `ex` itself, if the threads have been joined before.
          TypeError: `ex` is neither.
        """
        with self._lock:
            found = self._info_of(ex)
            if self._joined and found is not None:
                raise found[1].with_traceback(found[2])
            if self._stop_event.is_set():
                return
            if found is not None and self._exc_info_to_raise is None:
                get_logger().info(
                    "Error reported to Coordinator: %s, %s", found[0], found[1]
                )
                self._exc_info_to_raise = found
            self._stop_event.set()

    def _info_of(self, ex: BaseException | _ExcInfo | None) -> _ExcInfo | None:
        """The type, value and traceback; None for no exception, or a clean stop."""
        if not ex:
            return None
        if isinstance(ex, tuple):
            _, value, trace = ex
        else:
            value, trace = ex, getattr(ex, "__traceback__", None)
        if not isinstance(value, BaseException):
            raise TypeError(
                "ex must be an exception or the result of sys.exc_info(), got "
                f"{value!r}"
            )
        if isinstance(value, self._clean_stop_exception_types):
            return None
        return type(value), value, trace

    def clear_stop(self) -> None:
        """Start anew: nobody has asked for a stop, and nothing was joined."""
        with self._lock:
            self._joined = False
            self._exc_info_to_raise = None
            if self._stop_event.is_set():
                self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """A block whose exception is reported as by `request_stop`, and not raised."""
        try:
            yield
        except BaseException:
            self.request_stop(sys.exc_info())  # type: ignore[arg-type]

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until a stop is requested.

        Args:
          timeout: in seconds; None for no limit.

        Returns:
          Whether it was.
        """
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Add a thread to those that `join` waits for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait until the threads have ended.

        Args:
          threads: to wait for beside the registered ones.
          stop_grace_period_secs: how long they may work after a stop was requested.
          ignore_live_threads: whether to return although some still work then.

        Raises:
          Exception: the one that `request_stop` was called with first.
          RuntimeError: a thread still works after the grace period.
        """
        with self._lock:
            every = self._registered_threads.union(threads or ())
        look_s = _FIRST_LOOK_S
        while any(t.is_alive() for t in every) and not self.wait_for_stop(look_s):
            look_s = min(2 * look_s, _LONGEST_LOOK_S)
        end = time.monotonic() + stop_grace_period_secs
        for thread in every:
            left_s = end - time.monotonic()
            if thread.ident is not None and left_s > 0:
                thread.join(left_s)
        live = [t.name for t in every if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._exc_info_to_raise is not None:
                _, value, trace = self._exc_info_to_raise
                raise value.with_traceback(trace)
        if not live:
            return
        message = f"Coordinator stopped with threads still running: {' '.join(live)}"
        if not ignore_live_threads:
            raise RuntimeError(message)
        get_logger().info(message)

    def raise_requested_exception(self) -> None:
        """Raise the exception that `request_stop` was called with, if any."""
        with self._lock:
            if self._exc_info_to_raise is not None:
                _, value, trace = self._exc_info_to_raise
                raise value.with_traceback(trace)


@export("train.LooperThread")
class LooperThread(threading.Thread):
    """A thread that calls a function again and again until a Coordinator stops it.

    An exception stops the Coordinator, too.

    Args:
      coord: the Coordinator.
      timer_interval_secs: from the start of one call to that of the next; None to call
        without pauses.
      target: the function; None for a subclass that overrides `run_loop`.
      args, kwargs: its arguments.

    Raises:
      ValueError: `coord` is no Coordinator; or there are arguments but no target.

    Source: python/training/coordinator.py, LooperThread.
    """

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        if target is None and (args or kwargs):
            raise ValueError(
                "'args' and 'kwargs' argument require that you also pass 'target'"
            )
        # `_target` is the name of a field of Thread, which deletes it.
        self._loop_target, self._loop_args = target, tuple(args or ())
        self._loop_kwargs = dict(kwargs or {})
        self._coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """A started LooperThread; arguments as for the class."""
        looper = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        """The thread's work; see the class."""
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:  # a pause that ends when a stop is requested
                next_time = time.time()
                while not self._coord.wait_for_stop(max(0, next_time - time.time())):
                    next_time += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called once before the first `run_loop`."""

    def stop_loop(self) -> None:
        """Called once after the last `run_loop`."""

    def run_loop(self) -> None:
        """Called in each iteration: calls the target."""
        if self._loop_target is not None:
            self._loop_target(*self._loop_args, **self._loop_kwargs)
