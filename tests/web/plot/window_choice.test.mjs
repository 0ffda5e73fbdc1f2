import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { chosenRange, positionOf } = await load("plot/window_choice.ts");
const data = (first, count, step = 1) => ({ index: Array.from({ length: count }, (_, i) => first + i * step) });

test("the onset is on the picture, with what was before it", () => {
  assert.deepEqual(chosenRange(data(0, 2000), "auto", null), [1700, 2000]);
  assert.deepEqual(chosenRange(data(0, 2000), "auto", 1900), [1700, 2000]);
  assert.deepEqual(chosenRange(data(0, 2000), "auto", 500), [440, 2000]);
  assert.deepEqual(chosenRange(data(0, 2000), "auto", 10), [0, 2000]);
  assert.deepEqual(chosenRange(data(500, 100), "auto", 20), [0, 100]);
});

test("fixed spans", () => {
  assert.deepEqual(chosenRange(data(0, 2000), "100", 5), [1900, 2000]);
  assert.deepEqual(chosenRange(data(0, 50), "300", null), [0, 50]);
  assert.deepEqual(chosenRange(data(0, 50), "all", 3), [0, 50]);
});

test("positions with and without gaps", () => {
  assert.equal(positionOf(data(100, 50), 120), 20);
  assert.equal(positionOf(data(100, 50, 3), 130), 10);
  assert.equal(positionOf(data(100, 50), 99), -1);
  assert.equal(positionOf({ index: [] }, 1), -1);
});
