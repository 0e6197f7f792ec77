"""What would widen a pipeline, from the figures of a watched run."""

from __future__ import annotations

from tfteach.explain.pipelines.pipeline_stages import Stage
from tfteach.explain.pipelines.rivers import River

_WORTH = 1.05  # the least gain that is worth a change
_QUICK_S = 200e-6  # a function this fast spends its time on being called
_FEW = 0.5  # of a queue's capacity, below which it does not even out


def advice_on(river: River, kind: str) -> tuple[str, ...]:
    """What would make a pipeline faster, the most promising first.

    Args:
      river: the figures.
      kind: of the verdict.
    """
    found: list[str] = []
    narrowest = river.narrowest
    if river.pipeline.kind == "queues":
        if kind != "step" and narrowest is not None:
            found += _for_threads(river, narrowest)
    else:
        ahead = _prefetch(river)
        widened = (
            _for_stage(river, narrowest)
            if kind != "step" and narrowest is not None
            else []
        )
        found += [*widened, *ahead] if kind == "data" else [*ahead, *widened]
        found += _order(river)
    if kind == "step" and not found:
        found.append(
            "Nothing to widen here: only a faster step, or a smaller one, makes the "
            "program faster."
        )
    return tuple(found)


def _prefetch(river: River) -> list[str]:
    """Data and step at the same time, if they now take turns."""
    stages = river.pipeline.stages
    last = [stage for stage in stages if stage.kind not in ("step", "repeat", "take")]
    if not last or any(stage.kind == "prefetch" for stage in last[-2:]):
        return []
    step = river.step
    own_s = step.elapsed_s - step.waited_s
    longer_s = max(own_s, step.waited_s)
    if not longer_s or step.elapsed_s / longer_s < _WORTH:
        return []
    most = step.elapsed_s / longer_s
    return [
        "`prefetch(1)` at the end: a thread makes the next element while the step "
        f"runs; at most {most:.2g} times as fast. Python code in both takes turns."
    ]


def _for_stage(river: River, stage: Stage) -> list[str]:
    rate = river.rates[stage.key]
    each_s = rate.busy * river.step.elapsed_s / max(1, rate.elements)
    behind = river.pipeline.readers(stage.key)
    found = []
    if stage.kind in ("map", "map_and_batch"):
        if stage.threads == 1:
            found.append(
                f"`{stage.title[:-1]}, num_parallel_calls=4)`: several elements at a "
                "time. It helps a function that waits, or computes in TensorFlow or "
                "NumPy; plain Python code takes turns."
                if stage.title.endswith(")")
                else "`num_parallel_calls=4`: several elements at a time."
            )
        else:
            found.append(
                f"more than `num_parallel_calls={stage.threads}`, if the machine has "
                "more cores or the function waits."
            )
        if each_s < _QUICK_S and any(each.kind == "batch" for each in behind):
            found.append(
                "batch before map: the function then runs once for a batch, if it is "
                "written for a whole batch."
            )
        found += _cache(river, stage)
    elif stage.kind == "source":
        if stage.title == "from_generator":
            found.append(
                "from_generator runs Python code for each element: let the generator "
                "yield whole batches (then unbatch() or none), or use "
                "from_tensor_slices for arrays that fit into memory."
            )
        elif stage.title.endswith("Dataset"):
            found.append(
                "`interleave(..., cycle_length=4, num_parallel_calls=4)` over the "
                "files: several are read at a time."
            )
        found += _cache(river, stage)
    elif stage.kind in ("interleave", "flat_map"):
        if stage.threads == 1:
            found.append("`interleave(..., num_parallel_calls=4)`: several at a time.")
        found += _cache(river, stage)
    elif stage.kind == "filter":
        found.append("filter what is cheap to judge first, before map.")
        found += _cache(river, stage)
    elif stage.kind == "shuffle":
        found.append(
            "shuffle before what makes elements large: shuffle file names or rows, and "
            "decode and batch behind it."
        )
    return found


def _cache(river: River, stage: Stage) -> list[str]:
    """Compute once what several epochs need."""
    kinds = {each.kind for each in river.pipeline.stages}
    if (
        "cache" in kinds
        or river.rates[stage.key].epochs < 2
        or stage.key.count("/") > 1
    ):
        return []
    return [
        f"`cache()` behind {stage.title}, if the elements fit into memory and are the "
        "same in each epoch: the next epochs begin there."
    ]


def _order(river: River) -> list[str]:
    """Remarks on shuffling, which cost nothing but matter."""
    stages = river.pipeline.stages
    rows = max((stage.rows for stage in stages), default=0)
    shuffles = [s for s in stages if s.kind == "shuffle" and s.capacity]
    if shuffles and rows and 10 * shuffles[0].capacity < rows:
        return [
            f"for better mixing, a larger shuffle buffer: in one of "
            f"{shuffles[0].capacity}, {rows} rows stay near their neighbours."
        ]
    return []


def _for_threads(river: River, stage: Stage) -> list[str]:
    found = []
    rate = river.rates[stage.key]
    if stage.kind != "threads":
        return []
    if rate.threads:
        found.append(
            f"more threads: `num_threads={2 * rate.threads}` in batch or "
            "shuffle_batch, or more enqueue ops in the QueueRunner."
        )
    if stage.parses:
        found.append(
            "several records at a time: `reader.read_up_to(queue, 100)`, decode them "
            "as one batch, and `enqueue_many=True`."
        )
    if stage.calls_python:
        found.append(
            "py_func runs Python code, which takes turns: TensorFlow ops do not."
        )
    return found
