// The stacks of a job that stands still as a flame graph: outermost frame on top, as wide as ranks
// stand in it. The culprit's own way is drawn in its colour from where it leaves the others.
import type { StackCluster, Verdict } from "../../model/verdict";
import { seconds } from "../../text/quantity";
import { rankNames } from "../../text/ranks";
import { element } from "../dom/element";
import { draw } from "../dom/svg";

const WIDTH = 900, ROW = 21, LETTER = 6.6, DEEPEST = 40;

interface Place {
  name: string;
  ranks: number[];
  culprit: boolean; // only culprits stand here
  children: Map<string, Place>;
}

// "get (queue.py:3)" → "get (queue.py)": lines of one function are one place.
function functionOf(frame: string): string {
  return frame.replace(/:\d+\)$/, ")");
}

function grow(stacks: StackCluster[]): Place {
  const root: Place = { name: "", ranks: [], culprit: false, children: new Map() };
  for (const stack of stacks) {
    root.ranks.push(...stack.ranks);
    let at = root;
    for (const frame of [...stack.frames].reverse().slice(0, DEEPEST)) {
      const name = functionOf(frame);
      let next = at.children.get(name);
      if (!next) at.children.set(name, (next = { name, ranks: [], culprit: true, children: new Map() }));
      next.ranks.push(...stack.ranks);
      next.culprit &&= stack.culprit;
      at = next;
    }
  }
  return root;
}

function depthOf(place: Place): number {
  return 1 + Math.max(0, ...[...place.children.values()].map(depthOf));
}

function cut(text: string, width: number): string {
  const letters = Math.floor((width - 10) / LETTER);
  if (letters < 3) return "";
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

function drawInto(picture: SVGElement, place: Place, x: number, row: number, perRank: number): void {
  for (const child of place.children.values()) {
    const width = child.ranks.length * perRank;
    const group = draw("g", { class: `frame ${child.culprit ? "culprit" : "waiting"}`, transform: `translate(${x},${row * ROW})` },
      draw("title", {}, `${child.name}\n${rankNames(child.ranks)}`),
      draw("rect", { width: Math.max(1, width - 1), height: ROW - 1, rx: 2 }),
      draw("text", { x: 5, y: 14 }, cut(child.name, width)));
    picture.append(group);
    drawInto(picture, child, x, row + 1, perRank);
    x += width;
  }
}

function title(stack: StackCluster): string {
  const how = stack.pauseSeconds > 0 ? `paused for ${seconds(stack.pauseSeconds)}` : "not paused";
  return `${rankNames(stack.ranks)}${stack.culprit ? " (culprit)" : ""}: ${stack.source}, ${how}`;
}

export function stackFlame(v: Verdict): HTMLElement {
  const root = grow(v.stacks);
  const height = (depthOf(root) - 1) * ROW;
  const picture = draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, width: WIDTH, height, role: "img", "aria-label": "Stacks as a flame graph" });
  drawInto(picture, root, 0, 0, WIDTH / Math.max(1, root.ranks.length));
  return element("section", { class: "stacks" }, element("h3", {}, "Where they stand"),
    element("div", { class: "flame", tabindex: 0, "data-keep": "flame" }, picture),
    element("ul", {}, ...v.stacks.map((stack) => element("li", {}, title(stack)))));
}
