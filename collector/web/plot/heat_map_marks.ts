// What is drawn over the cells: rank labels, culprit rows, the onset, the cursor, the selection.
import { GUTTER_PX, MARGIN_PX, type HeatMap } from "./heat_map";

export interface MarkColors {
  ink: string;
  muted: string;
  culprit: string;
  surface: string;
}

const LABEL_PX = 12;
const LABEL_ROOM_PX = 16; // from one label to the next
const CULPRIT_LABELS_MOST = 20;
const GAPS_MOST = 8;
const BAND_LINE_ROOM_PX = 6; // more bands than this allows would be nothing but lines

export function drawMarks(c: CanvasRenderingContext2D, map: HeatMap, colors: MarkColors): void {
  const font = getComputedStyle(map.node).fontFamily;
  const taken = drawCulprits(c, map, colors, font);
  if (map.picture!.bands.length > 0) drawBands(c, map, colors, font, taken);
  else drawLabels(c, map, colors, font, taken);
  drawGaps(c, map, colors);
  drawOnset(c, map, colors);
  drawSelection(c, map, colors);
  drawCursor(c, map, colors);
}

// The rows of culprits: a wedge on both sides, a bold label, and an outline where a row is high
// enough. Returns where labels already stand.
function drawCulprits(c: CanvasRenderingContext2D, map: HeatMap, colors: MarkColors, font: string): number[] {
  const { order, view, data, culprits } = map.picture!;
  const taken: number[] = [];
  const right = map.width - MARGIN_PX;
  c.fillStyle = colors.culprit;
  c.strokeStyle = colors.culprit;
  for (let row = view.y0; row < view.y1; row++) {
    const rank = data.ranks[order[row]!]!;
    if (!culprits.has(rank)) continue;
    const top = map.y(row);
    const middle = (top + map.y(row + 1)) / 2;
    wedge(c, GUTTER_PX - 1, middle, -1);
    wedge(c, right + 1, middle, 1);
    if (map.y(row + 1) - top >= 6) {
      c.lineWidth = 2;
      c.strokeRect(GUTTER_PX + 1, top + 1, right - GUTTER_PX - 2, map.y(row + 1) - top - 2);
    }
    if (taken.length >= CULPRIT_LABELS_MOST || taken.some((y) => Math.abs(y - middle) < LABEL_ROOM_PX)) continue;
    taken.push(middle);
    label(c, `rank ${rank}`, middle, map.height, `700 ${LABEL_PX}px ${font}`);
  }
  return taken;
}

function wedge(c: CanvasRenderingContext2D, x: number, y: number, direction: number): void {
  c.beginPath();
  c.moveTo(x, y);
  c.lineTo(x + direction * 7, y - 5);
  c.lineTo(x + direction * 7, y + 5);
  c.fill();
}

function label(c: CanvasRenderingContext2D, text: string, y: number, height: number, font: string): void {
  c.font = font;
  c.textAlign = "right";
  c.textBaseline = "middle";
  c.fillText(text, GUTTER_PX - 12, Math.min(height - LABEL_PX / 2, Math.max(LABEL_PX / 2, y)));
}

function drawLabels(c: CanvasRenderingContext2D, map: HeatMap, colors: MarkColors, font: string, taken: number[]): void {
  const { order, view, data } = map.picture!;
  const rows = view.y1 - view.y0;
  const stride = niceStride(Math.ceil((rows * LABEL_ROOM_PX) / map.height));
  c.fillStyle = colors.muted;
  for (let row = view.y0; row < view.y1; row++) {
    if ((row - view.y0) % stride !== 0) continue;
    const middle = (map.y(row) + map.y(row + 1)) / 2;
    if (taken.some((y) => Math.abs(y - middle) < LABEL_ROOM_PX)) continue;
    taken.push(middle);
    const rank = data.ranks[order[row]!]!;
    label(c, rows <= 32 ? `rank ${rank}` : String(rank), middle, map.height, `${LABEL_PX}px ${font}`);
  }
}

