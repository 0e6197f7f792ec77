"""Forked kernels end, and are interrupted, as those that Jupyter starts itself."""

from __future__ import annotations

import os
import select
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import KernelManager

from tests.browser.kernel_forks import KernelForks
from tests.browser.lab import private_environment


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the kernel specs whose "python3" is a fork."""
    home = tmp_path_factory.mktemp("home")
    environment = private_environment(home)
    with (home / "log").open("wb") as log:
        forks = KernelForks(home, environment, log)
    yield Path(environment["JUPYTER_PATH"])
    forks.stop()


@pytest.fixture
def kernel(forks: Path, tmp_path: Path) -> Iterator[KernelManager]:
    specs = KernelSpecManager(kernel_dirs=[str(forks / "kernels")])
    manager = KernelManager(kernel_name="python3", kernel_spec_manager=specs)
    manager.connection_file = str(tmp_path / "connection.json")
    manager.start_kernel(cwd=str(tmp_path), env={**os.environ, "COLOUR": "blue"})
    yield manager
    if manager.has_kernel:
        manager.shutdown_kernel(now=True)


def client_of(kernel: KernelManager) -> BlockingKernelClient:
    client = kernel.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    return client


def value(client: BlockingKernelClient, expression: str) -> Any:
    """An expression's value, or the name of its error, in the kernel."""
    answer = client.execute_interactive(
        "",
        user_expressions={"value": expression},
        timeout=60,
        output_hook=lambda message: None,
    )["content"]["user_expressions"]["value"]
    return answer["data"]["text/plain"] if answer["status"] == "ok" else answer["ename"]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_kernel_has_its_own_place_and_environment(
    kernel: KernelManager, tmp_path: Path
) -> None:
    client = client_of(kernel)
    assert value(client, "__import__('os').getcwd()") == repr(str(tmp_path))
    assert value(client, "__import__('os').environ['COLOUR']") == "'blue'"
    assert value(client, "'tfteach' in __import__('sys').modules") == "True"
    assert value(client, "'' in __import__('sys').path") == "True"
    pid = int(value(client, "__import__('os').getpid()"))
    client.shutdown()
    kernel.provisioner.process.wait(timeout=60)
    assert not is_alive(pid)
    client.stop_channels()


def test_a_kernel_is_interrupted(kernel: KernelManager) -> None:
    client = client_of(kernel)

    def interrupt(message: Any) -> None:
        if message["msg_type"] == "stream":
            kernel.interrupt_kernel()

    answer = client.execute_interactive(
        "print('begins', flush=True)\nwhile True: pass",
        timeout=60,
        output_hook=interrupt,
    )
    assert answer["content"]["ename"] == "KeyboardInterrupt"
    assert value(client, "1 + 1") == "2"
    client.stop_channels()


def test_a_killed_kernel_is_gone(kernel: KernelManager) -> None:
    client = client_of(kernel)
    pid = int(value(client, "__import__('os').getpid()"))
    kernel.provisioner.process.kill()
    kernel.provisioner.process.wait(timeout=60)
    client.stop_channels()
    ended = os.pidfd_open(pid) if is_alive(pid) else None
    if ended is not None:
        assert select.select([ended], [], [], 20)[0], "the kernel runs on"
        os.close(ended)
