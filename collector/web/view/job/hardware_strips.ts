// What the hardware says, under the heat map: a strip a metric, the culprit's line over those of its
// peers, and the onset of the verdict. Times are those of the nodes' clocks.
import { strips, type Hardware, type Point, type Strip } from "../../model/hardware";
import type { Verdict } from "../../model/verdict";
import { measured } from "../../text/quantity";
import { element, Slot } from "../dom/element";
import { HEIGHT, heightOf, strip, WIDTH } from "../dom/strip";
import { draw } from "../dom/svg";
import { clockTime } from "../dom/time_text";

const SHOWN_MS = 30 * 60_000; // the newest of what is known

interface Range {
  from: number;
  to: number;
}

// Steps: a value stands until the next.
function path(points: Point[], range: Range, low: number, high: number): string {
  const x = (ms: number): number => ((Math.min(Math.max(ms, range.from), range.to) - range.from) / Math.max(1, range.to - range.from)) * WIDTH;
  const drawn = points.map(({ ms, value }, i) => `${i === 0 ? "M" : "H"}${x(ms).toFixed(1)}${i === 0 ? "," : "V"}${heightOf(value, low, high).toFixed(1)}`);
  return `${drawn.join("")}H${WIDTH}`;
}

function newest(metric: Strip, culprit: boolean): string {
  const line = metric.lines.find((one) => one.culprit === culprit);
  const value = line?.points[line.points.length - 1]?.value;
  if (value === undefined) return "";
  return metric.unit === "ratio" ? `${(100 * value).toFixed(0)} %` : measured(value, metric.unit);
}

function row(metric: Strip, range: Range, onsetMs: number): HTMLElement {
  const values = metric.lines.flatMap((line) => line.points.map((point) => point.value));
  const [low, high] = [Math.min(0, ...values), Math.max(...values, 1e-9)];
  const drawn = [...metric.lines].sort((a, b) => Number(a.culprit) - Number(b.culprit)).map((line) =>
    draw("path", { class: line.culprit ? "culprit" : "peer", d: path(line.points, range, low, high) }, draw("title", {}, line.label)));
  if (onsetMs > range.from && onsetMs < range.to) {
    const at = ((onsetMs - range.from) / (range.to - range.from)) * WIDTH;
    drawn.push(draw("line", { class: "onset", x1: at, x2: at, y1: 0, y2: HEIGHT }));
  }
  const [own, peers] = [newest(metric, true), newest(metric, false)];
  return strip(metric.title, drawn, own || peers, own && peers ? element("span", { class: "more" }, ` peers ${peers}`) : null);
}

export class HardwareStrips {
  readonly node = element("section", { class: "panel hardware", "aria-label": "What the hardware says" });
  private readonly slot = new Slot(element("div", {}));

  constructor() {
    this.node.append(this.slot.node);
    this.node.hidden = true;
  }

  update(hardware: Hardware | null, verdict: Verdict | null, nodes: Set<string>): void {
    const shown = hardware ? strips(hardware, new Set(verdict?.entity.ranks ?? []), nodes) : [];
    const broken = (hardware?.sources ?? []).filter((source) => source.state === "failed" || source.state === "hangs");
    this.node.hidden = shown.length === 0 && broken.length === 0;
    if (!hardware || this.node.hidden) return;
    const to = hardware.newestMs;
    const oldest = Math.min(...shown.flatMap((metric) => metric.lines.map((line) => line.points[0]!.ms)), to);
    const range = { from: Math.max(oldest, to - SHOWN_MS), to };
    const onset = verdict?.since.unixMs ?? 0;
    this.slot.show([shown, broken, range, onset], () => [
      element("div", { class: "panel-head" }, element("h2", {}, "What the hardware says"),
        element("p", { class: "caption" }, "from ", clockTime(range.from), " to ", clockTime(range.to), verdict ? "; orange: the culprit's, line: the onset" : "")),
      ...shown.map((metric) => row(metric, range, onset)),
      ...broken.map((source) => element("p", { class: "none" }, `${source.name} on ${source.node} ${source.state}: ${source.reason}`)),
    ]);
  }
}
