import type { Measure } from "./box_style";
import { estimateWidth } from "./box_style";

const FONTS = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

/** Text widths from the page's own font. */
export function makeMeasure(): Measure {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null) return estimateWidth;
  const known = new Map<string, number>();
  return (text, fontPx, bold) => {
    const key = `${bold ? "b" : ""}${fontPx}|${text}`;
    let width = known.get(key);
    if (width === undefined) {
      context.font = `${bold ? "600 " : ""}${fontPx}px ${FONTS}`;
      width = context.measureText(text).width;
      known.set(key, width);
    }
    return width;
  };
}
