// A window on a time span: zoom, pan, ticks. No DOM.
export interface Window {
  from: number;
  to: number;
}

/** The window clamped to 0..span, and no narrower than 1/2000 of it. */
export function within({ from, to }: Window, span: number): Window {
  const wide = Math.min(span, Math.max(span / 2000, to - from));
  const start = Math.min(span - wide, Math.max(0, from));
  return { from: start, to: start + wide };
}

/** `factor` < 1 zooms in; the point `at` stays fixed. */
export function zoomed({ from, to }: Window, factor: number, at: number, span: number): Window {
  return within({ from: at - (at - from) * factor, to: at + (to - at) * factor }, span);
}

export function panned({ from, to }: Window, by: number, span: number): Window {
  return within({ from: from + by, to: to + by }, span);
}

/** Round numbers in the window, about `count` of them. */
export function ticks({ from, to }: Window, count: number): number[] {
  const rough = (to - from) / Math.max(1, count);
  if (!(rough > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough)!;
  const found: number[] = [];
  for (let n = Math.ceil(from / step); n * step <= to; n += 1) found.push(n * step);
  return found;
}
