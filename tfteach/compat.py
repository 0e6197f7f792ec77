"""`import tensorflow` gives tfteach: for scripts and notebooks written for TF 1.x."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from types import ModuleType
from typing import Any


class _TensorFlow(ModuleType):
    """The module `tensorflow`: tfteach's names, and the version they have."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib.import_module("tfteach"), name)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and its submodules among tfteach's public names."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != "tensorflow" and not name.startswith("tensorflow."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        tfteach = importlib.import_module("tfteach")
        if spec.name == "tensorflow":
            top = _TensorFlow("tensorflow", tfteach.__doc__)
            top.__dict__.update(
                {k: v for k, v in vars(tfteach).items() if not k.startswith("__")}
            )
            top.__dict__["__version__"] = tfteach.VERSION
            return top
        found: Any = tfteach
        for part in spec.name.split(".")[1:]:
            if part in ("python", "core"):
                continue  # `tensorflow.python.framework...`: the public names serve
            found = getattr(found, part, None)
            if found is None:
                raise ModuleNotFoundError(
                    f"No module named {spec.name!r}: tfteach does not have it",
                    name=spec.name,
                )
        module = ModuleType(spec.name)
        if isinstance(found, ModuleType):
            module.__dict__.update(
                {k: v for k, v in vars(found).items() if not k.startswith("__")}
            )
        return module

    def exec_module(self, module: ModuleType) -> None:
        return None


_FINDER = _Finder()


def install() -> None:
    """See `tfteach.install_as_tensorflow`.

    Raises:
      RuntimeError: another TensorFlow is already imported in this process.
    """
    loaded = sys.modules.get("tensorflow")
    if loaded is not None and not isinstance(loaded, _TensorFlow):
        raise RuntimeError(
            "Another `tensorflow` is already imported here: call "
            "tfteach.install_as_tensorflow() before anything imports it."
        )
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
