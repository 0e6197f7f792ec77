import type { ReadonlySignal } from "@preact/signals-core";
import { signal } from "@preact/signals-core";
import type { Cleanup } from "../base/cleanup";
import type { Traits } from "./traits";
import { onChange } from "./traits";

/** A trait as a signal that follows it; write the trait to change it. */
export function traitSignal<S, K extends Extract<keyof S, string>>(
  traits: Traits<S>,
  key: K,
  cleanup: Cleanup,
): ReadonlySignal<S[K]> {
  const found = signal(traits.get(key));
  cleanup.add(
    onChange(traits, [key], () => {
      found.value = traits.get(key);
    }),
  );
  return found;
}
