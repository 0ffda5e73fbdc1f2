// The classic tables of a recording: what ran, what the device waited for, launches, copies, and
// the critical path. A table without data is left out.
import type { Segment, Tables } from "../../model/tables";
import { bytes, count, decimal, plural, seconds } from "../../text/quantity";
import { element } from "../dom/element";
import { cell, gridHead } from "../dom/grid";

type Column<Row> = [name: string, kind: string, value: (row: Row) => string];

function percent(part: number, whole: number): string {
  return whole > 0 ? `${((100 * part) / whole).toFixed(0)} %` : "";
}

export function tablePanel<Row>(title: string, caption: string, rows: Row[], columns: Column<Row>[]): HTMLElement | null {
  if (rows.length === 0) return null;
  return element("section", { class: "panel", "aria-label": title },
    element("div", { class: "panel-head" }, element("h2", {}, title), element("p", { class: "caption" }, caption)),
    element("div", { class: "scroll" }, element("table", { class: "grid" },
      gridHead(columns.map(([name, kind]): [string, string] => [name, kind])),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...columns.map(([, kind, value]) => cell(kind, value(row)))))))));
}

function segmentText(segment: Segment): string {
  if (!segment.local) return `${segment.op}${segment.group ? ` of ${segment.group}` : ""}`;
  return segment.longest || "its own time";
}

function work(tables: Tables): HTMLElement | null {
  const all = tables.kinds.reduce((sum, kind) => sum + kind.sumS, 0);
  const kinds = tables.kinds.map((kind) => `${kind.kind} ${percent(kind.sumS, all)}`).join(", ");
  const rest = tables.workLeftOut > 0 ? `; the longest of ${count(tables.work.length + tables.workLeftOut)}` : "";
  return tablePanel("What ran longest", `all ranks together: ${kinds}${rest}`, tables.work, [
    ["kind", "", (row) => row.kind], ["name", "say", (row) => row.name], ["share", "num", (row) => percent(row.sumS, all)],
    ["sum", "num", (row) => seconds(row.sumS)], ["times", "num", (row) => count(row.count)], ["mean", "num", (row) => seconds(row.meanS)],
    ["longest", "num", (row) => seconds(row.maxS)],
  ]);
}

function device(tables: Tables): (HTMLElement | null)[] {
  const ranks = tables.ranks.filter((rank) => rank.onDevice);
  const rest = tables.ranksLeftOut > 0 ? `; ${plural(tables.ranksLeftOut, "rank")} left out` : "";
  return [
    tablePanel("Why the device idled", `sums over its streams${rest}`, ranks, [
      ["rank", "", (row) => `${row.rank}`], ["waited for the host", "num", (row) => seconds(row.hostWaitS)],
      ["between kernels", "num", (row) => seconds(row.kernelWaitS)], ["other", "num", (row) => seconds(row.otherIdleS)],
      ["communication under compute", "num", (row) => percent(row.overlapS, row.communicationS)],
    ]),
    tablePanel("Launches", `from the call on the host to the begin on the device${rest}`, ranks.filter((rank) => rank.launches > 0), [
      ["rank", "", (row) => `${row.rank}`], ["launches", "num", (row) => count(row.launches)], ["a call", "num", (row) => seconds(row.callS)],
      ["begun after", "num", (row) => seconds(row.delayS)], ["99 % within", "num", (row) => seconds(row.delayP99S)],
      ["queue", "num", (row) => decimal(row.queueMean)], ["longest queue", "num", (row) => count(row.queueMax)],
    ]),
  ];
}

export function workTables(tables: Tables): HTMLElement[] {
  const panels = [
    work(tables), ...device(tables),
    tablePanel("Copies", "all ranks together", tables.copies, [
      ["kind", "", (row) => row.kind], ["times", "num", (row) => count(row.count)], ["size", "num", (row) => bytes(row.bytes)],
      ["time", "num", (row) => seconds(row.timeS)], ["bandwidth", "num", (row) => `${bytes(row.bandwidth)}/s`],
    ]),
    tablePanel("Critical path", "what decided when iterations ended, over all of them; longest first", tables.path, [
      ["rank", "", (row) => `${row.rank}`], ["segment", "", (row) => (row.local ? "local" : "communication")],
      ["most of it", "say", segmentText], ["share", "num", (row) => percent(row.sumS, tables.pathS)],
      ["sum", "num", (row) => seconds(row.sumS)], ["times", "num", (row) => count(row.count)],
    ]),
  ];
  return panels.filter((panel): panel is HTMLElement => panel !== null);
}
