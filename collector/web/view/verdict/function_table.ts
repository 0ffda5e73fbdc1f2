// Where a slow rank spends the time that its peers do not: functions of the user's code, the culprit
// against the median of its peers, as a capture of stacks shows them.
import type { HotFunction, Verdict } from "../../model/verdict";
import { element } from "../dom/element";
import { cell, gridHead } from "../dom/grid";
import { draw } from "../dom/svg";

const WIDTH = 160;

function percent(share: number): string {
  return `${(100 * share).toFixed(share < 0.1 ? 1 : 0)} %`;
}

// Two bars on one scale: the culprit's above its peers'.
function bars({ share, peersShare }: HotFunction, most: number): SVGElement {
  const bar = (part: number, y: number, whose: string): SVGElement =>
    draw("rect", { class: whose, x: 0, y, height: 6, rx: 2, width: Math.max(1, (WIDTH * part) / most).toFixed(1) });
  return draw("svg", { class: "shares", viewBox: `0 0 ${WIDTH} 15`, width: WIDTH, height: 15, "aria-hidden": "true" },
    bar(share, 1, "culprit"), bar(peersShare, 8, "peers"));
}

// Null: no capture was made, or it shows nothing.
export function functionTable(v: Verdict): HTMLElement | null {
  const { functions, missing } = v.detail;
  if (functions.length === 0) {
    return missing === "" ? null : element("section", { class: "functions" }, element("h3", {}, "Where its time goes"),
      element("p", { class: "none" }, `A capture of stacks names no function; missing: ${missing}`));
  }
  const most = Math.max(...functions.flatMap((f) => [f.share, f.peersShare]), 0.01);
  const columns: [string, string][] = [["function", "say"], ["line", ""], ["culprit", "num"], ["peers", "num"], ["", ""]];
  return element("section", { class: "functions" }, element("h3", {}, "Where its time goes"),
    element("p", { class: "caption" }, "share of the time of its training thread, by samples of its stack; peers: their median"),
    element("div", { class: "scroll" }, element("table", { class: "grid" }, gridHead(columns),
      element("tbody", {}, ...functions.map((f) => element("tr", { class: f.name === v.detail.name ? "named" : null },
        cell("say", f.name), cell("", f.place), cell("num", percent(f.share)), cell("num", percent(f.peersShare)),
        cell("", bars(f, most))))))));
}
