// The scrubber of a recorded run: memory over the steps, loop iterations, breakpoints, and steps with NaN or infinity.

import type { Cleanup } from "../base/cleanup";
import { h } from "../base/elements";
import { bytesText } from "../base/format";
import { drawer, s } from "../base/svg";
import type { RecordedRun } from "../model/recorded_run";
import { isWrong } from "../model/recorded_run";

const PAD = 14;
const BAND = 7; // pixels, for each nested loop
const CURVE = 26;
const MARKS = 15;
const LEAST_TURN_PX = 3;
const MOST_LINES = 1000; // steps; with more, the line would be a solid block

export class RunScrubber {
  readonly #run: RecordedRun;
  readonly el = h("div", {
    class: "tft-strip",
    role: "slider",
    tabindex: "0",
    "aria-label": "Step of the run",
    "aria-orientation": "horizontal",
  });
  readonly #drawLater: () => void;
  readonly #head = s("g", { class: "tft-strip-head" }, s("path"), s("circle", { r: 5 }));
  readonly #depth: number;
  #stops: readonly number[] = [];
  #at: number;

  constructor(run: RecordedRun, seek: (step: number) => void, cleanup: Cleanup) {
    this.#run = run;
    this.#at = run.first;
    this.#depth = Math.max(0, ...run.steps.map((step) => step.loops.length));
    this.el.setAttribute("aria-valuemin", `${run.first}`);
    this.el.setAttribute("aria-valuemax", `${run.last}`);
    this.#drawLater = drawer(this.el, () => this.#draw(), cleanup);
    const point = (event: PointerEvent): void => {
      if ((event.buttons & 1) === 0) return;
      const box = this.el.getBoundingClientRect();
      seek(
        run.within(
          Math.round(run.first - 0.5 + ((event.clientX - box.left - PAD) / (box.width - 2 * PAD)) * this.#count),
        ),
      );
    };
    this.el.addEventListener("pointerdown", (event) => {
      if (event.button === 0) this.el.setPointerCapture(event.pointerId);
      point(event);
    });
    this.el.addEventListener("pointermove", point);
  }

  setStops(stops: readonly number[]): void {
    if (stops === this.#stops) return;
    this.#stops = stops;
    this.#drawLater();
  }

  show(at: number, words: string): void {
    this.#at = at;
    this.el.setAttribute("aria-valuenow", `${at}`);
    this.el.setAttribute("aria-valuetext", words);
    this.#moveHead();
  }

  get #count(): number {
    return Math.max(1, this.#run.steps.length);
  }

  /** The left edge of a step. */
  #x(step: number): number {
    return PAD + ((step - this.#run.first) / this.#count) * (this.el.clientWidth - 2 * PAD);
  }

  get #top(): number {
    return this.#depth * BAND + 5;
  }

  #moveHead(): void {
    const x = this.#x(this.#at + 0.5).toFixed(1);
    const [line, knob] = this.#head.children;
    line!.setAttribute("d", `M${x},0V${this.#top + CURVE + MARKS}`);
    knob!.setAttribute("cx", x);
    knob!.setAttribute("cy", `${this.#top + CURVE}`);
  }

  #draw(): void {
    const height = this.#top + CURVE + MARKS;
    const base = this.#top + CURVE;
    const width = this.el.clientWidth;
    const picture = s(
      "svg",
      { width, height, "aria-hidden": "true" },
      ...this.#bands(),
      ...this.#curve(base),
      s("path", { class: "tft-strip-base", d: `M${PAD},${base}H${width - PAD}` }),
      ...this.#wrong(base),
      ...this.#diamonds(base),
      this.#head,
    );
    this.el.replaceChildren(picture);
    this.#moveHead();
  }

