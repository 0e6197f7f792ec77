// SVG elements, and a scheduler for drawing them.
import type { Cleanup } from "./cleanup";
import type { Attributes, Child } from "./elements";
import { fill } from "./elements";

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** An element at the end of its parent. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  parent: Element | null,
  attributes: Attributes = {},
): SVGElementTagNameMap[K] {
  const el = s(tag, attributes);
  parent?.append(el);
  return el;
}

/**
 * Returns the call that draws, at most once a frame; also drawn when the element changes its size.
 *
 * The browser reports a size only if it differs from the one reported before. A picture may be drawn while the
 * element has another size for a moment, as when a page exchanges its style sheets: its return to the size before
 * is then no change. So whenever the two differ, the size is asked for once more.
 */
export function drawer(el: HTMLElement, draw: () => void, cleanup: Cleanup): () => void {
  let frame = 0;
  let [reported, drawn] = [-1, -1]; // widths
  let asked = false;
  const later = (): void => {
    if (frame !== 0) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      drawn = el.clientWidth;
      if (drawn > 0) draw(); // while it is hidden, the last picture stays valid
      asked = drawn !== reported;
      if (asked) askAgain();
    });
  };
  const askAgain = cleanup.onResize(el, () => {
    reported = el.clientWidth;
    if (!asked || reported !== drawn) later();
    asked = false;
  });
  cleanup.add(() => cancelAnimationFrame(frame));
  return later;
}
