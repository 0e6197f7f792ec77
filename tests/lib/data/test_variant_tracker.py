"""Datasets in SavedModels and checkpoints, as attributes of modules."""

import pytest

import tfteach as tf
from tests.eagerly import eagerly
from tfteach.framework.protos import pool
from tfteach.lib.data.dataset import Dataset as AnyDataset
from tfteach.lib.data.experimental import threadpool
from tfteach.ops.data import shuffling

__all__ = ["eagerly"]
pytestmark = pytest.mark.usefixtures("eagerly")
Dataset = tf.data.Dataset


class Digits(tf.Module):
    """A dataset of numbers, and what they say one after the other."""

    def __init__(self, dataset):
        super().__init__()
        self.dataset = dataset

    @tf.function(input_signature=[])
    def digits(self):
        return self.dataset.reduce(tf.constant(0, tf.int64), lambda a, b: a * 10 + b)


def saved(module, path):
    tf.saved_model.save(module, str(path))
    return tf.compat.v2.saved_model.load(str(path))


def transformed():
    factor = tf.constant(3, tf.int64)
    shuffled = Dataset.range(4).map(lambda x: x * factor).shuffle(3, seed=1)
    pairs = shuffled.batch(2).flat_map(lambda batch: Dataset.from_tensor_slices(batch))
    return pairs.filter(lambda x: x < 9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Dataset.range(5),
        transformed,
        lambda: Dataset.zip((Dataset.range(1, 4), Dataset.range(4))).map(tf.add),
    ],
)
def test_a_saved_model_makes_its_dataset_anew(make, tmp_path):
    module = Digits(make())
    loaded = saved(module, tmp_path / "a")
    again = saved(loaded, tmp_path / "b")
    expected = int(module.digits())
    assert [int(loaded.digits()), int(again.digits())] == [expected] * 2


def test_strings_and_nests(tmp_path):
    module = tf.Module()
    module.dataset = Dataset.from_tensor_slices({"a": ["x", "yz"], "b": [1.0, 2.0]})
    module.joined = tf.function(
        lambda: module.dataset.reduce("", lambda a, b: a + b["a"]), input_signature=[]
    )
    assert saved(module, tmp_path).joined().numpy() == b"xyz"


def test_what_depends_on_something_else_is_not_saved(tmp_path):
    random = Dataset.range(3).map(lambda x: x + tf.random.uniform([], 0, 5, tf.int64))
    with pytest.raises(tf.errors.FailedPreconditionError, match="is stateful"):
        saved(Digits(random), tmp_path)
    seeds = tf.raw_ops.AnonymousRandomSeedGenerator(seed=1, seed2=2)
    shuffled = shuffling.ShuffleDatasetV2((tf.int64,), ((),))(
        Dataset.range(3)._variant_tensor, 3, seeds.handle
    )
    spec = tf.TensorSpec([], tf.int64)
    with pytest.raises(tf.errors.FailedPreconditionError, match="random seed gener"):
        saved(Digits(AnyDataset(shuffled, spec)), tmp_path)
    pool_of_threads = threadpool.PrivateThreadPool(2, display_name="pool")
    threaded = threadpool.override_threadpool(Dataset.range(3), pool_of_threads)
    with pytest.raises(tf.errors.FailedPreconditionError, match="depends on a resou"):
        saved(Digits(threaded), tmp_path)
    with tf.Graph().as_default():
        dataset = Dataset.range(3)
    with pytest.raises(NotImplementedError, match="created executing eagerly"):
        saved(Digits(dataset), tmp_path)


def test_a_checkpoint_has_the_dataset_among_its_objects(tmp_path):
    """... without a value; the names are those of TensorFlow."""
    checkpoint = tf.train.Checkpoint(module=Digits(Dataset.range(3)))
    path = checkpoint.save(str(tmp_path / "checkpoint"))
    reader = tf.train.load_checkpoint(path)
    serialized = reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
    proto = pool.message("TrackableObjectGraph").FromString(serialized)
    assert [[child.local_name for child in node.children] for node in proto.nodes] == [
        ["module", "save_counter"], ["dataset"], [], ["_variant_tracker"], [],
    ]  # fmt: skip
    checkpoint.restore(path).assert_consumed()
