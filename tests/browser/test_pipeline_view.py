"""The pipeline view in a real JupyterLab: a slow map, its cure, queues, and a hang."""

from __future__ import annotations

import pytest

from tests.browser.lab import Lab

pytestmark = pytest.mark.browser

SETUP = """\
%load_ext tfteach
import os, tempfile, time
import numpy as np
import tfteach as tf

def decode(row):
    time.sleep(0.002)       # as a file on a slow disk
    return row * 2

def train(rows, steps=60):
    rows = rows.make_one_shot_iterator().get_next()
    loss = tf.reduce_mean(tf.square(rows), name="loss")
    with tf.Session() as sess:
        for _ in range(steps):
            sess.run(loss)
            time.sleep(0.004)   # a step of some size
"""

SLOW = """\
%%pipeline
rows = tf.data.Dataset.from_tensor_slices(np.ones([5000, 8], np.float32))
rows = rows.map(lambda row: tf.numpy_function(decode, [row], tf.float32))
rows = rows.shuffle(200).batch(8)
train(rows)
"""

FASTER = SLOW.replace(
    "tf.float32))\nrows = rows.s",
    "tf.float32),\n                num_parallel_calls=4)\nrows = rows.s",
).replace("batch(8)", "batch(8).prefetch(2)")

FILES = """\
folder = tempfile.mkdtemp()
for i in range(3):
    with open(f"{folder}/{i}.csv", "w") as file:
        file.writelines(f"{j},{j * j}\\n" for j in range(500))

def csv_batch(threads):
    names = tf.train.string_input_producer(tf.gfile.Glob(f"{folder}/*.csv"))
    key, line = tf.TextLineReader().read(names)
    columns = tf.decode_csv(line, [[0.0], [0.0]])
    return tf.train.shuffle_batch(columns, 32, 500, 200, num_threads=threads)
"""

QUEUES = """\
%%pipeline
with tf.Graph().as_default(), tf.Session() as sess:
    x, y = csv_batch(threads=2)
    coord = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(sess, coord)
    for _ in range(60):
        sess.run([x, y])
    coord.request_stop()
    coord.join(threads)
"""

HANGS = """\
%%pipeline --timeout 1.5
with tf.Graph().as_default(), tf.Session() as sess:
    x, y = csv_batch(threads=2)
    print(sess.run(x).mean())
"""

BRANCHES = """\
%%pipeline
images = tf.data.Dataset.list_files(folder + "/*.csv").interleave(
    lambda name: tf.data.TextLineDataset(name).skip(1), cycle_length=2)
labels = tf.data.Dataset.range(1500).map(lambda i: i % 10)
rows = tf.data.Dataset.zip((images, labels)).repeat().batch(50)
line, label = rows.make_one_shot_iterator().get_next()
with tf.Session() as sess:
    for _ in range(40):
        sess.run([line, label])
"""

CELLS = (SETUP, SLOW, FASTER, FILES, QUEUES, HANGS, BRANCHES, "%pipeline")


def test_pipelines(lab: Lab) -> None:
    lab.open_cells("pipelines.ipynb", *CELLS)
    lab.run_cell(0)
    lab.run_cell(1)
    slow = lab.cell(1).locator(".tfteach-pipeline")
    slow.get_by_text("The step waits for data: ").wait_for()
    narrow = slow.locator(".tft-river-stage.tft-narrow")
    assert "map(lambda)" in narrow.inner_text()
    assert "num_parallel_calls=4" in slow.locator(".tft-words").inner_text()
    assert slow.locator(".tft-bed.tft-narrow").count() == 1
    assert slow.get_by_text("199 of 200").is_visible()
    lab.screenshot("pipeline_view", slow)

    lab.run_cell(2)
    faster = lab.cell(2).locator(".tfteach-pipeline")
    faster.locator(".tft-gain").wait_for()
    lab.screenshot("pipeline_view_gain", faster)

    lab.run_cell(3)
    lab.run_cell(4)
    assert lab.cell_errors() == []
    queues = lab.cell(4).locator(".tfteach-pipeline")
    queues.get_by_text("queue shuffle_batch/random_shuffle_queue").wait_for()
    assert "the coordinator has stopped" in queues.inner_text()
    lab.screenshot("pipeline_view_queues", queues)

    lab.run_cell(5)
    hangs = lab.cell(5).locator(".tfteach-pipeline")
    hangs.get_by_text("tf.train.start_queue_runners was never called").wait_for()
    error = lab.cell(5).locator("[data-mime-type='application/vnd.jupyter.stderr']")
    assert "Nothing moved for 1.5 s" in error.inner_text()
    lab.screenshot("pipeline_view_hang", lab.cell(5))

    lab.run_cell(6)
    branches = lab.cell(6).locator(".tfteach-pipeline")
    branches.get_by_text("interleave(lambda)").wait_for()
    assert branches.locator(".tft-river-stage").count() == 11
    lab.screenshot("pipeline_view_branches", branches)

    name = branches.get_by_role("button", name="interleave(lambda)")
    name.press("Enter")
    assert name.get_attribute("aria-pressed") == "true"
    name.press("Enter")
    assert name.get_attribute("aria-pressed") == "false"

    lab.run_cell(7)
    lab.cell(7).locator(".tfteach-pipeline").get_by_text("not run yet").first.wait_for()
    lab.set_theme("JupyterLab Dark")
    for cell, word in (
        (2, "gain"),
        (4, "queues"),
        (5, "hang"),
        (6, "branches"),
        (7, "now"),
    ):
        lab.screenshot(f"pipeline_view_{word}_dark", lab.cell(cell))
