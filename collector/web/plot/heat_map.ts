// The rank × time heat map: draws itself on two canvases (data; marks and cursor), answers mouse,
// pen and keyboard. It knows nothing of jobs; the timeline feeds it and hears what was pointed at.
import type { Iterations } from "../model/iterations";
import type { Shown } from "../model/look";
import { color, currentTheme } from "../view/dom/theme";
import { element } from "../view/dom/element";
import { drawMarks } from "./heat_map_marks";
import { HeatMapInput } from "./heat_map_input";
import { palette } from "./palette";
import type { Band } from "./order";
import { enlargeRows, rasterise, type View } from "./raster";

export const GUTTER_PX = 76; // left of the plot: rank labels here, the axis of the strip there
export const MARGIN_PX = 14; // right of it
const ROW_MOST_PX = 30;
const HEIGHT_LEAST_PX = 96;
const HEIGHT_MOST_PX = 420;
const THIN_MOST = 20;

export interface Picture {
  data: Iterations;
  order: Int32Array;
  bands: Band[]; // of the rows in view; none where they are in plain order
  view: View;
  scaleS: number;
  shown: Shown;
  culprits: Set<number>; // global ranks
  onset: number; // position, −1 = none
}

// Rows lower than this many pixels are too thin to find; culprits among them are drawn larger.
const THIN_PX = 5;
const ENLARGED_PX = 8;

export interface Cell {
  column: number;
  row: number;
}

export class HeatMap {
  readonly node: HTMLElement;
  cursor: Cell | null = null;
  selection: View | null = null;
  picture: Picture | null = null;
  width = 0;
  height = 0;
  drawMs = 0; // the last drawing of the data, for those who measure
  private readonly cells = element("canvas", { "aria-hidden": "true" });
  private readonly marks = element("canvas", { "aria-hidden": "true", class: "marks" });
  private image: ImageData | null = null;
  private pending = 0;

  constructor(onPoint: (cell: Cell | null, byKey: boolean) => void, onZoom: (view: View | null) => void, onPick: (cell: Cell) => void) {
    this.node = element("div", {
      class: "heat-map", tabindex: 0, role: "application", "aria-roledescription": "heat map",
      "aria-describedby": "heat-map-keys",
    }, this.cells, this.marks);
    new HeatMapInput(this, onPoint, onZoom, onPick);
    new ResizeObserver(() => this.resize()).observe(this.node);
  }

  show(picture: Picture): void {
    this.picture = picture;
    this.resize();
    // Now and not in the next frame: the strip below draws now, and both share one time axis.
    cancelAnimationFrame(this.pending);
    this.draw();
  }

  setCursor(cell: Cell | null): void {
    this.cursor = cell;
    this.redrawMarks();
  }

  setSelection(selection: View | null): void {
    this.selection = selection;
    this.redrawMarks();
  }

  // CSS pixels of a column or row within the node.
  x(column: number): number {
    const view = this.picture!.view;
    return GUTTER_PX + ((column - view.x0) / (view.x1 - view.x0)) * this.plotWidth();
  }

  y(row: number): number {
    const view = this.picture!.view;
    return ((row - view.y0) / (view.y1 - view.y0)) * this.height;
  }

  cellAt(x: number, y: number): Cell | null {
    const view = this.picture?.view;
    const across = (x - GUTTER_PX) / this.plotWidth();
    const down = y / this.height;
    if (!view || across < 0 || across >= 1 || down < 0 || down >= 1) return null;
    const near = this.thinCulprits().find((row) => Math.abs(this.y(row + 0.5) - y) <= ENLARGED_PX / 2);
    return {
      column: Math.floor(view.x0 + across * (view.x1 - view.x0)),
      row: near ?? Math.floor(view.y0 + down * (view.y1 - view.y0)),
    };
  }

  // Culprit rows that would be too thin to see by themselves.
  private thinCulprits(): number[] {
    const { order, view, data, culprits } = this.picture!;
    if (this.height / (view.y1 - view.y0) >= THIN_PX) return [];
    const rows: number[] = [];
    for (let row = view.y0; row < view.y1 && rows.length < THIN_MOST; row++) {
      if (culprits.has(data.ranks[order[row]!]!)) rows.push(row);
    }
    return rows;
  }

  plotWidth(): number {
    return Math.max(1, this.width - GUTTER_PX - MARGIN_PX);
  }

  private resize(): void {
    if (!this.picture) return;
    const rows = this.picture.view.y1 - this.picture.view.y0;
    this.width = this.node.clientWidth;
    this.height = Math.round(Math.min(HEIGHT_MOST_PX, Math.max(HEIGHT_LEAST_PX, rows * ROW_MOST_PX)));
    const high = `${this.height}px`;
    if (this.node.style.height !== high) this.node.style.height = high;
    if (this.pending === 0) this.pending = requestAnimationFrame(() => this.draw());
  }

  private redrawMarks(): void {
    if (this.pending === 0) this.pending = requestAnimationFrame(() => this.draw(true));
  }

  private draw(marksOnly = false): void {
    this.pending = 0;
    if (!this.picture || this.width === 0) return;
    if (!marksOnly || !this.image) this.drawCells(this.picture);
    this.drawOver();
  }

  private drawCells(picture: Picture): void {
    const started = performance.now();
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(this.plotWidth() * ratio));
    const height = Math.max(1, Math.round(this.height * ratio));
    if (this.cells.width !== width || this.cells.height !== height || !this.image) {
      this.cells.width = width;
      this.cells.height = height;
      this.image = new ImageData(width, height);
    }
    this.cells.style.left = `${GUTTER_PX}px`;
    this.cells.style.width = `${this.plotWidth()}px`;
    this.cells.style.height = `${this.height}px`;
    const { data, order, view, scaleS, shown } = picture;
    const pixels = new Uint32Array(this.image.data.buffer);
    const input = { data, order, view, width, height, scaleS, shown, palette: palette(currentTheme()) };
    rasterise(input, pixels);
    enlargeRows(input, this.thinCulprits(), Math.round(ENLARGED_PX * ratio), pixels);
    // Kept in main memory: it is only ever written as a whole, from there.
    this.cells.getContext("2d", { willReadFrequently: true })!.putImageData(this.image, 0, 0);
    this.drawMs = performance.now() - started;
  }

  private drawOver(): void {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(this.width * ratio);
    const height = Math.round(this.height * ratio);
    if (this.marks.width !== width || this.marks.height !== height) {
      this.marks.width = width;
      this.marks.height = height;
      this.marks.style.width = `${this.width}px`;
      this.marks.style.height = `${this.height}px`;
    }
    const context = this.marks.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.width, this.height);
    drawMarks(context, this, { ink: color("ink"), muted: color("muted"), culprit: color("culprit"), surface: color("surface") });
  }
}
