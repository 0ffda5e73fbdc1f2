// How each rank spent the iterations that were analysed.
import type { RankTotals } from "../../model/recorded";
import { plural, seconds } from "../../text/quantity";
import { button, element, Slot } from "../dom/element";
import { cell, gridHead } from "../dom/grid";

const FIRST_ROWS = 16;

type Column = [string, (rank: RankTotals) => number];

// As docs/formats/tables.md has them.
function columnsOf(onDevice: boolean): Column[] {
  return [
    ["computed", (r) => r.computeS], [onDevice ? "only communicated or copied" : "blocked on communication", (r) => r.nonComputeS],
    ["idle", (r) => r.idleS], ["communicated", (r) => r.communicationS], ["waited for others", (r) => r.waitS], ["came late", (r) => r.lateS],
  ];
}

export class TotalsTable {
  readonly node: HTMLElement;
  private readonly slot = new Slot(element("div", { class: "scroll" }));
  private all = false;

  constructor(private readonly totals: RankTotals[], private readonly onDevice: boolean, private readonly culprits: () => Set<number>) {
    this.node = element("section", { class: "panel", "aria-label": "Time of each rank" },
      element("div", { class: "panel-head" }, element("h2", {}, "Where the time went"),
        element("p", { class: "caption" }, `${this.onDevice ? "of the devices" : "of the training threads"}, summed over the iterations analysed; the latest ranks first`)), this.slot.node);
  }

  update(): void {
    const culprits = this.culprits();
    const order = [...this.totals].sort((a, b) => b.lateS - a.lateS || a.rank - b.rank);
    const shown = this.all ? order : order.slice(0, FIRST_ROWS);
    // A column that the source knows nothing of would be a column of zeros.
    const columns = columnsOf(this.onDevice).filter(([, value]) => this.totals.some((rank) => value(rank) !== 0));
    this.slot.show([this.all, [...culprits]], () => [
      element("table", { class: "grid" },
        gridHead([["rank", ""], ["node", ""], ...columns.map(([name]): [string, string] => [name, "num"])]),
        element("tbody", {}, ...shown.map((rank) => element("tr", { class: culprits.has(rank.rank) ? "culprit" : null },
          cell("", `${culprits.has(rank.rank) ? "◆ " : ""}${rank.rank}`), cell("", rank.node),
          ...columns.map(([, value]) => cell("num", seconds(value(rank)))))))),
      shown.length < order.length && button(`Show all ${plural(order.length, "rank")}`, () => {
        this.all = true;
        this.update();
      }, { class: "quiet" })]);
  }
}
