// The chain behind the culprit of a job that stands still, as a picture: who waits for it, and who
// waits for those. Left to right as the waiting spreads; an arrow points at what is waited for.
import { culpritName, type Verdict, type WaitStep } from "../../model/verdict";
import { plural, seconds } from "../../text/quantity";
import { rankNames } from "../../text/ranks";
import { element } from "../dom/element";
import { draw } from "../dom/svg";

const BOX = { width: 236, height: 62, columnGap: 64, rowGap: 14 };
const LETTERS = 27; // that fit a line of a box, capitals too

interface Placed {
  x: number;
  y: number;
  step: WaitStep | null; // null: the culprit
}

function cut(text: string): string {
  return text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text;
}

function opName(step: WaitStep): string {
  const op = step.number >= 0 ? `${step.op} ${step.number}` : step.op;
  if (step.groups > 1) return `${op} of ${step.groups} × ${step.group || "groups"}`;
  return step.group ? `${op} of ${step.group}` : op;
}

function howMany(step: WaitStep): string {
  const count = plural(step.ranks.length, "rank");
  return step.seconds > 0 ? `${count}, for ${seconds(step.seconds)}` : count;
}

// One column a hop, its boxes around the middle of the picture.
function place(steps: WaitStep[]): { boxes: Placed[]; width: number; height: number } {
  const columns: (WaitStep | null)[][] = [[null]];
  for (const step of steps) (columns[step.hop] ??= []).push(step);
  const tallest = Math.max(...columns.map((column) => column?.length ?? 0));
  const pitch = BOX.height + BOX.rowGap;
  const boxes: Placed[] = [];
  columns.forEach((column, i) => column.forEach((step, row) => boxes.push({
    x: i * (BOX.width + BOX.columnGap), y: (tallest - column.length) * pitch / 2 + row * pitch, step,
  })));
  return { boxes, width: columns.length * (BOX.width + BOX.columnGap) - BOX.columnGap, height: tallest * pitch - BOX.rowGap };
}

function waitsFor(step: WaitStep, other: Placed): boolean {
  if (other.step === null) return step.hop === 1;
  if (other.step.hop !== step.hop - 1) return false;
  const ranks = new Set(other.step.ranks);
  return step.forRanks.some((rank) => ranks.has(rank));
}

function arrow(from: Placed, to: Placed): SVGElement {
  const x1 = from.x, y1 = from.y + BOX.height / 2;
  const x2 = to.x + BOX.width + 7, y2 = to.y + BOX.height / 2;
  const bend = (x1 - x2) / 2;
  return draw("path", { class: "wait-arrow", "marker-end": "url(#wait-head)",
    d: `M${x1},${y1} C${x1 - bend},${y1} ${x2 + bend},${y2} ${x2},${y2}` });
}

function box(placed: Placed, lines: string[], kind: string): SVGElement {
  const group = draw("g", { class: `wait-box ${kind}`, transform: `translate(${placed.x},${placed.y})` },
    draw("title", {}, lines.join("\n")), draw("rect", { width: BOX.width, height: BOX.height, rx: 8 }));
  lines.forEach((line, i) => group.append(draw("text", { x: 12, y: 20 + i * 17 }, cut(line))));
  return group;
}

function culpritBox(placed: Placed, v: Verdict): SVGElement {
  const held = v.problem === "communication_hang" ? "stuck in one op together" : "holds the others up";
  return box(placed, [`◆ ${culpritName(v, rankNames)}`, held], "culprit");
}

export function waitChain(v: Verdict): HTMLElement {
  const { boxes, width, height } = place(v.waits);
  const head = draw("marker", { id: "wait-head", viewBox: "0 0 8 8", refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    draw("path", { d: "M0,0 L8,4 L0,8 z" }));
  const picture = draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": "Who waits for whom" },
    draw("defs", {}, head));
  for (const from of boxes) {
    if (from.step === null) continue;
    for (const to of boxes) if (waitsFor(from.step, to)) picture.append(arrow(from, to));
  }
  for (const placed of boxes) {
    const step = placed.step;
    picture.append(step === null ? culpritBox(placed, v) : box(placed, [rankNames(step.ranks), opName(step), howMany(step)], "waiting"));
  }
  return element("section", { class: "chain" }, element("h3", {}, "Who waits for whom"),
    element("div", { class: "chain-picture", tabindex: 0, "data-keep": "chain" }, picture));
}
