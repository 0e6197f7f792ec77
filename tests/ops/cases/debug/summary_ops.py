"""Summaries as real TensorFlow wrote them; ops/debug/test_summary.py has more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from tests.golden import summaries
from tests.ops.case import Case
from tfteach.ops.debug.summary_ops import (
    AudioSummaryV2,
    HistogramSummary,
    ImageSummary,
    MergeSummary,
    ScalarSummary,
    TensorSummaryV2,
)

GOLDEN = json.loads(Path(summaries.__file__).with_suffix(".json").read_text())
SCALAR, HISTOGRAM, IMAGE, AUDIO, TEXT = (
    summaries.CASES[key][1] for key in ("scalar", "histogram", "image", "audio", "text")
)


def text(data: str | bytes) -> np.ndarray[Any, Any]:
    boxed = np.empty((), object)
    boxed[()] = data.encode() if isinstance(data, str) else data
    return boxed


def golden(key: str) -> np.ndarray[Any, Any]:
    return text(bytes.fromhex(GOLDEN[key]))


PLUGIN = b"\n\x06\n\x04text"
TAG = text("a_tag")
ONE, TWO = b"\n\x08\n\x01a\x15\0\0\0\0", b"\n\x08\n\x01b\x15\0\0\0\0"

CASES = [
    Case(ScalarSummary(), (TAG, SCALAR), golden("scalar")),
    Case(HistogramSummary(), (TAG, HISTOGRAM), golden("histogram")),
    Case(
        AudioSummaryV2(),
        (TAG, AUDIO, np.float32(8000)),
        golden("audio"),
        gradient=False,
    ),
    Case(TensorSummaryV2(), (TAG, TEXT, text(PLUGIN)), golden("text")),
    Case(ImageSummary(), (TAG, IMAGE[:0]), text(b"")),  # no image, no PNG
    Case(MergeSummary(), ([text(ONE), text(TWO)],), text(ONE + TWO)),
]
