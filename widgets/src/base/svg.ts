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

/** Returns the call that draws, at most once a frame; also drawn when the element changes its size. */
export function drawer(el: HTMLElement, draw: () => void, cleanup: Cleanup): () => void {
  let frame = 0;
  const later = (): void => {
    if (frame !== 0) return;
    frame = requestAnimationFrame(() => {
      frame = 0;
      if (el.clientWidth > 0) draw(); // while it is hidden, the last picture stays valid
    });
  };
  cleanup.onResize(el, later);
  cleanup.add(() => cancelAnimationFrame(frame));
  return later;
}
