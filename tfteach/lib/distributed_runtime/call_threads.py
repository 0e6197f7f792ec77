"""A pool of threads without a limit: a call may wait for another one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from queue import Empty, SimpleQueue
from typing import Any

_IDLE_S = 30.0


class CallThreads(Executor):
    """Reuses daemon threads, which end after some idle time."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kw: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kw))
            except BaseException as error:
                future.set_exception(error)

        self.start(run)
        return future

    def start(self, run: Callable[[], None]) -> None:
        """Run a function that does not raise on a thread of the pool."""
        with self._lock:
            self._work.put(run)
            if self._idle > 0:
                self._idle -= 1
                return
        name = "tfteach-call"
        threading.Thread(target=self._serve, daemon=True, name=name).start()

    def _serve(self) -> None:
        while True:
            try:
                run = self._work.get(timeout=_IDLE_S)
            except Empty:
                with self._lock:
                    if self._idle > 0 and self._work.empty():
                        self._idle -= 1
                        return
                continue
            run()
            del run  # release what the call refers to
            with self._lock:
                self._idle += 1


call_threads = CallThreads()
