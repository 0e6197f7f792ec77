"""`tf.contrib.eager.Saver`, variables restored as they are made, and devices."""

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly

tfe = tf.contrib.eager
pytestmark = pytest.mark.usefixtures("eagerly")


@pytest.fixture
def path(tmp_path):
    v = tfe.Variable(1.0, name="v")
    return tfe.Saver([v]).save(str(tmp_path / "m"), global_step=3)


def test_a_saver(path, tmp_path):
    assert path == str(tmp_path / "m-3")
    v = tfe.Variable(4.0, name="v")
    tfe.Saver([v]).restore(path)
    assert v.numpy() == 1.0
    with pytest.raises(tf.errors.NotFoundError, match="Key w not found in checkpoint"):
        tfe.Saver([tfe.Variable(0.0, name="w")]).restore(path)


def test_variables_are_restored_once_as_they_are_made(path):
    with tfe.restore_variables_on_create(path):
        assert tfe.Variable(0.0, name="v").numpy() == 1.0
        assert tf.get_variable("v", [], initializer=tf.zeros_initializer()).numpy() == 0
        with pytest.raises(tf.errors.NotFoundError, match="w not found in checkpoint"):
            tfe.Variable(0.0, name="w")
    assert tfe.Variable(0.0, name="w").numpy() == 0.0
    with tfe.restore_variables_on_create(path, lambda name: "v"):
        assert tf.get_variable("other", []).numpy() == 1.0
    with tfe.restore_variables_on_create(None):
        assert tfe.Variable(0.0, name="v").numpy() == 0.0


def test_refused_restores(path):
    with pytest.raises(ValueError, match="map_func must be callable"):
        tfe.restore_variables_on_create(path, 3).__enter__()
    with (
        tf.Graph().as_default(),
        pytest.raises(ValueError, match="can only be used with eager execution"),
    ):
        tfe.restore_variables_on_create(path).__enter__()


def test_devices_and_modes():
    assert tfe.list_devices()[0] == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert tfe.num_gpus() == len(tfe.list_devices()) - 1
    assert tfe.in_eager_mode()
    with tfe.execution_mode(tfe.SYNC):
        tfe.async_wait()
        tfe.async_clear_error()
    with pytest.raises(ValueError, match=r"should be None/SYNC/ASYNC\. Got 7"):
        tfe.set_execution_mode(7)


def test_gradients_by_their_names_there():
    v = tfe.Variable(3.0)
    [(grad, variable)] = tfe.implicit_gradients(lambda: v * v)()
    assert (grad.numpy(), variable is v) == (6.0, True)
    value, [grad] = tfe.value_and_gradients_function(lambda x: x * x)(4.0)
    assert (value.numpy(), grad.numpy()) == (16.0, 8.0)
    assert tfe.get_optimizer_variables(tf.train.AdamOptimizer()) == []
