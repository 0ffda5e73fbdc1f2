// Heat map and iteration strip over the same iterations, with their controls and one cursor.
import { meanPerRank } from "../../model/iterations";
import { defaultLook, type Look, type Shown, type Span } from "../../model/look";
import type { JobState } from "../../model/page_state";
import { placementOf, type Placement } from "../../model/placement";
import type { Verdict } from "../../model/verdict";
import { HeatMap, type Cell } from "../../plot/heat_map";
import { IterationStrip } from "../../plot/iteration_strip";
import { narrowed, rowsOf } from "../../plot/order";
import { scaleOf, type View } from "../../plot/raster";
import { chosenRange, positionOf } from "../../plot/window_choice";
import { clock } from "../../text/moment";
import { count, plural, seconds } from "../../text/quantity";
import { button, Changes, Choice, element } from "../dom/element";
import { Legend } from "../dom/legend";
import { onlyText, RankChoice } from "./rank_choice";
import { currentTheme } from "../dom/theme";
import { Tooltip } from "../dom/tooltip";

interface Zoom {
  first: number; // iteration
  last: number;
  ranks: number[]; // global ranks on show; empty = all
}

export class Timeline {
  readonly node: HTMLElement;
  private readonly heat = new HeatMap((cell, byKey) => this.point(cell, byKey), (view) => this.zoomTo(view), (cell) => this.pick(cell));
  private readonly strip = new IterationStrip((column) => this.pointColumn(column));
  private readonly legend = new Legend();
  private readonly tooltip = new Tooltip();
  private readonly caption = element("p", { class: "caption" });
  private readonly spoken = element("p", { class: "unseen", role: "status" });
  private readonly reset = button("Reset zoom", () => this.zoomTo(null), { class: "quiet", hidden: true });
  private readonly plots: HTMLElement;
  private readonly empty = element("p", { class: "none" }, "");
  private state: JobState | null = null;
  private verdict: Verdict | null = null;
  private look = defaultLook();
  private placement: Placement | null = null;
  private zoom: Zoom | null = null;
  private shownRows: number[] = []; // another array whenever the picture is another one
  private readonly ranks: RankChoice;
  private readonly shownChoice: Choice<Shown>;
  private readonly spanChoice: Choice<Span>;
  private readonly changes = new Changes();
  private readonly places = new Changes();

  // onIteration: the reader asks for one iteration op by op, with this rank; null: that is not offered.
  constructor(onLook: (change: Partial<Look>) => void, private readonly onIteration: ((iteration: number, rank: number) => void) | null = null) {
    this.ranks = new RankChoice((change) => {
      this.zoom = null;
      onLook(change);
    });
    this.shownChoice = new Choice<Shown>("What is shown", [["both", "Both"], ["late", "Late"], ["wait", "Wait"]], "both", (shown) => onLook({ shown }));
    this.spanChoice = new Choice<Span>("Iterations", [["auto", "Auto"], ["100", "100"], ["300", "300"], ["all", "All"]], "auto", (span) => {
      this.zoom = null;
      onLook({ span });
    });
    const controls = element("div", { class: "controls" }, this.shownChoice.node, this.ranks.sort.node, this.ranks.subject.node, this.ranks.value.node,
      this.spanChoice.node, this.reset);
    const keys = element("p", { class: "unseen", id: "heat-map-keys" },
      `Arrow keys move, plus zooms in, minus or Escape zooms out${onIteration ? ", i shows the iteration op by op" : ""}. Every rank's means are in the table below.`);
    this.plots = element("div", { class: "plots" }, this.legend.node, this.heat.node, this.strip.node);
    this.node = element("section", { class: "panel timeline", "aria-label": "Ranks over time" },
      element("div", { class: "panel-head" }, element("h2", {}, "Ranks over time"), this.caption, controls),
      keys, this.empty, this.plots, this.spoken, this.tooltip.node);
  }

