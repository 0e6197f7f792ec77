// The growth view: ops plotted against runs, and the graph as it grew; several growths play in step, by their runs.
// Graphs that the same lines built again go on where the first one ended.

import { Cleanup } from "../base/cleanup";
import { h } from "../base/elements";
import { count, digits } from "../base/format";
import { Player } from "../base/player";
import type { MeterScale } from "../drawing/growth_meter";
import { footOf } from "../drawing/growth_meter";
import type { PaneData } from "../graph_view/growth_pane";
import { GrowthPane } from "../graph_view/growth_pane";
import type { GrowthTraits } from "../kernel/growth_messages";
import { decodeRound } from "../kernel/growth_messages";
import { hosted } from "../kernel/host";
import type { Traits } from "../kernel/traits";
import { onChange } from "../kernel/traits";
import type { GrowthFrame } from "../model/growth_frames";
import { lastOf, makeFrames, runsOf } from "../model/growth_frames";
import { GraphTracks } from "../panels/graph_tracks";

const PACE = { shortest: 70, longest: 260, whole: 12_000 }; // milliseconds

class GrowthView {
  readonly #traits: Traits<GrowthTraits>;
  readonly #root: HTMLElement;
  readonly #panes: GrowthPane[];
  readonly #tracks = new GraphTracks();
  #frames: GrowthFrame[] = [];
  /** Where the reader is; null at the end, which may still move on. */
  #at: number | null = null;
  #batches = 0;
  readonly #slider = h("input", { type: "range", min: "0", value: "0", "aria-label": "Moment in the program" });
  readonly #statusText = h("span", { class: "tft-growth-said" });
  readonly #live = h("div", { class: "tft-sr", "aria-live": "polite" });
  readonly #cleanup = new Cleanup();
  readonly #player = new Player(
    {
      first: () => 0,
      last: () => this.#frames.length - 1,
      position: () => this.#at ?? this.#frames.length - 1,
      seek: (to) => this.#show(to),
      paused: () => {
        this.#live.textContent = this.#statusText.textContent;
      },
    },
    PACE,
    { play: "▶ Play", title: "Play how the graph grew" },
    this.#cleanup,
  );

  constructor(traits: Traits<GrowthTraits>, parent: HTMLElement) {
    this.#traits = traits;

    const data = traits
      .get("_panes")
      .map(({ twins, rounds, ...rest }): PaneData => ({ ...rest, twins: [...twins], rounds: rounds.map(decodeRound) }));
    const pair = data.length > 1;
    const bar = h(
      "div",
      { class: "tft-growth-bar", role: "toolbar", "aria-label": "Time" },
      this.#player.button,
      this.#slider,
      this.#statusText,
    );
    const body = h("div", { class: pair ? "tft-panes tft-pair" : "tft-panes", style: `--tft-panes: ${data.length}` });
    this.#root = h(
      "div",
      { class: "tfteach-graph tfteach-growth", "data-lm-suppress-shortcuts": "true" },
      this.#tracks.root,
      bar,
      body,
      this.#live,
    );
    parent.append(this.#root);
    this.#panes = data.map(
      (d) =>
        new GrowthPane(
          d,
          traits.get("height"),
          (run) => this.#seekRun(run),
          () => this.#scale().runs,
          () => this.#level(),
        ),
    );
    body.append(...this.#panes.map((pane) => pane.root));
    this.#slider.addEventListener("input", () => this.#player.seek(Number(this.#slider.value)));
    this.#root.addEventListener("keydown", (event) => this.#key(event));
    this.#cleanup.add(
      onChange(traits, ["_batches"], () => this.#takeBatches()),
      onChange(traits, ["_lives"], () => {
        this.#takeLives();
        this.#remake();
      }),
      () => this.#root.remove(),
      ...this.#panes.map((pane) => () => pane.destroy()),
    );
    this.#cleanup.onResize(this.#root, () => this.#resized());
    this.#takeBatches();
    this.#takeLives();
    this.#remake();
    this.#level();
  }

  destroy(): void {
    this.#cleanup.end();
  }

  #takeBatches(): void {
    const before = this.#batches;
    for (; this.#batches < this.#traits.get("_batches"); this.#batches++) {
      const batch = this.#traits.get(`_batch_${this.#batches}`);
      if (batch !== undefined) this.#panes[batch.pane]?.take(batch); // else it is in _panes already
    }
    if (this.#batches > before) this.#remake();
  }

  #takeLives(): void {
    const lives = this.#traits.get("_lives");
    for (const [i, pane] of this.#panes.entries()) pane.join(lives[i] ?? null);
    this.#tracks.show(
      lives,
      this.#panes.map(({ data }) => data.title),
    );
  }

  #remake(): void {
    this.#frames = makeFrames(this.#panes.map((pane) => pane.grown));
    this.#show(this.#at);
  }

  #scale(): MeterScale {
    const ops = Math.max(1, ...this.#panes.map(({ grown }) => lastOf(grown)));
    const from = footOf(Math.min(...this.#panes.map(({ data }) => data.before)), ops);
    return { runs: Math.max(1, ...this.#panes.map(({ grown }) => runsOf(grown))), ops, from };
  }

  // --- time ---

  #show(at: number | null): void {
    const last = this.#frames.length - 1;
    this.#at = at === null || at >= last ? null : Math.max(0, at);
    const index = this.#at ?? last;
    const frame = this.#frames[index]!;
    const scale = this.#scale();
    for (const [i, pane] of this.#panes.entries()) pane.show(frame, i, this.#frames[index - 1], scale);
    this.#tracks.mark(this.#at === null ? [] : this.#panes.map((pane) => pane.graph));
    this.#slider.max = `${last}`;
    this.#slider.value = `${index}`;
    const words = this.#panes.map(
      ({ data }, i) => `${data.title === "" ? "" : `${data.title} `}${count(frame.ops[i] ?? 0, "op")}`,
    );
    const ran = this.#panes.some(({ grown }) => runsOf(grown) > 0);
    const unit = this.#panes.every((pane) => pane.unit === "iteration") ? "iteration" : "run";
    this.#statusText.textContent = ran
      ? `after ${digits(frame.run)} of ${count(scale.runs, unit)}`
      : unit === "run"
        ? "no run yet"
        : "no loop";
    this.#slider.setAttribute("aria-valuetext", `after ${frame.run} ${unit}s: ${words.join(", ")}`);
  }

  #seekRun(run: number): void {
    const at = this.#frames.findIndex((frame) => frame.run >= run);
    this.#player.seek(at < 0 ? this.#frames.length - 1 : at);
  }

  #key(event: KeyboardEvent): void {
    if ((event.target as Element).closest(".tft-growth-graph") !== null) return; // a graph has arrow keys of its own
    this.#player.key(event);
  }

  // --- places ---

  #resized(): void {
    const scale = this.#scale();
    for (const pane of this.#panes) pane.drawMeter(scale);
    this.#level();
  }

  #level(): void {
    if (this.#traits.get("height") === 0) for (const pane of this.#panes) pane.fitHeight(this.#panes.length > 1);
  }
}

export default hosted((traits: Traits<GrowthTraits>, el) => new GrowthView(traits, el));
