// Every rank's means over the iterations on show: the heat map as numbers, for those who want to
// read, sort out, or cannot see it. The ranks of the picture, in its order where one was chosen, else
// the latest first; long jobs are cut, and say so.
import { meanPerRank } from "../../model/iterations";
import type { JobState } from "../../model/page_state";
import { placementOf, placeText } from "../../model/placement";
import { plural, seconds } from "../../text/quantity";
import { processStateText } from "../../text/words";
import { button, Changes, element, Slot } from "../dom/element";
import { cell, gridHead } from "../dom/grid";

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

  // `rows`: the ranks on show, another array whenever they or their order changed; `ordered`: in an
  // order that the reader chose.
  update(state: JobState, from: number, to: number, rows: number[], ordered: boolean, culprits: Set<number>): void {
    if (!this.changes.seen(state.iterations, state.health, state.groups, from, to, ordered, rows, [...culprits].join())) return;
    this.draw = () => {
      if (this.details.open) this.render(state, from, to, rows, ordered, culprits);
    };
    this.draw();
  }

  private render(state: JobState, from: number, to: number, rows: number[], ordered: boolean, culprits: Set<number>): void {
    const data = state.iterations;
    const [late, wait, cpu, blocked] = (["late", "wait", "cpu", "blocked"] as const).map((q) => meanPerRank(data, q, from, to));
    const position = new Map(data.ranks.map((rank, at) => [rank, at]));
    const all = rows.flatMap((rank) => position.get(rank) ?? []);
    const order = (ordered ? all : all.sort((a, b) => late![b]! - late![a]! || a - b)).slice(0, this.rows);
    const placement = placementOf(state);
    const placed = (["stage", "data"] as const).filter((subject) => placement[subject].size > 0);
    const info = new Map(state.health?.ranks.map((rank) => [rank.rank, rank]));
    const gpus = state.health?.ranks.some((rank) => rank.gpu !== "") ?? false;
    const lines = order.map((at) => {
      const rank = data.ranks[at]!;
      const known = info.get(rank);
      return [`${culprits.has(rank) ? "◆ " : ""}${rank}`, known?.node ?? "", ...(gpus ? [known?.gpu ?? ""] : []), ...placed.map((subject) => placeText(placement, subject, rank)),
        known ? String(known.pid) : "", known ? processStateText(known.state) : "", ...[late, wait, cpu, blocked].map((means) => seconds(means![at]!))];
    });
    const places = placed.map((subject) => PLACES[subject]);
    this.slot.show([lines, all.length, placed, gpus], () => [table(lines, places, gpus), this.more(all.length)]);
  }

  private more(ranks: number): HTMLElement | null {
    if (ranks <= this.rows || this.rows === ALL_ROWS) return null;
    return button(`Show all ${plural(ranks, "rank")}`, () => {
      this.rows = ALL_ROWS;
      this.draw();
    }, { class: "quiet" });
  }
}

const PLACES = { stage: "stage", data: "data rank" };

function table(lines: string[][], places: string[], gpus: boolean): HTMLElement {
  const numbers = ["pid", "came late", "waited", "CPU", "blocked", ...places];
  const head = ["rank", "node", ...(gpus ? ["GPU"] : []), ...places, "pid", "process", "came late", "waited", "CPU", "blocked"];
  const columns = head.map((name): [string, string] => [name, numbers.includes(name) ? "num" : ""]);
  return element("table", { class: "grid" }, gridHead(columns),
    element("tbody", {}, ...lines.map((cells) => element("tr", { class: cells[0]!.startsWith("◆") ? "culprit" : null },
      ...cells.map((content, i) => cell(columns[i]![1], content))))));
}
