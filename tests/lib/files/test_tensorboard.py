"""A real TensorBoard shows what FileWriter wrote."""

import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

import pytest
from google.protobuf import text_format

import tfteach as tf
from tfteach.framework.protos import GraphDef

DEADLINE_S = 90


@pytest.fixture(scope="module")
def logdir(tmp_path_factory):
    logdir = tmp_path_factory.mktemp("logs")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        with tf.name_scope("layer"):
            x = tf.placeholder(tf.float32, [None, 3], name="x")
            tf.matmul(x, tf.constant([[1.0], [2.0], [3.0]], name="w"), name="xw")
        loss = tf.placeholder(tf.float32, [], name="loss")
        tf.summary.scalar("train/loss", loss)
        tf.summary.histogram("weights", tf.constant([1.0, 2.0, 2.0]))
        tf.summary.image("picture", tf.constant([[[[0.0], [1.0]]]]))
        tf.summary.text("note", tf.constant("**bold**"))
        merged = tf.summary.merge_all()
        metadata = tf.RunMetadata()
        metadata.step_stats.dev_stats.add(device="/device:CPU:0")
        with tf.summary.FileWriter(str(logdir / "run1"), graph) as writer:
            for step in range(3):
                writer.add_summary(session.run(merged, {loss: 1 / (step + 1)}), step)
            writer.add_run_metadata(metadata, "step2", 2)
    return logdir


@pytest.fixture(scope="module")
def get(logdir, tmp_path_factory):
    """A function that asks TensorBoard for a path until `wanted` is satisfied."""
    output = tmp_path_factory.mktemp("board") / "stderr"
    command = [
        sys.executable,
        "-m",
        "tensorboard.main",
        "--logdir",
        str(logdir),
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--load_fast",
        "false",
    ]
    with (
        output.open("w") as stderr,
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr) as board,
    ):
        end = time.monotonic() + DEADLINE_S

        def address():
            while time.monotonic() < end:
                found = re.search(r"http://[\w.:]+/", output.read_text())
                if found:
                    return found[0]
                assert board.poll() is None, output.read_text()
                time.sleep(0.2)
            pytest.fail(f"TensorBoard did not start: {output.read_text()}")

        base = address()

        def get(path, wanted, **query):
            url = f"{base}data/{path}?{urllib.parse.urlencode(query)}"
            answer = None
            while time.monotonic() < end:
                try:
                    with urllib.request.urlopen(url, timeout=60) as response:
                        answer = response.read()
                except urllib.error.HTTPError as error:  # not loaded yet
                    answer = error.read()
                else:
                    if wanted(answer):
                        return answer
                time.sleep(0.5)
            pytest.fail(f"{url} last answered {answer!r}")

        yield get
        board.terminate()


def loaded(answer):
    return json.loads(answer)


def test_run_is_listed(get):
    assert loaded(get("runs", lambda a: loaded(a))) == ["run1"]


def test_graph(get):
    text = get("plugin/graphs/graph", lambda a: b"layer/xw" in a, run="run1")
    nodes = {n.name: n for n in text_format.Parse(text, GraphDef()).node}
    assert list(nodes["layer/xw"].input) == ["layer/x", "layer/w"]
    [shape] = nodes["layer/xw"].attr["_output_shapes"].list.shape
    assert [d.size for d in shape.dim] == [-1, 1]


def test_run_metadata(get):
    answer = get(
        "plugin/graphs/run_metadata", lambda a: b"CPU:0" in a, run="run1", tag="step2"
    )
    assert b"/device:CPU:0" in answer


def test_scalars(get):
    answer = get(
        "plugin/scalars/scalars",
        lambda a: len(loaded(a)) == 3,
        run="run1",
        tag="train/loss",
    )
    steps, values = zip(*[row[1:] for row in loaded(answer)], strict=True)
    assert steps == (0, 1, 2)
    assert values == pytest.approx((1, 1 / 2, 1 / 3))


def test_histograms(get):
    answer = get(
        "plugin/histograms/histograms",
        lambda a: len(loaded(a)) == 3,
        run="run1",
        tag="weights",
    )
    buckets = loaded(answer)[0][2]
    assert sum(count for _, _, count in buckets) == 3


def test_images_and_text(get):
    answer = get(
        "plugin/images/images",
        lambda a: len(loaded(a)) == 3,
        run="run1",
        tag="picture/image/0",
        sample="0",
    )
    assert [row["step"] for row in loaded(answer)] == [0, 1, 2]
    answer = get(
        "plugin/text/text", lambda a: len(loaded(a)) == 3, run="run1", tag="note"
    )
    assert "<strong>bold</strong>" in loaded(answer)[0]["text"]
