// The heat map as pixels: no DOM, so that it can be tested and measured by itself.
//
// A pixel may cover many cells (1,000 ranks on 400 pixels). It then shows the largest late arrival
// and the largest wait among them, and the late one wins unless the wait is more than twice as
// large: one late rank among many waiting ones must not vanish between its neighbours.
import type { Iterations } from "../model/iterations";
import type { Shown } from "../model/look";
import { STEPS, type Palette } from "./palette";

// Half-open ranges: columns are positions in Iterations.index, rows positions in `order`.
export interface View {
  x0: number;
  x1: number;
  y0: number;
  y1: number;
}

export interface RasterInput {
  data: Iterations;
  order: Int32Array; // row → position in Iterations.ranks
  view: View;
  width: number;
  height: number;
  scaleS: number; // this many seconds take the last colour
  shown: Shown;
  palette: Palette;
}

const LATE_WINS = 2;
const GAP_FROM_PX = 7; // cells at least this large get a line between them
const HATCH_PX = 6;
const ABSENT = 0; // transparent black: no colour of a palette, replaced by hatching

function cuts(from: number, to: number, pixels: number): Int32Array {
  return Int32Array.from({ length: pixels + 1 }, (_, i) => Math.floor(from + ((to - from) * i) / pixels + 1e-9));
}

export function rasterise(input: RasterInput, out: Uint32Array): void {
  const { view, width, height, palette } = input;
  const runs = columnRuns(input);
  const rows = cuts(view.y0, view.y1, height);
  const rowGap = height / (view.y1 - view.y0) >= GAP_FROM_PX;
  let source = -1;
  for (let y = 0; y < height; y++) {
    const top = rows[y]!;
    const bottom = Math.max(top + 1, rows[y + 1]!);
    if (rowGap && y > 0 && top !== rows[y - 1]) {
      out.fill(palette.gap, y * width, (y + 1) * width);
      continue;
    }
    const same = source >= 0 && rows[source] === top && Math.max(top + 1, rows[source + 1]!) === bottom;
    if (same) {
      out.copyWithin(y * width, source * width, (source + 1) * width);
    } else {
      drawRow(input, runs, top, bottom, y, out);
      source = y;
    }
  }
  hatchAbsent(out, width, palette);
}

// Pixels [from, to) of a row show columns [left, right); `gap` = the first pixel is a line.
interface Run {
  from: number;
  to: number;
  left: number;
  right: number;
  gap: boolean;
  empty: boolean;
}

function columnRuns({ view, width, data }: RasterInput): Run[] {
  const empty = emptyColumns(data);
  const columns = cuts(view.x0, view.x1, width);
  const gaps = width / (view.x1 - view.x0) >= GAP_FROM_PX;
  const runs: Run[] = [];
  for (let x = 0; x < width; x++) {
    const left = columns[x]!;
    const right = Math.max(left + 1, columns[x + 1]!);
    const last = runs[runs.length - 1];
    if (last && last.left === left && last.right === right) last.to = x + 1;
    else runs.push({ from: x, to: x + 1, left, right, gap: gaps && x > 0 && left !== columns[x - 1], empty: allEmpty(empty, left, right) });
  }
  return runs;
}

function allEmpty(empty: Uint8Array, left: number, right: number): boolean {
  for (let column = left; column < right; column++) if (!empty[column]) return false;
  return true;
}

function drawRow(input: RasterInput, runs: readonly Run[], top: number, bottom: number, y: number, out: Uint32Array): void {
  const start = y * input.width;
  for (const { from, to, left, right, gap, empty } of runs) {
    const color = empty ? input.palette.absent : cellColor(input, left, right, top, bottom);
    for (let x = from; x < to; x++) out[start + x] = color;
    if (gap) out[start + from] = input.palette.gap;
  }
}

function cellColor(input: RasterInput, left: number, right: number, top: number, bottom: number): number {
  const { data, order, shown, palette, scaleS } = input;
  const { late, wait } = data;
  const ranks = data.ranks.length;
  let mostLate = -1;
  let mostWait = -1;
  for (let row = top; row < bottom; row++) {
    const rank = order[row]!;
    for (let column = left; column < right; column++) {
      const at = column * ranks + rank;
      if (late[at]! > mostLate) mostLate = late[at]!;
      if (wait[at]! > mostWait) mostWait = wait[at]!;
    }
  }
  if (mostLate < 0 && mostWait < 0) return ABSENT;
  const many = (right - left) * (bottom - top) > 1;
  const lateShown = shown === "late" || (shown === "both" && mostLate * (many ? LATE_WINS : 1) >= mostWait);
  const value = Math.max(0, lateShown ? mostLate : mostWait);
  const step = Math.min(STEPS - 1, Math.round((value / scaleS) * (STEPS - 1)));
  return (lateShown ? palette.late : palette.wait)[step]!;
}

// Draws single rows again over what rasterise() made, `pixels` high with a line of gap on both
// sides, centred on their place. For culprits among ranks that share pixels.
export function enlargeRows(input: RasterInput, rows: number[], pixels: number, out: Uint32Array): void {
  const { view, width, height, palette } = input;
  const runs = columnRuns(input);
  for (const row of rows) {
    const middle = ((row + 0.5 - view.y0) / (view.y1 - view.y0)) * height;
    const top = Math.min(height - pixels - 1, Math.max(1, Math.round(middle - pixels / 2)));
    out.fill(palette.gap, (top - 1) * width, (top + pixels + 1) * width);
    drawRow(input, runs, row, row + 1, top, out);
    for (let y = top + 1; y < top + pixels; y++) out.copyWithin(y * width, top * width, (top + 1) * width);
  }
  if (rows.length > 0) hatchAbsent(out, width, palette);
}

// Columns of which nothing is kept for any rank: left empty, unlike a rank that did not report.
function emptyColumns(data: Iterations): Uint8Array {
  const ranks = data.ranks.length;
  return Uint8Array.from(data.index, (_, column) => {
    for (let at = column * ranks; at < (column + 1) * ranks; at++) {
      if (data.late[at]! >= 0 || data.wait[at]! >= 0) return 0;
    }
    return 1;
  });
}

// Ranks that did not report are hatched: a colour would read as a value.
function hatchAbsent(out: Uint32Array, width: number, palette: Palette): void {
  let x = 0;
  let y = 0;
  for (let i = 0; i < out.length; i++) {
    if (out[i] === ABSENT) out[i] = (x + y) % HATCH_PX === 0 ? palette.absentLine : palette.absent;
    if (++x === width) {
      x = 0;
      y++;
    }
  }
}

// What the last colour stands for: the 99th percentile of what is there, rounded up to a plain
// number, but never so little that the noise of a healthy job looks like an event.
export function scaleOf(data: Iterations, from: number, to: number, iterationS: number): number {
  const ranks = data.ranks.length;
  const values: number[] = [];
  const cells = (to - from) * ranks;
  const stride = Math.max(1, Math.floor(cells / 20_000));
  for (let at = from * ranks; at < to * ranks; at += stride) {
    const value = Math.max(data.late[at]!, data.wait[at]!);
    if (value === value) values.push(value);
  }
  values.sort((a, b) => a - b);
  const high = values[Math.floor(values.length * 0.99)] ?? 0;
  return plainCeiling(Math.max(high, iterationS * 0.2, 1e-3));
}

function plainCeiling(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const factor = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * 0.999) ?? 10;
  return factor * power;
}
