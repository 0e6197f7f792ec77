// Undoing listeners, observers and timers when a view ends.

/** Collects what outlives a view unless undone: listeners, observers, timers. `end` undoes all, the last first. */
export class Cleanup {
  #undo: (() => void)[] = [];

  add(...undo: (() => void)[]): void {
    this.#undo.push(...undo);
  }

  /** Listens to a target that may outlive the view, such as the page. */
  on<K extends keyof HTMLElementEventMap>(
    target: EventTarget,
    type: K,
    act: (event: HTMLElementEventMap[K]) => void,
    options?: AddEventListenerOptions,
  ): void;
  on(target: EventTarget, type: string, act: (event: Event) => void, options?: AddEventListenerOptions): void;
  on(target: EventTarget, type: string, act: (event: never) => void, options: AddEventListenerOptions = {}): void {
    const hear = act as EventListener;
    target.addEventListener(type, hear, options);
    this.add(() => target.removeEventListener(type, hear, options));
  }

  /** Calls `act` when an element changes its size; the function that it returns asks for one more call. */
  onResize(element: Element, act: () => void): () => void {
    const observer = new ResizeObserver(act);
    observer.observe(element);
    this.add(() => observer.disconnect());
    return () => {
      observer.unobserve(element);
      observer.observe(element);
    };
  }

  end(): void {
    const undo = this.#undo;
    this.#undo = [];
    for (const act of undo.reverse()) act();
  }
}
