// The picture as a self-contained file: SVG with inlined styles, or PNG.

const PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "stroke-opacity",
  "opacity",
  "visibility",
  "font-family",
  "font-size",
  "font-weight",
  "letter-spacing",
  "text-anchor",
  "paint-order",
];
const DEFAULTS: Record<string, string> = {
  "fill-opacity": "1",
  "stroke-opacity": "1",
  opacity: "1",
  visibility: "visible",
  "stroke-dasharray": "none",
  "stroke-linecap": "butt",
  "stroke-linejoin": "miter",
  "letter-spacing": "normal",
  "paint-order": "normal",
  stroke: "none",
  "font-weight": "400",
};
const TEXT_ONLY = new Set(["font-family", "font-size", "font-weight", "letter-spacing", "text-anchor", "paint-order"]);
const MARGIN = 16;
const LARGEST_PX = 8000; // a side of a PNG; browsers refuse more

export interface Picture {
  svg: string;
  w: number;
  h: number;
}

/** The whole drawing, including the invisible part, with its current styles. */
export function picture(drawing: SVGSVGElement, size: { w: number; h: number }, name: string): Picture {
  const [w, h] = [Math.ceil(size.w + 2 * MARGIN), Math.ceil(size.h + 2 * MARGIN)];
  const far = drawing.classList.contains("tft-far");
  drawing.classList.remove("tft-far"); // from far away small words are left out
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  const [here, there] = [drawing.querySelectorAll("*"), copy.querySelectorAll("*")];
  for (const [i, el] of there.entries()) setStyle(el, getComputedStyle(here[i]!));
  drawing.classList.toggle("tft-far", far);
  for (const el of copy.querySelectorAll(".tft-fetcher, .tft-overlay")) el.remove();
  copy.firstElementChild!.setAttribute("transform", `translate(${MARGIN},${MARGIN})`);
  for (const el of [copy, ...copy.querySelectorAll("*")]) strip(el);
  for (const [key, value] of Object.entries({
    viewBox: `0 0 ${w} ${h}`,
    width: `${w}`,
    height: `${h}`,
    role: "img",
    "aria-label": name,
  })) {
    copy.setAttribute(key, value);
  }
  const ground = document.createElementNS(copy.namespaceURI, "rect");
  const colour = getComputedStyle(drawing.closest(".tfteach-graph")!).backgroundColor;
  for (const [key, value] of Object.entries({ width: `${w}`, height: `${h}`, fill: colour }))
    ground.setAttribute(key, value);
  copy.prepend(ground);
  return { svg: new XMLSerializer().serializeToString(copy), w, h };
}

function setStyle(el: Element, style: CSSStyleDeclaration): void {
  const draws = el.tagName !== "g" && el.tagName !== "title";
  const text = el.tagName === "text";
  if (!draws) {
    if (style.opacity !== "1") el.setAttribute("opacity", style.opacity);
    el.removeAttribute("style");
    return;
  }
  el.removeAttribute("style");
  for (const property of PROPERTIES) {
    const value = style.getPropertyValue(property);
    if (value === "" || value === DEFAULTS[property] || (!text && TEXT_ONLY.has(property))) continue;
    if (property.startsWith("stroke") && style.stroke === "none") continue;
    el.setAttribute(property, value);
  }
}

/** Removes classes, roles and other attributes that only a page needs. */
function strip(el: Element): void {
  for (const { name } of [...el.attributes]) {
    if (/^(class|style|tabindex|role|aria-.*|data-.*)$/.test(name)) el.removeAttribute(name);
  }
}

export async function png({ svg, w, h }: Picture): Promise<Blob> {
  const scale = Math.min(2, LARGEST_PX / w, LARGEST_PX / h);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.ceil(w * scale), Math.ceil(h * scale)];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) =>
    canvas.toBlob(
      (blob) => (blob === null ? fail(new Error("the picture is too large for a PNG")) : done(blob)),
      "image/png",
    ),
  );
}

/** Downloads a file. */
export function download(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  // In the document for a moment: VS Code intercepts downloads there.
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
