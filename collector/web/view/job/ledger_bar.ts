// Where the GPU time went, as one bar over time: of each slice of the job the share that was lost,
// stacked by who lost it. The largest culprits have colours of their own, then all others, then what
// nobody is to blame for.
import type { JobLedger, LedgerSlice, Loss } from "../../model/job_ledger";
import type { Recovery } from "../../model/recovery";
import { count, decimal } from "../../text/quantity";
import { rankNames } from "../../text/ranks";
import { causeText, ownerText } from "../../text/words";
import { element, Slot } from "../dom/element";
import { draw } from "../dom/svg";
import { clockTime } from "../dom/time_text";

const WIDTH = 900, HEIGHT = 72;
const NAMED = 4; // culprits with a colour of their own
const LEAST_SCALE = 0.1; // of the time used: noise must not look like a loss

interface Layer {
  kind: string; // its class
  name: string;
  owner: string;
  gpuS: number;
  of: (slice: LedgerSlice) => number;
}

function gpuTime(gpuS: number): string {
  return gpuS >= 360 ? `${decimal(gpuS / 3600)} GPU-hours` : `${decimal(gpuS)} GPU-seconds`;
}

function percent(part: number, whole: number): string {
  const value = whole > 0 ? (100 * part) / whole : 0;
  return `${value >= 10 || value === 0 ? value.toFixed(0) : value.toFixed(1)} %`;
}

function nameOf(loss: Loss): string {
  if (loss.rest) return `others: ${causeText(loss.cause)}`;
  const { type, ranks, node } = loss.who;
  const members = ranks.length > 0 ? rankNames(ranks) : "many ranks";
  const who = type === "host" ? `node ${node}` : type === "rank" || type === "gpu" ? members : `${type} of ${members}`;
  return `${who}: ${causeText(loss.cause)}`;
}

function layersOf(ledger: JobLedger): Layer[] {
  const at = (slice: LedgerSlice, i: number): number => slice.lostGpuS[i] ?? 0;
  const named = ledger.losses.map((loss, i) => ({ loss, i })).filter(({ loss }) => !loss.rest).slice(0, NAMED);
  const layers: Layer[] = named.map(({ loss, i }, place) => ({
    kind: `culprit-${place + 1}`, name: nameOf(loss), owner: ownerText(loss.owner), gpuS: loss.gpuS, of: (slice) => at(slice, i),
  }));
  const shown = new Set(named.map(({ i }) => i));
  const others = ledger.losses.map((_, i) => i).filter((i) => !shown.has(i));
  if (others.length > 0) {
    layers.push({ kind: "others", name: "all others", owner: "", gpuS: others.reduce((sum, i) => sum + ledger.losses[i]!.gpuS, 0),
      of: (slice) => others.reduce((sum, i) => sum + at(slice, i), 0) });
  }
  layers.push({ kind: "unexplained", name: "unexplained", owner: "", gpuS: ledger.unexplainedGpuS, of: (slice) => slice.unexplainedGpuS });
  return layers;
}

function share(slice: LedgerSlice, layer: Layer): number {
  return slice.usedGpuS > 0 ? layer.of(slice) / slice.usedGpuS : 0;
}

function said(slice: LedgerSlice, layers: Layer[]): string {
  const last = slice.first + Math.max(1, slice.iterations) - 1;
  const lines = layers.filter((layer) => layer.of(slice) > 0).map((layer) => `${layer.name}: ${percent(layer.of(slice), slice.usedGpuS)}`);
  return [`iterations ${count(slice.first)} to ${count(last)}`, ...lines].join("\n");
}

function picture(ledger: JobLedger, layers: Layer[]): SVGElement {
  const top = Math.max(LEAST_SCALE, ...ledger.slices.map((slice) => layers.reduce((sum, layer) => sum + share(slice, layer), 0)));
  const all = ledger.slices.reduce((sum, slice) => sum + Math.max(1, slice.iterations), 0);
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img", "aria-label": "Share of the GPU time that was lost, over time" });
  let x = 0;
  for (const slice of ledger.slices) {
    const width = (Math.max(1, slice.iterations) / all) * WIDTH;
    const column = draw("g", { class: "slice" }, draw("title", {}, said(slice, layers)), draw("rect", { class: "used", x, y: 0, width, height: HEIGHT }));
    let y = HEIGHT;
    for (const layer of layers) {
      const height = (share(slice, layer) / top) * HEIGHT;
      if (height <= 0) continue;
      y -= height;
      column.append(draw("rect", { class: layer.kind, x, y, width, height }));
    }
    svg.append(column);
    x += width;
  }
  svg.append(draw("title", {}, `the top is ${percent(top, 1)} of the time used`));
  return svg;
}

function row(layer: Layer, ledger: JobLedger): HTMLElement {
  return element("li", {}, element("i", { class: layer.kind, "aria-hidden": "true" }), element("span", { class: "who" }, layer.name),
    element("span", { class: "amount" }, `${gpuTime(layer.gpuS)}, ${percent(layer.gpuS, ledger.lostGpuS)} of it`),
    layer.owner !== "" && element("span", { class: "owner" }, layer.owner));
}

export class LedgerBar {
  readonly node = element("section", { class: "panel ledger", "aria-label": "Where the GPU time went" });
  private readonly slot = new Slot(element("div", {}));

  constructor() {
    this.node.append(this.slot.node);
    this.node.hidden = true;
  }

  // `recoveries`: after a restart the ledger begins anew, and what the restart took is in none.
  update(ledger: JobLedger | null, recoveries: Recovery[]): void {
    this.node.hidden = ledger === null || ledger.slices.length === 0;
    if (!ledger || this.node.hidden) return;
    const layers = layersOf(ledger);
    const sinceMs = ledger.slices[0]!.beginMs;
    const downtime = recoveries.filter((each) => each.runningMs >= sinceMs).reduce((sum, each) => sum + (each.lostHours ?? 0), 0);
    this.slot.show([ledger, downtime], () => [
      element("div", { class: "panel-head" }, element("h2", {}, "Where the GPU time went"),
        element("p", { class: "caption" }, `${gpuTime(ledger.usedGpuS)} used, ${gpuTime(ledger.idealGpuS)} needed, ${gpuTime(ledger.lostGpuS)} lost (${percent(ledger.lostGpuS, ledger.usedGpuS)}) in ${count(ledger.iterations)} iterations since `,
          clockTime(sinceMs))),
      picture(ledger, layers),
      element("ul", { class: "layers" }, ...layers.filter((layer) => layer.gpuS > 0).map((layer) => row(layer, ledger)),
        downtime > 0 && element("li", { class: "downtime" }, element("i", { "aria-hidden": "true" }), element("span", { class: "who" }, "recoveries: downtime"),
          element("span", { class: "amount" }, `${gpuTime(downtime * 3600)} of standing still and work done anew, not in the bar`))),
    ]);
  }
}
