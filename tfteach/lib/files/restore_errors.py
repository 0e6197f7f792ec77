"""Why a restore failed: what the checkpoint lacks, and what it has instead.

Source: python/training/saver.py.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NoReturn

from tfteach.framework.constant_values import constant_value
from tfteach.framework.errors import NotFoundError, OpError
from tfteach.framework.files.checkpoint import read_checkpoint
from tfteach.framework.type_aliases import SessionLike
from tfteach.lib.files.saveable_object import SaveableObject
from tfteach.lib.files.saveable_variables import all_saveable_objects, saveables_of
from tfteach.ops.io.save_restore import Restore, RestoreSlice, RestoreV2


def raise_explained(error: OpError, cause: str, more: str = "") -> NoReturn:
    """Raise the error of a restore once more, with the probable cause."""
    kind: Any = type(error)
    raise kind(
        error.node_def,
        error.op,
        f"Restoring from checkpoint failed. This is most likely due to {cause} from "
        "the checkpoint. Please ensure that you have not altered the graph expected "
        f"based on the checkpoint. Original error:\n\n{error.message}{more}",
    ) from None


_MAX_NAMES = 5


def missing_names(wanted: Sequence[str] | None, path: str) -> str:
    """Which names the program looks for in vain, and which similar ones there are.

    Args:
      wanted: the names; None if they are not known.
      path: the checkpoint.
    """
    if wanted is None:
        return ""
    try:
        found = list(read_checkpoint(path, lambda reader: [*reader.types_and_shapes()]))
    except OpError:
        return ""
    missing = sorted(set(wanted) - set(found))
    unused = sorted(set(found) - set(wanted))
    if not missing:
        return ""
    lines = [f"\n\nThe checkpoint {path} lacks {_some(missing)}."]
    for name in missing[:_MAX_NAMES]:
        near = difflib.get_close_matches(name, unused, _MAX_NAMES)
        if near:
            lines.append(f"Instead of {name} it has {_some(near)}.")
    if unused:
        lines.append(f"The program does not use {_some(unused)} of it.")
    lines.append(
        "To restore variables by other names, pass a dict: "
        "tf.train.Saver({name_in_checkpoint: variable})."
    )
    return "\n".join(lines)


def saveables_with_keys(var_list: Any, keys: Mapping[str, str]) -> list[SaveableObject]:
    """What a Saver saves, under the keys of an object-based checkpoint."""
    saveables = saveables_of(all_saveable_objects() if var_list is None else var_list)
    specs = [spec for saveable in saveables for spec in saveable.specs]
    wanted = {spec.name for spec in specs}
    missing = wanted - keys.keys()
    if missing:
        raise NotFoundError(
            None,
            None,
            f"\n\nExisting variables not in the checkpoint: {_listed(missing)}\n\n"
            "Variables names when this checkpoint was written which don't exist now: "
            f"{_listed(keys.keys() - wanted)}\n\n({len(wanted & keys.keys())} variable "
            "name(s) did match)\n\nCould not find some variables in the checkpoint "
            "(see names above). It was written by tf.train.Checkpoint, and this Saver "
            "looks for names of variables in it. Pass a dict from the old names to "
            "those variables that existed then, "
            "tf.train.Saver(var_list={name: variable}), or restore it with "
            "tf.train.Checkpoint.",
        )
    for spec in specs:
        spec.name = keys[spec.name]
    return saveables


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def restored_names(sess: SessionLike, saver_def: Any) -> list[str] | None:
    """The names that a Saver's nodes look up; None if they are computed."""
    pending = [sess.graph.get_operation_by_name(saver_def.restore_op_name)]
    seen, names = set(pending), []
    while pending:
        op = pending.pop()
        if isinstance(op.spec, Restore | RestoreSlice | RestoreV2):
            value = constant_value(op.inputs[1])
            if value is None:
                return None
            names += [name.decode() for name in value.reshape(-1)]
        before = {t.op for t in op.inputs} | set(op.control_inputs)
        pending += before - seen
        seen |= before
    return names
