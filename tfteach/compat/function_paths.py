"""The inner modules of functions, which programs and tests import.

Source: python/eager/*.py, python/framework/func_graph.py (names).
"""

from __future__ import annotations

_FUNCTIONS = "tfteach.lib.functions"
_SAVED = "tfteach.lib.saved_model"
# Path below `tensorflow.python` -> modules of this package with further names.
MORE = {
    "eager.def_function": f". {_FUNCTIONS}.function",
    "eager.function": f". {_FUNCTIONS}.function {_FUNCTIONS}.eager_defun "
    f"{_FUNCTIONS}.traced_function "
    f"{_FUNCTIONS}.concrete_function {_FUNCTIONS}.function_spec",
    "eager.lift_to_graph": f"{_FUNCTIONS}.lift_to_graph",
    "eager.wrap_function": f". {_SAVED}.wrap_function",
    "framework.errors": "tfteach.framework.errors",
    "framework.errors_impl": "tfteach.framework.errors",
    "framework.func_graph": "tfteach.framework.functions.func_graph "
    f"{_FUNCTIONS}.traced_graph {_FUNCTIONS}.trace "
    f"{_FUNCTIONS}.argument_signature",
    "framework.indexed_slices": "tfteach.framework.indexed_slices_spec",
    "module.module": ". tfteach.lib.module.module",
    "saved_model.builder_impl": f"{_SAVED}.builder",
    "saved_model.function_deserialization": f"{_SAVED}.function_library "
    f"{_SAVED}.restored_function",
    "saved_model.load": f"{_SAVED}.load",
    "saved_model.load_v1_in_v2": f"{_SAVED}.load_graph",
    "saved_model.loader_impl": f"{_SAVED}.loader",
    "saved_model.nested_structure_coder": f"{_SAVED}.structure_coder",
    "saved_model.save": f"{_SAVED}.save",
    "saved_model.signature_serialization": f"{_SAVED}.signature_functions",
    "saved_model.utils_impl": f"saved_model {_SAVED}.utils",
    "training.tracking.base": "tfteach.framework.trackable",
    "training.tracking.data_structures": "contrib.checkpoint "
    "tfteach.lib.files.data_structures tfteach.lib.files.structure_wrappers",
}
# Names that have another name there.
ALIASES = {
    "eager.def_function.Function": "PolymorphicFunction",
    "eager.function.Function": "TracedFunction",
    "training.tracking.data_structures._DictWrapper": "DictWrapper",
    "training.tracking.tracking.TrackableResource": "CapturableResource",
    "framework.func_graph._EAGER_CONST_THRESHOLD": "MOST_COPIED",
}
