"""Saves that are killed or fail leave the last checkpoint and the list of them."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tfteach.framework.files import file_system

# A process that saves without a break is killed.  Its parent, which never runs a
# session, reads what is there: while it is written, and after the kill.
SAVE_AND_KILL = """
import os, random, signal, sys, time
import numpy as np
import tfteach as tf
from tfteach.framework.files.checkpoint import read_checkpoint

os.chdir(sys.argv[1])
kills, size = map(int, sys.argv[2:])
tf.logging.set_verbosity("ERROR")
parts = tf.fixed_size_partitioner(2)
variables = [tf.get_variable(f"v{i}", [size]) for i in range(3)]
variables += tf.get_variable("p", [2, 1 << 17], partitioner=parts)
step = tf.placeholder(tf.float32, [])
fill = tf.group(*[v.assign(tf.fill(v.shape.as_list(), step)) for v in variables])
numbered, same = tf.train.Saver(max_to_keep=2), tf.train.Saver(sharded=True)

def save(number, ready):
    with tf.Session() as session:
        session.run(fill, {step: number})
        os.write(ready, b"!")
        while os.getppid() == parent:  # else nobody is there to end this
            number += 1
            session.run(fill, {step: number})
            numbered.save(session, "./m", number)
            same.save(session, "./same", latest_filename="list", write_meta_graph=False)

def number_in(path):
    # As a restore does; NewCheckpointReader reads each tensor by itself.
    names = "v0", "v1", "v2", "p"
    arrays = read_checkpoint(path, lambda reader: [reader.read(n) for n in names])
    found = {float(a.min()) for a in arrays} | {float(a.max()) for a in arrays}
    assert len(found) == 1, found
    return int(found.pop())

parent = os.getpid()
last = latest = 0
for kill in range(kills):
    told, ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        save(last, ready)
        os._exit(1)
    os.close(ready)
    os.read(told, 1)  # on a busy machine, too, saves are killed, and not their start
    os.close(told)
    end = time.monotonic() + random.uniform(0.0, 0.1)
    while time.monotonic() < end:
        if os.path.exists("same.index"):
            seen = number_in("same")
            assert seen >= latest, (seen, latest)
            latest = seen
        time.sleep(0.002)
    if kill == 0:
        while not tf.train.latest_checkpoint(".") and time.monotonic() < end + 60:
            time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    path = tf.train.latest_checkpoint(".")
    assert path and number_in(path) == int(path.rpartition("-")[2]), path
    assert int(path.rpartition("-")[2]) >= last
    last = int(path.rpartition("-")[2])
    state = tf.train.get_checkpoint_state(".")
    for path in state.all_model_checkpoint_paths:
        assert tf.train.checkpoint_exists(path), path
        number_in(path)
    if tf.train.latest_checkpoint(".", "list"):
        number_in("same")
