// The state of each session after a number of runs, from where it began and what each run changed.

export interface RunRow {
  session: string;
  fetches: string[];
  feeds: string[];
  where: string;
  text: string;
  error: string;
  /** Variable -> what it holds after the run; null for uninitialized. */
  changes: Record<string, string | null>;
}

export type Holds = Record<string, string | null>;

/** What each session's variables hold after the first `count` runs. */
export function replay(start: Record<string, Holds>, runs: readonly RunRow[], count: number): Map<string, Holds> {
  const states = new Map(Object.entries(start).map(([name, holds]) => [name, { ...holds }]));
  for (const { session, changes } of runs.slice(0, count)) {
    const holds = states.get(session) ?? {};
    states.set(session, Object.assign(holds, changes));
  }
  return states;
}
