"""Fixtures of tests that watch pipelines."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator

import pytest

import tfteach as tf
from tests.cluster_session import session as session
from tests.cluster_session import target as target
from tests.pipeline_clock import PipelineClock
from tfteach.explain.pipelines import pipeline_rates, pipeline_verdict


@pytest.fixture
def graph_whose_threads_end() -> Iterator[tf.Graph]:
    before = threading.active_count()
    with tf.Graph().as_default() as graph:
        yield graph
    end_s = time.monotonic() + 60
    while threading.active_count() > before and time.monotonic() < end_s:
        gc.collect()  # sessions, and with them the threads of their iterators
        time.sleep(0.01)
    assert threading.active_count() == before


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> PipelineClock:
    return PipelineClock(monkeypatch)


@pytest.fixture
def hangs_are_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of the time counts as a hang."""
    monkeypatch.setattr(pipeline_verdict, "HANGS_S", 0.1)
    monkeypatch.setattr(pipeline_rates, "STUCK_S", 0.05)
