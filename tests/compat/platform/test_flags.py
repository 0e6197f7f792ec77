"""`tf.app` and `tf.flags`: scripts with flags, at a prompt and in a notebook."""

from __future__ import annotations

import subprocess
import sys
import types
from pathlib import Path

import pytest

import tfteach as tf

SCRIPT = """
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("data_dir", "data", "where the images are")
flags.DEFINE_integer("steps", 3, docstring="how many")
flags.DEFINE_float("rate", 0.5, "step size", lower_bound=0.0)
flags.DEFINE_boolean("verbose", False, "more words")
tf.flags.DEFINE_bool("quick", True, "stop early")
flags.DEFINE_enum("mode", "train", ["train", "test"], "what to do")
flags.DEFINE_list("layers", ["8", "4"], "sizes")
flags.DEFINE_multi_integer("gpu", [0], "which")
FLAGS = flags.FLAGS


def main(argv):
    print(argv[1:], FLAGS.data_dir, FLAGS.steps, FLAGS.rate, FLAGS.verbose)
    print(tf.flags.FLAGS.quick, FLAGS.mode, FLAGS.layers, FLAGS.gpu)
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.logging.info("step %d", FLAGS.steps)
    return FLAGS.steps


if __name__ == "__main__":
    tf.app.run()
"""
READS = SCRIPT.replace("    tf.app.run()", "    main(['x'])")


def run(tmp_path: Path, text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(text)
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "tfteach", "run", script, *arguments],
        capture_output=True,
        text=True,
    )


def test_run_parses_leaves_over_and_exits_with_mains_result(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        SCRIPT,
        *"--steps=7 --rate 2 --verbose --noquick --mode=test --layers=3,2".split(),
        *"--gpu=1 --gpu=2 --unknown=5 rest".split(),
    )
    assert done.stdout.splitlines() == [
        "['--unknown=5', 'rest'] data 7 2.0 True",
        "False test ['3', '2'] [1, 2]",
    ]
    assert done.returncode == 7
    # Once: absl's own handler would say it again.
    assert done.stderr.splitlines()[-1] == "INFO:tensorflow:step 7"
    assert done.stderr.count("step 7") == 1
    assert "(flag_name, default_value, docstring) is deprecated" in done.stderr


def test_help_lists_the_scripts_flags(tmp_path: Path) -> None:
    done = run(tmp_path, SCRIPT, "--help")
    assert "--data_dir: where the images are" in done.stdout
    assert "(default: '3')" in done.stdout
    assert done.returncode == 1


def test_flags_are_parsed_when_first_read(tmp_path: Path) -> None:
    done = run(tmp_path, READS, "--no_such=1")
    told = "UnrecognizedFlagError: Unknown command line flag 'no_such'"
    assert told in done.stderr
    assert done.returncode == 1


def test_values_that_a_flag_cannot_have() -> None:
    flags = tf.flags.FlagValues()
    tf.flags.DEFINE_integer("steps", 3, "how many", flag_values=flags)
    tf.flags.DEFINE_float("rate", 1.0, "step", lower_bound=0.0, flag_values=flags)
    for wrong in ("--steps=many", "--rate=-1"):
        with pytest.raises(tf.flags.IllegalFlagValueError, match=f"flag {wrong}"):
            flags(["program", wrong])


def test_reading_without_run(tmp_path: Path) -> None:
    done = run(tmp_path, READS, "--steps=1")
    assert done.stdout.startswith("[] data 1 0.5 False\n")


IN_A_KERNEL = """
import sys, types
sys.argv = ["ipykernel_launcher.py", "-f", "kernel.json"]
kernel = types.ModuleType("ipykernel.kernelapp")
kernel.IPKernelApp = types.SimpleNamespace(initialized=lambda: {kernel})
sys.modules["ipykernel.kernelapp"] = kernel
import tfteach as tf
for _ in range({times}):  # a cell is run again
    tf.flags.DEFINE_integer("n", 3, "a number")
    tf.flags.DEFINE_list("l", "1,2", "numbers")
print(tf.flags.FLAGS.n, tf.flags.FLAGS.flag_values_dict()["n"], "n" in tf.flags.FLAGS)
tf.flags.FLAGS.n = 5
print(tf.flags.FLAGS.n, tf.flags.FLAGS["n"].default)
tf.flags.DEFINE_string("needed", None, "text")
tf.flags.mark_flag_as_required("needed")
tf.flags.FLAGS.needed = "x"
try:
    tf.app.run(lambda argv: print(argv))
except SystemExit as done:
    print(done.code)
try:
    tf.flags.FLAGS.other
except AttributeError as error:
    print(error)
try:
    tf.flags.DEFINE_colour
except AttributeError as error:
    print(error)
"""


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True
    )


def test_a_kernels_arguments_are_not_the_programs() -> None:
    done = python(IN_A_KERNEL.format(kernel=True, times=2))
    assert done.stdout.splitlines() == [
        "3 3 True",
        "5 3",
        "['ipykernel_launcher.py']",
        "None",
        "other",
        "module 'tensorflow.flags' has no attribute 'DEFINE_colour'",
    ], done.stderr


def test_elsewhere_they_are_refused_as_tensorflow_does() -> None:
    done = python(IN_A_KERNEL.format(kernel=False, times=1))
    assert "UnrecognizedFlagError: Unknown command line flag 'f'" in done.stderr


def test_no_main(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    with pytest.raises(AttributeError, match="module '__main__' has no attribute"):
        tf.app.run()


def test_starting_up_does_not_load_absl() -> None:
    done = python("import sys, tfteach\nprint([m for m in sys.modules if 'absl' in m])")
    assert done.stdout == "[]\n", done.stderr
