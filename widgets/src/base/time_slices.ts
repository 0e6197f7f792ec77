// Work that may take long is done in slices: between them the page lives, and somebody can stop it.

/** Steps towards a result; between two of them the work can wait. */
export type Steps<T> = Generator<void, T>;

const FIRST_MS = 150; // at once: most pictures are ready by then
const SLICE_MS = 40;

/** All steps without a break. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Takes the steps in slices, then calls `done`. Returns the call that stops it, null if it is done already. */
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
