// Heat map and iteration strip over the same iterations, with their controls and one cursor.
import { meanPerRank } from "../model/iterations";
import type { JobState } from "../model/page_state";
import type { Verdict } from "../model/verdict";
import { HeatMap, type Cell } from "../plot/heat_map";
import { IterationStrip } from "../plot/iteration_strip";
import { rowOrder, type Sorting } from "../plot/order";
import { scaleOf, type Shown, type View } from "../plot/raster";
import { chosenRange, positionOf, type Span } from "../plot/window_choice";
import { clock } from "../text/moment";
import { count, plural, seconds } from "../text/quantity";
import { button, Changes, Choice, element } from "./element";
import { Legend } from "./legend";
import { currentTheme } from "./theme";
import { Tooltip } from "./tooltip";

interface Zoom {
  first: number; // iteration
  last: number;
  ranks: number[]; // global ranks on show; empty = all
}

export class Timeline {
  readonly node: HTMLElement;
  private readonly heat = new HeatMap((cell, byKey) => this.point(cell, byKey), (view) => this.zoomTo(view));
  private readonly strip = new IterationStrip((column) => this.pointColumn(column));
  private readonly legend = new Legend();
  private readonly tooltip = new Tooltip();
  private readonly caption = element("p", { class: "caption" });
  private readonly spoken = element("p", { class: "unseen", role: "status" });
  private readonly reset = button("Reset zoom", () => this.zoomTo(null), { class: "quiet", hidden: true });
  private readonly plots: HTMLElement;
  private readonly empty = element("p", { class: "none" }, "No iteration has been reported yet.");
  private state: JobState | null = null;
  private verdict: Verdict | null = null;
  private sorting: Sorting = "rank";
  private shown: Shown = "both";
  private span: Span = "auto";
  private zoom: Zoom | null = null;
  private readonly changes = new Changes();

  constructor() {
    const controls = element("div", { class: "controls" },
      new Choice<Shown>("What is shown", [["both", "Both"], ["late", "Late"], ["wait", "Wait"]], "both", (v) => this.set(() => (this.shown = v))).node,
      new Choice<Sorting>("Order of ranks", [["rank", "By rank"], ["late", "Latest first"]], "rank", (v) => this.set(() => (this.sorting = v))).node,
      new Choice<Span>("Iterations", [["auto", "Auto"], ["100", "100"], ["300", "300"], ["all", "All"]], "auto", (v) => this.set(() => {
        this.span = v;
        this.zoom = null;
      })).node, this.reset);
    const keys = element("p", { class: "unseen", id: "heat-map-keys" },
      "Arrow keys move, plus zooms in, minus or Escape zooms out. Every rank's means are in the table below.");
    this.plots = element("div", { class: "plots" }, this.legend.node, this.heat.node, this.strip.node);
    this.node = element("section", { class: "panel timeline", "aria-label": "Ranks over time" },
      element("div", { class: "panel-head" }, element("h2", {}, "Ranks over time"), this.caption, controls),
      keys, this.empty, this.plots, this.spoken, this.tooltip.node);
  }

  update(state: JobState, verdict: Verdict | null): void {
    if (this.state?.name !== state.name) this.zoom = null;
    this.state = state;
    this.verdict = verdict;
    const ranks = verdict?.entity.ranks.join();
    // Most updates bring no iteration; drawing 300,000 cells for them would cost the scrolling.
    if (this.changes.seen(state.iterations, ranks, verdict?.since.iteration, this.normal(), currentTheme())) this.render();
  }

  private normal(): number {
    return this.state?.job?.baselineS || this.state?.report?.medianS || 0;
  }

  // The positions on show, for those who list ranks beside it.
  range(): [number, number] {
    const view = this.heat.picture?.view;
    return view ? [view.x0, view.x1] : [0, 0];
  }

  private set(change: () => void): void {
    change();
    this.render();
  }

  private zoomTo(view: View | null): void {
    const picture = this.heat.picture;
    if (!view || !picture) return this.set(() => (this.zoom = null));
    const { data, order } = picture;
    const ranks = Array.from(order.slice(view.y0, view.y1), (at) => data.ranks[at]!);
    const all = ranks.length === data.ranks.length;
    this.set(() => (this.zoom = { first: data.index[view.x0]!, last: data.index[view.x1 - 1]!, ranks: all ? [] : ranks }));
  }