// Rows that belong together: a line between them, their name beside them as far as there is room.
function drawBands(c: CanvasRenderingContext2D, map: HeatMap, colors: MarkColors, font: string, taken: number[]): void {
  const { bands } = map.picture!;
  const lines = bands.length <= map.height / BAND_LINE_ROOM_PX;
  c.font = `${LABEL_PX}px ${font}`;
  for (const { from, to, label: name } of bands) {
    const [top, bottom] = [map.y(from), map.y(to)];
    c.fillStyle = colors.ink;
    if (lines && from > 0) c.fillRect(GUTTER_PX, Math.round(top) - 0.5, map.width - GUTTER_PX - MARGIN_PX, 1);
    const middle = (top + bottom) / 2;
    if (taken.some((y) => Math.abs(y - middle) < LABEL_ROOM_PX)) continue;
    taken.push(middle);
    c.fillStyle = colors.muted;
    label(c, fitting(c, name, GUTTER_PX - 14), middle, map.height, c.font);
  }
}

// The end of a name tells more than its begin: nodes of a cluster share that.
function fitting(c: CanvasRenderingContext2D, name: string, width: number): string {
  let text = name;
  for (let cut = 1; c.measureText(text).width > width && cut < name.length; cut++) text = `…${name.slice(cut)}`;
  return text;
}

function niceStride(least: number): number {
  return [1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 50, 64, 100, 128, 200, 250, 256, 500].find((step) => step >= least) ?? least;
}

// Where the collector has no iterations between two columns: a cut through the picture. Many cuts
// would be a pattern of their own; then the numbers on the axis have to do.
function drawGaps(c: CanvasRenderingContext2D, map: HeatMap, colors: MarkColors): void {
  const { data, view } = map.picture!;
  const gaps: number[] = [];
  for (let at = view.x0 + 1; at < view.x1; at++) {
    if (data.index[at] !== data.index[at - 1]! + 1) gaps.push(at);
  }
  if (gaps.length > GAPS_MOST) return;
  c.fillStyle = colors.surface;
  for (const at of gaps) c.fillRect(Math.round(map.x(at)) - 1, 0, 3, map.height);
}

function drawOnset(c: CanvasRenderingContext2D, map: HeatMap, colors: MarkColors): void {
  const { onset, view } = map.picture!;
  if (onset < view.x0 || onset >= view.x1) return;
  const x = Math.round(map.x(onset)) + 0.5;
  for (const [style, width, dash] of [[colors.surface, 4, []], [colors.ink, 1.5, [5, 3]]] as const) {
    c.strokeStyle = style;
    c.lineWidth = width;
    c.setLineDash([...dash]);
    c.beginPath();
    c.moveTo(x, 0);
    c.lineTo(x, map.height);
    c.stroke();
  }
  c.setLineDash([]);
}

function drawSelection(c: CanvasRenderingContext2D, map: HeatMap, colors: MarkColors): void {
  const s = map.selection;
  if (!s) return;
  const [x, y] = [map.x(s.x0), map.y(s.y0)];
  const [width, height] = [map.x(s.x1) - x, map.y(s.y1) - y];
  c.globalAlpha = 0.18;
  c.fillStyle = colors.ink;
  c.fillRect(x, y, width, height);
  c.globalAlpha = 1;
  c.strokeStyle = colors.ink;
  c.lineWidth = 1.5;
  c.strokeRect(x, y, width, height);
}

function drawCursor(c: CanvasRenderingContext2D, map: HeatMap, colors: MarkColors): void {
  const cell = map.cursor;
  const view = map.picture!.view;
  if (!cell || cell.column < view.x0 || cell.column >= view.x1) return;
  const x = map.x(cell.column);
  const width = Math.max(2, map.x(cell.column + 1) - x);
  c.globalAlpha = 0.5;
  c.strokeStyle = colors.ink;
  c.lineWidth = 1;
  c.strokeRect(x - 0.5, -1, width + 1, map.height + 2);
  c.globalAlpha = 1;
  if (cell.row < view.y0 || cell.row >= view.y1) return;
  const y = map.y(cell.row);
  c.lineWidth = 2;
  c.strokeRect(x - 1, y - 1, width + 2, Math.max(3, map.y(cell.row + 1) - y) + 2);
}
