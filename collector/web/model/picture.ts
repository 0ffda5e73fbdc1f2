// One iteration op by op: of a recording that was saved, or of a job that runs.
import { list, number, numbers, object, objects, text, type Json } from "../api/json";

// One op of one rank, µs from the begin of the picture.
export interface PictureOp {
  kind: string;
  beginUs: number;
  endUs: number;
  waitedUs: number; // the first part of it
  group: string;
  bytes: number;
  open: boolean; // had not ended
}

export interface PictureStretch {
  name: string;
  beginUs: number;
  endUs: number;
}

export interface RankLine {
  rank: number;
  ops: PictureOp[];
  stretches: PictureStretch[]; // garbage collection, data loading, long functions
  cut: boolean; // more ops than the page keeps
}

export interface OneIteration {
  index: number;
  why: string;
  durationUs: number;
  aligned: boolean; // ranks of several nodes, put together by the ends of shared collectives
  whole: boolean; // waits are against all members of each communicator, not only those at hand
  lines: RankLine[];
}

// What the collector has of a job that runs.
export interface LivePictures {
  pictures: OneIteration[];
  kept: number[]; // iterations that can be asked for
  wanted: { index: number; why: string }[]; // shown as soon as their ops are here
  asked: number; // answers of agents on their way
}

function decodeLine(line: Json, kinds: string[], groups: string[]): RankLine {
  return {
    rank: number(line.rank),
    ops: list(line.ops).map((op) => {
      const [kind, group, beginUs, endUs, waitedUs, bytes, open] = numbers(op);
      return {
        kind: kinds[kind ?? 0] ?? "unknown", group: groups[group ?? 0] ?? "", beginUs: beginUs ?? 0, endUs: endUs ?? 0,
        waitedUs: waitedUs ?? 0, bytes: bytes ?? 0, open: open === 1,
      };
    }),
    stretches: objects(line.stretches).map((s) => ({ name: text(s.name), beginUs: number(s.begin_us), endUs: number(s.end_us) })),
    cut: line.cut === true,
  };
}

export function decodePictures(value: unknown): OneIteration[] {
  const data = object(value);
  const kinds = list(data.kinds).map(text);
  const groups = list(data.groups).map(text);
  return objects(data.iterations).map((one) => ({
    index: number(one.index, -1),
    why: text(one.why),
    durationUs: number(one.duration_us),
    aligned: one.aligned === true,
    whole: one.whole !== false,
    lines: objects(one.ranks).map((line) => decodeLine(line, kinds, groups)),
  }));
}

export function decodeLivePictures(value: unknown): LivePictures {
  const answer = object(value);
  return {
    pictures: decodePictures(answer.pictures), kept: numbers(answer.kept), asked: number(answer.asked),
    wanted: objects(answer.wanted).map((each) => ({ index: number(each.index, -1), why: text(each.why) })),
  };
}
