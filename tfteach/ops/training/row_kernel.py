"""Updates of some rows of variables by one kernel of a card.

The rows of an embedding that a batch has used are updated in place, without a copy and
without a question to the host.  Equal ids are applied one after the other, as on CPUs:
the thread of the first one does that.  Ids outside of the variable are ignored.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tfteach.framework.type_aliases import ArrayModule

# Each id is compared with all others, which takes long for many.
MOST_IDS = 1 << 14
_THREADS = 256

_INDEX = """\
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
"""
_ORDER = """\
extern "C" __global__ void order(
    const {ids}* ids, int* first, int* next, long long count) {{
{index}  if (i < count) {{
    int is_first = 1;
    long long k = 0;
    while (k < i) {{
      if (ids[k] == ids[i]) {{
        is_first = 0;
      }}
      k = k + 1;
    }}
    int after = (int)count;
    k = count - 1;
    while (k > i) {{
      if (ids[k] == ids[i]) {{
        after = (int)k;
      }}
      k = k - 1;
    }}
    first[i] = is_first;
    next[i] = after;
  }}
}}
"""
_UPDATE = """\
extern "C" __global__ void update(
    const {ids}* ids, const int* first, const int* next, {arrays},
    long long count, long long width, long long rows) {{
{index}  if (i < count * width) {{
    long long position = i / width;
    long long column = i % width;
    long long row = (long long)ids[position];
    if (first[position] == 1 && row >= 0 && row < rows) {{
      long long place = row * width + column;
{load}
      while (position < count) {{
        {kind} grad_ = a_grad[position * width + column];
{lines}
        position = (long long)next[position];
      }}
{store}
    }}
  }}
}}
"""


def sources(
    kind: str,
    ids: str,
    cells: Sequence[str],
    scalars: Sequence[str],
    lines: Sequence[str],
) -> tuple[str, str]:
    """The kernel that orders equal ids, and that which updates the rows.

    Args:
      kind: C++'s type of the variables.
      ids: that of the ids.
      cells, scalars: the names of the variables, and of the scalars.
      lines: the update of an element, in these names with "_" after them.
    """
    arrays = [f"const {kind}* a_{name}" for name in ("grad", *scalars)]
    arrays += [f"{kind}* a_{name}" for name in cells]
    load = [f"{kind} {name}_ = a_{name}[place];" for name in cells]
    load += [f"{kind} {name}_ = a_{name}[0];" for name in scalars]
    store = [f"a_{name}[place] = {name}_;" for name in cells]
    update = _UPDATE.format(
        ids=ids,
        arrays=", ".join(arrays),
        index=_INDEX,
        kind=kind,
        load="\n".join(f"      {line}" for line in load),
        lines="\n".join(f"        {line}" for line in lines),
        store="\n".join(f"      {line}" for line in store),
    )
    return _ORDER.format(ids=ids, index=_INDEX), update


@functools.lru_cache(maxsize=256)
def _compiled(xp: Any, source: str, name: str) -> Any:
    return xp.RawKernel(source, name)


def row_update(
    xp: ArrayModule, order: str, update: str
) -> Callable[[Any, Any, Sequence[Any], Sequence[Any]], None]:
    """The function of (ids, gradient, scalars, variables) that launches `sources`."""

    def run(ids: Any, grad: Any, scalars: Sequence[Any], state: Sequence[Any]) -> None:
        count = ids.size
        if not grad.size:
            return
        first, following = xp.empty(count, np.int32), xp.empty(count, np.int32)
        ids, grad = xp.ascontiguousarray(ids), xp.ascontiguousarray(grad)
        numbers = [xp.asarray(number, grad.dtype) for number in scalars]
        _launch(
            *(_compiled(xp, order, "order"), count),
            *(ids, first, following, np.int64(count)),
        )
        width = grad.size // count
        sizes = np.int64(count), np.int64(width), np.int64(len(state[0]))
        _launch(
            *(_compiled(xp, update, "update"), grad.size),
            *(ids, first, following, grad, *numbers, *state, *sizes),
        )

    return run


def _launch(kernel: Any, threads: int, *arguments: Any) -> None:
    kernel((-(-threads // _THREADS),), (_THREADS,), arguments)
