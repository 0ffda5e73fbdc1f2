// Which rank stands in which row, and where rows belong together.
import { meanPerRank, type Iterations } from "../model/iterations";
import type { Look, Sorting } from "../model/look";
import { isAmong, natural, placeText, type Placement } from "../model/placement";

// Rows [from, to) of one node, stage or place.
export interface Band {
  from: number;
  to: number;
  label: string;
}

export interface Rows {
  order: Int32Array; // row → position in Iterations.ranks
  bands: Band[];
}

const WORDS: Record<string, string> = { node: "", stage: "stage ", data: "dp " };

// Rows of all that is wanted, over iterations [from, to).
export function rowsOf(data: Iterations, look: Pick<Look, "sort" | "only">, placement: Placement, from: number, to: number): Rows {
  const order = chosen(data, look.only, placement);
  if (look.sort === "rank") return { order, bands: [] };
  if (look.sort === "suspicion") return { order: bySuspicion(data, order, placement, from, to), bands: [] };
  return byPlace(data, order, look.sort, placement);
}

// Only the rows that `keep`.
export function narrowed({ order, bands }: Rows, keep: (at: number) => boolean): Rows {
  const before = new Int32Array(order.length + 1); // rows kept above each
  order.forEach((at, row) => (before[row + 1] = before[row]! + (keep(at) ? 1 : 0)));
  const left = bands.map((band) => ({ ...band, from: before[band.from]!, to: before[band.to]! }));
  return { order: order.filter(keep), bands: left.filter((band) => band.to > band.from) };
}

function chosen(data: Iterations, only: Look["only"], placement: Placement): Int32Array {
  const all = Int32Array.from(data.ranks, (_, i) => i);
  return only ? all.filter((at) => isAmong(placement, only, data.ranks[at]!)) : all;
}

// Those that verdicts name first, then the latest.
function bySuspicion(data: Iterations, order: Int32Array, { suspects }: Placement, from: number, to: number): Int32Array {
  const late = meanPerRank(data, "late", from, to);
  const named = (at: number): number => (suspects.has(data.ranks[at]!) ? 1 : 0);
  return order.sort((a, b) => named(b) - named(a) || late[b]! - late[a]! || a - b);
}

// Ranks of which nothing is known come last.
function byPlace(data: Iterations, order: Int32Array, sort: Exclude<Sorting, "rank" | "suspicion">, placement: Placement): Rows {
  const text = data.ranks.map((rank) => placeText(placement, sort, rank));
  const number = new Map([...new Set(text)].sort((a, b) => Number(a === "") - Number(b === "") || natural(a, b)).map((value, i) => [value, i]));
  const key = Int32Array.from(text, (value) => number.get(value)!);
  order.sort((a, b) => key[a]! - key[b]! || a - b);
  const bands: Band[] = [];
  order.forEach((at, row) => {
    const last = bands[bands.length - 1];
    const label = text[at] === "" ? "not known" : `${WORDS[sort]}${text[at]}`;
    if (last && last.label === label) last.to = row + 1;
    else bands.push({ from: row, to: row + 1, label });
  });
  return { order, bands };
}
