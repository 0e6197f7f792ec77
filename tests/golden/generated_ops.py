"""TensorFlow's generated modules: functions, their arguments, who re-exports them.

    env -u PYTHONPATH $TFTEACH_ORACLE -m tests.golden.generated_ops

writes generated_ops.json here, from which a test compares the arguments, and
tfteach/compat/generated_ops.txt, by which programs find the functions.
"""

import importlib
import inspect
import json
import pkgutil
import sys
from pathlib import Path

HERE = Path(__file__)
TABLE = HERE.parents[2] / "tfteach/compat/generated_ops.txt"
CONTRIB = "factorization framework image resampler seq2seq tensor_forest"
# TensorFlow's helpers, which each module imports; accelerators that we lack.
HELPERS = {"_kwarg_only", "deprecated_endpoints", "_InitOpDefLibrary"}
OTHER_DEVICES = {"tpu", "nccl", "cudnn_rnn", "user"}


def functions(module, op_types):
    """Function -> (op type, its parameters)."""
    names = vars(module)
    types = {name.replace("_", "").lower(): name for name in names if name in op_types}
    found = {}
    for name, value in names.items():
        kind = types.get(name.replace("_", "").lower())
        if inspect.isfunction(value) and kind not in (None, name):
            found[name] = [kind, [*inspect.signature(value).parameters]]
    return found


def _short(path):
    return path.replace("tensorflow.python.", "").replace("tensorflow.", "")


def main():
    import tensorflow as tf
    import tensorflow_core
    from tensorflow.python.framework import op_def_registry

    op_types = op_def_registry.get_registered_ops()
    for folder in CONTRIB.split():
        importlib.import_module("tensorflow.contrib." + folder)
    for module in pkgutil.iter_modules([tensorflow_core.__path__[0] + "/python/ops"]):
        if module.name.startswith("gen_"):
            importlib.import_module("tensorflow.python.ops." + module.name)
    generated, importers = {}, {}
    packages = CONTRIB.split()
    for path, module in sorted(sys.modules.items()):
        parts = path.split(".")
        if parts[0] != "tensorflow" or not parts[-1].startswith("gen_"):
            continue
        ours = parts[1] == "python" or parts[2] in CONTRIB.split()
        if not ours or parts[-1][4:].rpartition("_")[0] in OTHER_DEVICES:
            continue
        short = _short(path)
        generated[short] = functions(module, op_types)
        public = [n for n in generated[short] if not n.startswith("_")]
        for other, names in sorted(sys.modules.items()):
            ours = other.startswith(("tensorflow.python.", "tensorflow.contrib."))
            if names is None or not ours:
                continue
            if other.startswith("tensorflow.c") and other.split(".")[2] not in packages:
                continue
            if ".gen_" in other or not public:
                continue
            same = [vars(names).get(n) is getattr(module, n) for n in public]
            if sum(same) > 0.3 * len(public) and other.count(".") > 2:
                importers.setdefault(_short(other), []).append(short)
    assert tf.__version__ == "1.15.5"
    rows = [
        f"{path}: {' '.join(kind for kind, _ in found.values())}"
        for path, found in generated.items()
    ]
    rows += [f"{path} > {' '.join(found)}" for path, found in sorted(importers.items())]
    TABLE.write_text("\n".join(rows) + "\n")
    text = ",\n".join(
        f"{json.dumps(path)}: {json.dumps(found)}" for path, found in generated.items()
    )
    HERE.with_suffix(".json").write_text(f"{{\n{text}\n}}\n")


if __name__ == "__main__":
    main()
