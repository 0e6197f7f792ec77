"""A task of a `LocalCluster`: its process, output and state."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tfteach.framework import errors, protos
from tfteach.lib.distributed_runtime.channel import shared_channel
from tfteach.lib.distributed_runtime.local import task_process

ALIVE, SLOW, DEAD = "alive", "slow", "dead"
MOST_LINES = 200
# A task that does not answer for so long is slow, in seconds.
PATIENCE_S = 3.0
_END_S = 10.0  # until a killed process has ended
_PROGRAM = Path(task_process.__file__).read_text("utf-8")


class Program(NamedTuple):
    """How the tasks of a cluster are started.

    Attributes:
      python: the interpreter.
      module: that has `train.Server`.
      cluster: addresses by job, as JSON.
      config: a ConfigProto in hexadecimal digits.
      environment: the variables of the process.
    """

    python: str
    module: str
    cluster: str
    config: str
    environment: Mapping[str, str]

    def start(self, job: str, index: int) -> subprocess.Popen[str]:
        """Start a task, in a process group of its own.

        An interrupt of the notebook does not reach it. If this process ends while the
        task is stopped, POSIX wakes the group up, so that it sees the end of its input.
        """
        arguments = (self.module, self.cluster, job, str(index), self.config)
        return subprocess.Popen(
            [self.python, "-u", "-c", _PROGRAM, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=dict(self.environment),
            process_group=0,
        )


class LocalTask:
    """One task of a `LocalCluster`.

    Attributes:
      job: the name of its job.
      index: its index there.
      address: `localhost:port`.
      starts: how often it was started.
    """

    def __init__(self, program: Program, job: str, index: int, address: str) -> None:
        self.job = job
        self.index = index
        self.address = address
        self.starts = 0
        self._program = program
        self._is_stopped = False
        self._lines: deque[str] = deque(maxlen=MOST_LINES)
        self._ready = threading.Event()
        self._process: subprocess.Popen[str] | None = None

    def __repr__(self) -> str:
        return f"<LocalTask {self.name} at {self.address}>"

    @property
    def name(self) -> str:
        """The short name, such as "worker:0"."""
        return f"{self.job}:{self.index}"

    @property
    def target(self) -> str:
        """The target of sessions that use it as their master."""
        return f"grpc://{self.address}"

    @property
    def pid(self) -> int | None:
        """The process ID; None if the process has ended."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    @property
    def output(self) -> list[str]:
        """The last lines that it printed, at most 200."""
        return list(self._lines)

    @property
    def state(self) -> str:
        """`alive`, `slow` if it does not answer, or `dead` if its process has ended."""
        if self.pid is None:
            return DEAD
        if self._is_stopped:
            return SLOW
        request = protos.GetStatusRequest().SerializeToString()
        channel = shared_channel(self.address)
        try:
            channel.call("WorkerService/GetStatus", request, PATIENCE_S, True)
        except errors.OpError:
            return DEAD if self.pid is None else SLOW
        return ALIVE

    # ---- for LocalCluster

    def start(self) -> None:
        """Start the process, without waiting for its server."""
        self._ready = threading.Event()
        self._is_stopped = False
        self._lines.clear()
        self.starts += 1
        self._process = self._program.start(self.job, self.index)
        arguments = self._process, self._lines, self._ready
        name = f"tfteach-{self.name}"
        threading.Thread(target=_read, args=arguments, daemon=True, name=name).start()

    def has_started(self, timeout_s: float) -> bool:
        """Wait for the server; False if it is not ready in time, or has ended."""
        return self._ready.wait(timeout_s) and self.pid is not None

    def kill(self) -> None:
        """Kill the process, as if its machine failed."""
        process = self._process
        if process is not None:
            process.kill()
            process.wait(_END_S)
            assert process.stdin is not None
            process.stdin.close()

    def stop(self) -> None:
        """Suspend the process, as if its machine were unreachable."""
        self._signal("SIGSTOP")
        # Until all its threads stand still: only then the end of this process wakes it.
        if (pid := self.pid) is not None and hasattr(os, "waitid"):
            os.waitid(os.P_PID, pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        self._is_stopped = True

    def resume(self) -> None:
        """Resume a suspended process."""
        self._signal("SIGCONT")
        self._is_stopped = False

    def _signal(self, name: str) -> None:
        number = getattr(signal, name, None)
        if number is None:
            raise NotImplementedError(f"{name} on {sys.platform}")
        if self.pid is None:
            raise ValueError(f"{self.name} is dead: restart it first")
        os.kill(self.pid, number)


def _read(
    process: subprocess.Popen[str], lines: deque[str], ready: threading.Event
) -> None:
    """Collect the output of a process until it ends."""
    assert process.stdout is not None
    with process.stdout as output:
        for line in output:
            if line.rstrip("\n") == task_process.READY:
                ready.set()
            else:
                lines.append(line.rstrip("\n"))
    process.wait()
    ready.set()  # nobody need wait any longer
