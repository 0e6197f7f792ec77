"""Print, Assert, CheckNumerics, summaries and Python functions in a graph."""

# Op type -> module.  Written by `python tfteach/framework/export.py --write`.
MODULE_OF = {
    "Assert": "print_assert",
    "AudioSummaryV2": "summary_ops",
    "CheckNumerics": "check_numerics",
    "EagerPyFunc": "py_func",
    "HistogramSummary": "summary_ops",
    "ImageSummary": "summary_ops",
    "MergeSummary": "summary_ops",
    "Print": "print_assert",
    "PrintV2": "print_assert",
    "PyFunc": "py_func",
    "PyFuncStateless": "py_func",
    "ScalarSummary": "summary_ops",
    "StringFormat": "print_assert",
    "TensorSummaryV2": "summary_ops",
}
