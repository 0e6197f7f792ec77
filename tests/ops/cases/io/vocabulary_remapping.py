"""Rows of an old vocabulary by the lines of a new one.

LoadAndRemapMatrix is stateful: see tests/lib/files/test_warm_start.py.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from tests.ops.case import Case
from tfteach.ops.io.vocabulary_remapping import GenerateVocabRemapping

# Relative, so that the recorded answers hold for every checkout.
OLD, NEW = (
    np.array(os.path.relpath(Path(__file__).with_name(name)), object)
    for name in ("old_vocabulary.txt", "new_vocabulary.txt")
)


def remapping(offset: int, count: int, old_size: int = -1) -> GenerateVocabRemapping:
    return GenerateVocabRemapping(
        new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=old_size
    )


CASES = [
    Case(
        remapping(1, 3),
        (NEW, OLD),
        (np.int64([3, -1, 0]), np.int32(2)),
    ),
    Case(
        remapping(0, 5, 2),
        (NEW, OLD),
        (np.int64([-1, -1, -1, 0, -1]), np.int32(1)),
        "of a part",
    ),
    Case(remapping(5, 0), (NEW, OLD), (np.zeros([0], np.int64), np.int32(0)), "none"),
]
