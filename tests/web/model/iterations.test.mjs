import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { decodeIterations, mergeIterations, meanPerRank } = await load("model/iterations.ts");

function window(first, last, ranks = [0, 1], late = (index, rank) => index * 10 + rank) {
  const index = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const cells = index.map((i) => ranks.map((rank) => late(i, rank)));
  return decodeIterations({
    iterations: index, begin_unix_ms: index.map((i) => i * 200), duration_us: index.map(() => 200_000), irregular: index.map((i) => i % 2),
    onset: null, ranks, late_us: cells, wait_us: cells, cpu_us: cells, blocked_us: cells,
  });
}

test("a rank that did not report is not a rank that was on time", () => {
  const data = window(0, 3, [0, 1], (index, rank) => (rank === 1 && index > 1 ? null : 5_000));
  assert.ok(Number.isNaN(data.late[2 * 2 + 1]));
  assert.deepEqual([...meanPerRank(data, "late", 0, 4)].map((s) => Math.round(s * 1e6)), [5000, 5000]);
});

test("short or foreign answers decode to absent cells, not to exceptions", () => {
  const data = decodeIterations({ iterations: [7, 8], ranks: [0, 1], late_us: [[1]], duration_us: "no" });
  assert.equal(data.late.length, 4);
  assert.ok(Number.isNaN(data.late[3]));
  assert.equal(decodeIterations(null).index.length, 0);
});

test("newer iterations win, older ones stay, the oldest beyond the limit go", () => {
  const merged = mergeIterations(window(0, 9), window(8, 11, [0, 1], () => 7), 10);
  assert.deepEqual(merged.index, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  assert.equal(merged.late.length, 20);
  assert.equal(Math.round(merged.late[0] * 1e6), 20);
  assert.equal(Math.round(merged.late[6 * 2] * 1e6), 7);
  assert.equal(merged.durationS.length, 10);
});

test("a gap or other ranks start anew: a hole must not look like time", () => {
  assert.deepEqual(mergeIterations(window(0, 5), window(8, 9), 100).index, [8, 9]);
  assert.deepEqual(mergeIterations(window(0, 5), window(4, 6, [0, 1, 2]), 100).index, [4, 5, 6]);
});

test("nothing new keeps what is there", () => {
  assert.equal(mergeIterations(window(0, 5), decodeIterations({}), 100).index.length, 6);
});

test("a limit below the new part alone keeps the new part", () => {
  assert.deepEqual(mergeIterations(window(0, 5), window(4, 9), 3).index, [4, 5, 6, 7, 8, 9]);
});
