"""`import tensorflow` imports tfteach: for scripts and notebooks written for TF 1.x.

Either always (`install`), or where nothing else provides the module
(`install_if_missing`): what else there is, is decided anew at each import.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import operator
import sys
import threading
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from tfteach.compat import internals
from tfteach.compat.deprecated_names import WarningModule, warning_module
from tfteach.compat.renamed import hint
from tfteach.compat.top_level import top_level


class _Version1(ModuleType):
    """The module `tensorflow.compat.v1`: tfteach's names and TensorFlow's version."""

    def __init__(self, wrapped: ModuleType) -> None:
        super().__init__("tensorflow.compat.v1", wrapped.__doc__)
        self._wrapped = wrapped
        self.__version__ = wrapped.VERSION

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return [n for n in dir(self) if not n.startswith("_")]
        return getattr(self._wrapped, name)

    def __dir__(self) -> list[str]:
        return dir(self._wrapped)


class _TensorFlow(WarningModule):
    """The module `tensorflow`: tfteach's names and TensorFlow's version."""

    __tfteach__ = True
    __version__: str
    version_1: _Version1  # `tensorflow.compat.v1`, in which nothing is deprecated

    def __reduce__(self) -> tuple[Any, ...]:
        """cloudpickle sends functions with the modules that they use."""
        return _imported, ()

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError as err:
            message = str(err).replace("'tfteach'", "'tensorflow'")
            raise AttributeError(message, name=name, obj=self) from None


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tensorflow` and its submodules among tfteach's public names.

    Attributes:
      gives_way: True to leave the module to anything else that provides it.
      on_import: called when `tensorflow` is imported and is tfteach.
    """

    def __init__(self) -> None:
        self.gives_way = False
        self.on_import: Callable[[], None] | None = None
        self._asking = threading.local()  # other finders may ask all finders in turn

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name in ("tensorflow", ESTIMATOR, NO_TENSORFLOW):
            there = not (self.gives_way and self.finds_another())
        else:
            there = name.startswith(("tensorflow.", f"{ESTIMATOR}.")) and is_imported()
        return ModuleSpec(name, self, is_package=True) if there else None

    def finds_another(self) -> bool:
        """True if another finder has `tensorflow`; also while these are asked."""
        if getattr(self._asking, "now", False):
            return True
        self._asking.now = True
        try:
            return another_tensorflow() is not None
        finally:
            self._asking.now = False

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        if spec.name != "tensorflow":
            return ModuleType(spec.name)
        tfteach = top_level()
        top = _TensorFlow(tfteach, "")
        top.__version__ = tfteach.VERSION
        top.version_1 = _Version1(tfteach)
        return top

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        if name == "tensorflow":
            if self.on_import is not None:
                self.on_import()
            return
        if name == NO_TENSORFLOW:
            return
        if name == ESTIMATOR:
            importlib.import_module("tensorflow")
            vars(module)["estimator"] = internals.public("estimator")
            return
        try:
            found = _find(name.partition(".")[2])
        except BaseException:
            sys.modules.pop(name, None)
            raise
        if not hasattr(found, "__path__"):
            found.__path__ = []  # `import tensorflow.compat.v1` requires a package
        # The same module object as `tf.<name>`: import returns sys.modules[name].
        sys.modules[name] = found


