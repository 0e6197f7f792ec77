// What has to be undone when a view ends.

/** Listeners, observers and timers that outlive a view unless they are undone; `end` undoes all of them. */
export class Cleanup {
  private undo: (() => void)[] = [];

  add(...undo: (() => void)[]): void {
    this.undo.push(...undo);
  }

  /** Listens to a target that is not part of the view, such as the page or the view's root. */
  on<K extends keyof HTMLElementEventMap>(
    target: EventTarget,
    type: K,
    act: (event: HTMLElementEventMap[K]) => void,
    options: AddEventListenerOptions = {},
  ): void {
    this.add(listen(target, type, act, options));
  }

  /** Calls `act` when an element changes its size. */
  onResize(element: Element, act: () => void): void {
    const observer = new ResizeObserver(act);
    observer.observe(element);
    this.add(() => observer.disconnect());
  }

  end(): void {
    const undo = this.undo;
    this.undo = [];
    for (const act of undo.reverse()) act();
  }
}

/** Listens until the returned function is called. */
export function listen<K extends keyof HTMLElementEventMap>(
  target: EventTarget,
  type: K,
  act: (event: HTMLElementEventMap[K]) => void,
  options: AddEventListenerOptions = {},
): () => void {
  const hear = act as EventListener;
  target.addEventListener(type, hear, options);
  return () => target.removeEventListener(type, hear, options);
}
