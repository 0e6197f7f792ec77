"""Names that TensorFlow 1.15 no longer has, and their replacements.

Imported only when a name is missing, so other programs do not pay for it.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tfteach.compat.proto_names import find as find_proto
from tfteach.framework.export import VERSION_2
from tfteach.framework.lazy_names import imported, lazy_getattr

# Names that TensorFlow 1.0 (or a later 1.x) renamed: "old new", below `tf.`.
_RENAMED = """
mul multiply
sub subtract
neg negative
pack stack
unpack unstack
select where
inv reciprocal
listdiff setdiff1d
concat_v2 concat
complex_abs abs
batch_matmul matmul
batch_cholesky cholesky
batch_matrix_inverse matrix_inverse
batch_matrix_determinant matrix_determinant
batch_matrix_solve matrix_solve
batch_matrix_diag matrix_diag
batch_matrix_diag_part matrix_diag_part
batch_matrix_band_part matrix_band_part
batch_matrix_transpose matrix_transpose
batch_matrix_triangular_solve matrix_triangular_solve
batch_self_adjoint_eig self_adjoint_eig
batch_svd svd
batch_fft fft
batch_ifft ifft
op_scope_v2 name_scope
scalar_summary summary.scalar
histogram_summary summary.histogram
image_summary summary.image
audio_summary summary.audio
merge_summary summary.merge
merge_all_summaries summary.merge_all
merge_all_summary summary.merge_all
train.SummaryWriter summary.FileWriter
train.summary_writer summary.FileWriter
train.write_graph train.write_graph
nn.rnn nn.static_rnn
nn.bidirectional_rnn nn.static_bidirectional_rnn
nn.state_saving_rnn nn.static_state_saving_rnn
nn.deconv2d nn.conv2d_transpose
nn.rnn_cell.EmbeddingWrapper contrib.rnn.EmbeddingWrapper
nn.rnn_cell.InputProjectionWrapper contrib.rnn.InputProjectionWrapper
nn.rnn_cell.OutputProjectionWrapper contrib.rnn.OutputProjectionWrapper
contrib.rnn.rnn nn.static_rnn
contrib.ctc nn.ctc_loss
contrib.losses.softmax losses.softmax_cross_entropy
contrib.data.Dataset data.Dataset
contrib.data.TextLineDataset data.TextLineDataset
contrib.data.TFRecordDataset data.TFRecordDataset
image.resize_bilinear_v2 image.resize_bilinear
"""
_BY_NAME = dict(line.split() for line in _RENAMED.strip().splitlines())
_NOTES = {
    "nn.seq2seq": "TensorFlow 1.0 moved it to tf.contrib.legacy_seq2seq",
    "contrib.seq2seq.simple_decoder_fn_train": "TensorFlow 1.2 has "
    "tf.contrib.seq2seq.BasicDecoder and TrainingHelper in its place",
    "contrib.seq2seq.attention_decoder_fn_train": "TensorFlow 1.2 has "
    "tf.contrib.seq2seq.AttentionWrapper in its place",
    "models": "TensorFlow's models are a repository of their own since 2016",
    "ops": "it is tensorflow.python.framework.ops",
    **{
        f"config.{name}": "that is TensorFlow 2; here it is "
        f"tf.config.experimental.{name}"
        for name in (
            "get_visible_devices",
            "list_logical_devices",
            "list_physical_devices",
            "set_visible_devices",
        )
    },
    "config.LogicalDeviceConfiguration": "that is TensorFlow 2; here it is "
    "tf.config.experimental.VirtualDeviceConfiguration",
    "config.set_logical_device_configuration": "that is TensorFlow 2; here it is "
    "tf.config.experimental.set_virtual_device_configuration",
    "config.run_functions_eagerly": "that is TensorFlow 2, which runs eagerly",
    "optimizers": "Keras' optimizers are in tf.keras; TF 1's are in tf.train",
    "summary.create_file_writer": "that is TensorFlow 2; here it is "
    "tf.summary.FileWriter",
    "summary.graph": "that is TensorFlow 2; here tf.summary.FileWriter takes a graph",
}


@functools.cache
def _names() -> dict[str, frozenset[str]]:
    """TensorFlow 1.15.5's names: package ("." is tf itself) -> names."""
    found = {}
    for file, prefix in ("names_1_15.txt", ""), ("names_v2.txt", VERSION_2):
        text = Path(__file__).with_name(file).read_text("utf-8").replace("*", "")
        for line in text.splitlines():
            package, _, names = line.partition(": ")
            found[(prefix + package).removesuffix("..")] = frozenset(names.split())
    return found


def hint(name: str) -> str:
    """A hint about the replacement of a missing public name, or "".

    Args:
      name: dotted, below `tf.`.
    """
    if name in _BY_NAME:
        return f"TensorFlow 1.0 renamed it tf.{_BY_NAME[name]}"
    if name in _NOTES:
        return _NOTES[name]
    package, _, last = name.rpartition(".")
    known = _names().get(package or ".", frozenset())
    if last in known or name in _names():
        return "TensorFlow 1.15 has it, tfteach does not"
    if name.startswith(VERSION_2):
        first = name.removeprefix(VERSION_2)
        if first.rpartition(".")[2] in _names().get(
            first.rpartition(".")[0] or ".", ()
        ):
            return f"TensorFlow 2 does not have it: tf.compat.v1.{first}"
    close = difflib.get_close_matches(last, sorted(known), 1, 0.8)
    prefix = f"tf.{package}." if package else "tf."
    return f"did you mean {prefix}{close[0]}?" if close else ""


def missing(package: str, name: str, module: str = "tensorflow") -> AttributeError:
    """The error for `tf.<package>.<name>`.

    Args:
      package: dotted, below `tf.`; empty for `tf` itself.
      name: the requested name.
      module: the name of the top package.
    """
    where = f"{module}.{package}" if package else module
    dotted = f"{package}.{name}" if package else name
    # Python and notebooks look up special names, such as _repr_html_.
    advice = "" if name.startswith("_") else hint(dotted)
    message = f"module {where!r} has no attribute {name!r}"
    return AttributeError(message + (f"; {advice}" if advice else ""), name=name)


def absent(
    package: str,
    later: Mapping[str, tuple[str, str]] | None = None,
    of_package: Callable[[str], Any] | None = None,
) -> Callable[[str], Any]:
    """A package's `__getattr__`: imports lazily, finds protos, or raises with a hint.

    Args:
      package: dotted, below `tf.`; empty for `tf` itself.
      later: the names that are imported on first use: (module, attribute).
      of_package: what finds all other names in a package with a `__getattr__` of its
        own.
    """
    own = "tfteach.api" + ("." + package if package else "")
    places = {
        # A package below this one, or a name of some module.
        name: (f"{own}.{name}", "") if module == own else (module, attribute)
        for name, (module, attribute) in (later or {}).items()
    }
    import_name = imported(places)
    message_package = package.removeprefix(VERSION_2.rstrip(".")).lstrip(".")

    def find(name: str) -> Any:
        found = import_name(name)
        if found is None and of_package is None:
            found = find_proto(name, message_package)
        return found

    found_once = lazy_getattr(own, find, lambda _, name: missing(package, name))
    if of_package is None:
        return found_once
    return lambda name: (found_once if name in places else of_package)(name)