def _find(path: str) -> ModuleType:
    """The module `tensorflow.<path>`.

    Raises:
      ImportError: it does not exist, or was renamed.
    """
    first, _, rest = path.partition(".")
    found: Any
    if first == "core" or path.endswith("_pb2"):
        found = internals.proto_module(rest)
    elif first == "python":
        found = internals.inner(rest)
    else:
        # contrib.learn.python.learn.datasets is public, and has more names as a path.
        is_inner = ".python" in path or ".client" in path
        inner = internals.inner(path) if is_inner else None
        found = inner or internals.public(path) or _contrib(path)
    if isinstance(found, ModuleType):
        return warning_module(found, path)
    name = f"tensorflow.{path}"
    message = hint(path)
    if message and not _is_name(path):
        raise ImportError(f"No module or name {name!r}; {message}", name=name)
    last = path.rpartition(".")[2]
    if last.startswith("gen_"):
        raise ImportError(
            f"No module named {name!r}: TensorFlow generates it, tfteach has no such "
            "code. Use the public functions of the same names.",
            name=name,
        )
    if first == "python":
        # Not ModuleNotFoundError: `from ... import x` would discard its message.
        raise ImportError(
            f"No module or name {name!r}: of TensorFlow's inner modules tfteach has "
            f"those that old code imports. {internals.similar(rest)}",
            name=name,
        )
    raise ModuleNotFoundError(
        f"No module named {name!r}: tfteach does not have it", name=name
    )


def _is_name(path: str) -> bool:
    """Whether `tf.<path>` exists, without being a module."""
    try:
        operator.attrgetter(path)(top_level())
    except AttributeError:
        return False
    return True


def _contrib(path: str) -> ModuleType | None:
    """Resolve `contrib.layers.python.layers` to `contrib.layers`."""
    if not path.startswith("contrib."):
        return None
    found: ModuleType | None = internals.inner(path)
    package, inside, _ = path.partition(".python")
    ops = f"{package}.python.ops"
    if found is None and inside and not (path.startswith(ops) and internals.inner(ops)):
        found = internals.public(package)
    return found


# The package that has TensorFlow's estimators since version 1.13.
ESTIMATOR = "tensorflow_estimator"
# Where this module exists, TensorBoard does without TensorFlow: when it reads event
# files it would use parts of one that only TensorBoard uses.
NO_TENSORFLOW = "tensorboard.compat.notf"

_FINDER = _Finder()


def install() -> None:
    """See `tfteach.install_as_tensorflow`.

    Raises:
      RuntimeError: another TensorFlow is already imported in this process.
    """
    loaded = sys.modules.get("tensorflow")
    if loaded is not None and not is_imported():
        raise RuntimeError(
            "Another `tensorflow` is already imported here: call "
            "tfteach.install_as_tensorflow() before anything imports it."
        )
    _FINDER.gives_way, _FINDER.on_import = False, None
    _activate()


def install_if_missing(on_import: Callable[[], None] | None = None) -> None:
    """Make `import tensorflow` import tfteach where nothing else provides the module.

    After `install` this has no effect.

    Args:
      on_import: called when `tensorflow` is imported and is tfteach.
    """
    if not is_active():
        _FINDER.gives_way, _FINDER.on_import = True, on_import
        _activate()


def uninstall() -> None:
    """Undo `install` and `install_if_missing`; modules that are in use stay usable."""
    if is_active():
        sys.meta_path.remove(_FINDER)
    if is_imported():
        for name in [*sys.modules]:
            if name.partition(".")[0] in ("tensorflow", ESTIMATOR):
                del sys.modules[name]


def is_active() -> bool:
    """True if `import tensorflow` may import tfteach."""
    return _FINDER in sys.meta_path


def gives_way() -> bool:
    """True if another `tensorflow` takes precedence."""
    return _FINDER.gives_way


def is_imported() -> bool:
    """True if `tensorflow` is imported, and is tfteach."""
    return isinstance(sys.modules.get("tensorflow"), _TensorFlow)


def another_tensorflow() -> ModuleSpec | None:
    """The spec of a `tensorflow` that is not tfteach, found without importing it.

    A folder without `__init__.py` does not count: pip leaves such folders behind.
    """
    for finder in sys.meta_path:
        ask = getattr(finder, "find_spec", None)
        spec = None if finder is _FINDER or ask is None else ask("tensorflow", None)
        if spec is not None and spec.loader is not None:
            found: ModuleSpec = spec
            return found
    return None


def _activate() -> None:
    if not is_active():
        sys.meta_path.insert(0, _FINDER)


def _imported() -> ModuleType:
    """`tensorflow` in a process that loads a pickle of it."""
    install_if_missing()
    import tensorflow

    return tensorflow
