// Every rank's means over the iterations on show: the heat map as numbers, for those who want to
// read, sort out, or cannot see it. The latest ranks first; long jobs are cut, and say so.
import { meanPerRank } from "../model/iterations";
import type { JobState } from "../model/page_state";
import { plural, seconds } from "../text/quantity";
import { processStateText } from "../text/words";
import { button, Changes, element, Slot } from "./element";

const FIRST_ROWS = 16;
const ALL_ROWS = 2000;

export class RankTable {
  readonly node: HTMLElement;
  private readonly details: HTMLDetailsElement;
  private readonly slot = new Slot(element("div", { class: "scroll" }));
  private readonly changes = new Changes();
  private rows = FIRST_ROWS;
  private draw: () => void = () => undefined;

  constructor() {
    this.details = element("details", { class: "rank-table" }, element("summary", {}, "The same as a table"), this.slot.node);
    this.details.addEventListener("toggle", () => this.draw());
    this.node = this.details;
  }

  update(state: JobState, from: number, to: number, culprits: Set<number>): void {
    if (!this.changes.seen(state.iterations, state.health, from, to, [...culprits].join())) return;
    this.draw = () => {
      if (this.details.open) this.render(state, from, to, culprits);
    };
    this.draw();
  }

  private render(state: JobState, from: number, to: number, culprits: Set<number>): void {
    const data = state.iterations;
    const [late, wait, cpu, blocked] = (["late", "wait", "cpu", "blocked"] as const).map((q) => meanPerRank(data, q, from, to));
    const order = [...data.ranks.keys()].sort((a, b) => late![b]! - late![a]! || a - b).slice(0, this.rows);
    const info = new Map(state.health?.ranks.map((rank) => [rank.rank, rank]));
    const lines = order.map((at) => {
      const rank = data.ranks[at]!;
      const known = info.get(rank);
      return [`${culprits.has(rank) ? "◆ " : ""}${rank}`, known?.node ?? "", known ? String(known.pid) : "",
        known ? processStateText(known.state) : "", ...[late, wait, cpu, blocked].map((means) => seconds(means![at]!))];
    });
    this.slot.show([lines, data.ranks.length], () => [table(lines), this.more(data.ranks.length)]);
  }

  private more(ranks: number): HTMLElement | null {
    if (ranks <= this.rows || this.rows === ALL_ROWS) return null;
    return button(`Show all ${plural(ranks, "rank")}`, () => {
      this.rows = ALL_ROWS;
      this.draw();
    }, { class: "quiet" });
  }
}

function table(lines: string[][]): HTMLElement {
  const head = ["rank", "node", "pid", "process", "came late", "waited", "CPU", "blocked"];
  return element("table", { class: "grid" },
    element("thead", {}, element("tr", {}, ...head.map((name, i) => element("th", { scope: "col", class: i >= 4 || i === 2 ? "num" : null }, name)))),
    element("tbody", {}, ...lines.map((cells) => element("tr", { class: cells[0]!.startsWith("◆") ? "culprit" : null },
      ...cells.map((cell, i) => element("td", { class: i >= 4 || i === 2 ? "num" : null }, cell))))));
}