  private columns(onset: number | null): [number, number] {
    const data = this.state!.iterations;
    if (!this.zoom) return chosenRange(data, this.span, onset);
    const from = data.index.findIndex((index) => index >= this.zoom!.first);
    const past = data.index.findIndex((index) => index > this.zoom!.last);
    const to = past < 0 ? data.index.length : past;
    if (from >= 0 && to > from) return [from, to];
    this.zoom = null; // what was zoomed into has left the window
    return chosenRange(data, this.span, onset);
  }

  private render(): void {
    const state = this.state;
    const data = state?.iterations;
    const some = data !== undefined && data.index.length > 0 && data.ranks.length > 0;
    this.empty.hidden = some;
    this.plots.hidden = !some;
    this.reset.hidden = this.zoom === null;
    if (!state || !data || !some) return;
    const since = this.verdict ? this.verdict.since.iteration : -1;
    const onsetIteration = data.onset ?? (since >= 0 ? since : null);
    const [x0, x1] = this.columns(onsetIteration);
    const onset = onsetIteration === null ? -1 : positionOf(data, onsetIteration);
    let order = rowOrder(data, this.sorting, x0, x1);
    const zoomed = new Set(this.zoom?.ranks ?? []);
    if (zoomed.size > 0) order = order.filter((at) => zoomed.has(data.ranks[at]!));
    const scaleS = scaleOf(data, x0, x1, this.normal());
    const culprits = new Set(this.verdict?.entity.ranks ?? []);
    this.heat.show({ data, order, view: { x0, x1, y0: 0, y1: order.length }, scaleS, shown: this.shown, culprits, onset });
    this.strip.show({ data, from: x0, to: x1, baselineS: this.normal(), onset });
    this.legend.show(scaleS);
    this.caption.textContent = `${plural(order.length, "rank")}, iterations ${count(data.index[x0]!)} to ${count(data.index[x1 - 1]!)}`;
    this.heat.node.setAttribute("aria-label", this.summary(x0, x1));
  }

  private summary(from: number, to: number): string {
    const data = this.state!.iterations;
    const late = meanPerRank(data, "late", from, to);
    let worst = 0;
    late.forEach((value, i) => (worst = value > late[worst]! ? i : worst));
    return `Late arrival and wait of ${plural(data.ranks.length, "rank")} over ${plural(to - from, "iteration")}. ` +
      `Latest on average: rank ${data.ranks[worst]}, by ${seconds(late[worst] ?? 0)}.`;
  }

  private point(cell: Cell | null, byKey: boolean): void {
    this.heat.setCursor(cell);
    this.strip.setColumn(cell?.column ?? null);
    if (!cell) return this.tooltip.hide();
    const box = this.heat.node.getBoundingClientRect();
    const { title, rows } = this.numbers(cell);
    this.tooltip.show(title, rows, box.left + this.heat.x(cell.column + 1), box.top + this.heat.y(cell.row + 0.5));
    if (byKey) this.spoken.textContent = `${title}. ${rows.map(([name, value]) => `${name} ${value}`).join(", ")}`;
  }

  private pointColumn(column: number | null): void {
    this.heat.setCursor(column === null ? null : { column, row: -1 });
    if (column === null) return this.tooltip.hide();
    const data = this.state!.iterations;
    const box = this.strip.node.getBoundingClientRect();
    this.tooltip.show(this.iterationTitle(column), [
      ["took", seconds(data.durationS[column] ?? 0)],
      ["normal", seconds(this.normal())],
      ...(data.irregular[column] ? [["irregular", "yes"] as [string, string]] : []),
    ], box.left + this.heat.x(column + 1), box.top + 10);
  }

  private iterationTitle(column: number): string {
    const data = this.state!.iterations;
    const begin = data.beginMs[column] ?? 0;
    return `iteration ${count(data.index[column] ?? 0)}${begin > 0 ? ` · ${clock(begin)}` : ""}`;
  }

  private numbers(cell: Cell): { title: string; rows: [string, string, string?][] } {
    const { data, order } = this.heat.picture!;
    const at = cell.column * data.ranks.length + order[cell.row]!;
    const value = (cells: Float32Array): string => (cells[at]! === cells[at]! ? seconds(cells[at]!) : "no report");
    return {
      title: `rank ${data.ranks[order[cell.row]!]} · ${this.iterationTitle(cell.column)}`,
      rows: [["came late by", value(data.late), "late"], ["waited", value(data.wait), "wait"],
        ["CPU", value(data.cpu)], ["blocked", value(data.blocked)]],
    };
  }
}
