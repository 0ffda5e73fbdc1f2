// Ranks against communicators: in which of them a rank came late, and who waited there. A sparse
// matrix: a cell only where the rank is a member.
import { mostAt, type Communicator, type Communicators } from "../../model/communicator";
import type { Look } from "../../model/look";
import type { JobState } from "../../model/page_state";
import { isAmong, placementOf } from "../../model/placement";
import { drawStrip, type StripLayout } from "../../plot/communicator_strip";
import { bytes, count, decimal, plural, seconds } from "../../text/quantity";
import { button, Changes, element, Slot } from "../dom/element";
import { cell, gridHead } from "../dom/grid";
import { Part } from "../dom/part";
import { onlyText } from "../job/rank_choice";
import { color, currentTheme } from "../dom/theme";
import { Tooltip } from "../dom/tooltip";

const FIRST_ROWS = 12;
const ALL_ROWS = 400;
const COLUMNS_OF_RANKS = 256; // beyond it a column of ranks is thinner than can be seen
const SCALE_LEAST_S = 1e-3;
const MUCH_SHARE = 0.2; // of the scale: from here on a number is coloured

export class CommunicatorMatrix {
  readonly node: HTMLElement;
  private readonly part: Part;
  private readonly slot = new Slot(element("div", { class: "scroll" }));
  private readonly tooltip = new Tooltip();
  private readonly changes = new Changes();
  private rows = FIRST_ROWS;
  private redraw: () => void = () => undefined;

  constructor(onLook: (change: Partial<Look>) => void) {
    this.part = new Part("communicators", "Who waits in which communicator", onLook, this.slot.node, this.tooltip.node);
    this.node = this.part.node;
    new ResizeObserver(() => this.redraw()).observe(this.slot.node);
  }

  update(state: JobState, look: Look, culprits: Set<number>): void {
    if (!this.part.update(look)) return;
    if (!this.changes.seen(state.communicators, look.only, this.rows, [...culprits].join(), currentTheme())) return;
    const known = state.communicators;
    if (!known) return this.slot.show("asking", () => [element("p", { class: "none" }, "Asking the collector.")]);
    const groups = this.chosen(known, state, look);
    const rows = groups.slice(0, this.rows);
    this.part.caption.textContent = caption(known, groups.length, look);
    const strips = rows.map((group) => ({ group, canvas: this.strip(group) }));
    const layout = layoutOf(known, groups);
    const scaleS = scaleOf(rows);
    this.slot.node.replaceChildren(table(strips, culprits, scaleS), this.more(groups.length, state, look, culprits) ?? "", ...notes(known, groups, layout));
    this.redraw = () => this.paint(strips, layout, scaleS, culprits);
    this.redraw();
  }

  // Those in which somebody came latest first.
  private chosen({ groups }: Communicators, state: JobState, look: Look): Communicator[] {
    const { only } = look;
    const most = new Map(groups.map((group) => [group, group.late[mostAt(group.late)] ?? -1]));
    const sorted = [...groups].sort((a, b) => most.get(b)! - most.get(a)! || b.ranks.length - a.ranks.length);
    if (!only) return sorted;
    const placement = placementOf(state);
    return sorted.filter((group) => group.ranks.some((rank) => isAmong(placement, only, rank)));
  }

  private strip(group: Communicator): HTMLCanvasElement {
    const canvas = element("canvas", { class: "members", role: "img", "aria-label": `members of ${group.name}: ${latest(group)}; ${longest(group)}` });
    canvas.addEventListener("pointerleave", () => this.tooltip.hide());
    return canvas;
  }

  private paint(strips: { group: Communicator; canvas: HTMLCanvasElement }[], layout: StripLayout, scaleS: number, culprits: Set<number>): void {
    const colors = { line: color("line"), culprit: color("culprit") };
    for (const { group, canvas } of strips) {
      drawStrip(canvas, group, layout, scaleS, currentTheme(), colors, culprits);
      canvas.onpointermove = (event) => this.point(event, group, canvas, layout);
    }
  }

  private point(event: PointerEvent, group: Communicator, canvas: HTMLCanvasElement, layout: StripLayout): void {
    const column = Math.floor((event.offsetX / Math.max(1, canvas.clientWidth)) * layout.columns);
    const near = group.ranks.findIndex((_, place) => layout.column(group, place) === column);
    if (near < 0) return this.tooltip.hide();
    const said = (cells: Float32Array): string => (cells[near]! === cells[near]! ? seconds(cells[near]!) : "no op");
    this.tooltip.show(`rank ${group.ranks[near]} in ${group.name}`, [["came late by", said(group.late), "late"], ["waited", said(group.wait), "wait"]], event.clientX, event.clientY);
  }

  private more(all: number, state: JobState, look: Look, culprits: Set<number>): HTMLElement | null {
    if (all <= this.rows || this.rows === ALL_ROWS) return null;
    return button(`Show ${all > ALL_ROWS ? `the first ${ALL_ROWS}` : "all"} of ${plural(all, "communicator")}`, () => {
      this.rows = ALL_ROWS;
      this.update(state, look, culprits);
    }, { class: "quiet" });
  }
}

