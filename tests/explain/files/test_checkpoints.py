"""What checkpoints contain, how two differ, and what a graph misses in one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tfteach as tf
from tests.golden.checkpoints import FOLDER
from tests.golden.model_files import FOLDER as MODELS
from tfteach.explain.files import checkpoints
from tfteach.explain.files.checkpoints import (
    CheckpointContents,
    explain_checkpoint,
    names_checkpoint,
)


def saved(folder: Path, name: str = "model", **values: object) -> str:
    """The prefix of a checkpoint with these variables; "__" stands for "/"."""
    with tf.Graph().as_default(), tf.Session() as session:
        for key, value in values.items():
            tf.Variable(value, name=key.replace("__", "/"))
        session.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(session, str(folder / name), write_state=False)
    return str(path)


@pytest.mark.parametrize("name", ["all", "version_1"])
def test_checkpoints_of_tensorflow_are_read(name: str) -> None:
    found = {v.name: v for v in explain_checkpoint(FOLDER / name).variables}
    assert found["int"].shape == (2, 1)
    assert found["int"].norm == pytest.approx(np.sqrt(74))
    assert found["complex"].norm == pytest.approx(np.sqrt(14))
    assert found["bytes"].norm is None
    assert found["bytes"].size_bytes == 303
    assert found["part"].shape == (6, 2)  # in three slices
    assert sum(found["zeros"].figures.bins) == 0


def test_statistics_of_large_and_of_broken_variables(tmp_path: Path) -> None:
    path = saved(tmp_path, a=np.arange(32.0), b=np.array([np.nan, np.inf, 1.0]))
    a, b = explain_checkpoint(path).variables
    assert a.figures.bins == (2,) * 16
    assert (b.figures.nans, b.figures.infinities) == (1, 1)
    assert "2 not finite" in str(b)


def test_two_checkpoints_side_by_side(tmp_path: Path) -> None:
    before = saved(
        tmp_path, "a", moved=[3.0, 4.0], kept=[1.0], zero=[0.0], gone=1, other=[1.0]
    )
    after = saved(
        tmp_path, "b", moved=[3.0, 4.5], kept=[1.0], zero=[2.0], new=1, other=[1, 2]
    )
    contents = explain_checkpoint(after, before)
    found = {v.name: v.change for v in contents.variables}
    kinds = {name: change.kind for name, change in found.items() if change is not None}
    assert kinds == {
        "gone": "removed",
        "kept": "same",
        "moved": "changed",
        "new": "added",
        "other": "other type",
        "zero": "changed",
    }
    moved = found["moved"]
    assert moved is not None
    assert moved.distance == pytest.approx(0.5)
    assert moved.share == pytest.approx(0.1)
    assert moved.largest == pytest.approx(0.5)
    assert str(moved) == "changed by 10%"
    assert str(found["zero"]) == "changed by 2"
    assert contents.summary.startswith("5 variables, ")
    assert "1 removed" in contents.summary


def test_a_variable_that_is_nan_in_both_is_the_same(tmp_path: Path) -> None:
    one, other = (saved(tmp_path, name, x=[np.nan]) for name in "ab")
    [variable] = explain_checkpoint(one, other).variables
    assert variable.change is not None
    assert variable.change.kind == "same"


def beside(path: str, **shapes: list[int]) -> CheckpointContents:
    """The checkpoint beside a graph of float32 variables with these shapes."""
    with tf.Graph().as_default() as graph:
        for name, shape in shapes.items():
            tf.get_variable(name.replace("__", "/"), shape)
    return explain_checkpoint(path, graph=graph)


def test_why_a_restore_fails_is_told_with_near_names(tmp_path: Path) -> None:
    w, b = np.zeros([4, 3], np.float32), np.zeros(3, np.float32)
    path = saved(tmp_path, dense__kernel=w, dense__bias=b, step=1)
    contents = beside(path, dence__kernel=[4, 3], dense__bias=[5], tower__lonely=[2])
    assert contents.missing is not None
    lacking = {missing.name: missing for missing in contents.missing}
    assert lacking["dence/kernel"].near[0] == "dense/kernel"
    assert lacking["dense/bias"].saved_as == "float32 [3]"
    assert lacking["tower/lonely"].near == []
    assert contents.extra == ["dense/kernel", "step"]
    text = str(contents)
    assert "dence/kernel (float32 4×3) is not in the checkpoint: is it dense/k" in text
    assert "dense/bias (float32 [5]) is float32 [3] in the checkpoint" in text
    assert "3 of the graph cannot be restored, 2 are not in the graph" in text


def test_the_same_end_and_shape_is_near_whatever_the_scope(tmp_path: Path) -> None:
    w = np.zeros([4, 3], np.float32)
    path = saved(tmp_path, b__kernel=w, c__kernel=w.T.copy())
    contents = beside(path, a_long_name_of_another_model__block_17__kernel=[4, 3])
    assert contents.missing is not None
    assert contents.missing[0].near == ["b/kernel"]


def test_a_graph_that_fits_misses_nothing(tmp_path: Path) -> None:
    path = saved(tmp_path, part=np.zeros([6, 2], np.float32))
    with tf.Graph().as_default() as graph:
        tf.get_variable("part", [6, 2], partitioner=tf.fixed_size_partitioner(3))
    contents = explain_checkpoint(path, graph=graph)
    assert contents.missing == []
    assert contents.extra == []


def test_ways_to_name_a_checkpoint(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.Variable(1.0, name="v").initializer)
        saver = tf.train.Saver()
        paths = [saver.save(session, str(tmp_path / "model"), i) for i in (1, 2)]
    for name in (tmp_path, paths[1], f"{paths[1]}.index", f"{paths[1]}.meta"):
        assert explain_checkpoint(name).path == paths[1]
    assert explain_checkpoint(f"{paths[0]}.data-00000-of-00001").path == paths[0]
    assert names_checkpoint(tmp_path)
    assert names_checkpoint(paths[0])
    assert names_checkpoint(FOLDER / "version_1")
    assert not names_checkpoint(f"{paths[0]}.meta")
    assert not names_checkpoint(MODELS / "saved")
    assert not names_checkpoint(MODELS / "frozen.pb")
    assert not names_checkpoint(tmp_path / "none")


def test_what_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError, match=r"there is no .*none\.index"):
        explain_checkpoint(tmp_path / "none")
    with pytest.raises(tf.errors.InvalidArgumentError, match="without a `checkpoint`"):
        explain_checkpoint(tmp_path)
    path = saved(tmp_path, v=[1.0, 2.0])
    with pytest.raises(TypeError, match=r"with a tf\.Graph, not Session"):
        explain_checkpoint(path, graph=tf.Session())
    data = Path(f"{path}.data-00000-of-00001")
    data.write_bytes(bytes(len(data.read_bytes())))
    with pytest.raises(tf.errors.DataLossError):
        explain_checkpoint(path)


def test_a_checkpoint_of_other_names_throughout_is_told_of_quickly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "MOST_WITH_NEAR", 2)
    monkeypatch.setattr(checkpoints, "MOST_COMPARED", 3)
    names = {f"old__v{i}": [0.0] for i in range(20)}
    path = saved(tmp_path, "m", **names)
    with tf.Graph().as_default() as graph:
        for i in range(20):
            tf.get_variable(f"new/v{i}", [1], tf.float64)
    missing = explain_checkpoint(path, graph=graph).missing
    assert missing is not None
    assert [each.near[:1] for each in missing[:2]] == [["old/v0"], ["old/v1"]]
    assert not any(each.near for each in missing[2:])
