"""`tf.logging`: what is shown, how often and in what format."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest

import tfteach as tf
from tfteach.framework import deprecation


@pytest.fixture(autouse=True)
def level() -> Iterator[None]:
    old = tf.get_logger().level
    yield
    tf.logging.set_verbosity(old)


SCRIPT = """
import tfteach as tf
tf.logging.info("not shown")
tf.logging.warn("before %d", 3)
tf.logging.set_verbosity(tf.logging.INFO)
tf.logging.info("step %d", 100)
tf.logging.debug("not shown")
tf.logging.error("e")
tf.logging.fatal("f")
tf.logging.log(25, "between")
"""


def test_format_and_levels_are_tensorflows() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "WARNING:tensorflow:before 3",
        "INFO:tensorflow:step 100",
        "ERROR:tensorflow:e",
        "CRITICAL:tensorflow:f",
        "Level 25:tensorflow:between",
    ]


def test_at_a_prompt_info_is_shown_on_stdout() -> None:
    code = "import sys\nsys.ps1 = '> '\nimport tfteach as tf\ntf.logging.info('hello')"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("INFO:tensorflow:hello\n", "")


def test_the_programs_own_configuration_is_used() -> None:
    code = (
        "import logging\nlogging.basicConfig(format='%(lineno)d %(message)s')\n"
        "import tfteach as tf\ntf.logging.warn('mine')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stderr == "4 mine\n"


def test_every_n_and_first_n_count_each_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    for i in range(5):
        tf.logging.log_every_n(tf.logging.WARN, "every %d", 2, i)
        tf.logging.log_first_n(tf.logging.WARN, "first %d", 2, i)
        tf.logging.log_if(tf.logging.WARN, "if %d", i == 3, i)
    assert caplog.messages == (
        ["every 0", "first 0", "first 1", "every 2", "if 3", "every 4"]
    )
    assert {record.filename for record in caplog.records} == {"test_logging.py"}


def test_verbosity() -> None:
    tf.logging.set_verbosity(tf.logging.DEBUG)
    assert tf.logging.get_verbosity() == logging.DEBUG == tf.logging.DEBUG
    assert tf.logging.WARN == 30
    assert tf.logging.FATAL == 50


@pytest.fixture
def warns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Deprecation warnings are on, whatever other tests have loaded."""
    monkeypatch.setattr(deprecation, "_PRINT_DEPRECATION_WARNINGS", True)
    monkeypatch.setattr(deprecation, "_warned", set())


@pytest.mark.usefixtures("warns")
def test_a_deprecated_name_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    from tfteach.framework.deprecation import deprecated

    @deprecated("2017-03-02", "Use `tf.new`.", "python.ops.variables", "old_name_1")
    def function(x: int) -> int:
        return x + 1

    assert function(1) == 2
    assert function(2) == 3
    (message,) = caplog.messages
    first, *rest = message.splitlines()
    assert first.startswith(f"From {__file__}:")
    assert first.endswith(
        ": old_name_1 (from tensorflow.python.ops.variables) is deprecated and will be "
        "removed after 2017-03-02."
    )
    assert rest == ["Instructions for updating:", "Use `tf.new`."]


@pytest.mark.usefixtures("warns")
def test_deprecated_functions_and_arguments_warn_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The words, asked of TensorFlow 1.15.5."""
    code = (
        "x = tf.constant([1.0])\n"
        "tf.to_complex128(x); tf.to_complex128(x)\n"
        "tf.math.count_nonzero(x)\n"
        "tf.count_nonzero(x, keep_dims=True); tf.count_nonzero(x)\n"
    )
    exec(compile(code, "program.py", "exec"), {"tf": tf})
    first, second = caplog.messages
    assert first == (
        "From program.py:2: to_complex128 (from tensorflow.python.ops.math_ops) is "
        "deprecated and will be removed in a future version.\n"
        "Instructions for updating:\nUse `tf.cast` instead."
    )
    assert second.startswith(
        "From program.py:4: calling count_nonzero (from "
        "tensorflow.python.ops.math_ops) with keep_dims is deprecated and will be "
        "removed in a future version.\n"
    )


def test_deprecation_warnings_can_be_switched_off(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deprecation, "_PRINT_DEPRECATION_WARNINGS", False)
    monkeypatch.setattr(deprecation, "_warned", set())
    tf.to_bfloat16(tf.constant([1.0]))
    assert not caplog.messages
    inner = tf.python.util.deprecation
    monkeypatch.setattr(inner, "_PRINT_DEPRECATION_WARNINGS", True)
    assert deprecation._PRINT_DEPRECATION_WARNINGS
    tf.to_bfloat16(tf.constant([1.0]))
    assert len(caplog.messages) == 1


def test_every_listed_deprecation_belongs_to_a_function() -> None:
    from tfteach.framework.deprecation import _table

    for public, rows in _table().items():
        found = tf
        for part in public.split("."):
            found = getattr(found, part)
        for row in rows:
            function = getattr(found, row.member) if row.member else found
            function = getattr(function, "fget", function)  # of a property
            assert hasattr(function, "__wrapped__"), f"{public} {row.member}"
