import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { seconds, decimal, span, measured } = await load("text/quantity.ts");
const { rankList, rankNames } = await load("text/ranks.ts");

test("times in the unit a person would choose", () => {
  const said = [0, 4e-7, 2.5e-4, 0.0042, 0.0996, 0.212, 0.9996, 1.234, 12.34, 75, 7260, 90_000].map(seconds);
  assert.deepEqual(said, ["0 ms", "0 µs", "250 µs", "4.2 ms", "100 ms", "212 ms", "1.00 s", "1.23 s", "12.3 s", "1 min 15 s", "2 h 1 min", "1 d 1 h"]);
});

test("a rounding up does not give a minute of 60 seconds", () => {
  assert.equal(span(59.7), "1 min 0 s");
  assert.equal(span(-3), "0 s");
});

test("numbers keep what matters", () => {
  assert.deepEqual([0, 0.0123, 0.5, 2.05, 20.04, 176, 15_208_000].map(decimal), ["0", "0.012", "0.5", "2.05", "20", "176", "15,208,000"]);
});

test("units of evidence", () => {
  assert.equal(measured(0.212, "s"), "212 ms");
  assert.equal(measured(212, "ms"), "212 ms");
  assert.equal(measured(3, "iterations"), "3 iterations");
  assert.equal(measured(0.93, "ratio"), "0.93");
  assert.equal(measured(7, ""), "7");
});

test("rank lists", () => {
  assert.equal(rankList([3, 0, 1]), "0, 1, 3");
  assert.equal(rankList([5, 6, 7, 8]), "5–8");
  assert.equal(rankList([0, 2, 4, 6, 8, 10]), "0, 2, 4, 6, …");
  assert.equal(rankNames([2]), "rank 2");
  assert.equal(rankNames([2, 2, 1]), "ranks 1, 2");
});
