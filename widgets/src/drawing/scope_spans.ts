// Above the ops of a lane, which scope they are of: neighbours of one scope together.

import { s } from "../base/svg";
import type { OpBar } from "../kernel/view_messages";
import { shorten } from "../layout/box_style";

/** @param shown the edges of the lane, in pixels */
export function scopeSpans(
  ops: readonly OpBar[],
  y: number,
  x: (at: number) => number,
  shown: { from: number; to: number },
): SVGElement[] {
  const spans: SVGElement[] = [];
  let named = Number.NEGATIVE_INFINITY; // where the last name ends
  let i = 0;
  while (i < ops.length) {
    const scope = scopeOf(ops[i]!.name);
    let end = i;
    while (end + 1 < ops.length && scopeOf(ops[end + 1]!.name) === scope) end += 1;
    const left = Math.max(shown.from, x(ops[i]!.start));
    const right = Math.min(shown.to, x(ops[end]!.start + ops[end]!.elapsed));
    i = end + 1;
    if (scope === "" || right - left < 3) continue;
    // Ops that overlap, such as receives, may be of scopes in turn.
    const room = left < named ? 0 : Math.floor((right - left - 6) / 6.2);
    const isNamed = room >= Math.min(6, scope.length);
    if (isNamed) named = left + 6.2 * Math.min(room, scope.length);
    spans.push(
      s(
        "g",
        { class: "tft-scope-span" },
        s("title", {}, scope),
        s("path", { d: `M${left.toFixed(1)},${y + 15}H${(right - 1).toFixed(1)}` }),
        isNamed ? s("text", { x: (left + 2).toFixed(1), y: y + 10 }, shorten(scope, room)) : null,
      ),
    );
  }
  return spans;
}

function scopeOf(name: string): string {
  const parts = name.split("/");
  // Of gradients it matters of what; the scope itself would be one long band.
  return parts.length < 2
    ? ""
    : parts[0] === "gradients" && parts.length > 2
      ? `∇ ${parts[1]!.replace(/_grad$/, "")}`
      : parts[0]!;
}
