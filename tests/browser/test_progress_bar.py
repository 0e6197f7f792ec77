"""A long training loop in a notebook shows its progress as a widget."""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

LOOP = """
import tfteach as tf
from tfteach.lib.training.hooks import progress_bar

progress_bar._DELAY_S = 0.0  # the bar of a short loop
tf.logging.set_verbosity(tf.logging.INFO)
w = tf.get_variable("w", [], initializer=tf.ones_initializer())
step = tf.train.get_or_create_global_step()
loss = tf.square(w)
train = tf.train.GradientDescentOptimizer(0.001).minimize(loss, step)
hooks = [
    tf.train.StopAtStepHook(last_step=6000),
    tf.train.LoggingTensorHook({"loss": loss, "step": step}, every_n_iter=2000),
]
with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
    while not session.should_stop():
        session.run(train)
"""


def test_a_loop_shows_its_progress(lab: Lab) -> None:
    lab.open_cells("progress.ipynb", LOOP)
    lab.run_cell(0)
    assert lab.cell_errors() == []
    output = lab.cell(0).locator(".jp-OutputArea")
    output.get_by_text("6000/6000").wait_for()
    text = output.inner_text().replace("\u2007", " ")  # tqdm's spaces
    assert "100%" in text
    assert "step/s, loss=" in text
    assert "loss = 1.0, step = 1" in text  # TensorFlow's line
    assert output.locator(".widget-hprogress").count() == 1
    assert lab.screenshot("progress", output).stat().st_size > 1_000
