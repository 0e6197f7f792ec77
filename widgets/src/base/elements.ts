// Elements without HTML strings: names in a graph are data, and only ever become text.

export type Child = Node | string | null;

/** An attribute's value; null leaves it out, and a function under "onclick" (or another event) listens. */
export type Attributes = Record<string, string | number | boolean | null | ((event: never) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

/** Sets attributes, adds listeners and children. */
export function fill<E extends Element>(el: E, attributes: Attributes, children: Child[]): E {
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") el.addEventListener(key.slice(2), value as EventListener);
    else if (value !== null) el.setAttribute(key, `${value}`);
  }
  el.append(...children.filter((child) => child !== null));
  return el;
}

/** A button named `title`, together with its visible text, by which users of speech input call it. */
export function button(text: string, title: string, press: () => void, className = "tft-button"): HTMLButtonElement {
  const words = text.replace(/[^\p{L}\p{N}\p{P} ]/gu, "").trim();
  const name = title.toLowerCase().includes(words.toLowerCase()) ? title : `${words}: ${title}`;
  return h("button", { type: "button", class: className, title, "aria-label": name, onclick: press }, text);
}

/** A name that may break behind each of its scopes. */
export const breakable = (name: string): (string | HTMLElement)[] =>
  name.split(/(?<=[/])/).flatMap((part) => [part, h("wbr")]);

/** Keeps a key or a click from the page: a notebook would act on it as well. */
export function consume(event: Event): void {
  event.preventDefault();
  event.stopPropagation();
}

/** The element that has the focus where `el` is: inside a shadow root the page knows its host only. */
export function focusNear(el: Node): Element | null {
  const root = el.getRootNode();
  return root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
}
