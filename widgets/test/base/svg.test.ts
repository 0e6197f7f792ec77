import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Cleanup } from "../../src/base/cleanup";
import { drawer } from "../../src/base/svg";

/** A page of one element: frames run when the test says so, and then sizes are reported, as in a browser. */
class Page {
  el = { clientWidth: 0 };
  #frames: (() => void)[] = [];
  #observers = new Set<{ last: number; act: () => void; on: boolean }>();

  constructor() {
    const page = this;
    vi.stubGlobal("requestAnimationFrame", (act: () => void) => this.#frames.push(act));
    vi.stubGlobal("cancelAnimationFrame", () => {});
    vi.stubGlobal(
      "ResizeObserver",
      class {
        readonly #own: { last: number; act: () => void; on: boolean };
        constructor(act: () => void) {
          this.#own = { last: 0, act, on: false };
          page.#observers.add(this.#own);
        }
        observe(): void {
          Object.assign(this.#own, { last: 0, on: true });
        }
        unobserve(): void {
          this.#own.on = false;
        }
        disconnect(): void {
          this.#own.on = false;
        }
      },
    );
  }

  /** One frame; `meanwhile` runs after the frame's callbacks, before sizes are compared. */
  frame(meanwhile: () => void = () => {}): void {
    const frames = this.#frames;
    this.#frames = [];
    for (const act of frames) act();
    meanwhile();
    for (const each of this.#observers)
      if (each.on && each.last !== this.el.clientWidth) {
        each.last = this.el.clientWidth;
        each.act();
      }
  }

  get waiting(): number {
    return this.#frames.length;
  }
}

let page: Page;
const cleanup = new Cleanup();

beforeEach(() => {
  page = new Page();
});
afterEach(() => {
  cleanup.end();
  vi.unstubAllGlobals();
});

/** The widths that were drawn. */
function start(width: number): { drawn: number[]; later: () => void } {
  const drawn: number[] = [];
  page.el.clientWidth = width;
  const later = drawer(page.el as HTMLElement, () => drawn.push(page.el.clientWidth), cleanup);
  page.frame();
  page.frame();
  return { drawn, later };
}

test("a picture is drawn once for each size, and once a frame", () => {
  const { drawn, later } = start(500);
  expect(drawn).toEqual([500]);
  later();
  later();
  page.frame();
  expect(drawn).toEqual([500, 500]);
  page.el.clientWidth = 300;
  page.frame();
  page.frame();
  expect(drawn).toEqual([500, 500, 300]);
  expect(page.waiting).toBe(0);
});

test("a size that lasts for a moment only leaves no picture", () => {
  const { drawn, later } = start(500);
  later();
  page.el.clientWidth = 485; // a scroll bar, for as long as the page has no style sheet
  page.frame(() => {
    page.el.clientWidth = 500;
  });
  page.frame();
  page.frame();
  expect(drawn).toEqual([500, 485, 500]);
  expect(page.waiting).toBe(0);
});

test("what was to be drawn while the element was hidden is drawn when it is shown", () => {
  const { drawn, later } = start(500);
  later();
  page.el.clientWidth = 0;
  page.frame(() => {
    page.el.clientWidth = 500;
  });
  page.frame();
  expect(drawn).toEqual([500, 500]);
  page.el.clientWidth = 0;
  later();
  for (let i = 0; i < 4; i++) page.frame();
  expect(page.waiting).toBe(0);
  page.el.clientWidth = 400;
  page.frame();
  page.frame();
  expect(drawn).toEqual([500, 500, 400]);
});

test("nothing is drawn after the end", () => {
  const { drawn } = start(500);
  cleanup.end();
  page.el.clientWidth = 300;
  page.frame();
  page.frame();
  expect(drawn).toEqual([500]);
});
