// The model of a view in a saved page: it has the traits of the moment when it was saved, and instead of a kernel the
// answers that were recorded then.

type Values = Record<string, unknown>;

/** What the kernel would have answered; `answer` has a number in `values` for each trait. */
export interface Answers {
  /** The traits that ask. */
  asked: string[];
  values: unknown[];
  cases: { when: unknown[]; answer: Record<string, number> }[];
  /** The traits if none of the cases is asked for. */
  otherwise: Values;
}

export class SavedModel {
  /** Called with the names of the traits that a view changed. */
  onSaved: (names: ReadonlySet<string>) => void = () => undefined;
  readonly #state: Values;
  readonly #answers: Answers | null;
  readonly #listeners = new Map<string, Set<() => void>>();
  #changed = new Set<string>();

  constructor(state: Values, answers: Answers | null) {
    this.#state = state;
    this.#answers = answers;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.#state, key);
  }

  get(key: string): unknown {
    return this.#state[key];
  }

  set(key: string, value: unknown): void {
    this.#state[key] = value;
    this.#changed.add(key);
    for (const act of [...(this.#listeners.get(`change:${key}`) ?? [])]) act();
  }

  save_changes(): void {
    const changed = this.#changed;
    this.#changed = new Set();
    if (changed.size > 0) this.onSaved(changed);
    this.answer(changed);
  }

  send(): void {
    // There is nobody to receive it.
  }

  on(event: string, act: () => void): void {
    const known = this.#listeners.get(event);
    if (known === undefined) this.#listeners.set(event, new Set([act]));
    else known.add(act);
  }

  off(event: string, act: () => void): void {
    this.#listeners.get(event)?.delete(act);
  }

  /** Does what the kernel would do after these traits were changed. */
  answer(changed: ReadonlySet<string>): void {
    const answers = this.#answers;
    if (answers === null) return;
    if (changed.has("_asked") && this.#knowsOtherWay(answers)) this.#take({ _heard: this.get("_asked") });
    if (!answers.asked.some((key) => changed.has(key))) return;
    this.#take(find(answers, (key) => this.get(key)) ?? answers.otherwise);
  }

  /** Whether a click on the button of a folded run can be answered. */
  #knowsOtherWay(answers: Answers): boolean {
    const other = (key: string): unknown => (key === "unfolded" ? !this.get(key) : this.get(key));
    return answers.asked.includes("unfolded") && find(answers, other) !== undefined;
  }

  #take(values: Values): void {
    for (const [key, value] of Object.entries(values)) this.set(key, value);
    for (const key of Object.keys(values)) this.#changed.delete(key);
  }
}

function find(answers: Answers, get: (key: string) => unknown): Values | undefined {
  const now = JSON.stringify(answers.asked.map(get));
  const answer = answers.cases.find(({ when }) => JSON.stringify(when) === now)?.answer;
  if (answer === undefined) return undefined;
  return Object.fromEntries(Object.entries(answer).map(([key, number]) => [key, answers.values[number]]));
}
