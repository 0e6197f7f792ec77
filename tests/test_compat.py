"""`import tensorflow` gives tfteach, in scripts and in processes that ask for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import tensorflow as tf
import tensorflow.nn
from tensorflow.train import AdamOptimizer
from beside import TWO

assert tf.nn.relu is tensorflow.nn.relu
assert tf.train.AdamOptimizer is AdamOptimizer
total = tf.constant(3.0) + TWO
with tf.Session() as sess:
    print(tf.__version__, sys.argv[1:], sess.run(total), __name__)
"""


def python(*words: str, code: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", *words, *(["-c", code] if code else [])],
        capture_output=True,
        text=True,
    )


def test_a_script_is_run_as_it_is(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    (tmp_path / "beside.py").write_text("TWO = 2.0\n")
    done = python("-m", "tfteach", "run", str(script), "--steps", "3")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1.15.5 ['--steps', '3'] 5.0 __main__\n"


def test_no_script() -> None:
    done = python("-m", "tfteach", "run", "missing.py")
    assert done.returncode == 2
    assert "there is no file missing.py" in done.stderr


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            "import tensorflow.no_such_thing",
            "ModuleNotFoundError: No module named 'tensorflow.no_such_thing': "
            "tfteach does not have it",
        ),
        (
            "from tensorflow import no_such_thing",
            "ImportError: cannot import name 'no_such_thing' from 'tensorflow'",
        ),
        (
            "import tensorflow; tensorflow.no_such_thing",
            "AttributeError: module 'tfteach' has no attribute 'no_such_thing'",
        ),
    ],
)
def test_what_is_not_there(line: str, told: str) -> None:
    done = python(code=f"import tfteach; tfteach.install_as_tensorflow(); {line}")
    assert done.returncode == 1
    assert told in done.stderr.splitlines()[-1]


def test_another_tensorflow_is_not_replaced() -> None:
    done = python(
        code="import sys, types, tfteach\n"
        "sys.modules['tensorflow'] = types.ModuleType('tensorflow')\n"
        "tfteach.install_as_tensorflow()"
    )
    assert "RuntimeError: Another `tensorflow` is already imported" in done.stderr


def test_installing_twice_is_installing_once() -> None:
    done = python(
        code="import sys, tfteach\n"
        "finders = len(sys.meta_path)\n"
        "tfteach.install_as_tensorflow()\n"
        "import tensorflow as first\n"
        "tfteach.install_as_tensorflow()\n"
        "import tensorflow as second\n"
        "print(first is second, len(sys.meta_path) - finders)"
    )
    assert done.stdout == "True 1\n", done.stderr
