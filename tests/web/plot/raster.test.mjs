import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { rasterise, enlargeRows, scaleOf } = await load("plot/raster.ts");
const { palette } = await load("plot/palette.ts");

const colors = palette("light");

function job(ranks, count, late, wait) {
  const fill = (of) => Float32Array.from({ length: ranks * count }, (_, i) => of(Math.floor(i / ranks), i % ranks));
  return { ranks: [...Array(ranks).keys()], index: [...Array(count).keys()], late: fill(late), wait: fill(wait) };
}

function draw(data, width, height, more = {}) {
  const out = new Uint32Array(width * height);
  const order = more.order ?? Int32Array.from(data.ranks);
  const input = { data, order, view: { x0: 0, x1: data.index.length, y0: 0, y1: order.length }, width, height, scaleS: 0.1, shown: "both", palette: colors, ...more };
  rasterise(input, out);
  return { out, input, at: (x, y) => out[y * width + x] };
}

test("the culprit is orange, its victims blue, each cell where it belongs", () => {
  const data = job(2, 2, (i, r) => (i === 1 && r === 1 ? 0.1 : 0), (i, r) => (i === 1 && r === 0 ? 0.1 : 0));
  const { at } = draw(data, 12, 12);
  assert.equal(at(9, 9), colors.late[255]);
  assert.equal(at(9, 2), colors.wait[255]);
  assert.equal(at(2, 2), colors.late[0]);
});

test("one late rank among a thousand waiting ones is still seen", () => {
  const data = job(1000, 300, (_, r) => (r === 617 ? 0.08 : 0), (_, r) => (r === 617 ? 0 : 0.08));
  const { out, input } = draw(data, 300, 100);
  const orange = new Set(colors.late.slice(100));
  const rows = () => new Set([...out.keys()].filter((i) => orange.has(out[i])).map((i) => Math.floor(i / 300)));
  assert.deepEqual([...rows()], [61]);
  enlargeRows(input, [617], 8, out);
  assert.equal(rows().size, 8);
});

test("a rank that did not report is hatched, not coloured", () => {
  const data = job(2, 1, (_, r) => (r === 0 ? NaN : 0), (_, r) => (r === 0 ? NaN : 0));
  const { out } = draw(data, 20, 20);
  assert.deepEqual(new Set(out.slice(0, 20 * 9)), new Set([colors.absent, colors.absentLine]));
});

test("an iteration of which nothing is kept is empty, not hatched", () => {
  const data = job(2, 2, (i) => (i === 0 ? NaN : 0), (i) => (i === 0 ? NaN : 0));
  const { at } = draw(data, 20, 20);
  for (let x = 0; x < 10; x++) for (let y = 0; y < 8; y++) assert.equal(at(x, y), colors.absent);
});

test("showing one quantity hides the other", () => {
  const data = job(1, 1, () => 0.1, () => 0.1);
  assert.equal(draw(data, 4, 4, { shown: "wait" }).at(1, 1), colors.wait[255]);
  assert.equal(draw(data, 4, 4, { shown: "late" }).at(1, 1), colors.late[255]);
});

test("a zoomed view draws its own part", () => {
  const data = job(4, 10, (i, r) => (i === 7 && r === 3 ? 0.1 : 0), () => 0);
  const { at } = draw(data, 5, 5, { view: { x0: 7, x1: 8, y0: 3, y1: 4 } });
  assert.equal(at(2, 2), colors.late[255]);
});

test("noise of a healthy job does not fill the scale; a fault sets it", () => {
  const healthy = job(4, 100, () => 0.001, () => 0.002);
  assert.ok(scaleOf(healthy, 0, 100, 0.2) >= 0.04);
  const faulty = job(4, 100, () => 0.212, () => 0.002);
  const scale = scaleOf(faulty, 0, 100, 0.2);
  assert.ok(scale >= 0.212 && scale <= 0.4, String(scale));
});

test("cost of a picture (printed, not asserted)", () => {
  const data = job(1000, 300, (_, r) => (r === 617 ? 0.08 : 0.001), () => 0.08);
  const started = process.cpuUsage();
  for (let i = 0; i < 10; i++) draw(data, 2500, 840);
  const { user, system } = process.cpuUsage(started);
  console.log(`raster: 1000 ranks x 300 iterations on 2500 x 840 pixels, ${((user + system) / 1e4).toFixed(1)} ms of CPU a picture`);
});
