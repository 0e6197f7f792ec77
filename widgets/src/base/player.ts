// Playback: the play button, its timer, and the keys that step through the moments.
import { effect, signal } from "@preact/signals-core";
import type { Cleanup } from "./cleanup";
import { button, consume } from "./elements";

/** The content that is played; its moments are numbered. */
export interface Track {
  first: () => number;
  last: () => number;
  position: () => number;
  seek: (to: number) => void;
  /** Moments at which playing pauses. */
  stops?: () => readonly number[];
  /** False if nothing should move: playing then only goes to the first moment. */
  moves?: () => boolean;
  /** Called when playing ends. */
  paused?: () => void;
}

export interface Pace {
  /** Milliseconds that a moment lasts, at least and at most. */
  shortest: number;
  longest: number;
  /** Milliseconds for all moments; with too many, some are skipped. */
  whole: number;
}

const STEPS: Record<string, number> = {
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
  Home: -Infinity,
  End: Infinity,
};

export class Player {
  readonly #track: Track;
  readonly #pace: Pace;
  readonly button: HTMLButtonElement;
  readonly playing = signal(false);
  #timer = 0;

  constructor(track: Track, pace: Pace, words: { play: string; title: string }, cleanup: Cleanup) {
    this.#track = track;
    this.#pace = pace;

    this.button = button(words.play, words.title, () => this.toggle());
    const name = this.button.getAttribute("aria-label")!;
    cleanup.add(
      effect(() => {
        const playing = this.playing.value;
        this.button.textContent = playing ? "❚❚ Pause" : words.play;
        this.button.setAttribute("aria-label", playing ? "Pause" : name);
      }),
      () => this.pause(),
    );
  }

  toggle(): void {
    if (this.playing.peek()) this.pause();
    else this.#play();
  }

  pause(): void {
    if (!this.playing.peek()) return;
    window.clearInterval(this.#timer);
    this.playing.value = false;
    this.#track.paused?.();
  }

  /** Goes to a moment and stops playing. */
  seek(to: number): void {
    this.pause();
    this.#track.seek(this.#within(to));
  }

  /** Handles arrow, Page, Home and End keys; true if it was one. */
  key(event: KeyboardEvent): boolean {
    const by = STEPS[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return false;
    // Not left to a slider: the notebook would handle the arrow keys.
    consume(event);
    this.seek(this.#track.position() + by);
    return true;
  }

  #within(to: number): number {
    return Math.max(this.#track.first(), Math.min(this.#track.last(), to));
  }

  #play(): void {
    const [track, pace] = [this.#track, this.#pace];
    if (track.position() >= track.last()) track.seek(track.first());
    if (track.moves?.() === false) return;
    const count = Math.max(1, track.last() - track.first() + 1);
    const wait = Math.max(pace.shortest, Math.min(pace.longest, pace.whole / count));
    const stride = Math.max(1, Math.round((count * wait) / pace.whole));
    this.#timer = window.setInterval(() => {
      const [from, stops] = [track.position(), track.stops?.() ?? []];
      track.seek(this.#within(stops.find((stop) => stop > from && stop <= from + stride) ?? from + stride));
      const at = track.position();
      if (at >= track.last() || stops.includes(at)) this.pause();
    }, wait);
    this.playing.value = true;
  }
}
