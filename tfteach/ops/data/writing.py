"""Datasets as files of records.

Source: core/kernels/data/experimental/to_tf_record_op.cc.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any, ClassVar

import numpy as np

from tfteach.framework import shape as shapes
from tfteach.framework.files.compression import (
    GZIP_WINDOW,
    ZLIB_WINDOW,
    DeflateOptions,
    DeflatingFile,
)
from tfteach.framework.files.file_system import open_file, resolve
from tfteach.framework.files.os_errors import os_errors_translated
from tfteach.framework.files.records import frame
from tfteach.framework.op import NoOutputOp, StatefulOp
from tfteach.framework.operation import Operation
from tfteach.framework.shape import Shape
from tfteach.framework.type_aliases import Gradient, KernelContext
from tfteach.ops.data.dataset import Dataset, Running
from tfteach.ops.data.reading import compression_kind

_WINDOWS = {"GZIP": GZIP_WINDOW, "ZLIB": ZLIB_WINDOW}


class DatasetToTFRecord(StatefulOp, NoOutputOp):
    """Write the elements, strings, to a file.

    Source: experimental_dataset_ops.cc, DatasetToTFRecord.
    """

    signature = "input_dataset: variant, filename: string, compression_type: string ->"
    on_gpu: ClassVar[bool] = False
    uses_files: ClassVar[bool] = True

    def infer_shape(self, source: Shape, name: Shape, kind: Shape) -> list[Shape]:
        shapes.with_rank(name, 0)
        shapes.with_rank(kind, 0)
        return []

    def gradient(self, op: Operation, *grads: Any) -> list[Gradient]:
        return [None] * len(op.inputs)

    def compute(
        self, context: KernelContext, source: Dataset, filename: Any, kind: Any
    ) -> Any:
        path = resolve(np.asarray(filename, object).item())
        compression = compression_kind(kind)
        with os_errors_translated(path), closing(Running(context)) as running:
            opened: Any = open_file(path, "wb")
            if compression:
                options = DeflateOptions(window_bits=_WINDOWS[compression])
                opened = DeflatingFile(opened, options)
            with closing(opened) as file:
                for (record,) in source.elements(running):
                    file.write(frame(np.asarray(record, object).item()))
        return ()
