// How fast the job computes: a small picture a figure, of its newest iterations, from nought up.
import type { Work, WorkStrip } from "../../model/work";
import { decimal } from "../../text/quantity";
import { element, Slot } from "../dom/element";
import { heightOf, strip, WIDTH } from "../dom/strip";
import { draw } from "../dom/svg";

const UNITS: [number, string][] = [[1e15, "PFLOP/s"], [1e12, "TFLOP/s"], [1e9, "GFLOP/s"], [1e6, "MFLOP/s"]];

function measured(value: number, ratio: boolean): string {
  if (ratio) return `${decimal(100 * value)} %`;
  const [size, unit] = UNITS.find(([least]) => value >= least) ?? UNITS[UNITS.length - 1]!;
  return `${decimal(value / size)} ${unit}`;
}

function path({ points }: WorkStrip): string {
  const first = points[0]!.index, last = points[points.length - 1]!.index;
  const high = Math.max(...points.map((point) => point.value), 1e-9);
  const x = (index: number): number => ((index - first) / Math.max(1, last - first)) * WIDTH;
  return points.map(({ index, value }, i) => `${i === 0 ? "M" : "L"}${x(index).toFixed(1)},${heightOf(value, 0, high).toFixed(1)}`).join("");
}

function row(figure: WorkStrip): HTMLElement {
  return strip(figure.title, [draw("path", { d: path(figure) })], measured(figure.newest, figure.ratio));
}

export class WorkStrips {
  readonly node = element("section", { class: "panel work", "aria-label": "How fast it computes" });
  private readonly slot = new Slot(element("div", {}));

  constructor() {
    this.node.append(this.slot.node);
    this.node.hidden = true;
  }

  update(work: Work | null): void {
    this.node.hidden = !work || work.strips.length === 0;
    if (!work || this.node.hidden) return;
    const why = work.mfuUnknown ? `no MFU: ${work.mfuUnknown}` : work.peakSource ? `peak of its devices by ${work.peakSource}` : "";
    this.slot.show([work], () => [
      element("div", { class: "panel-head" }, element("h2", {}, "How fast it computes"),
        element("p", { class: "caption" }, `its newest ${work.iterations} iterations`, why ? `; ${why}` : "")),
      ...work.strips.map(row),
    ]);
  }
}
