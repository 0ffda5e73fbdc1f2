import assert from "node:assert/strict";
import { test } from "node:test";
import { named, text, withPage } from "./open.mjs";

// Ten slices of ten iterations, four ranks of one second each; from the sixth on rank 2 costs a fifth.
function withLedger() {
  const job = named("llama-ft-4")[0];
  const slice = (i) => ({
    begin_unix_ns: `${job.timeMs(10 * i)}000000`, first_iteration: String(10 * i), iterations: "10", used_gpu_s: 40,
    unexplained_gpu_s: 0.4, lost_gpu_s: i < 5 ? [0, 0.4] : [8],
  });
  job.ledger = {
    iterations: "100", used_gpu_s: 400, ideal_gpu_s: 354, lost_gpu_s: 46, unexplained_gpu_s: 4,
    shares: [
      { entity: { type: "rank", ranks: [2], node: "gpu-01" }, cause: "host_slow", owner: "infrastructure", lost_gpu_s: 40, rest: false, number: "2" },
      { entity: { type: "job", ranks: [], node: "" }, cause: "gc", owner: "algorithm", lost_gpu_s: 2, rest: true, number: "0" },
    ],
    over_time: Array.from({ length: 10 }, (_, i) => slice(i)),
  };
  return job;
}

test("the ledger: one bar over time, the culprit in its colour, the amounts beside it", async () => {
  await withPage([withLedger()], "", {}, async ({ page }) => {
    await page.waitForSelector(".ledger svg");
    assert.match(await text(page, ".ledger .caption"), /400 GPU-seconds|0\.11 GPU-hours/);
    assert.match(await text(page, ".ledger .caption"), /lost \(12 %\) in 100 iterations/);
    const rows = await text(page, ".ledger .layers");
    assert.match(rows, /rank 2: slow host code[\s\S]*87 % of it[\s\S]*infrastructure/);
    assert.match(rows, /all others[\s\S]*unexplained[\s\S]*8\.7 % of it/);
    assert.equal(await page.locator(".ledger g.slice").count(), 10);
    assert.equal(await page.locator(".ledger rect.culprit-1").count(), 5, "in the slices in which it costs");
    const heights = await page.locator(".ledger g.slice").last().locator("rect").evaluateAll((all) => all.map((one) => Number(one.getAttribute("height"))));
    const [used, culprit, unexplained] = heights;
    assert.ok(Math.abs(culprit / unexplained - 20) < 0.1, "heights are as the amounts");
    assert.ok(Math.abs(culprit + unexplained - used) < 0.1, "the largest slice fills the bar");
    const [card, bar] = await Promise.all([page.locator(".card").first().boundingBox(), page.locator(".ledger").boundingBox()]);
    assert.ok(card.y < bar.y, "the verdict stays on top");
  });
});

test("what is not from here is text: an entity cannot bring markup", async () => {
  const job = withLedger();
  job.ledger.shares[0].entity = { type: "host", ranks: [], node: "<img src=x onerror=alert(1)>" };
  await withPage([job], "", {}, async ({ page }) => {
    await page.waitForSelector(".ledger svg");
    assert.match(await text(page, ".ledger .layers"), /node <img src=x/);
    assert.equal(await page.locator(".ledger img").count(), 0);
  });
});

test("no bar where the collector keeps no account", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.open");
    assert.equal(await page.locator(".ledger").isVisible(), false);
  });
});

test("what the recovery took that the ledger began after stands below the bar, of earlier ones nothing", async () => {
  const job = withLedger();
  const record = (runningMs, hours) => ({ id: `r${runningMs}`, state: "recovered", isolate: "gpu-01", begun_unix_ns: (runningMs - 60_000) * 1e6, running_unix_ns: runningMs * 1e6, stages: {}, lost_gpu_hours: hours });
  job.recovery = { recoveries: [record(job.timeMs(2), 0.5), record(job.timeMs(0) - 60_000, 9)] };
  await withPage([job], "", {}, async ({ page }) => {
    await page.waitForSelector(".ledger .downtime");
    assert.match(await text(page, ".ledger .downtime"), /recoveries: downtime\s+0\.5 GPU-hours of standing still and work done anew, not in the bar/);
  });
});
