// The line above a run that says what the optimizer left out of it, with the button that shows the run unfolded.
import { computed, effect, signal } from "@preact/signals-core";
import { Cleanup } from "../base/cleanup";
import { button, focusNear, h } from "../base/elements";
import { traitSignal } from "../kernel/trait_signal";
import type { Traits } from "../kernel/traits";
import { onChange, update } from "../kernel/traits";
import type { UnfoldableTraits } from "../kernel/view_messages";

const NO_KERNEL = "This needs the kernel, which has not answered: it is busy, or there is none.";

export function foldingNotice<S extends UnfoldableTraits>(traits: Traits<S>, cleanup: Cleanup): HTMLElement {
  const own: Traits<UnfoldableTraits> = traits;
  const folded = traitSignal(own, "_folded", cleanup);
  const unfolded = traitSignal(own, "unfolded", cleanup);
  const heard = traitSignal(own, "_heard", cleanup);
  /** The number sent to the kernel, which returns it: a page without one must not offer what it cannot do. */
  const asked = signal(0);
  const words = h("span", { class: "tft-folded-words" });
  const about = h("span", { class: "tft-muted", "aria-live": "polite" });
  const isWaiting = computed(() => unfolded.value !== (folded.value.unfolded ?? false));
  const press = button("", "", () => {
    if (!isWaiting.value) update(own, { unfolded: !unfolded.value });
  });
  const el = h("div", { class: "tft-folded" }, words, press, about);
  cleanup.add(
    effect(() => {
      const offers = (folded.value.button ?? "") !== "";
      if (!offers || asked.peek() !== 0) return;
      asked.value = 1 + Math.floor(Math.random() * 1e9);
      update(own, { _asked: asked.peek() });
    }),
    effect(() => {
      const { text = "", button: label = "", about: effects = "" } = folded.value;
      const isAnswered = asked.value !== 0 && heard.value === asked.value;
      el.hidden = text === "";
      words.textContent = text.replaceAll(/--(?=\w)/g, "--\u2060"); // an option is one word: no line ends in it
      press.hidden = label === "";
      press.textContent = label;
      press.disabled = !isAnswered;
      press.setAttribute("aria-disabled", `${!isAnswered || isWaiting.value}`); // disabled, it would lose the focus
      press.title = isAnswered ? effects : NO_KERNEL;
      press.setAttribute("aria-label", press.title === "" ? label : `${label}: ${press.title}`);
      const state = isAnswered ? (isWaiting.value ? "Waiting for the kernel …" : effects) : NO_KERNEL;
      about.textContent = label === "" ? "" : state;
    }),
  );
  return el;
}

/** Whether a graph view says of the ops of this run that they run, or that they are needed: not all of them run. */
export function verbOf<S extends UnfoldableTraits>(traits: Traits<S>, cleanup: Cleanup): () => "run" | "needed" {
  const own: Traits<UnfoldableTraits> = traits;
  const folded = traitSignal(own, "_folded", cleanup);
  return () => (folded.value.text === undefined || folded.value.unfolded === true ? "run" : "needed");
}

/** A view of a recorded run, which reads its data once: shown anew, below the same line, for each run that arrives. */
export function renewed<S extends UnfoldableTraits & { _shown: number }>(
  traits: Traits<S>,
  show: (notice: HTMLElement) => { destroy(): void },
): { destroy(): void } {
  const own: Traits<UnfoldableTraits & { _shown: number }> = traits;
  const cleanup = new Cleanup();
  const notice = foldingNotice(own, cleanup);
  let view = show(notice);
  const showAgain = (): void => {
    const hadFocus = notice.contains(focusNear(notice));
    view.destroy();
    view = show(notice);
    if (hadFocus) notice.querySelector("button")?.focus();
  };
  cleanup.add(onChange(own, ["_shown"], showAgain), () => view.destroy());
  return { destroy: () => cleanup.end() };
}
