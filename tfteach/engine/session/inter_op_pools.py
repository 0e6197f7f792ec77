"""The pools of threads of a session, by the rules of ConfigProto.

Source: core/common_runtime/direct_session.cc, core/common_runtime/process_util.cc.
"""

from __future__ import annotations

import os
from typing import Any

from tfteach.engine.execute.inter_op_pool import InterOpPool
from tfteach.framework.errors import invalid_argument

SINGLE_THREADED = "SINGLE_THREADED_EXECUTOR"
_global: InterOpPool | None = None
_named: dict[str, tuple[int, InterOpPool]] = {}  # the number asked for, and the pool


class InterOpPools:
    """The pools that the runs of a session can choose from.

    `session_inter_op_thread_pool` lists them; otherwise there is one, the session's own
    with `use_per_session_threads` or else that of the process, whose size is that of
    the first session.

    Args:
      config: the session's ConfigProto, or None.

    Raises:
      InvalidArgumentError: a pool has a negative number of threads.
    """

    def __init__(self, config: Any) -> None:
        self._owned: list[InterOpPool] = []
        self._is_alone = (
            config is not None and config.experimental.executor_type == SINGLE_THREADED
        )
        listed = [] if config is None else list(config.session_inter_op_thread_pool)
        if listed:
            self._pools = [self._listed(pool, config) for pool in listed]
        elif config is not None and config.use_per_session_threads:
            self._pools = [self._own(_threads_of(config))]
        else:
            self._pools = [_of_process(config)]
            if _runs_on_caller(config):
                self._pools = [InterOpPool(1)]

    def get(self, number: int) -> InterOpPool | None:
        """The pool for a run; None for the caller's thread alone."""
        if number < 0 or self._is_alone:
            return None
        pool = self._pools[number]
        return pool if pool.count > 1 else None

    def close(self) -> None:
        """End the threads of the session's own pools."""
        for pool in self._owned:
            pool.close()

    def _own(self, count: int) -> InterOpPool:
        self._owned.append(InterOpPool(count))
        return self._owned[-1]

    def _listed(self, asked: Any, config: Any) -> InterOpPool:
        if asked.num_threads < 0:  # TensorFlow's process ends
            raise invalid_argument(
                "session_inter_op_thread_pool.num_threads must not be negative, got "
                f"{asked.num_threads}"
            )
        count = asked.num_threads or _threads_of(config)
        if not asked.global_name:
            return self._own(count)
        known = _named.setdefault(
            asked.global_name, (asked.num_threads, InterOpPool(count))
        )
        # TensorFlow gives a session that asks for another size no pool.
        return known[1] if known[0] == asked.num_threads else InterOpPool(1)


def _of_process(config: Any) -> InterOpPool:
    global _global
    if _global is None:
        _global = InterOpPool(_threads_of(config))
    return _global


def _runs_on_caller(config: Any) -> bool:
    asked = 0 if config is None else config.inter_op_parallelism_threads
    return asked < 0 or (asked == 0 and _of_environment() < 0)


def _threads_of(config: Any) -> int:
    asked = 0 if config is None else config.inter_op_parallelism_threads
    if asked > 0:
        return int(asked)
    wanted = _of_environment()
    if wanted > 0:
        return wanted
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not available on this system
        return os.cpu_count() or 1


def _of_environment() -> int:
    try:
        return int(os.environ.get("TF_NUM_INTEROP_THREADS", "0"))
    except ValueError:
        return 0
