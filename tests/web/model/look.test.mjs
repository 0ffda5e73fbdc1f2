import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { parseLook, withLook, defaultLook } = await load("model/look.ts");
const { parseRoute } = await load("model/route.ts");
const { placementOf, valuesOf } = await load("model/placement.ts");
const { rowsOf, narrowed } = await load("plot/order.ts");

test("a look survives its way through the address, names with odd characters too", () => {
  const look = { sort: "node", only: { subject: "node", value: "a&b=c?d#e:f" }, shown: "late", span: "100", open: ["iteration"], iteration: 12, rank: 3, find: "x y" };
  const hash = withLook("#/job/one%2Ftwo?sort=late", look);
  assert.deepEqual(parseLook(hash), look);
  assert.deepEqual(parseRoute(hash), { view: "job", job: "one/two" });
});

test("what is as usual is left out; nonsense is as usual", () => {
  assert.equal(withLook("#/job/x?sort=node", defaultLook()), "#/job/x");
  assert.equal(withLook("", defaultLook()), "#/");
  assert.equal(parseLook("#/job/x"), null);
  assert.deepEqual(parseLook("#/job/x?sort=colour&only=node&show=1&span=&open=a,b&iteration=-1&rank=1e9"), defaultLook());
});

// Eight ranks on two nodes: two stages, two data-parallel ranks, tensor pairs. Rank 8 is in none.
function job() {
  const group = (kind, ...ranks) => ({ id: kind + ranks, name: "", kind, ranks });
  return {
    groups: [group("pipeline", 0, 4), group("pipeline", 1, 5), group("pipeline", 2, 6), group("pipeline", 3, 7), group("data", 0, 2), group("data", 1, 3),
      group("data", 4, 6), group("data", 5, 7), group("data", 8)],
    health: { ranks: [0, 1, 2, 3, 4, 5, 6, 7, 8].map((rank) => ({ rank, node: rank === 8 ? "" : rank % 2 ? "n10" : "n9" })) },
    report: { verdicts: [] }, history: [{ id: "v", until: null, entity: { ranks: [5] } }],
  };
}
const data = { ranks: [0, 1, 2, 3, 4, 5, 6, 7, 8], index: [0], late: Float32Array.from([1, 2, 3, 4, 5, 0, 7, 8, 9]), wait: new Float32Array(9) };
const ordered = (sort, only = null) => rowsOf(data, { sort, only }, placementOf(job()), 0, 1);

test("places come from the communicators; a communicator of one says nothing", () => {
  const placement = placementOf(job());
  assert.deepEqual([0, 4, 3, 8].map((rank) => placement.stage.get(rank)), [0, 1, 0, undefined]);
  assert.deepEqual([0, 2, 7, 8].map((rank) => placement.data.get(rank)), [0, 1, 1, undefined]);
  assert.deepEqual(valuesOf(placement, "node"), ["n9", "n10"], "numbers in names in their order");
});

test("rows by stage, node and suspicion; what is not known comes last", () => {
  assert.deepEqual([...ordered("stage").order], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual(ordered("stage").bands, [{ from: 0, to: 4, label: "stage 0" }, { from: 4, to: 8, label: "stage 1" }, { from: 8, to: 9, label: "not known" }]);
  assert.deepEqual([...ordered("node").order], [0, 2, 4, 6, 1, 3, 5, 7, 8]);
  assert.deepEqual([...ordered("suspicion").order], [5, 8, 7, 6, 4, 3, 2, 1, 0], "who is named first, however early");
  assert.deepEqual([...ordered("rank", { subject: "data", value: "1" }).order], [2, 3, 6, 7]);
});

test("zooming into rows keeps the bands that are left", () => {
  const rows = narrowed(ordered("stage"), (at) => at >= 3 && at < 6);
  assert.deepEqual([...rows.order], [3, 4, 5]);
  assert.deepEqual(rows.bands, [{ from: 0, to: 1, label: "stage 0" }, { from: 1, to: 3, label: "stage 1" }]);
});
