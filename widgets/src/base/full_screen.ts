// The view on the whole screen, or over the whole page where a page may not have the screen.

import type { Cleanup } from "./cleanup";
import { button } from "./elements";
import { svg } from "./svg";

export class FullScreen {
  readonly #root: HTMLElement;
  readonly #changes: () => void;
  readonly button = button("", "Full screen", () => this.toggle(), "tft-button tft-screen");

  constructor(root: HTMLElement, cleanup: Cleanup, changes: () => void) {
    this.#root = root;
    this.#changes = changes;

    // Drawn, since not every font has such a character.
    svg("path", svg("svg", this.button, { viewBox: "0 0 13 13", "aria-hidden": "true" }), {
      d: "M1,4.5V1H4.5M8.5,1H12V4.5M12,8.5V12H8.5M4.5,12H1V8.5",
    });
    // Without the browser's full screen there is no Escape; the picture and the search handle theirs.
    cleanup.on(root, "keydown", (event) => {
      if (event.key !== "Escape" || (event.target as Element).closest(".tft-canvas, .tft-search-box") !== null) return;
      if (this.leave()) event.stopPropagation();
    });
    cleanup.on(document, "fullscreenchange", () => {
      if (document.fullscreenElement !== this.#root && this.on) this.#set(false);
    });
    cleanup.add(() => {
      if (document.fullscreenElement === this.#root) void document.exitFullscreen();
    });
  }

  get on(): boolean {
    return this.#root.classList.contains("tft-full");
  }

  /** True if it was in full screen. */
  leave(): boolean {
    if (!this.on) return false;
    this.toggle();
    return true;
  }

  toggle(): void {
    if (this.on) {
      if (document.fullscreenElement === this.#root) void document.exitFullscreen();
      this.#set(false);
      return;
    }
    this.#set(true);
    // A frame may not be allowed full screen; the class alone then covers the page.
    Promise.resolve(this.#root.requestFullscreen?.()).catch(() => undefined);
  }

  #set(on: boolean): void {
    this.#changes(); // before the size changes
    this.#root.classList.toggle("tft-full", on);
    this.button.setAttribute("aria-pressed", `${on}`);
  }
}
