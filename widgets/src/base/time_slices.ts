// Long work in slices: between them the page stays responsive, and the reader can stop it.

/** A computation that can pause between its steps. */
export type Steps<T> = Generator<void, T>;

const FIRST_MS = 150; // uninterrupted: most pictures are ready by then
const SLICE_MS = 40;

/** Runs all steps without a pause. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs the steps in slices, then calls `done`. Returns a function that stops it, null if it is already done. */
export function inSlices<T>(steps: Steps<T>, done: (result: T) => void): (() => void) | null {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const go = (most: number): boolean => {
    const until = performance.now() + most;
    for (;;) {
      const step = steps.next();
      if (step.done === true) {
        done(step.value);
        return true;
      }
      if (performance.now() > until) break;
    }
    timer = setTimeout(() => go(SLICE_MS));
    return false;
  };
  return go(FIRST_MS) ? null : () => clearTimeout(timer);
}