// This much takes the last colour; noise of a healthy job stays pale.
function scaleOf(groups: Communicator[]): number {
  return Math.max(SCALE_LEAST_S, ...groups.map((group) => Math.max(group.late[mostAt(group.late)] ?? 0, (group.wait[mostAt(group.wait)] ?? 0) / 2)));
}

function layoutOf({ groups }: Communicators, shown: Communicator[]): StripLayout {
  let most = 0;
  for (const group of groups) for (const rank of group.ranks) most = Math.max(most, rank);
  if (most < COLUMNS_OF_RANKS) return { columns: most + 1, byRank: true, column: (group, place) => group.ranks[place]! };
  return { columns: Math.max(1, ...shown.map((group) => group.ranks.length)), byRank: false, column: (_, place) => place };
}

function caption(known: Communicators, groups: number, look: Look): string {
  const over = known.iterations > 0 ? `means over iterations ${count(known.first)} to ${count(known.last)}` : "no iteration known yet";
  const only = look.only ? ` with ranks ${onlyText(look.only)}` : "";
  return `${plural(groups, "communicator")}${only}, ${over}`;
}

function latest(group: Communicator): string {
  const at = mostAt(group.late);
  return at < 0 ? "nobody came late" : `rank ${group.ranks[at]} came late by ${seconds(group.late[at]!)}`;
}

function longest(group: Communicator): string {
  const at = mostAt(group.wait);
  return at < 0 ? "nobody waited" : `rank ${group.ranks[at]} waited ${seconds(group.wait[at]!)}`;
}

function table(strips: { group: Communicator; canvas: HTMLCanvasElement }[], culprits: Set<number>, scaleS: number): HTMLElement {
  if (strips.length === 0) return element("p", { class: "none" }, "No communicator fits.");
  const much = scaleS * MUCH_SHARE;
  return element("table", { class: "grid communicators" },
    gridHead([["communicator", ""], ["members", "num"], ["ops an iteration", "num"], ["came latest", ""], ["waited longest", ""], ["each member", "wide"]]),
    element("tbody", {}, ...strips.map(({ group, canvas }) => row(group, canvas, culprits, much))));
}

function row(group: Communicator, canvas: HTMLCanvasElement, culprits: Set<number>, much: number): HTMLElement {
  const silent = group.late.every((value) => value !== value);
  const [late, wait] = [mostAt(group.late), mostAt(group.wait)];
  const said = (at: number, cells: Float32Array): string => (silent ? "no op" : at < 0 ? "–" : `${culprits.has(group.ranks[at]!) ? "◆ " : ""}rank ${group.ranks[at]} · ${seconds(cells[at]!)}`);
  const unnamed = group.membersKnown ? "" : ", as far as they reported";
  return element("tr", {}, element("th", { scope: "row" }, group.name, element("span", { class: "kind" }, group.kind === "unknown" ? "" : ` ${group.kind}`)),
    cell("num", `${count(group.ranks.length)}${unnamed}`), cell("num", silent ? "–" : decimal(group.ops)), cell(group.late[late]! > much ? "late much" : "late", said(late, group.late)), cell(group.wait[wait]! > much ? "wait much" : "wait", said(wait, group.wait)),
    cell("wide", canvas));
}

// What the matrix cannot tell.
function notes(known: Communicators, shown: Communicator[], layout: StripLayout): HTMLElement[] {
  const silent = shown.filter((group) => group.late.every((value) => value !== value)).length;
  const lines = [
    layout.byRank ? "One column a rank; empty where it is not a member." : "One column a place in the communicator; empty beyond its last member.",
    silent > 0 ? `${plural(silent, "communicator")} had no op in these iterations.` : "",
    known.links.length === 0 ? "Not known: times of single links. What lies on the way between two ranks is read only of ranks that are stuck." : "",
  ].filter((line) => line !== "");
  const out = lines.map((line) => element("p", { class: "caption" }, line));
  return known.links.length > 0 ? [...out, links(known)] : out;
}

function links({ links: all }: Communicators): HTMLElement {
  const worst = [...all].sort((a, b) => b.queuedBytes + b.unreadBytes - a.queuedBytes - a.unreadBytes).slice(0, FIRST_ROWS);
  return element("table", { class: "grid", "aria-label": "Links of ranks that are stuck" },
    gridHead([["link of a stuck rank", ""], ["written, not confirmed", "num"], ["received, not read", "num"], ["nothing received for", "num"]]),
    element("tbody", {}, ...worst.map((link) => element("tr", {}, element("th", { scope: "row" }, `rank ${link.from} → rank ${link.to}`),
      cell("num", bytes(link.queuedBytes)), cell("num", bytes(link.unreadBytes)), cell("num", seconds(link.sinceReceivedS))))));
}
