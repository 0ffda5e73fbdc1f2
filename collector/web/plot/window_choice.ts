// Which iterations are on show before the reader zooms.
import type { Iterations } from "../model/iterations";
import type { Span } from "../model/look";

const AUTO_LEAST = 300;
const BEFORE_ONSET = 60;

// A half-open range of positions. "auto" shows the newest 300, and more where the onset lies
// further back, so that the change itself is always on the picture.
export function chosenRange(data: Iterations, span: Span, onset: number | null): [number, number] {
  const length = data.index.length;
  if (span === "all") return [0, length];
  const most = span === "auto" ? AUTO_LEAST : Number(span);
  let from = Math.max(0, length - most);
  const at = onset === null ? -1 : data.index.indexOf(onset);
  if (span === "auto" && at >= 0) from = Math.min(from, Math.max(0, at - BEFORE_ONSET));
  return [from, length];
}

export function positionOf(data: Iterations, iteration: number): number {
  const first = data.index[0];
  if (first === undefined) return -1;
  const guess = iteration - first;
  return data.index[guess] === iteration ? guess : data.index.indexOf(iteration);
}
