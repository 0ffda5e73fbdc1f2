// A strip: the name of a figure, a small picture of how it went, and its value. Pictures are drawn in a box
// that is stretched to the width of the page.
import { element } from "./element";
import { draw } from "./svg";

export const WIDTH = 760;
export const HEIGHT = 34;
const PAD = 3;

// Where a value lies in the box, between the least and the largest that it shows.
export function heightOf(value: number, low: number, high: number): number {
  return HEIGHT - PAD - ((value - low) / Math.max(1e-9, high - low)) * (HEIGHT - 2 * PAD);
}

export function strip(title: string, lines: SVGElement[], ...value: (Node | string | null)[]): HTMLElement {
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": title }, ...lines);
  return element("div", { class: "strip" }, element("span", { class: "strip-name" }, title), picture,
    element("span", { class: "strip-value" }, ...value));
}
