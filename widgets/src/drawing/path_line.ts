// The critical path through the lanes of a timeline: a thick line below the ops that it runs through.

import { s } from "../base/svg";
import type { OpBar, TimelinePath } from "../kernel/view_messages";

const TOUCHES = 0.02; // µs, by which rounding may part neighbours

/** Neighbouring parts of a path on one lane that are due to the same. */
export interface PathPiece {
  lane: number;
  from: number;
  to: number;
  /** An index of `bounds`; -1 for none. */
  bound: number;
  isWait: boolean;
}

export function pathPieces({ parts }: TimelinePath, ops: readonly OpBar[]): PathPiece[] {
  const pieces: PathPiece[] = [];
  for (const [index, from, elapsed, bound, isWait] of parts) {
    const lane = ops[index]?.lane;
    if (lane === undefined || elapsed <= 0) continue;
    const last = pieces.at(-1);
    const touches = last !== undefined && Math.abs(from - last.to) <= TOUCHES;
    if (touches && last.lane === lane && last.bound === bound && last.isWait === isWait) last.to = from + elapsed;
    else pieces.push({ lane, from, to: from + elapsed, bound, isWait });
  }
  return pieces;
}

/**
 * The line, with connections from lane to lane.
 *
 * @param y the height of the line on a lane
 * @param marked the index of the only bound that is not dimmed; null dims none
 */
export function drawPath(
  path: TimelinePath,
  pieces: readonly PathPiece[],
  x: (at: number) => number,
  y: (lane: number) => number,
  marked: number | null,
): SVGElement[] {
  const drawn: SVGElement[] = [];
  let before: PathPiece | undefined;
  for (const piece of pieces) {
    const { lane, from, to, bound, isWait } = piece;
    if (before !== undefined && before.lane !== lane && !path.shared)
      drawn.push(
        s("path", {
          class: `tft-path-link${marked === null ? "" : " tft-dim"}`,
          d: `M${x(before.to).toFixed(1)},${y(before.lane)}L${x(from).toFixed(1)},${y(lane)}`,
        }),
      );
    before = piece;
    const wide = Math.max(1, x(to) - x(from));
    const dim = marked === null || marked === bound ? "" : " tft-dim";
    drawn.push(
      s("path", {
        class: `tft-path-piece tft-due-${path.bounds[bound]?.kind ?? "gap"}${isWait ? " tft-path-wait" : ""}${dim}`,
        d: `M${x(from).toFixed(1)},${y(lane)}h${wide.toFixed(1)}`,
      }),
    );
  }
  return drawn;
}
