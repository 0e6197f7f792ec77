// Which part of a picture a window shows, and at what scale: pan, zoom, fit, and moving to a box.
import { svg } from "../base/svg";
import type { Scene } from "../layout/scene";

const MOVE_MS = 380;
const READABLE = 0.62; // scale
const MARGIN = 22;

/** Clamps the start of a picture so that no space beside it stays empty; a smaller picture is centered. */
function within(start: number, size: number, room: number): number {
  const [first, last] = [MARGIN, room - size - MARGIN];
  return first <= last ? (room - size) / 2 : Math.min(first, Math.max(last, start));
}

export class PanZoom {
  readonly el: SVGSVGElement;
  protected readonly world: SVGGElement;
  protected readonly overlay: SVGGElement;
  protected scene: Scene | null = null;
  /** True if the reader prefers no motion. */
  protected readonly calm: () => boolean;
  #room: { width: number; height: number } | null = null;
  view = { x: 0, y: 0, k: 1 };
  /** The smallest scale at which `rest` shows all of the picture. */
  least = READABLE * 0.7;
  onView: () => void = () => undefined;

  constructor(parent: Element, calm: () => boolean) {
    this.calm = calm;
    this.el = svg("svg", parent, {
      class: "tft-canvas",
      role: "application",
      "aria-roledescription": "graph",
      tabindex: "0",
    });
    this.world = svg("g", this.el);
    this.overlay = svg("g", this.el, { class: "tft-overlay" });
  }

  /** Width and height in pixels, cached: reading them forces the browser to lay out all that was just drawn. */
  size(): { width: number; height: number } {
    if (this.#room === null) {
      const { width, height } = this.el.getBoundingClientRect();
      if (width === 0 || height === 0) return { width, height };
      this.#room = { width, height };
    }
    return this.#room;
  }

  /** The space for the canvas may have changed. */
  resized(): void {
    this.#room = null;
  }

  setView(x: number, y: number, k: number): void {
    this.view = { x, y, k };
    const transform = `translate(${x.toFixed(1)},${y.toFixed(1)}) scale(${k.toFixed(4)})`;
    if (transform !== this.world.getAttribute("transform")) this.world.setAttribute("transform", transform);
    this.overlay.firstElementChild?.setAttribute("transform", transform);
    this.el.classList.toggle("tft-far", k < 0.45);
    this.onView();
  }

  /** Zooms by a factor around a point of the canvas. */
  zoom(factor: number, cx: number, cy: number): void {
    const k = Math.min(3, Math.max(0.04, this.view.k * factor));
    const real = k / this.view.k;
    this.setView(cx - (cx - this.view.x) * real, cy - (cy - this.view.y) * real, k);
  }

  /** Shows as much of the picture as is readable: all of it, its beginning, or the part that grows. */
  rest(newest: string | null): void {
    this.fit();
    if (this.scene === null || this.view.k >= this.least) return;
    const { width, height } = this.size();
    const { w, h } = this.scene;
    const k = Math.max(this.view.k, Math.min(READABLE, Math.max((width - 44) / w, (height - 44) / h)));
    this.setView(Math.max(22, (width - w * k) / 2), h * k < height ? (height - h * k) / 2 : 22, k);
    if (newest !== null) this.reveal(newest);
  }

  /** True if the whole picture is visible. */
  showsAll(): boolean {
    const { width, height } = this.size();
    const { x, y, k } = this.view;
    const { w, h } = this.scene ?? { w: 0, h: 0 };
    return x >= 0 && y >= 0 && x + w * k <= width && y + h * k <= height;
  }

  /** Animates to where `place` sets the view. */
  glide(place: () => void): void {
    const from = { ...this.view };
    place();
    if (this.calm()) return;
    const to = { ...this.view };
    const began = performance.now();
    let mine = this.view;
    const tick = (now: number): void => {
      if (this.view !== mine) return; // moved by something else in the meantime
      const t = Math.min(1, Math.max(0, now - began) / MOVE_MS);
      const eased = t * t * (3 - 2 * t);
      const mix = (a: number, b: number): number => a + (b - a) * eased;
      this.setView(mix(from.x, to.x), mix(from.y, to.y), mix(from.k, to.k));
      mine = this.view;
      if (t < 1) requestAnimationFrame(tick);
    };
    tick(began);
  }

  /** Shows the whole picture, hardly ever enlarged. */
  fit(): void {
    if (this.scene === null) return;
    const { width, height } = this.size();
    if (width === 0 || height === 0) return;
    const { w, h } = this.scene;
    const k = Math.min(1.15, (width - 2 * MARGIN) / Math.max(1, w), (height - 2 * MARGIN) / Math.max(1, h));
    this.setView((width - w * k) / 2, (height - h * k) / 2, Math.max(0.04, k));
  }

  /** Pans so that a box becomes visible. */
  reveal(id: string, centre = false): void {
    const n = this.scene?.byId.get(id);
    if (n === undefined) return;
    const { width, height } = this.size();
    const { x, y, k } = this.view;
    const [sx, sy] = [n.x * k + x, n.y * k + y];
    const outside =
      sx - (n.w * k) / 2 < 0 || sx + (n.w * k) / 2 > width || sy - (n.h * k) / 2 < 0 || sy + (n.h * k) / 2 > height;
    if (!outside && !centre) return;
    const scale = centre ? Math.max(k, 0.7) : k;
    const top = n.open ? Math.min(n.y, n.y - n.h / 2 + height / 2 / scale - 12) : n.y;
    const { w, h } = this.scene!;
    this.setView(
      within(width / 2 - n.x * scale, w * scale, width),
      within(height / 2 - top * scale, h * scale, height),
      scale,
    );
  }
}
