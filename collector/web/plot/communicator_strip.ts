// One communicator as a row of cells: orange came late, blue waited. Cells are global ranks, so that
// a rank stands in one column over all communicators, or places in the communicator.
import type { Communicator } from "../model/communicator";
import { palette } from "./palette";

const STRIP_PX = 18;
const MARK_PX = 3; // below a culprit's cell
const CULPRIT_LEAST_PX = 4; // wide

export interface StripLayout {
  columns: number;
  byRank: boolean;
  column(communicator: Communicator, place: number): number;
}

export interface StripColors {
  line: string;
  culprit: string;
}

function css(color: number): string {
  return `rgb(${color & 255} ${(color >> 8) & 255} ${(color >> 16) & 255})`;
}

// Where several members share a pixel, the latest is drawn last and so is seen.
function drawingOrder(group: Communicator): number[] {
  return group.ranks.map((_, place) => place).sort((a, b) => (group.late[a] || 0) - (group.late[b] || 0));
}

export function drawStrip(canvas: HTMLCanvasElement, group: Communicator, layout: StripLayout, scaleS: number,
  theme: "light" | "dark", colors: StripColors, culprits: Set<number>): void {
  const ratio = window.devicePixelRatio || 1;
  const width = Math.max(1, canvas.clientWidth);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round((STRIP_PX + MARK_PX + 1) * ratio);
  const c = canvas.getContext("2d")!;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  const { late, wait } = palette(theme);
  const step = width / layout.columns;
  const gap = step >= 6 ? 1 : 0;
  c.fillStyle = colors.line;
  c.fillRect(0, STRIP_PX, width, 1);
  for (const place of drawingOrder(group)) {
    const [came, waited] = [group.late[place]!, group.wait[place]!];
    const culprit = culprits.has(group.ranks[place]!);
    const x = layout.column(group, place) * step;
    const wide = Math.max(culprit ? CULPRIT_LEAST_PX : 1, step - gap);
    const lateShown = came * 2 >= waited;
    const ramp = lateShown ? late : wait;
    const at = Math.min(ramp.length - 1, Math.round(((lateShown ? came : waited) / scaleS) * (ramp.length - 1)));
    if (came === came) {
      c.fillStyle = css(ramp[at]!);
      c.fillRect(x, 0, wide, STRIP_PX);
    }
    if (gap > 0) outline(c, x, wide, colors.line);
    c.fillStyle = colors.culprit;
    if (culprit) c.fillRect(x, STRIP_PX + 1, wide, MARK_PX);
  }
}

// A member's cell, also one without a value or with almost none.
function outline(c: CanvasRenderingContext2D, x: number, wide: number, line: string): void {
  c.strokeStyle = line;
  c.lineWidth = 1;
  c.strokeRect(x + 0.5, 0.5, wide - 1, STRIP_PX - 1);
}
