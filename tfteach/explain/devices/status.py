"""The state of this process: versions, devices, threads, extras, open sessions."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import sys
from collections.abc import Mapping
from importlib import metadata
from importlib.machinery import ModuleSpec
from typing import NamedTuple

from tfteach.compat import finder
from tfteach.engine.devices.devices import local_devices
from tfteach.engine.devices.memory_ledger import show_bytes
from tfteach.engine.session.session import open_sessions
from tfteach.explain.runs.session_options import SessionOptions, session_options
from tfteach.framework import threads
from tfteach.framework.defaults import get_default_graph, get_default_session

__all__ = ["Status", "status"]

# module -> (purpose, how to install it)
EXTRAS = {
    "llvmlite": ("chains of arithmetic as machine code", "pip install tfteach[fast]"),
    "cupy": ("NVIDIA GPUs", "pip install tfteach[gpu]"),
    "graphviz": ("still pictures", "pip install tfteach[jupyter]"),
    "pygraphviz": ("still pictures without `dot`", "pip install tfteach[jupyter]"),
    "anywidget": ("live views", "pip install tfteach[jupyter]"),
}
SETTINGS = (
    "TFTEACH_SIMULATED_GPUS",
    "TFTEACH_PROGRESS",
    "CUDA_VISIBLE_DEVICES",
    "OPENBLAS_NUM_THREADS",
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
)

LEFT_ALONE = "tfteach leaves it alone; use import tfteach as tf"


class Status(NamedTuple):
    """Versions, devices, threads and sessions; `print` it.

    Attributes:
      versions: (name, version) of each package, tfteach's first.
      tensorflow: which module `import tensorflow` imports, and why.
      devices: (name, description) of each device that a new session would have.
      threads: (name, number) for tfteach and each BLAS library.
      extras: (module, version or how to install it, purpose, is installed) of each
        optional package.
      settings: (name, value) of each environment variable that is set and has an
        effect.
      graph: a description of the default graph.
      sessions: (name, description) of each open session.
      options: a `SessionOptions`: the options of these sessions side by side.
    """

    versions: tuple[tuple[str, str], ...]
    tensorflow: str
    devices: tuple[tuple[str, str], ...]
    threads: tuple[tuple[str, str], ...]
    extras: tuple[tuple[str, str, str, bool], ...]
    settings: tuple[tuple[str, str], ...]
    graph: str
    sessions: tuple[tuple[str, str], ...]
    options: SessionOptions

    @property
    def sections(self) -> dict[str, list[tuple[str, str]]]:
        """Title -> rows (name, description), for printing in any form."""
        extras = [
            (name, f"{said} ({use})" if there else f"not installed ({use}): {said}")
            for name, said, use, there in self.extras
        ]
        found = {
            "Versions": list(self.versions),
            "import tensorflow": [("", self.tensorflow)],
            "Devices": list(self.devices),
            "Threads": list(self.threads),
            "Extras": extras,
            "Settings": list(self.settings),
            "Default graph": [("", self.graph)],
            "Open sessions": list(self.sessions) or [("", "none")],
        }
        return {title: rows for title, rows in found.items() if rows}

    def __str__(self) -> str:
        lines = []
        for title, rows in self.sections.items():
            lines.append(title)
            width = max(len(name) for name, _ in rows)
            for name, said in rows:
                lines.append(f"  {f'{name:<{width}}  {said}' if width else said}")
        if self.options.sessions:
            lines += ["Session options", str(self.options)]
        return "\n".join(lines)


def status(names: Mapping[int, str] | None = None) -> Status:
    """The state of this process.

    Args:
      names: number of a session -> its name; by default "session 1".

    Returns:
      A `Status`; `print` it.

    Example:
      >>> print(status())
      Versions
        tfteach ...
    """
    return Status(
        _versions(),
        imported_tensorflow(),
        tuple(_devices()),
        tuple(_threads()),
        tuple(_extra(name, *said) for name, said in EXTRAS.items()),
        tuple((name, os.environ[name]) for name in SETTINGS if name in os.environ),
        _graph(),
        tuple(_sessions(names or {})),
        session_options(names=names),
    )


def _versions() -> tuple[tuple[str, str], ...]:
    rows = [
        ("tfteach", f"{_version('tfteach')}, TensorFlow 1.15's graphs and sessions")
    ]
    python = f"{platform.python_version()} on {sys.platform}"
    rows.append(("Python", python))
    rows += [(name, _version(name)) for name in ("numpy", "protobuf", "tensorboard")]
    return tuple(rows)


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "unknown"


def imported_tensorflow() -> str:
    """Which module `import tensorflow` imports, and why, in one line."""
    other = finder.another_tensorflow()
    if finder.is_imported():
        if other is None or not finder.gives_way():
            return "tfteach"
        return f"tfteach; {_about(other)} was installed since: restart to import it"
    if "tensorflow" in sys.modules:
        module = sys.modules["tensorflow"]
        if module is None:
            return "blocked: sys.modules['tensorflow'] is None"
        place = getattr(module, "__file__", None) or "this program"
        version = getattr(module, "__version__", "none")
        return f"imported from {place}, version {version}: {LEFT_ALONE}"
    if finder.is_active() and not finder.gives_way():
        return "tfteach: install_as_tensorflow() was called"
    if other is not None:
        return f"{_about(other)}: {LEFT_ALONE}"
    if finder.is_active():
        return "tfteach, because no TensorFlow is installed"
    return (
        "nothing: no TensorFlow is installed, and tfteach does not stand in for it "
        "(%tfteach tensorflow on, tfteach.install_as_tensorflow())"
    )


def _about(spec: ModuleSpec) -> str:
    """The version and place of an installed `tensorflow`."""
    names = metadata.packages_distributions().get("tensorflow", [])
    version = f"TensorFlow {_version(names[0])}, " if names else ""
    return f"{version}{spec.origin}"


def _devices() -> list[tuple[str, str]]:
    rows = []
    for device in local_devices():
        label = f"{device.device_type}:{device.index}"
        about = device.physical_device_desc or "NumPy"
        if device.device_type == "GPU":
            about += f", {show_bytes(device.memory_limit_bytes)} for a session"
        rows.append((label, about))
    return rows


def _threads() -> list[tuple[str, str]]:
    from threadpoolctl import threadpool_info

    rows = [("tfteach", str(threads.thread_count()))]
    for found in threadpool_info():
        if found["user_api"] == "blas":
            name = f"{found['internal_api']} {found['version'] or ''}".strip()
            rows.append((name, str(found["num_threads"])))
    return rows


def _extra(module: str, use: str, advice: str) -> tuple[str, str, str, bool]:
    if importlib.util.find_spec(module) is None:
        return module, advice, use, False
    names = metadata.packages_distributions().get(module, [module])
    said = _version(names[0])
    if module == "graphviz":
        said += ", with dot" if shutil.which("dot") else ", no dot"
    return module, said, use, True


def _graph() -> str:
    graph = get_default_graph()
    if graph.is_eager:
        return "none: ops run eagerly"
    text = f"{graph.version} op{'' if graph.version == 1 else 's'}"
    return text + (", finalized" if graph.finalized else "")


def _sessions(names: Mapping[int, str]) -> list[tuple[str, str]]:
    rows = []
    default = get_default_session()
    graph = get_default_graph()
    for session in open_sessions():
        which = "the default graph" if session.graph is graph else "another graph"
        said = f"on {which}, {session.graph.version} ops, {len(session.devices)} device"
        said += "" if len(session.devices) == 1 else "s"
        said += ", the default session" if session is default else ""
        options = session.planner.options
        said += ", soft placement" if options.allow_soft_placement else ""
        said += ", logs placements" if options.log_device_placement else ""
        said += "" if options.optimizes else ", nothing optimized"
        rows.append((names.get(session.number, f"session {session.number}"), said))
    return rows
