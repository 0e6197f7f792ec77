"""What `cudnn` has of what we use: parameters of functions, members of enumerations.

`python cudnn_signatures.py OUT.json`, where nvidia-cudnn-frontend is installed; it
needs no card.  tests/card_cudnn.py holds our calls to it.
"""

import inspect
import json
import re
import sys

ENUMERATIONS = "data_type heur_mode numerical_note".split()
FUNCTIONS = "create_handle set_stream".split()
# In the order in which a graph is built.
STAGES = (
    "validate build_operation_graph create_execution_plans check_support build_plans"
).split()
METHODS = "tensor deselect_numeric_notes deselect_workspace_greater_than".split()
METHODS += [*STAGES, "get_workspace_size", "execute"]
OPERATIONS = "conv_fprop conv_dgrad conv_wgrad".split()
SETTERS = "set_output set_uid set_data_type set_dim set_stride".split()


def parameters(function):
    """The names of the parameters; of a method without the object."""
    found = inspect.signature(function).parameters.values()
    kinds = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return [p.name for p in found if p.kind not in kinds and p.name != "self"]


def documented(method):
    """The same for one that is written in C++: its last overload, by its text."""
    lines = [n for n in method.__doc__.splitlines() if "self" in n and ") ->" in n]
    inner = lines[-1][lines[-1].index("(") + 1 :]
    return re.findall(r"(\w+): ", inner)[1 if inner.startswith("self:") else 0 :]


def main(out):
    import cudnn

    kind = type(cudnn.pygraph().tensor(dim=[1, 1, 1, 1]))
    backend = cudnn._pybind_module.backend_graph
    found = {
        "version": cudnn.__version__,
        "members": {
            name: [n for n in dir(getattr(cudnn, name)) if re.match("[A-Z]", n)]
            for name in ENUMERATIONS
        },
        "functions": {name: parameters(getattr(cudnn, name)) for name in FUNCTIONS},
        "pygraph": {
            "__init__": parameters(cudnn.pygraph.__init__),
            **{name: parameters(getattr(cudnn.pygraph, name)) for name in METHODS},
            **{name: documented(getattr(backend, name)) for name in OPERATIONS},
        },
        "tensor": {name: parameters(getattr(kind, name)) for name in SETTERS},
    }
    with open(out, "w") as file:
        json.dump(found, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
