"""A short round of the fuzzer of threads; `python -m tests.fuzz.threads` runs more."""

from __future__ import annotations

import pytest

from tests.fuzz.threads import run_round


@pytest.mark.filterwarnings("ignore:.*tf.layers:DeprecationWarning")
def test_threads_build_and_run_in_one_graph() -> None:
    work = run_round(seed=0, steps=10, threads=8)
    assert work.problems == []
    assert work.counts["ops built"] > 500
    assert work.counts["additions checked"] > 0
