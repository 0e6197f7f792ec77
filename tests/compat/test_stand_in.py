"""`import tensorflow` imports tfteach where nothing else provides it.

Each program runs in a process of its own: what is imported there stays there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forked_programs import TFTEACH, Forks, forked_programs

BEGIN = """
import importlib.util, pickle, sys
import tfteach
from tfteach.compat import finder
from tfteach.explain.devices.status import imported_tensorflow
told = []
finder.install_if_missing(lambda: told.append(True))
"""

PROGRAMS = {
    "the paths of course notes": """
assert importlib.util.find_spec("tensorflow") is not None
assert not told and "tensorflow" not in sys.modules
assert imported_tensorflow() == "tfteach, because no TensorFlow is installed"
import tensorflow as tf
assert told == [True] and tf.__version__ == "1.15.5"
import tensorflow.contrib.slim as slim
from tensorflow.examples.tutorials.mnist import input_data
from tensorflow.python.framework import ops
assert slim.conv2d is tfteach.contrib.slim.conv2d
assert ops.reset_default_graph is tfteach.reset_default_graph
assert tf.Graph is tfteach.Graph
import tensorflow as again
assert again is tf and told == [True]
assert imported_tensorflow() == "tfteach"
""",
    "the first import is below it": """
from tensorflow.contrib.layers import fully_connected
assert told == [True]
assert fully_connected is tfteach.contrib.layers.fully_connected
""",
    "off and on again": """
import tensorflow as tf
import tensorflow.contrib.slim as slim
finder.uninstall()
assert not [name for name in sys.modules if name.startswith("tensorflow")]
assert importlib.util.find_spec("tensorflow") is None
assert imported_tensorflow().startswith("nothing: no TensorFlow is installed")
assert tf.train.AdamOptimizer and slim.conv2d  # what is in use stays usable
finder.install_if_missing()
import tensorflow
assert tensorflow.Graph is tf.Graph
""",
    "pickles": """
import tensorflow as tf
data = pickle.dumps([tf.float32, tf.TensorShape([1, None]), tf])
assert b"tensorflow.python" not in data
finder.uninstall()
dtype, shape, module = pickle.loads(data)
assert dtype is tfteach.float32 and shape.as_list() == [1, None]
assert module.Graph is tfteach.Graph
""",
    "TensorBoard does without it": """
from tensorboard.compat import tf as its_own
assert its_own.io.gfile
assert "tensorflow" not in sys.modules and not told
""",
    "asked for in so many words": """
tfteach.install_as_tensorflow()
assert not finder.gives_way()
assert imported_tensorflow() == "tfteach: install_as_tensorflow() was called"
finder.install_if_missing(lambda: told.append(True))
import tensorflow
assert not told and not finder.gives_way()
""",
    "blocked": """
sys.modules["tensorflow"] = None
assert imported_tensorflow() == "blocked: sys.modules['tensorflow'] is None"
try:
    import tensorflow
except ModuleNotFoundError:
    pass
else:
    raise AssertionError
""",
    "a finder that asks all finders": """
class Hook:
    busy = False
    def find_spec(self, name, path, target=None):
        if name != "tensorflow" or self.busy:
            return None
        self.busy = True
        try:
            return importlib.util.find_spec(name)
        finally:
            self.busy = False
sys.meta_path.insert(0, Hook())
assert finder.another_tensorflow() is None or not told
import tensorflow
assert tensorflow.Graph is tfteach.Graph
""",
}

# Programs beside which a package `tensorflow` lies.
BESIDE = {
    "one that is installed": """
assert imported_tensorflow() == (
    f"TensorFlow 9.8.7, {FILE}: tfteach leaves it alone; use import tfteach as tf"
)
import tensorflow
import tensorflow.own
assert tensorflow.__version__ == "9.8.7" and not told
assert imported_tensorflow().startswith(f"imported from {FILE}, version 9.8.7: ")
finder.uninstall()
assert sys.modules["tensorflow"] is tensorflow
""",
    "one that is installed, in so many words": """
tfteach.install_as_tensorflow()
import tensorflow
assert tensorflow.Graph is tfteach.Graph
""",
}

PACKAGE = """
__version__ = "9.8.7"
"""


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    folder = tmp_path_factory.mktemp("printed")
    with forked_programs(folder, TFTEACH) as forks:
        yield forks


def with_folder(folder: Path) -> str:
    """Code that has modules found in a folder, as if PYTHONPATH named it."""
    return f"sys.path.insert(1, {str(folder)!r})\n"


def installed(folder: Path) -> Path:
    """Put a TensorFlow into a folder; its file."""
    package = folder / "tensorflow"
    package.mkdir()
    (package / "own.py").write_text("")
    (package / "__init__.py").write_text(PACKAGE)
    info = folder / "tensorflow-9.8.7.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: tensorflow\nVersion: 9.8.7\n")
    (info / "top_level.txt").write_text("tensorflow\n")
    return package / "__init__.py"


@pytest.mark.parametrize("name", PROGRAMS)
def test_where_there_is_none(forks: Forks, name: str) -> None:
    forks.run(BEGIN + PROGRAMS[name])


@pytest.mark.parametrize("name", BESIDE)
def test_where_there_is_one(forks: Forks, name: str, tmp_path: Path) -> None:
    begin = f"FILE = {str(installed(tmp_path))!r}\n{BEGIN}"
    forks.run(begin + with_folder(tmp_path) + BESIDE[name])


def test_one_that_comes_later(forks: Forks, tmp_path: Path) -> None:
    code = f"""
folder = {str(tmp_path)!r}
sys.path.insert(0, folder)
import tensorflow as before
from tests.compat.test_stand_in import installed
from pathlib import Path
installed(Path(folder))
importlib.invalidate_caches()
assert "was installed since: restart to import it" in imported_tensorflow()
import tensorflow
assert tensorflow is before
finder.uninstall()
finder.install_if_missing()
import tensorflow
assert tensorflow.__version__ == "9.8.7"
"""
    forks.run(BEGIN + code)


def test_one_that_does_not_load_is_not_replaced(forks: Forks, tmp_path: Path) -> None:
    installed(tmp_path).write_text("raise ImportError('no such library')")
    code = """
try:
    import tensorflow
except ImportError as error:
    assert str(error) == "no such library"
else:
    raise AssertionError
"""
    forks.run(BEGIN + with_folder(tmp_path) + code)


def test_a_folder_is_no_tensorflow(forks: Forks, tmp_path: Path) -> None:
    """pip leaves folders behind, and courses have one of that name."""
    (tmp_path / "tensorflow").mkdir()
    forks.run(BEGIN + with_folder(tmp_path) + "import tensorflow\nassert told\n")
