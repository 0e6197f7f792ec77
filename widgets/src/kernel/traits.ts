// anywidget's model, typed.

/** anywidget's model, as far as a view with these traits uses it. */
export interface Traits<S> {
  get<K extends keyof S>(key: K): S[K];
  set<K extends keyof S>(key: K, value: S[K]): void;
  save_changes(): void;
  on(event: Change<S>, callback: () => void): void;
  off(event: Change<S>, callback: () => void): void;
}

export type Change<S> = `change:${Extract<keyof S, string>}`;

/** `traits` with some values overridden. */
export function overlaid<S extends object>(traits: Traits<S>, own: Partial<S>): Traits<S> {
  return {
    get: (key) => (Object.hasOwn(own, key) ? (own[key] as S[typeof key]) : traits.get(key)),
    set: (key, value) => traits.set(key, value),
    save_changes: () => traits.save_changes(),
    on: (event, callback) => traits.on(event, callback),
    off: (event, callback) => traits.off(event, callback),
  };
}

/** Sets traits in the page and sends them to the kernel, as one message. */
export function update<S>(traits: Traits<S>, values: Partial<S>): void {
  for (const key of Object.keys(values) as (keyof S)[]) traits.set(key, values[key] as S[typeof key]);
  traits.save_changes();
}

/** Calls `act` when one of the traits changes, until the returned function is called. */
export function onChange<S>(traits: Traits<S>, keys: Extract<keyof S, string>[], act: () => void): () => void {
  for (const key of keys) traits.on(`change:${key}`, act);
  return () => {
    for (const key of keys) traits.off(`change:${key}`, act);
  };
}
