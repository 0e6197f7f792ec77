// Translates pointer and keyboard events on the canvas into the view's actions.
import type { Cleanup } from "../base/cleanup";
import { consume, focusNear } from "../base/elements";
import type { SceneNode } from "../layout/scene";
import type { Canvas } from "./canvas";

export interface InputActions {
  select: (id: string | null) => void;
  toggleOpen: (id: string) => void;
  toggleFetch: (id: string) => void;
  toggleFeed: (id: string) => void;
  hover: (id: string | null) => void;
  search: () => void;
  escape: () => void;
  /** Takes another key; true if it means something. */
  key: (key: string) => boolean;
  moved: () => void;
  fit: () => void;
  selected: () => string;
  visible: () => SceneNode[];
}

const CLICK_PX = 4;

export function listenToCanvas(canvas: Canvas, actions: InputActions, cleanup: Cleanup): void {
  const { el } = canvas;
  const on = <K extends keyof HTMLElementEventMap>(
    type: K,
    act: (event: HTMLElementEventMap[K]) => void,
    options: AddEventListenerOptions = { passive: true },
  ): void => cleanup.on(el, type, act, options);
  let drag: { x: number; y: number; vx: number; vy: number; far: boolean } | null = null;

  on("pointerdown", (event) => {
    if (event.button !== 0) return;
    drag = { x: event.clientX, y: event.clientY, vx: canvas.view.x, vy: canvas.view.y, far: false };
  });
  on("pointermove", (event) => {
    if (drag === null) {
      actions.hover(idAt(event.target));
      return;
    }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.far && Math.hypot(dx, dy) < CLICK_PX) return;
    if (!drag.far) {
      drag.far = true;
      el.setPointerCapture(event.pointerId);
      el.classList.add("tft-dragging");
    }
    canvas.setView(drag.vx + dx, drag.vy + dy, canvas.view.k);
    actions.moved();
  });
  const end = (): void => {
    el.classList.remove("tft-dragging");
    // The click event that follows has to know that this was a drag.
    setTimeout(() => (drag = null), 0);
  };
  on("pointerup", end);
  on("pointercancel", end);
  on("pointerleave", () => actions.hover(null));
  on("click", (event) => {
    if (drag?.far === true) return;
    const id = idAt(event.target);
    el.focus({ preventScroll: true });
    if (id === null) return actions.select(null);
    const target = event.target as Element;
    if (target.closest(".tft-toggle") !== null) return actions.toggleOpen(id);
    if (event.shiftKey || target.closest(".tft-fetcher") !== null) return actions.toggleFetch(id);
    actions.select(id);
  });
  on("dblclick", (event) => {
    const id = idAt(event.target);
    if (id !== null && (event.target as Element).closest(".tft-toggle, .tft-fetcher") === null) actions.toggleOpen(id);
  });
  on(
    "wheel",
    (event) => {
      // Without the focus the wheel scrolls the page; with Ctrl (a pinch) it always zooms.
      if (!event.ctrlKey && !event.metaKey && !el.contains(focusNear(el))) return;
      event.preventDefault();
      const box = el.getBoundingClientRect();
      const step = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
      canvas.zoom(
        Math.exp(-step * (event.ctrlKey ? 0.006 : 0.0018)),
        event.clientX - box.left,
        event.clientY - box.top,
      );
      actions.moved();
    },
    { passive: false },
  );
  on("keydown", (event) => onKey(event, canvas, actions), { passive: false });
}

function idAt(target: EventTarget | null): string | null {
  const node = (target as Element | null)?.closest?.(".tft-node");
  return (node as SVGGElement | null)?.dataset.id ?? null;
}

function onKey(event: KeyboardEvent, canvas: Canvas, actions: InputActions): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const id = actions.selected();
  const { width, height } = canvas.size();
  const zoom = (factor: number): void => {
    canvas.zoom(factor, width / 2, height / 2);
    actions.moved();
  };
  const keys: Record<string, () => void> = {
    ArrowUp: () => step(0, -1, canvas, actions),
    ArrowDown: () => step(0, 1, canvas, actions),
    ArrowLeft: () => step(-1, 0, canvas, actions),
    ArrowRight: () => step(1, 0, canvas, actions),
    Enter: () => actions.toggleOpen(id),
    " ": () => actions.toggleOpen(id),
    f: () => actions.toggleFetch(id),
    d: () => actions.toggleFeed(id),
    "/": actions.search,
    Escape: actions.escape,
    "+": () => zoom(1.25),
    "=": () => zoom(1.25),
    "-": () => zoom(0.8),
    "0": actions.fit,
  };
  const act = keys[event.key] ?? (actions.key(event.key) ? () => undefined : undefined);
  if (act === undefined) return;
  consume(event);
  act();
}

/** Selects the nearest box in a direction; sideways distance counts more. */
function step(dx: number, dy: number, canvas: Canvas, actions: InputActions): void {
  const nodes = actions.visible();
  const here = nodes.find((n) => n.id === actions.selected());
  const anchor = (n: SceneNode): [number, number] => [n.x, n.open ? n.y - n.h / 2 + 14 : n.y];
  let best: SceneNode | undefined;
  if (here === undefined) best = nodes[0];
  else {
    const [hx, hy] = anchor(here);
    let least = Infinity;
    for (const n of nodes) {
      const [nx, ny] = anchor(n);
      const along = (nx - hx) * dx + (ny - hy) * dy;
      const across = Math.abs((nx - hx) * dy) + Math.abs((ny - hy) * dx);
      if (n === here || along < 4) continue;
      const cost = along + across * 2.2;
      if (cost < least) [least, best] = [cost, n];
    }
  }
  if (best === undefined) return;
  actions.select(best.id);
  canvas.reveal(best.id);
}
