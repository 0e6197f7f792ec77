// Elements without HTML strings: names in a graph are data, and only ever become text.

type Child = Node | string | null;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attrs: Record<string, string> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const el = document.createElement(tag);
  for (const [key, value] of Object.entries(attrs)) el.setAttribute(key, value);
  el.append(...children.filter((c) => c !== null));
  return el;
}

export function button(text: string, title: string, press: () => void, className = "tft-button"): HTMLButtonElement {
  // Who speaks to the page says the word that stands there: the name must hold it. Signs are no words.
  const words = text.replace(/[^\p{L}\p{N}\p{P} ]/gu, "").trim();
  const name = title.toLowerCase().includes(words.toLowerCase()) ? title : `${words}: ${title}`;
  const el = h("button", { type: "button", class: className, title, "aria-label": name }, text);
  el.addEventListener("click", press);
  return el;
}

/** The element that has the focus where `el` is: inside a shadow root the page knows its host only. */
export function focusNear(el: Node): Element | null {
  const root = el.getRootNode();
  return root instanceof ShadowRoot || root instanceof Document ? root.activeElement : null;
}
