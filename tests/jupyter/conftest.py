"""What tests of magics and views find when they begin: nothing of other tests."""

from __future__ import annotations

import pytest

import tfteach as tf
from tests.cluster_session import session as session
from tests.cluster_session import target as target
from tfteach.engine.session.session import open_sessions


@pytest.fixture(scope="module", autouse=True)
def nothing_at_hand() -> None:
    """Magics ask the default graph and all open sessions for a name."""
    for made in open_sessions():
        made.close()
    tf.reset_default_graph()
