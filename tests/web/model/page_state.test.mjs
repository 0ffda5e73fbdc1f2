import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { activeVerdicts, emptyJobState, emptyPageState, headline, upsertVerdict } = await load("model/page_state.ts");
const { decodeVerdict, culpritName } = await load("model/verdict.ts");
const { decodeReport } = await load("model/report.ts");
const { parseRoute, jobLink } = await load("model/route.ts");
const { rankNames } = await load("text/ranks.ts");

const verdict = (id, more = {}) => ({ id, job: "j", sentence: id, ...more });

function page(reported, stored, state = "slow") {
  const current = { ...emptyJobState("j"), report: decodeReport({ verdicts: reported }), history: stored.map(decodeVerdict), job: { state } };
  return { ...emptyPageState(), current };
}

test("64-bit numbers as protobuf prints them, and fields it leaves out", () => {
  const v = decodeVerdict({ id: "a", since: { iteration: "204", time_unix_ns: "1795258751000000000" }, cost: { slowdown: "NaN" } });
  assert.equal(v.since.iteration, 204);
  assert.equal(v.since.unixMs, 1795258751000);
  assert.equal(v.slowdown, 0);
  assert.equal(v.until, null);
  assert.deepEqual([v.grade, v.evidence, v.victims], ["unknown", [], []]);
});

test("the strongest active verdict of the report is the headline, the rest follow", () => {
  const { verdict: first, others } = headline(page([verdict("strong"), verdict("weak")], [verdict("weak"), verdict("strong")]));
  assert.equal(first.id, "strong");
  assert.deepEqual(others.map((v) => v.id), ["weak"]);
});

test("a verdict closed by an event is not active, though the older report says so", () => {
  const closed = verdict("a", { until: { iteration: "9" } });
  assert.deepEqual(activeVerdicts(page([verdict("a")], [closed]).current), []);
});

test("a running job without an active verdict has no headline; an ended one keeps its last finding", () => {
  const closed = verdict("a", { until: { iteration: "9" } });
  assert.equal(headline(page([], [closed], "running")).verdict, null);
  assert.equal(headline(page([], [closed], "ended")).verdict.id, "a");
});

test("a deep link's verdict comes first, in its newest form", () => {
  const state = page([verdict("now")], [verdict("now"), verdict("old", { grade: "supported" })]);
  state.selected = decodeVerdict(verdict("old"));
  assert.equal(headline(state).verdict.grade, "supported");
  assert.deepEqual(headline(state).others.map((v) => v.id), ["now"]);
});

test("an update replaces, a new one goes to the top", () => {
  const history = ["a", "b"].map((id) => decodeVerdict(verdict(id)));
  assert.deepEqual(upsertVerdict(history, decodeVerdict(verdict("b", { grade: "supported" }))).map((v) => v.grade), ["unknown", "supported"]);
  assert.equal(upsertVerdict(history, decodeVerdict(verdict("c")))[0].id, "c");
});

test("routes survive odd names and broken links", () => {
  assert.deepEqual(parseRoute(jobLink("a/b c#ü")), { view: "job", job: "a/b c#ü" });
  assert.deepEqual(parseRoute("#/verdict/x-1"), { view: "verdict", id: "x-1" });
  for (const hash of ["", "#/", "#/job/", "#/job/%E0%A4%A", "#/nothing/x"]) assert.deepEqual(parseRoute(hash), { view: "home" }, hash);
});

test("a culprit that is no rank is named as what it is", () => {
  const named = (entity) => culpritName(decodeVerdict({ entity }), rankNames);
  assert.equal(named({ type: "rank", ranks: [2] }), "rank 2");
  assert.equal(named({ type: "link", link: { src: "a", dst: "b" } }), "link a → b");
  assert.equal(named({ type: "host", node: "n1", ranks: [0, 1] }), "host n1");
  assert.equal(named({ type: "stage", ranks: [4, 5, 6, 7] }), "stage of ranks 4–7");
  assert.equal(named({ type: "job" }), "job");
});
