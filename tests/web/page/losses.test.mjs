import assert from "node:assert/strict";
import { test } from "node:test";
import { named, text, withPage } from "./open.mjs";

const DAY_NS = 86_400e9;
const UNTIL_NS = 1_764_547_200e9;

function losses(change = {}) {
  const sum = (name, used, lost, more = {}) => ({ name, used_gpu_hours: used, lost_gpu_hours: lost, verdicts: 2, jobs: 1, ...more });
  return {
    since_unix_ns: UNTIL_NS - 30 * DAY_NS, until_unix_ns: UNTIL_NS, verdicts_since_unix_ns: 0, used_gpu_hours: 2000, lost_gpu_hours: 100, leads_gpu_hours: 3, runs: 12, jobs: 2,
    by_week: [{ week_unix_ns: UNTIL_NS - 7 * DAY_NS, used_gpu_hours: 500, lost_gpu_hours: 25 }],
    by_cause: [sum("dataloader", 0, 75, { owner: "infrastructure" }), sum("compute_slow", 0, 25, { owner: "operations" })],
    by_node: [sum("n17", 0, 25)], by_team: [sum("<b>vision</b>", 2000, 100)], by_job: [...Array(20).keys()].map((i) => sum(`job${i}`, 100, 5)),
    repeat_offenders: [{ node: "n17", convicted_jobs: 4, last_convicted_unix_ns: UNTIL_NS - DAY_NS }], rows: [], ...change,
  };
}

async function opened(page, collector, answer) {
  collector.losses = answer;
  await page.click("nav >> text=losses");
  await page.waitForSelector(".losses-sum");
}

test("the month: used and lost, the causes with their shares, nodes that lead to their history", async () => {
  await withPage(named("healthy-8"), "", {}, async ({ page, collector }) => {
    await opened(page, collector, losses());
    assert.match(await text(page, ".losses-sum"), /2,000 GPU-hours used in 12 runs of 2 jobs, 100 lost \(5 %\); leads/);
    assert.match(await text(page, "[aria-label='Lost by cause'] tbody tr"), /dataloader\s+infrastructure\s+75\s+75 %\s+2/);
    assert.match(await text(page, "[aria-label='By week'] tbody tr"), /2025-11-24\s+500\s+25\s+5 %/);
    assert.match(await text(page, "[aria-label='By job']"), /and 8 more/);
    assert.match(await text(page, "[aria-label='Repeat offenders']"), /n17: convicted in 4 jobs, last on 2025-11-30/);
    assert.equal(await page.locator("[aria-label='Recoveries']").count(), 0, "none ran");
    assert.equal(await text(page, "[aria-label='By team'] tbody th"), "<b>vision</b>", "names are text");
    assert.equal(await page.getAttribute("[aria-label='Lost by node'] a", "href"), "#/node/n17");
    assert.equal(await page.title(), "losses · fathom");
  });
});

test("recoveries are told by stage", async () => {
  await withPage(named("healthy-8"), "", {}, async ({ page, collector }) => {
    const stages = [{ stage: "detection", minutes: 12, gpu_hours: 0 }, { stage: "restart", minutes: 3, gpu_hours: 0.4 }];
    await opened(page, collector, losses({ recoveries: { count: 2, recovered: 1, stages } }));
    assert.match(await text(page, "[aria-label='Recoveries']"), /Recoveries: 2, 1 of them to the end[\s\S]*detection\s+12\s+–[\s\S]*restart\s+3\s+0\.4/);
  });
});

test("a store that does not reach back says so, and one without anything is no error", async () => {
  await withPage(named("healthy-8"), "", {}, async ({ page, collector }) => {
    await opened(page, collector, losses({ verdicts_since_unix_ns: UNTIL_NS - 2 * DAY_NS }));
    assert.match(await text(page, ".losses"), /Verdicts from before 2025-11-29 have left the store/);
  });
  await withPage(named("healthy-8"), "", { width: 390, height: 844 }, async ({ page, collector }) => {
    await opened(page, collector, { used_gpu_hours: 0, lost_gpu_hours: 0, runs: 0, jobs: 0 });
    assert.match(await text(page, ".losses-sum"), /0 GPU-hours used in 0 runs of 0 jobs, 0 lost \(0 %\)\./);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
  });
});
