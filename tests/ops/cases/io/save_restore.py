"""Names of files that are one of several."""

from __future__ import annotations

import numpy as np

from tests.ops.case import Case
from tfteach.ops.io.save_restore import ShardedFilename, ShardedFilespec

NAME = np.array(b"logs/model", object)

CASES = [
    Case(
        ShardedFilename(),
        (NAME, np.int32(3), np.int32(10)),
        np.array(b"logs/model-00003-of-00010", object),
    ),
    Case(
        ShardedFilespec(),
        (NAME, np.int32(123456)),
        np.array(b"logs/model-?????-of-123456", object),
    ),
]
