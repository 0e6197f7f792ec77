// A small map in the corner, shown while the picture is larger than its window, which can be dragged.
import { consume } from "../base/elements";
import { svg } from "../base/svg";
import type { Scene } from "../layout/scene";
import type { Canvas } from "./canvas";

const WIDEST = 168;
const TALLEST = 116;

export class Minimap {
  readonly #canvas: Canvas;
  readonly #moved: () => void;
  readonly #el: SVGSVGElement;
  readonly #boxes: SVGPathElement;
  readonly #open: SVGPathElement;
  readonly #window: SVGRectElement;
  #scale = 1;
  #scene: Scene | null = null;

  /** `moved` is called when the reader drags the window. */
  constructor(stage: HTMLElement, canvas: Canvas, moved: () => void) {
    this.#canvas = canvas;
    this.#moved = moved;

    // Hidden from screen readers: arrow keys, outline and search reach everything.
    this.#el = svg("svg", stage, { class: "tft-minimap", "aria-hidden": "true" });
    this.#open = svg("path", this.#el, { class: "tft-map-open" });
    this.#boxes = svg("path", this.#el, { class: "tft-map-boxes" });
    this.#window = svg("rect", this.#el, { class: "tft-map-window", rx: "2" });
    svg("title", this.#el).textContent = "Drag to move through the graph";
    this.#el.addEventListener("pointerdown", (event) => {
      consume(event);
      this.#el.setPointerCapture(event.pointerId);
      this.#go(event);
    });
    this.#el.addEventListener("pointermove", (event) => {
      if (this.#el.hasPointerCapture(event.pointerId)) this.#go(event);
    });
  }

  draw(scene: Scene): void {
    this.#scene = scene;
    const { w, h } = scene;
    this.#scale = Math.min(WIDEST / Math.max(1, w), TALLEST / Math.max(1, h));
    const at = (n: number): string => (n * this.#scale).toFixed(1);
    this.#el.setAttribute("width", at(w));
    this.#el.setAttribute("height", at(h));
    const path = (open: boolean): string =>
      scene.nodes
        .filter((n) => n.open === open)
        .map((n) => `M${at(n.x - n.w / 2)},${at(n.y - n.h / 2)}h${at(n.w)}v${at(n.h)}h${at(-n.w)}z`)
        .join("");
    this.#open.setAttribute("d", path(true));
    this.#boxes.setAttribute("d", path(false));
    this.follow();
  }

  /** Call when the view has moved or its window was resized. */
  follow(): void {
    const { width, height } = this.#canvas.size();
    const fits = this.#scene === null || width === 0 || this.#canvas.showsAll();
    this.#el.classList.toggle("tft-away", fits);
    if (fits) return;
    const { x, y, k } = this.#canvas.view;
    const [w, h] = [this.#scene!.w * this.#scale, this.#scene!.h * this.#scale];
    const side = (from: number, size: number, most: number): [number, number] => {
      const low = Math.max(0, Math.min(most - 3, from));
      return [low, Math.max(3, Math.min(most, from + size) - low)];
    };
    const [left, across] = side((-x / k) * this.#scale, (width / k) * this.#scale, w);
    const [top, down] = side((-y / k) * this.#scale, (height / k) * this.#scale, h);
    for (const [name, value] of Object.entries({ x: left, y: top, width: across, height: down })) {
      this.#window.setAttribute(name, value.toFixed(1));
    }
  }

  #go(event: PointerEvent): void {
    const map = this.#el.getBoundingClientRect();
    const { width, height } = this.#canvas.size();
    const { k } = this.#canvas.view;
    const { borderLeftWidth } = getComputedStyle(this.#el);
    const edge = parseFloat(borderLeftWidth) || 0;
    const [x, y] = [(event.clientX - map.left - edge) / this.#scale, (event.clientY - map.top - edge) / this.#scale];
    this.#moved();
    this.#canvas.setView(width / 2 - x * k, height / 2 - y * k, k);
  }
}