  #bands(): SVGElement[] {
    const found: SVGElement[] = [];
    for (const { name, starts, last, times } of this.#run.loops) {
      const first = this.#run.at(starts[0]!);
      if (first === undefined) continue;
      const depth = first.loops.findIndex(({ loop }) => this.#run.loops[loop]!.starts === starts);
      const title = s("title", {}, `${name}: ${times} iteration${times === 1 ? "" : "s"}`);
      const group = s("g", { class: "tft-strip-loop" }, title);
      // The recording of a long run is cut.
      const ends = [...starts.slice(1), last + 1].map((end) => Math.min(end, this.#run.last + 1));
      const here = starts.filter((start) => start <= this.#run.last);
      const narrow = (this.#x(ends[here.length - 1]!) - this.#x(starts[0]!)) / here.length < LEAST_TURN_PX;
      const iterations = narrow ? [[starts[0]!, ends[here.length - 1]!]] : here.map((start, i) => [start, ends[i]!]);
      for (const [from, to] of iterations) {
        const [a, b] = [this.#x(from!), this.#x(to!)];
        group.append(
          s("rect", {
            x: a.toFixed(1),
            y: depth * BAND + 3,
            width: Math.max(1, b - a - (narrow ? 0 : 1)).toFixed(1),
            height: BAND - 2,
            rx: 1.5,
          }),
        );
      }
      found.push(group);
    }
    return found;
  }

  #curve(base: number): SVGElement[] {
    const most = Math.max(...this.#run.steps.map(({ live }) => live), 0);
    if (most === 0) return [];
    const y = (bytes: number): string => (base - (bytes / most) * (CURVE - 3)).toFixed(1);
    let way = "";
    for (const { number, live } of this.#run.steps)
      way += `${way === "" ? "M" : "H"}${this.#x(number).toFixed(1)}${way === "" ? `,${y(live)}` : `V${y(live)}`}`;
    const right = this.#x(this.#run.last + 1).toFixed(1);
    return [
      s("path", { class: "tft-strip-memory", d: `${way}H${right}V${base}H${PAD}Z` }),
      ...(this.#count < MOST_LINES ? [s("path", { class: "tft-strip-line", d: `${way}H${right}` })] : []),
      this.#caption(most),
    ];
  }

  /** At the end where the curve is lower. */
  #caption(most: number): SVGElement {
    const part = Math.ceil(this.#run.steps.length / 5);
    const highest = (steps: readonly { live: number }[]): number => Math.max(...steps.map(({ live }) => live));
    const atLeft = highest(this.#run.steps.slice(0, part)) < highest(this.#run.steps.slice(-part));
    return s(
      "text",
      {
        x: (atLeft ? PAD + 9 : this.#x(this.#run.last + 1)).toFixed(1),
        y: this.#top + 7,
        class: atLeft ? "tft-at-left" : "",
      },
      `alive: at most ${bytesText(most)}`,
    );
  }

  /** Steps that produce NaN or infinity; consecutive ones as a single mark. */
  #wrong(base: number): SVGElement[] {
    const run = this.#run;
    const bad = run.steps.filter((step) => step.failed || step.outputs.some((value) => isWrong(run.values[value])));
    const spans: [number, number][] = [];
    for (const { number } of bad) {
      if (spans.at(-1)?.[1] === number) spans.at(-1)![1] = number + 1;
      else spans.push([number, number + 1]);
    }
    return spans.map(([from, to]) =>
      s(
        "rect",
        {
          class: "tft-strip-wrong",
          x: this.#x(from).toFixed(1),
          y: base - 2,
          width: Math.max(3, this.#x(to) - this.#x(from)).toFixed(1),
          height: 4,
        },
        s("title", {}, "NaN or infinity"),
      ),
    );
  }

  #diamonds(base: number): SVGElement[] {
    return this.#stops
      .slice(0, 2000)
      .map((step) =>
        s(
          "path",
          { class: "tft-strip-stop", d: diamond(this.#x(step + 0.5), base + 9) },
          s("title", {}, `breakpoint at step ${step}`),
        ),
      );
  }
}

const diamond = (x: number, y: number): string => `M${x.toFixed(1)},${y - 4.5}l4.5,4.5l-4.5,4.5l-4.5,-4.5z`;
