"""TF's messages by their public names, loaded only when asked for."""

import subprocess
import sys

import pytest

import tfteach as tf
from tfteach import protos


@pytest.mark.parametrize("name", dir(protos))
def test_every_message_loads(name):
    message = getattr(protos, name)
    assert message.DESCRIPTOR.name == name


def test_public_names():
    assert tf.GraphDef is protos.GraphDef
    assert tf.summary.Summary is tf.Summary is protos.Summary
    assert tf.train.SaverDef is protos.SaverDef
    for module in (tf, tf.summary, tf.train, protos):
        with pytest.raises(AttributeError, match="has no attribute 'NoMessage'"):
            module.NoMessage  # noqa: B018


def test_importing_the_package_loads_no_proto():
    code = (
        "import sys, tfteach; sys.exit(any(m.startswith(('tensorboard', "
        "'google.protobuf')) for m in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