  update(state: JobState, verdict: Verdict | null, look: Look): void {
    if (this.state?.name !== state.name) this.zoom = null;
    this.state = state;
    this.verdict = verdict;
    const ranks = verdict?.entity.ranks.join();
    const moved = this.places.seen(state.health?.ranks, state.groups, state.history, state.report);
    if (moved || !this.placement) this.placement = placementOf(state);
    this.ranks.update(look, this.placement);
    // Places matter only where rows are ordered or chosen by them.
    const placed = look.only || look.sort !== "rank" ? this.placement : null;
    // Most updates bring no iteration; drawing 300,000 cells for them would cost the scrolling.
    if (!this.changes.seen(state.iterations, ranks, verdict?.since.iteration, this.normal(), currentTheme(), placed, lookKey(look))) return;
    this.look = look;
    this.shownChoice.set(look.shown);
    this.spanChoice.set(look.span);
    this.render();
  }

  private normal(): number {
    return this.state?.job?.baselineS || this.state?.report?.medianS || 0;
  }

  // The positions on show, for those who list ranks beside it.
  range(): [number, number] {
    const view = this.heat.picture?.view;
    return view ? [view.x0, view.x1] : [0, 0];
  }

  // The ranks on show, in their order.
  rows(): number[] {
    return this.shownRows;
  }

  private zoomTo(view: View | null): void {
    const picture = this.heat.picture;
    this.zoom = null;
    if (view && picture) {
      const { data, order } = picture;
      const ranks = Array.from(order.slice(view.y0, view.y1), (at) => data.ranks[at]!);
      const all = ranks.length === data.ranks.length;
      this.zoom = { first: data.index[view.x0]!, last: data.index[view.x1 - 1]!, ranks: all ? [] : ranks };
    }
    this.render();
  }

  private columns(onset: number | null): [number, number] {
    const data = this.state!.iterations;
    if (!this.zoom) return chosenRange(data, this.look.span, onset);
    const from = data.index.findIndex((index) => index >= this.zoom!.first);
    const past = data.index.findIndex((index) => index > this.zoom!.last);
    const to = past < 0 ? data.index.length : past;
    if (from >= 0 && to > from) return [from, to];
    this.zoom = null; // what was zoomed into has left the window
    return chosenRange(data, this.look.span, onset);
  }

  private render(): void {
    const state = this.state;
    const data = state?.iterations;
    const some = data !== undefined && data.index.length > 0 && data.ranks.length > 0;
    this.reset.hidden = this.zoom === null;
    if (!state || !data || !some) return this.nothing("No iteration has been reported yet.");
    const since = this.verdict ? this.verdict.since.iteration : -1;
    const onsetIteration = data.onset ?? (since >= 0 ? since : null);
    const [x0, x1] = this.columns(onsetIteration);
    const onset = onsetIteration === null ? -1 : positionOf(data, onsetIteration);
    let rows = rowsOf(data, this.look, this.placement!, x0, x1);
    const zoomed = new Set(this.zoom?.ranks ?? []);
    if (zoomed.size > 0) rows = narrowed(rows, (at) => zoomed.has(data.ranks[at]!));
    const { order, bands } = rows;
    if (order.length === 0) return this.nothing(`No rank is ${onlyText(this.look.only)}.`);
    this.shownRows = Array.from(order, (at) => data.ranks[at]!);
    this.empty.hidden = true;
    this.plots.hidden = false;
    const scaleS = scaleOf(data, x0, x1, this.normal());
    const culprits = new Set(this.verdict?.entity.ranks ?? []);
    this.heat.show({ data, order, bands, view: { x0, x1, y0: 0, y1: order.length }, scaleS, shown: this.look.shown, culprits, onset });
    this.strip.show({ data, from: x0, to: x1, baselineS: this.normal(), onset });
    this.legend.show(scaleS);
    const only = this.look.only ? ` ${onlyText(this.look.only)}` : "";
    this.caption.textContent = `${plural(order.length, "rank")}${only}, iterations ${count(data.index[x0]!)} to ${count(data.index[x1 - 1]!)}`;
    this.heat.node.setAttribute("aria-label", this.summary(x0, x1));
  }

  private nothing(why: string): void {
    this.shownRows = [];
    this.empty.textContent = why;
    this.empty.hidden = false;
    this.plots.hidden = true;
    this.caption.textContent = "";
  }

  private pick(cell: Cell): void {
    const picture = this.heat.picture;
    if (picture) this.onIteration?.(picture.data.index[cell.column]!, picture.data.ranks[picture.order[cell.row]!]!);
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

// What of the look the picture depends on.
function lookKey(look: Look): string {
  return JSON.stringify([look.sort, look.only, look.shown, look.span]);
}