print(last)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.parametrize(
    ("kills", "size"), [(50, 1 << 18), (8, 3 << 19)], ids=["4 MB", "20 MB"]
)
def test_a_killed_save_loses_nothing(tmp_path, kills, size):
    done = subprocess.run(
        [sys.executable, "-c", SAVE_AND_KILL, str(tmp_path), str(kills), str(size)],
        capture_output=True,
        text=True,
        cwd=Path(tf.__file__).parents[1],
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


class FailingFile:
    """A file in a file system that cannot hold more than a MiB."""

    def __init__(self, file, number):
        self._file, self._number, self._rest = file, number, 1 << 20

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        self._rest -= len(data)
        if self._rest < 0:
            raise OSError(self._number, os.strerror(self._number))
        return self._file.write(data)


@pytest.mark.parametrize(
    ("number", "error"),
    [
        (errno.ENOSPC, tf.errors.ResourceExhaustedError),
        (errno.EDQUOT, tf.errors.ResourceExhaustedError),
        (errno.EROFS, tf.errors.PermissionDeniedError),
        (errno.EIO, tf.errors.UnknownError),
    ],
    ids=lambda value: errno.errorcode.get(value, ""),
)
@pytest.mark.parametrize("sharded", [False, True])
def test_a_failed_save_loses_nothing(tmp_path, monkeypatch, number, error, sharded):
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        v = tf.get_variable("v", [1 << 19], initializer=tf.ones_initializer())
        saver = tf.train.Saver(sharded=sharded, max_to_keep=2)
        session = tf.Session()
        with session:
            session.run(v.initializer)
            for step in (None, 1):
                saver.save(session, "./m", step)
            session.run(v.assign_add(v))
            before = sorted(os.listdir("."))
            with monkeypatch.context() as patch:
                opened = file_system.open_file

                def open_failing(name, mode, buffering=-1):
                    if number == errno.EROFS and mode != "rb":
                        raise tf.errors.PermissionDeniedError(None, None, name)
                    file = opened(name, mode, buffering)
                    return file if mode == "rb" else FailingFile(file, number)

                for module in list(sys.modules.values()):
                    name = getattr(module, "__name__", "")
                    if name.startswith("tfteach.framework.files.") and (
                        vars(module).get("open_file") is opened
                    ):
                        patch.setattr(module, "open_file", open_failing)
                for step in (None, 1, 2):
                    with pytest.raises(error):
                        saver.save(session, "./m", step)
            assert sorted(os.listdir(".")) == before
            saver.restore(session, tf.train.latest_checkpoint("."))
            assert session.run(v).max() == 1.0
            np.testing.assert_array_equal(tf.train.load_variable("m", "v"), 1.0)
            saver.save(session, "./m", 3)
            assert tf.train.latest_checkpoint(".") == "./m-3"


def _sharded_variables():
    """Variables of two devices, each of which writes its part of a checkpoint."""
    with tf.device("/cpu:0"):
        first = tf.get_variable("first", initializer=[1.0, 2.0])
    with tf.device("/cpu:1"):
        second = tf.get_variable("second", initializer=[3.0])
    config = tf.ConfigProto(device_count={"CPU": 2})
    return first, second, tf.train.Saver(sharded=True), tf.Session(config=config)


def test_a_sharded_save_that_fails_deletes_what_it_wrote(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        first, second, saver, session = _sharded_variables()
        names = saver.as_saver_def()
        feeds = {names.filename_tensor_name: "m"}
        written = session.graph.get_tensor_by_name("save/control_dependency:0")
        with tf.control_dependencies([written]):
            fails_late = tf.Assert(False, ["too late"])
        with session:
            session.run(first.initializer)
            with pytest.raises(tf.errors.FailedPreconditionError, match="second"):
                saver.save(session, "m")
            assert os.listdir(".") == []
            with pytest.raises(tf.errors.InvalidArgumentError, match="too late"):
                session.run(fails_late, feeds)
            assert os.listdir(".") == []
            session.run(second.initializer)
            saver.save(session, "m", write_meta_graph=False)
            saved = sorted(os.listdir("."))
            assert saved == [
                "checkpoint",
                "m.data-00000-of-00002",
                "m.data-00001-of-00002",
                "m.index",
            ]
            for _ in range(20):  # also by the function that is generated from the step
                with pytest.raises(tf.errors.InvalidArgumentError, match="too late"):
                    session.run([fails_late, names.save_tensor_name], feeds)
            assert sorted(os.listdir(".")) == saved
            saver.restore(session, "m")
            assert session.run(second) == [3.0]


def test_a_sharded_save_deletes_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tf.Graph().as_default():
        first, _, saver, session = _sharded_variables()
        scratch = next(
            op.get_attr("value").string_val[0].decode()
            for op in session.graph.get_operations()
            if op.type == "Const" and b"_temp_" in str(op.get_attr("value")).encode()
        )
        folder = Path(f"m{scratch}").parent
        folder.mkdir()
        (folder / "notes").touch()
        with session:
            session.run(first.initializer)
            with pytest.raises(tf.errors.FailedPreconditionError):
                saver.save(session, "m")
            assert os.listdir(folder) == ["notes"]
            # Only a name such as that of a Saver's nodes is one of a scratch file.
            saved = tf.raw_ops.SaveV2(
                prefix="plain_temp_/part-00000-of-00002",
                tensor_names=["first"],
                shape_and_slices=[""],
                tensors=[first],
            )
            with tf.control_dependencies([saved]):
                fails_late = tf.Assert(False, ["too late"])
            with pytest.raises(tf.errors.InvalidArgumentError, match="too late"):
                session.run(fails_late)
            assert os.path.exists("plain_temp_/part-00000-of-00002.index")
