"""Kernels as forks of one process that has imported what kernels import.

A kernel spends a second of the CPU on imports before its first cell runs, and nearly
each test in the browser has a kernel of its own. Here one process imports IPython,
ipykernel and tfteach once; each kernel is a fork of it, taken before anything ran.

Jupyter starts `kernel_stand_in.py` as the kernel's process: it sends its arguments,
environment and folder through a socket, forwards SIGINT, and ends when the kernel ends.
If Jupyter kills it, the kernel is killed.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

STAND_IN = Path(__file__).with_name("kernel_stand_in.py")
IMPORTED = ("ipykernel.kernelapp", "ipykernel.ipkernel", "tfteach.jupyter", "anywidget")


class KernelForks:
    """The process that kernels are forks of, and the kernel spec that asks it."""

    def __init__(self, home: Path, environment: dict[str, str], log: Any) -> None:
        """Start the process, and make it what "python3" names.

        Args:
          home: a folder for the socket and the kernel spec.
          environment: what the process and Jupyter run in; JUPYTER_PATH is added.
          log: a file that gets what the process and the kernels print.
        """
        spec = home / "kernel_forks" / "kernels" / "python3"
        spec.mkdir(parents=True)
        address = spec.parent.parent / "socket"
        stand_in = [sys.executable, "-I", "-S", str(STAND_IN), str(address)]
        (spec / "kernel.json").write_text(
            json.dumps(
                {
                    "argv": [*stand_in, "-f", "{connection_file}"],
                    "display_name": "Python 3 (ipykernel)",
                    "language": "python",
                    "metadata": {"debugger": True},
                }
            )
        )
        environment["JUPYTER_PATH"] = str(spec.parent.parent)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.fspath(address))  # so that kernels may ask at once
            listening.listen(16)
            self.process = subprocess.Popen(
                [sys.executable, __file__, str(listening.fileno())],
                pass_fds=[listening.fileno()],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches kernels as Jupyter sends it
            )

    def stop(self) -> None:
        """End the process, and with it the kernels."""
        self.process.terminate()
        self.process.wait()


def serve(listening: socket.socket) -> None:
    """Fork a kernel for each connection; returns in the forks only."""
    wakeup, child_ended = socket.socketpair()
    for end in (wakeup, child_ended):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
    waiting = selectors.DefaultSelector()
    waiting.register(listening, selectors.EVENT_READ)
    waiting.register(child_ended, selectors.EVENT_READ)
    kernels: dict[socket.socket, int] = {}
    while True:
        for key, _ in waiting.select():
            if key.fileobj is listening:
                stand_in, _ = listening.accept()
                asked = json.loads(stand_in.makefile("rb").readline())
                kernel = os.fork()
                if kernel == 0:
                    signal.set_wakeup_fd(-1)
                    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                    for other in (listening, wakeup, child_ended, stand_in, *kernels):
                        other.close()
                    waiting.close()
                    become(**asked)
                    return
                kernels[stand_in] = kernel
                waiting.register(stand_in, selectors.EVENT_READ)
            elif key.fileobj is child_ended:
                child_ended.recv(4096)
                reap(kernels, waiting)
            elif key.fileobj in kernels:
                forward_signal(kernels, key.fileobj)


def reap(kernels: dict[socket.socket, int], waiting: selectors.BaseSelector) -> None:
    """Collect the kernels that have ended; closing the socket ends the stand-in."""
    for stand_in, kernel in list(kernels.items()):
        if os.waitpid(kernel, os.WNOHANG)[0] == kernel:
            del kernels[stand_in]
            waiting.unregister(stand_in)
            stand_in.close()


def forward_signal(kernels: dict[socket.socket, int], stand_in: Any) -> None:
    """A byte is the number of a signal; the end of the stand-in is SIGKILL."""
    try:
        numbers = stand_in.recv(64) or bytes([signal.SIGKILL])
    except ConnectionResetError:
        numbers = bytes([signal.SIGKILL])
    for number in numbers:
        os.kill(kernels[stand_in], number)


def become(argv: list[str], environment: dict[str, str], folder: str) -> None:
    """Take what the stand-in was started with."""
    os.setsid()
    os.chdir(folder)
    environment["JPY_PARENT_PID"] = str(os.getppid())
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = argv


def main() -> None:
    os.environ["JPY_PARENT_PID"] = "1"  # ipykernel reads it as it is imported
    del sys.path[0]  # this folder: no kernel imports from it
    for module in IMPORTED:
        __import__(module)
    import numpy as np
    from ipykernel import kernelapp

    gc.collect()
    gc.freeze()  # the collector would copy the pages that the forks share
    serve(socket.socket(fileno=int(sys.argv[1])))
    np.random.seed()
    kernelapp.IPKernelApp.parent_handle.default_value = os.getppid()
    kernelapp.launch_new_instance()


if __name__ == "__main__":
    main()
