// Iteration time over the same iterations as the heat map above it, drawn by uPlot: the line, the
// baseline, the onset, and the irregular ones as points.
import uPlot from "uplot";
import type { Iterations } from "../model/iterations";
import { clock } from "../text/moment";
import { count, seconds } from "../text/quantity";
import { element } from "../view/dom/element";
import { color } from "../view/dom/theme";
import { GUTTER_PX, MARGIN_PX } from "./heat_map";

const HEIGHT_PX = 138;
const AXIS_PX = 40;
const TICK_PX = 90;
const TICK_STEPS = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000];

export interface StripPicture {
  data: Iterations;
  from: number;
  to: number;
  baselineS: number;
  onset: number; // position, −1 = none
}

export class IterationStrip {
  readonly node = element("div", { class: "strip", role: "img" });
  private plot: uPlot | null = null;
  private picture: StripPicture | null = null;
  private width = 0;
  private theme = "";
  private quiet = false;

  constructor(private readonly onPoint: (column: number | null) => void) {
    new ResizeObserver(() => this.fit()).observe(this.node);
  }

  show(picture: StripPicture): void {
    this.picture = picture;
    this.node.setAttribute("aria-label", `Iteration time of iterations ${picture.data.index[picture.from]} to ${picture.data.index[picture.to - 1]}`);
    const theme = document.documentElement.dataset.theme ?? "";
    if (!this.plot || this.theme !== theme) this.build(theme);
    this.plot?.setData(this.columns(), true);
  }

  setColumn(column: number | null): void {
    if (!this.plot || !this.picture) return;
    this.quiet = true;
    const left = column === null ? -10 : this.plot.valToPos(column, "x");
    this.plot.setCursor({ left, top: column === null ? -10 : 1 });
    this.quiet = false;
  }

  private columns(): uPlot.AlignedData {
    const { data, from, to, baselineS } = this.picture!;
    const duration = data.durationS.slice(from, to);
    return [
      duration.map((_, i) => from + i),
      duration,
      duration.map((value, i) => (data.irregular[from + i] ? value : null)),
      duration.map(() => (baselineS > 0 ? baselineS : null)),
    ];
  }

  // Irregular iterations without an irregular neighbour: a line cannot show them.
  private alone(): number[] {
    const { data, from, to } = this.picture!;
    const out: number[] = [];
    for (let i = from; i < to; i++) {
      const beside = (i > from && data.irregular[i - 1]) || (i + 1 < to && data.irregular[i + 1]);
      if (data.irregular[i] && !beside) out.push(i - from);
    }
    return out;
  }

  private fit(): void {
    const width = this.node.clientWidth;
    if (width === 0 || width === this.width) return;
    this.width = width;
    if (this.plot) this.plot.setSize({ width, height: HEIGHT_PX });
    else if (this.picture) this.show(this.picture);
  }

  private build(theme: string): void {
    this.width = this.node.clientWidth;
    if (this.width === 0) return;
    this.plot?.destroy();
    this.theme = theme;
    this.node.replaceChildren();
    this.plot = new uPlot(this.options(), this.columns(), this.node);
  }

  private options(): uPlot.Options {
    const [ink, muted, line, culprit] = ["ink", "muted", "line", "culprit"].map(color) as [string, string, string, string];
    const font = `12px ${getComputedStyle(this.node).fontFamily}`;
    const grid = { stroke: line, width: 1 };
    const axis = { font, stroke: muted, grid, ticks: { ...grid, size: 4 }, gap: 4 };
    return {
      width: this.width,
      height: HEIGHT_PX,
      padding: [10, MARGIN_PX, 0, 0],
      legend: { show: false },
      cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
      scales: { x: { time: false, range: () => this.xRange() }, y: { range: () => this.yRange() } },
      axes: [
        { ...axis, size: AXIS_PX, splits: () => this.ticks(), values: (_, splits) => splits.map((at) => this.tick(at)) },
        { ...axis, size: GUTTER_PX, space: 32, values: (_, splits) => splits.map((at) => (at === 0 ? "0" : seconds(at))) },
      ],
      series: [
        {},
        { label: "iteration", stroke: ink, width: 1.5, points: { show: false }, spanGaps: false },
        { label: "irregular", stroke: culprit, width: 2, points: { show: true, size: 6, width: 0, fill: culprit, filter: (_, __, show) => (show ? this.alone() : null) } },
        { label: "baseline", stroke: muted, width: 1.5, dash: [2, 4], points: { show: false } },
      ],
      hooks: {
        draw: [(plot) => this.drawOnset(plot)],
        setCursor: [(plot) => this.pointed(plot)],
      },
    };
  }

  // Round iteration numbers, as far apart as their labels need. Positions, not numbers, are drawn:
  // iterations that the collector no longer has leave no hole, here as in the heat map above.
  private ticks(): number[] {
    const { data, from, to } = this.picture!;
    const plotPx = this.width - GUTTER_PX - MARGIN_PX;
    const most = Math.max(1, Math.floor(plotPx / TICK_PX));
    const step = TICK_STEPS.find((size) => (to - from) / size <= most) ?? to - from;
    const round: number[] = [];
    for (let at = from; at < to; at++) {
      const far = round.length === 0 || at - round[round.length - 1]! >= step * 0.8;
      const room = ((to - at) / (to - from)) * plotPx + MARGIN_PX >= TICK_PX / 3;
      if (data.index[at]! % step === 0 && far && room) round.push(at);
    }
    return round.length > 0 ? round : [from];
  }

  private tick(at: number): string {
    const { index, beginMs } = this.picture!.data;
    const begin = beginMs[at] ?? 0;
    return `${count(index[at] ?? 0)}${begin > 0 ? `\n${clock(begin)}` : ""}`;
  }

  private xRange(): [number, number] {
    return [this.picture!.from - 0.5, this.picture!.to - 0.5];
  }

  private yRange(): [number, number] {
    const { data, from, to, baselineS } = this.picture!;
    let most = baselineS * 1.2;
    for (let i = from; i < to; i++) most = Math.max(most, data.durationS[i] ?? 0);
    return [0, most > 0 ? most * 1.12 : 1];
  }

  private pointed(plot: uPlot): void {
    if (this.quiet || !this.picture) return;
    const at = plot.cursor.idx;
    const inside = (plot.cursor.left ?? -1) >= 0 && at !== null && at !== undefined;
    this.onPoint(inside ? this.picture.from + at : null);
  }

  private drawOnset(plot: uPlot): void {
    const { data, from, to, onset } = this.picture!;
    if (onset < from || onset >= to) return;
    const ratio = uPlot.pxRatio;
    const { ctx: c, bbox } = plot;
    const x = Math.round(plot.valToPos(onset - 0.5, "x", true));
    c.save();
    c.strokeStyle = color("ink");
    c.fillStyle = color("ink");
    c.lineWidth = 1.5 * ratio;
    c.setLineDash([5 * ratio, 3 * ratio]);
    c.beginPath();
    c.moveTo(x, bbox.top - 10 * ratio);
    c.lineTo(x, bbox.top + bbox.height);
    c.stroke();
    c.font = `600 ${12 * ratio}px ${getComputedStyle(this.node).fontFamily}`;
    const nearEnd = x > bbox.left + bbox.width * 0.8;
    c.textAlign = nearEnd ? "right" : "left";
    c.fillText(`onset ${count(data.index[onset]!)}`, x + (nearEnd ? -6 : 6) * ratio, bbox.top + 4 * ratio);
    c.restore();
  }
}
