// The layout in progress: at most one, replaced by a new one; if it takes long, a message with a stop button appears.
import { button, h } from "./elements";
import type { Steps } from "./time_slices";
import { inSlices } from "./time_slices";

const PATIENCE_MS = 250;

export class LayoutProgress {
  readonly #stopped: () => void;
  readonly #words = h("span", {});
  readonly #sign: HTMLElement;
  #stopSteps: (() => void) | null = null;
  #timer = 0;

  /** `stopped` is called when the reader stops it. */
  constructor(stage: HTMLElement, stopped: () => void) {
    this.#stopped = stopped;

    this.#sign = h(
      "div",
      { class: "tft-working", role: "status" },
      this.#words,
      button("Stop", "Stop (Escape)", () => this.stop()),
    );
    this.#sign.hidden = true;
    stage.append(this.#sign);
  }

  get busy(): boolean {
    return this.#stopSteps !== null;
  }

  /** Starts; `words` describe the work, `done` receives the result. */
  start<T>(words: string, steps: Steps<T>, done: (result: T) => void): void {
    this.drop();
    const stop = inSlices(steps, (result) => {
      this.drop();
      done(result); // which may start the next
    });
    if (stop === null) return;
    this.#stopSteps = stop;
    this.#words.textContent = words;
    this.#timer = window.setTimeout(() => (this.#sign.hidden = false), PATIENCE_MS);
  }

  /** Cancels it silently. */
  drop(): void {
    this.#stopSteps?.();
    this.#stopSteps = null;
    clearTimeout(this.#timer);
    this.#sign.hidden = true;
  }

  /** True if there was something to stop. */
  stop(): boolean {
    if (!this.busy) return false;
    this.drop();
    this.#stopped();
    return true;
  }
}
