// Pointer and keyboard on the heat map. Touch only points: a drag with a finger scrolls the page.
import type { Cell, HeatMap } from "./heat_map";
import type { View } from "./raster";

const DRAG_LEAST_PX = 5;
const PAGE_CELLS = 10;

export class HeatMapInput {
  private from: { x: number; y: number; cell: Cell } | null = null;

  constructor(
    private readonly map: HeatMap,
    private readonly onPoint: (cell: Cell | null, byKey: boolean) => void,
    private readonly onZoom: (view: View | null) => void,
    private readonly onPick: (cell: Cell) => void,
  ) {
    const node = map.node;
    node.addEventListener("pointermove", (event) => this.move(event));
    node.addEventListener("pointerdown", (event) => this.down(event));
    node.addEventListener("pointerup", (event) => this.up(event));
    node.addEventListener("pointercancel", () => this.cancel());
    node.addEventListener("pointerleave", () => this.from ?? this.onPoint(null, false));
    node.addEventListener("dblclick", () => this.onZoom(null));
    node.addEventListener("keydown", (event) => this.key(event));
    node.addEventListener("blur", () => this.onPoint(null, true));
  }

  private at(event: PointerEvent): { x: number; y: number } {
    const box = this.map.node.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  private move(event: PointerEvent): void {
    const { x, y } = this.at(event);
    const cell = this.map.cellAt(x, y);
    this.onPoint(cell, false);
    if (!this.from || !cell) return;
    const far = Math.abs(x - this.from.x) + Math.abs(y - this.from.y) >= DRAG_LEAST_PX;
    this.map.setSelection(far ? span(this.from.cell, cell) : null);
  }

  private down(event: PointerEvent): void {
    const { x, y } = this.at(event);
    const cell = this.map.cellAt(x, y);
    if (!cell || event.button !== 0) return;
    if (event.pointerType === "touch") return this.onPoint(cell, false);
    this.from = { x, y, cell };
    this.map.node.setPointerCapture(event.pointerId);
  }

  private up(event: PointerEvent): void {
    if (!this.from) return;
    const chosen = this.map.selection;
    const { cell } = this.from;
    this.cancel();
    if (this.map.node.hasPointerCapture(event.pointerId)) this.map.node.releasePointerCapture(event.pointerId);
    if (chosen) this.onZoom(chosen);
    else this.onPick(cell);
  }

  private cancel(): void {
    this.from = null;
    this.map.setSelection(null);
  }

  private key(event: KeyboardEvent): void {
    const view = this.map.picture?.view;
    if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
    const cell = this.map.cursor ?? { column: view.x1 - 1, row: view.y0 };
    const next = moved(cell, event.key, event.shiftKey ? PAGE_CELLS : 1, view);
    if (next) this.onPoint(clamp(next, view), true);
    else if (event.key === "+" || event.key === "Enter") this.onZoom(around(cell, view));
    else if (event.key === "i") this.onPick(cell);
    else if (event.key === "-" || event.key === "Escape") this.onZoom(null);
    else return;
    event.preventDefault();
  }
}

function moved(cell: Cell, key: string, step: number, view: View): Cell | null {
  const { column, row } = cell;
  switch (key) {
    case "ArrowLeft": return { column: column - step, row };
    case "ArrowRight": return { column: column + step, row };
    case "ArrowUp": return { column, row: row - step };
    case "ArrowDown": return { column, row: row + step };
    case "PageUp": return { column, row: row - PAGE_CELLS };
    case "PageDown": return { column, row: row + PAGE_CELLS };
    case "Home": return { column: view.x0, row };
    case "End": return { column: view.x1 - 1, row };
    default: return null;
  }
}

function clamp(cell: Cell, view: View): Cell {
  return {
    column: Math.min(view.x1 - 1, Math.max(view.x0, cell.column)),
    row: Math.min(view.y1 - 1, Math.max(view.y0, cell.row)),
  };
}

function span(a: Cell, b: Cell): View {
  return {
    x0: Math.min(a.column, b.column), x1: Math.max(a.column, b.column) + 1,
    y0: Math.min(a.row, b.row), y1: Math.max(a.row, b.row) + 1,
  };
}

// Half of what is on show, with the cell in it.
function around(cell: Cell, view: View): View {
  const part = (at: number, from: number, to: number): [number, number] => {
    const size = Math.max(1, Math.ceil((to - from) / 2));
    const start = Math.min(to - size, Math.max(from, at - Math.floor(size / 2)));
    return [start, start + size];
  };
  const [x0, x1] = part(cell.column, view.x0, view.x1);
  const [y0, y1] = part(cell.row, view.y0, view.y1);
  return { x0, x1, y0, y1 };
}
