// How fast a job computes and for how long nothing runs, decoded, and the pictures of it: a figure for
// each of its newest iterations.
import { number, object, objects, text, type Json } from "../api/json";

export interface WorkPoint {
  index: number;
  value: number;
}

// One figure over the newest iterations; `newest` is the mean of them.
export interface WorkStrip {
  title: string;
  ratio: boolean; // else FLOP a second
  newest: number;
  points: WorkPoint[];
}

export interface Work {
  iterations: number; // that the figures are of; 0: nothing is known
  mfuUnknown: string;
  peakSource: string;
  strips: WorkStrip[];
}

const FIGURES: [string, string, boolean][] = [
  ["flop_per_s", "products of matrices", false],
  ["mfu_ratio", "MFU", true],
  ["void_between_ratio", "void between iterations", true],
  ["void_within_ratio", "void within", true],
];

function strip(all: Json, [field, title, ratio]: [string, string, boolean]): WorkStrip[] {
  const points = objects(all.iterations).filter((one) => one[field] !== undefined)
    .map((one) => ({ index: number(one.index), value: number(one[field]) }));
  return all[field] === undefined || points.length < 2 ? [] : [{ title, ratio, newest: number(all[field]), points }];
}

export function decodeWork(value: unknown): Work {
  const all = object(value);
  return {
    iterations: number(all.of_iterations), mfuUnknown: text(all.mfu_unknown), peakSource: text(all.peak_source),
    strips: FIGURES.flatMap((figure) => strip(all, figure)),
  };
}
