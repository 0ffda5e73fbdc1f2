// One iteration drawn op by op: where each rank waited for others, where it moved data, and the gaps
// in which it did its own work.
import type { OneIteration, PictureOp, RankLine } from "../../model/picture";
import { bytes, count, plural, seconds } from "../../text/quantity";
import { Choice, element } from "../dom/element";
import { draw } from "../dom/svg";
import { Tooltip } from "../dom/tooltip";

const LANE_PX = 12;
const LANES_MOST = 4;
const ROW_GAP_PX = 10;
const WIDTH = 1000; // of the drawing's own units; it is stretched to the page
const LEAST_WIDTH = 1.2;
const MICROSECONDS = 1e-6;

interface Placed {
  op: PictureOp;
  lane: number;
}

// Ops that overlap stand below each other; beyond the last lane they share it.
function place(ops: PictureOp[]): Placed[] {
  const ends: number[] = [];
  return [...ops].sort((a, b) => a.beginUs - b.beginUs).map((op) => {
    let lane = ends.findIndex((end) => end <= op.beginUs);
    if (lane < 0) lane = Math.min(ends.length, LANES_MOST - 1);
    ends[lane] = Math.max(ends[lane] ?? 0, op.endUs);
    return { op, lane };
  });
}

export class OpPicture {
  readonly node: HTMLElement;
  private readonly body = element("div", { class: "op-timeline" });
  private readonly tooltip = new Tooltip();

  constructor() {
    const key = element("p", { class: "op-key" }, element("i", { class: "waited" }), "waited for others ",
      element("i", { class: "moved" }), "moved data ", element("i", { class: "own" }), "data loading, garbage collection, Python ",
      element("span", {}, "empty: the rank's own work"));
    this.node = element("div", {}, key, this.body, this.tooltip.node);
  }

  show(picture: OneIteration, culprits: Set<number>): void {
    this.body.replaceChildren(...picture.lines.map((line) => this.row(line, picture, culprits.has(line.rank))), axis(picture.durationUs));
  }

  private row(line: RankLine, picture: OneIteration, culprit: boolean): HTMLElement {
    const placed = place(line.ops);
    const lanes = Math.max(1, ...placed.map((item) => item.lane + 1));
    const height = lanes * LANE_PX + ROW_GAP_PX;
    const scale = WIDTH / Math.max(1, picture.durationUs);
    const drawing = draw("svg", { viewBox: `0 0 ${WIDTH} ${height}`, preserveAspectRatio: "none", height, "aria-hidden": "true" });
    const rect = (from: number, to: number, lane: number, tall: number, cls: string): SVGElement => draw("rect", {
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
    return element("div", { class: culprit ? "op-row culprit" : "op-row", role: "img",
      "aria-label": `rank ${line.rank}: ${plural(line.ops.length, "op")}, waited ${seconds(waited)}` },
    element("span", { class: "op-rank" }, `${culprit ? "◆ " : ""}rank ${line.rank}`), drawing);
  }

  private tell(node: SVGElement, title: string, rows: [string, string][]): void {
    node.addEventListener("pointermove", (event) => this.tooltip.show(title, rows, event.clientX + 8, event.clientY));
    node.addEventListener("pointerleave", () => this.tooltip.hide());
  }
}

// The choice between them, the one at `shown` chosen.
export function iterationChoice(pictures: OneIteration[], shown: number, onChoose: (at: number) => void): HTMLElement {
  return new Choice<string>("Which iteration", pictures.map((one, i) => [String(i), `${count(one.index)} · ${one.why}`]), String(shown),
    (at) => onChoose(Number(at))).node;
}

// What the picture shows, and how far it can be trusted.
export function pictureCaption(picture: OneIteration): string {
  const cut = picture.lines.some((line) => line.cut) ? "; cut where a rank has more ops than fit" : "";
  const aligned = picture.aligned ? "; clocks of the nodes put together by the ends of shared collectives" : "";
  const part = picture.whole ? "" : "; waits are against the ranks shown here, so at least as long as drawn";
  return `iteration ${count(picture.index)}, ${plural(picture.lines.length, "rank")}, ${seconds(picture.durationUs * MICROSECONDS)}${aligned}${part}${cut}`;
}

function axis(durationUs: number): HTMLElement {
  const marks = [0, 0.25, 0.5, 0.75, 1].map((part) => element("span", {}, seconds(durationUs * part * MICROSECONDS)));
  return element("div", { class: "op-axis", "aria-hidden": "true" }, ...marks);
}
