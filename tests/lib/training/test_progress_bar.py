"""The progress bar of a loop whose length is known: where it is, and what it says."""

import io
import logging
import re
import sys
import threading
import types

import pytest

import tfteach as tf
from tfteach.framework.logger import get_logger
from tfteach.lib.training.hooks import progress_bar


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True

    def screen(self):
        """The lines as a person sees them: "\\r" overwrites."""
        return [
            line.rsplit("\r", 1)[-1].rstrip() for line in self.getvalue().split("\n")
        ]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """Bars that do not wait a second, and are drawn at each step."""
    monkeypatch.setattr(progress_bar, "_DELAY_S", -1.0)
    monkeypatch.setattr(progress_bar, "_INTERVAL_S", 0.0)
    monkeypatch.delenv(progress_bar.SETTING, raising=False)


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    # Not sys.stderr, which pytest replaces between a fixture and its test.
    stand_in = types.SimpleNamespace(stderr=stream, modules=sys.modules)
    monkeypatch.setattr(progress_bar, "sys", stand_in)
    return stream


def train(last_step=5, fails_at=None, hooks=()):
    """Count to a step; returns the number of ops of the graph."""
    with tf.Graph().as_default() as graph:
        step = tf.train.get_or_create_global_step()
        count = tf.assign_add(step, 1)
        loss = tf.cast(step, tf.float32) / 8.0
        hooks = [
            tf.train.StopAtStepHook(last_step=last_step),
            tf.train.LoggingTensorHook({"loss": loss, "step": step}, every_n_iter=2),
            *hooks,
        ]
        with tf.train.MonitoredSession(hooks=hooks) as session:
            while not session.should_stop():
                if session.run(count) == fails_at:
                    raise KeyError("mine")
        return len(graph.get_operations())


def test_a_terminal_shows_steps_rate_time_and_loss(terminal):
    threads = threading.active_count()
    train()
    assert threading.active_count() == threads
    last = terminal.screen()[-2]  # the cursor is below
    found = re.fullmatch(
        r"100%\|.*\| 5/5 \[\d\d:\d\d<\d\d:\d\d, +[\d.?]+step/s, loss=([\d.]+)\]", last
    )
    assert found, last
    assert float(found[1]) in (4 / 8, 5 / 8)  # whichever the step's own fetch saw
    assert "step=" not in last


def test_log_lines_stay_whole(terminal, monkeypatch):
    logger = get_logger()
    handler = logging.StreamHandler(terminal)
    monkeypatch.setattr(logger, "handlers", [handler])
    monkeypatch.setattr(logger, "propagate", False)
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        train(9)
    finally:
        logger.setLevel(level)
    lines = [line for line in terminal.screen() if "loss = " in line]
    assert len(lines) == 5
    assert all(line.startswith("loss = ") and "|" not in line for line in lines)
    assert "9/9" in terminal.screen()[-2]
    assert not logger.filters


def test_no_bar_and_no_tqdm_in_a_pipe(capsys, monkeypatch):
    monkeypatch.setattr(progress_bar, "_tqdm_class", lambda: pytest.fail("a bar"))
    train()
    assert "%|" not in capsys.readouterr().err


def test_the_graph_is_the_same(terminal):
    shown = train()
    terminal.isatty = lambda: False
    assert train() == shown


@pytest.mark.parametrize(("setting", "is_shown"), [("0", False), ("1", True)])
def test_the_environment_decides(monkeypatch, setting, is_shown):
    stream = io.StringIO() if is_shown else Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv(progress_bar.SETTING, setting)
    train()
    assert ("5/5" in stream.getvalue()) == is_shown


def test_another_setting_is_an_error(monkeypatch):
    monkeypatch.setenv(progress_bar.SETTING, "yes")
    with pytest.raises(ValueError, match=r"TFTEACH_PROGRESS must be 0 .* not 'yes'"):
        train()


def test_no_stderr_at_all(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)  # as under pythonw
    assert not progress_bar.is_shown()


def test_short_loops_have_none(terminal, monkeypatch):
    monkeypatch.setattr(progress_bar, "_DELAY_S", 3600.0)
    train()
    assert terminal.getvalue() == ""


def test_after_an_error_the_bar_stays_where_it_was(terminal):
    with pytest.raises(KeyError):
        train(10, fails_at=4)
    assert " 4/10 [" in terminal.screen()[-2]
    assert not get_logger().filters


def test_a_recovered_loop_goes_back(terminal):
    bar = progress_bar.ProgressBar(10)
    for step in (1, 7, 3):
        bar.update(step)
    assert " 3/10 [" in terminal.screen()[-1]
    bar.close()


def test_only_numbers_are_shown():
    values = {
        "loss": tf.constant(1.0).dtype.as_numpy_dtype(0.5), "name": "x", "list": [1],
        tf.Graph(): 1.0, "a/global_step": 3, "z": 4,
    }  # fmt: skip
    found = progress_bar._numbers(values)
    assert found["loss"] == 0.5
    assert found["z"] == 4
    assert {"name", "list", "a/global_step"}.isdisjoint(found)
    assert progress_bar._numbers({tf.constant(1.0, name="a/b"): 2.0}) == {"a/b": 2.0}


def test_slim_loops_have_one(terminal):
    with tf.Graph().as_default():
        w = tf.get_variable("w", [], initializer=tf.ones_initializer())
        optimizer = tf.train.GradientDescentOptimizer(0.125)
        step = tf.contrib.slim.learning.create_train_op(tf.square(w), optimizer)
        tf.contrib.slim.learning.train(step, None, number_of_steps=6)
    last = terminal.screen()[-2]
    assert " 6/6 [" in last
    assert "loss=" in last


def test_notebooks_have_a_widget(monkeypatch):
    notebook = pytest.importorskip("tqdm.notebook")
    app = types.SimpleNamespace(initialized=lambda: True)
    kernel = types.SimpleNamespace(IPKernelApp=app)
    monkeypatch.setitem(sys.modules, "ipykernel.kernelapp", kernel)
    assert progress_bar.is_shown()
    assert issubclass(progress_bar._tqdm_class(), notebook.tqdm_notebook)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)  # not installed
    assert not issubclass(progress_bar._tqdm_class(), notebook.tqdm_notebook)
