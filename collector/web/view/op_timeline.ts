// One iteration, op by op, of some ranks: where each waited for others, where it moved data, and
// the gaps in which it did its own work.
import type { OneIteration, RankLine, RecordedOp } from "../model/recorded";
import { bytes, count, plural, seconds } from "../text/quantity";
import { Choice, element } from "./element";
import { Tooltip } from "./tooltip";

const LANE_PX = 12;
const LANES_MOST = 4;
const ROW_GAP_PX = 10;
const WIDTH = 1000; // of the drawing's own units; it is stretched to the page
const LEAST_WIDTH = 1.2;
const MICROSECONDS = 1e-6;

const svg = <K extends keyof SVGElementTagNameMap>(tag: K, attributes: Record<string, string | number>): SVGElementTagNameMap[K] => {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  return node;
};

interface Placed {
  op: RecordedOp;
  lane: number;
}

// Ops that overlap stand below each other; beyond the last lane they share it.
function place(ops: RecordedOp[]): Placed[] {
  const ends: number[] = [];
  return [...ops].sort((a, b) => a.beginUs - b.beginUs).map((op) => {
    let lane = ends.findIndex((end) => end <= op.beginUs);
    if (lane < 0) lane = Math.min(ends.length, LANES_MOST - 1);
    ends[lane] = Math.max(ends[lane] ?? 0, op.endUs);
    return { op, lane };
  });
}

export class OpTimeline {
  readonly node: HTMLElement;
  private readonly body = element("div", { class: "op-timeline" });
  private readonly caption = element("p", { class: "caption" });
  private readonly tooltip = new Tooltip();
  private shown = 0;

  constructor(private readonly pictures: OneIteration[], private readonly culprits: () => Set<number>) {
    const choice = pictures.length > 1 && new Choice<string>("Which iteration",
      pictures.map((one, i) => [String(i), `${count(one.index)} · ${one.why}`]), "0", (value) => {
        this.shown = Number(value);
        this.update();
      });
    const key = element("p", { class: "op-key" }, element("i", { class: "waited" }), "waited for others ",
      element("i", { class: "moved" }), "moved data ", element("i", { class: "own" }), "data loading, garbage collection, Python ",
      element("span", {}, "empty: the rank's own work"));
    this.node = element("section", { class: "panel", "aria-label": "One iteration" },
      element("div", { class: "panel-head" }, element("h2", {}, "One iteration, op by op"), this.caption,
        choice ? element("div", { class: "controls" }, choice.node) : null), key, this.body, this.tooltip.node);
  }

  update(): void {
    const picture = this.pictures[this.shown];
    if (!picture) return;
    const cut = picture.lines.some((line) => line.cut) ? "; cut where a rank has more ops than fit" : "";
    const aligned = picture.aligned ? "; clocks of the nodes put together by the ends of shared collectives" : "";
    this.caption.textContent = `iteration ${count(picture.index)}, ${plural(picture.lines.length, "rank")}, ${seconds(picture.durationUs * MICROSECONDS)}${aligned}${cut}`;
    this.body.replaceChildren(...picture.lines.map((line) => this.row(line, picture)), axis(picture.durationUs));
  }

  private row(line: RankLine, picture: OneIteration): HTMLElement {
    const placed = place(line.ops);
    const lanes = Math.max(1, ...placed.map((item) => item.lane + 1));
    const height = lanes * LANE_PX + ROW_GAP_PX;
    const scale = WIDTH / Math.max(1, picture.durationUs);
    const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none", height, "aria-hidden": "true" });
    const rect = (from: number, to: number, lane: number, tall: number, cls: string): SVGElement => svg("rect", {
      x: Math.max(0, from * scale), y: lane * LANE_PX + ROW_GAP_PX / 2, width: Math.max(LEAST_WIDTH, (to - from) * scale), height: tall, class: cls,
    });
    for (const stretch of line.stretches) {
      const node = rect(stretch.beginUs, stretch.endUs, 0, height - ROW_GAP_PX, "own");
      this.tell(node, stretch.name, [["took", seconds((stretch.endUs - stretch.beginUs) * MICROSECONDS)]]);
      drawing.append(node);
    }
    for (const { op, lane } of placed) {
      const moved = Math.min(op.endUs, op.beginUs + op.waitedUs);
      for (const node of [op.waitedUs > 0 && rect(op.beginUs, moved, lane, LANE_PX - 2, "waited"),
        rect(moved, op.endUs, lane, LANE_PX - 2, op.open ? "moved open" : "moved")]) {
        if (!node) continue;
        this.tell(node, `rank ${line.rank} · ${op.kind}${op.open ? ", in flight" : ""}`, [
          ["communicator", op.group], ["bytes", bytes(op.bytes)], ["took", seconds((op.endUs - op.beginUs) * MICROSECONDS)],
          ["of it waited", seconds(op.waitedUs * MICROSECONDS)]]);
        drawing.append(node);
      }
    }
    const waited = line.ops.reduce((sum, op) => sum + op.waitedUs, 0) * MICROSECONDS;
    const culprit = this.culprits().has(line.rank);
    return element("div", { class: culprit ? "op-row culprit" : "op-row", role: "img",
      "aria-label": `rank ${line.rank}: ${plural(line.ops.length, "op")}, waited ${seconds(waited)}` },
    element("span", { class: "op-rank" }, `${culprit ? "◆ " : ""}rank ${line.rank}`), drawing);
  }

  private tell(node: SVGElement, title: string, rows: [string, string][]): void {
    node.addEventListener("pointermove", (event) => this.tooltip.show(title, rows, event.clientX + 8, event.clientY));
    node.addEventListener("pointerleave", () => this.tooltip.hide());
  }
}

function axis(durationUs: number): HTMLElement {
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => element("span", {}, seconds(durationUs * part * MICROSECONDS)));
  return element("div", { class: "op-axis", "aria-hidden": "true" }, ...marks);
}
