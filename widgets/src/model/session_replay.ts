// The state of each session after a number of runs, from where it began and what each run changed.

import type { Holds, SessionRun } from "../kernel/view_messages";

/** Each session's variable values after the first `count` runs. */
export function replay(start: Record<string, Holds>, runs: readonly SessionRun[], count: number): Map<string, Holds> {
  const states = new Map(Object.entries(start).map(([name, holds]) => [name, { ...holds }]));
  for (const { session, changes } of runs.slice(0, count)) {
    const holds = states.get(session) ?? {};
    states.set(session, Object.assign(holds, changes));
  }
  return states;
}
