from collections.abc import Iterator

import pytest

import tfteach as tf
from tests.eagerly import eagerly as eagerly


@pytest.fixture
def functional() -> Iterator[None]:
    tf.enable_control_flow_v2()
    assert tf.control_flow_v2_enabled()
    yield
    tf.disable_control_flow_v2()
    assert not tf.control_flow_v2_enabled()
