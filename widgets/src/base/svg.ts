// SVG elements without strings of markup.
type Child = Node | string | null;

const SVG = "http://www.w3.org/2000/svg";

export function s(tag: string, attrs: Record<string, string | number> = {}, ...children: Child[]): SVGElement {
  const el = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attrs)) el.setAttribute(key, `${value}`);
  el.append(...children.filter((c) => c !== null));
  return el;
}

/** An element at the end of its parent. */
export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  parent: Element | null,
  attrs: Record<string, string> = {},
): SVGElementTagNameMap[K] {
  const el = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(attrs)) el.setAttribute(key, value);
  parent?.appendChild(el);
  return el;
}

/** Calls `draw` at most once a frame, and when the element's size changes; returns the call and its undoing. */
export function drawer(el: HTMLElement, draw: () => void): { later: () => void; stop: () => void } {
  let frame = 0;
  const later = (): void => {
    if (frame === 0)
      frame = requestAnimationFrame(() => {
        frame = 0;
        if (el.clientWidth > 0) draw(); // hidden for a moment: the last picture is right when it comes back
      });
  };
  const sizes = new ResizeObserver(later);
  sizes.observe(el);
  return {
    later,
    stop: () => {
      sizes.disconnect();
      cancelAnimationFrame(frame);
    },
  };
}
