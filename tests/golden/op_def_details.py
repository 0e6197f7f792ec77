"""What TensorFlow's op definitions say beyond tfteach's classes.

`python -m tests.golden.op_def_details` writes it to tfteach/framework, from
op_defs_tf115.json, where the definitions of real TensorFlow 1.15 are.
"""

import json
from pathlib import Path

HERE = Path(__file__).parent
FLAGS = ("is_commutative", "is_aggregate", "allows_uninitialized_input")


def definitions():
    """The OpDef protos of TensorFlow 1.15 by name."""
    from google.protobuf import json_format

    from tfteach.framework.protos import OpDef

    rows = json.loads((HERE / "op_defs_tf115.json").read_text())
    return {name: json_format.ParseDict(row, OpDef()) for name, row in rows.items()}


def details(ours, theirs):
    """How the OpDef `theirs` is more than the OpDef `ours`, as plain data."""
    found = {}
    known = {attr.name: attr for attr in ours.attr}
    if list(known) != [attr.name for attr in theirs.attr]:
        found["order"] = [attr.name for attr in theirs.attr]
    attrs = {}
    for attr in theirs.attr:
        more = {}
        if attr.has_minimum:
            more["minimum"] = attr.minimum
        allowed = attr.allowed_values.list
        if list(allowed.type) != list(known[attr.name].allowed_values.list.type):
            more["types"] = list(allowed.type)
        if allowed.s:
            more["strings"] = [text.decode() for text in allowed.s]
        if more:
            attrs[attr.name] = more
    if attrs:
        found["attr"] = attrs
    flags = [flag for flag in FLAGS if getattr(theirs, flag)]
    if flags:
        found["flags"] = flags
    if theirs.HasField("deprecation"):
        deprecation = theirs.deprecation
        found["deprecation"] = [deprecation.version, deprecation.explanation]
    return found


def main():
    from tests.ops.case import import_families
    from tfteach.framework.graphdef.op_def import DETAILS, op_def_of_class
    from tfteach.framework.op import OPS

    import_families()
    theirs = definitions()
    rows = []
    for name in sorted(OPS.keys() & theirs.keys()):
        found = details(op_def_of_class(OPS[name]), theirs[name])
        if found:
            rows.append(f"{json.dumps(name)}: {json.dumps(found)}")
    DETAILS.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
