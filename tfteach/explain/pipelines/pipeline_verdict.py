"""Plain words on a watched pipeline: who waits, the narrowest stage, what widens it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfteach.explain.pipelines.pipeline_advice import advice_on
from tfteach.explain.pipelines.pipeline_stages import STEP, Place, Stage, place
from tfteach.explain.pipelines.queue_hangs import Hang, hang_of, is_filling
from tfteach.explain.pipelines.rivers import River, StageRate

__all__ = ["Verdict", "judge_river"]

WAITS, KEEPS_UP = 0.5, 0.15  # shares of the step's time
HANGS_S = 1.0
_SAME = 0.05  # a smaller gain than this is none


class Verdict(NamedTuple):
    """A judgement of one pipeline; `print` it.

    Attributes:
      kind: "data" if the step waits for data most of its time, "step" if the data wait
        for the step, "both" between these, "stuck" if nothing moves, "idle" if no step
        took an element yet.
      headline: one sentence.
      reasons: further sentences: the narrowest stage, who should have filled a queue.
      advice: what would widen the narrowest stage, the most promising first.
      gain: how the rate compares with that of the run before; "" without one.
      factor: this run's rate divided by the earlier one's; 0 without one.
      narrowest: the key of the narrowest stage; "" if it is not known.
    """

    kind: str
    headline: str
    reasons: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    gain: str = ""
    factor: float = 0.0
    narrowest: str = ""

    def __str__(self) -> str:
        lines = [self.headline]
        if self.gain:
            lines.append(self.gain)
        lines += self.reasons
        lines += [f"- {each}" for each in self.advice]
        return "\n".join(lines)


def judge_river(
    river: River, earlier: Sequence[River] = (), where: Place | None = None
) -> Verdict:
    """Judge a pipeline.

    Args:
      river: its figures.
      earlier: those of an earlier run, to compare with.
      where: how to write a line of code; by default "file.py line 3".

    Returns:
      A `Verdict`.

    Example:
      >>> rows = tf.data.Dataset.range(100).batch(10)
      >>> element = rows.make_one_shot_iterator().get_next()
      >>> with tf.Session() as sess, watch_pipelines() as run:
      ...     for _ in range(10):
      ...         numbers = sess.run(element)
      >>> verdict = judge_river(run.rivers()[0])
      >>> verdict.kind in ("data", "step", "both")
      True
    """
    at = where or place
    step = river.step
    hang = hang_of(river, HANGS_S, at)
    if hang is not None:
        return _stuck(hang)
    if not step.steps:
        return Verdict("idle", _before_steps(river), _not_started(river))
    share = f"{step.waits:.0%}"
    kind = _kind(river)
    headline = {
        "data": f"The step waits for data: {share} of its time.",
        "step": f"The data wait for the step, which waits only {share} of its time.",
        "both": f"Data and step take turns: the step waits {share} of its time.",
    }[kind]
    narrowest = river.narrowest
    reasons = []
    if narrowest is not None and kind != "step":
        reasons.append(_narrowest(river, narrowest, at))
    if step.first_s:
        reasons.append(_first(river))
    if river.is_partial:
        reasons.append(
            "The iterator was initialized before it was watched, so its stages were "
            "not measured: run its initializer, or make the session, in the same cell."
        )
    gain, factor = _gain(river, earlier)
    return Verdict(
        kind,
        headline,
        tuple(reasons),
        advice_on(river, kind),
        gain,
        factor,
        "" if narrowest is None or kind == "step" else narrowest.key,
    )


def _kind(river: River) -> str:
    waits = river.step.waits
    return "data" if waits >= WAITS else "step" if waits <= KEEPS_UP else "both"


def _before_steps(river: River) -> str:
    for stage in river.pipeline.stages:
        rate = river.rates.get(stage.key)
        if rate is not None and is_filling(stage, river):
            return (
                f"{stage.title} fills its buffer before the first element: "
                f"{rate.held:,} of {rate.capacity:,}."
            )
    return "No step has taken an element yet."


def _not_started(river: River) -> tuple[str, ...]:
    """Queues whose threads do not exist yet."""
    names = [
        name
        for name, state in river.queues.items()
        if any(not runner.was_started for runner in state.runners)
    ]
    if not names:
        return ()
    return (
        f"The threads that fill {' and '.join(names)} are not started yet: "
        "tf.train.start_queue_runners does that.",
    )


def _stuck(hang: Hang) -> Verdict:
    return Verdict(
        "stuck", hang.headline, hang.reasons, hang.advice, "", 0.0, hang.stage
    )


def _narrowest(river: River, stage: Stage, place: Place) -> str:
    rate = river.rates[stage.key]
    line = "" if stage.source is None else f" ({place(stage.source)})"
    return (
        f"The narrowest stage is {name_of(stage)}{line}: it takes "
        f"{time_text(1 / rate.could_per_s)} for each step, and alone could supply "
        f"{rate_text(rate.could_per_s)} steps/s."
    )


def _first(river: River) -> str:
    full = [
        stage
        for stage in river.pipeline.stages
        if stage.kind == "shuffle" and stage.capacity
    ]
    least = [
        stage
        for stage in river.pipeline.stages
        if stage.kind == "queue" and _least(river, stage)
    ]
    why = ""
    if full:
        why = f": shuffle first fills its buffer of {full[-1].capacity}"
    elif least:
        count = _least(river, least[-1])
        why = f": the queue first fills up to min_after_dequeue={count}"
    first = time_text(river.step.first_s)
    return f"The first element took {first}{why}. The figures begin after it."


def _least(river: River, stage: Stage) -> int:
    state = river.queues.get(stage.key)
    return 0 if state is None else state.least


def name_of(stage: Stage) -> str:
    """What to call a stage in a sentence."""
    if stage.kind == "threads":
        return f"{stage.title} ({stage.detail})"
    return stage.title


def per_step(river: River) -> int:
    """The number of examples in an element that the step takes; 1 if unknown."""
    stages = [s for s in river.pipeline.stages if s.size and s.kind != "threads"]
    return stages[-1].size if stages else 1


def _gain(river: River, earlier: Sequence[River]) -> tuple[str, float]:
    before = _same(river, earlier)
    if before is None or not before.step.per_s or not river.step.per_s:
        return "", 0.0
    was, now, unit = before.step.per_s, river.step.per_s, "steps/s"
    if per_step(before) != per_step(river):
        was, now, unit = was * per_step(before), now * per_step(river), "examples/s"
    factor = now / was
    rates = f"(from {rate_text(was)} to {rate_text(now)} {unit})"
    if abs(factor - 1) < _SAME:
        return f"As fast as the run before {rates}.", factor
    if factor > 1:
        return f"{factor:.2g} times as fast as the run before {rates}.", factor
    return f"{1 / factor:.2g} times slower than the run before {rates}.", factor


def _same(river: River, earlier: Sequence[River]) -> River | None:
    """The river of an earlier run that is meant by comparison.

    A program that is changed and run again builds other ops: names may differ.
    """
    same = [each for each in earlier if each.pipeline.kind == river.pipeline.kind]
    named = [each for each in same if each.pipeline.name == river.pipeline.name]
    found = named or same
    return max(found, key=lambda each: each.step.steps, default=None)


def time_text(elapsed_s: float) -> str:
    """A time as "12 us", "3.4 ms" or "1.2 s"."""
    if elapsed_s < 1e-3:
        return f"{elapsed_s * 1e6:.0f} us"
    return f"{elapsed_s * 1e3:.1f} ms" if elapsed_s < 1 else f"{elapsed_s:.1f} s"


def rate_text(per_s: float) -> str:
    """A rate as "0.35", "12.3" or "12,300"."""
    if per_s == float("inf"):
        return "any number of"
    if per_s < 1:
        return f"{per_s:.2f}" if per_s else "0"
    return f"{per_s:.1f}" if per_s < 100 else f"{float(f'{per_s:.3g}'):,.0f}"


def text_of_rivers(
    rivers: Sequence[River], verdicts: Sequence[Verdict], place: Place = place
) -> str:
    """The figures and verdicts of pipelines as text.

    Args:
      rivers: the figures.
      verdicts: one for each.
      place: how to write a line of code.
    """
    if not rivers:
        return "No pipeline moved: no iterator or queue was used."
    texts = []
    for river, verdict in zip(rivers, verdicts, strict=True):
        step = river.step
        rate = rate_text(step.per_s)
        head = f"{river.pipeline.name}: {step.steps} steps, {rate} steps/s"
        lines = [head, *_table(river, verdict, place), *_queue_lines(river)]
        texts.append("\n".join([*lines, "", str(verdict)]))
    return "\n\n".join(texts)


def _table(river: River, verdict: Verdict, place: Place) -> list[str]:
    rows = [("", "elements/s", "busy", "waits", "idle", "buffer", "")]
    lanes = river.pipeline.lanes()
    for stage in river.pipeline.stages:
        rate = river.rates.get(stage.key)
        mark = ">" if stage.key == verdict.narrowest else " "
        title = f"{mark}{'| ' * lanes[stage.key]}{stage.title}"
        line = "" if stage.source is None else place(stage.source)
        rows.append((title, *_cells(stage, rate), line))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [c.rjust(w) for c, w in zip(row[1:6], widths[1:6], strict=True)]
        lines.append("  ".join([*cells, row[6]]).rstrip())
    return lines


def _queue_lines(river: River) -> list[str]:
    """The state of the queues and of the threads that fill them."""
    keys = [stage.key for stage in river.pipeline.stages if stage.kind == "queue"]
    return [str(river.queues[key]) for key in keys if key in river.queues]


def _cells(stage: Stage, rate: StageRate | None) -> tuple[str, str, str, str, str]:
    if rate is None:
        return "", "", "", "", ""
    buffer = "" if rate.held is None else f"{rate.held}"
    if rate.capacity:
        buffer += f" of {rate.capacity}"
    if stage.kind == "queue":
        return rate_text(rate.per_s), "", "", "", buffer
    shares = [f"{share:.0%}" for share in (rate.busy, rate.waits_in, rate.waits_out)]
    if stage.key == STEP:
        shares[2] = ""
    return rate_text(rate.per_s), shares[0], shares[1], shares[2], buffer
