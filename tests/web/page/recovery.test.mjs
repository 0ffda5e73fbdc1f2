import assert from "node:assert/strict";
import { test } from "node:test";
import { named, text, withPage } from "./open.mjs";

const BEGUN_NS = 1_764_547_200e9;

function plan(change = {}) {
  return {
    job: "llama-ft-4", advice: "unknown", why: "it pays from 1.20 hours of work left on with a checkpoint of just now", verdict: "llama-ft-4-v1", grade: "established", isolate: "gpu-01", spare: "gpu-09",
    spare_because: "its probe is clean, the same hardware", processes: 4, slowdown: 2.05, stands_still: false, restart_s: 180, lost_work_s: 76, restart_gpu_hours: 0.28,
    carry_on_gpu_hours: 0, carry_on_gpu_hours_per_hour: 4.2, pays_from_hours: 1.2, steps: [], not_known: ["how long a start takes: 180 s is assumed"], torn: [],
    no_spares: ["gpu-02: ranks run on it"], ...change,
  };
}

function record(change = {}) {
  return {
    id: "r1", job: "llama-ft-4", state: "recovered", said: "the job runs at its usual pace", isolate: "gpu-01", spare: "gpu-09", by: "anna", begun_unix_ns: BEGUN_NS,
    stages: { detection_s: 40, decision_s: 20, isolation_s: 10, restart_s: 60, warm_up_s: 0.044, lost_work_s: 65, stood_s: 62 }, lost_gpu_hours: 0.141, ...change,
  };
}

async function withRecovery(recovery, options, test) {
  const jobs = named("llama-ft-4");
  jobs[0].recovery = recovery;
  await withPage(jobs, "", options, async (all) => {
    await all.page.waitForSelector(".verdict.open");
    await test({ ...all, job: jobs[0] });
  });
}

test("beside the verdict stands what would be done, what it costs, and the command", async () => {
  await withRecovery({ plan: plan() }, {}, async ({ page }) => {
    await page.waitForSelector(".recovery-plan");
    const said = await text(page, ".recovery-plan");
    assert.match(said, /it depends: it pays from 1\.20 hours/);
    assert.match(said, /Isolate\s+gpu-01[\s\S]*Spare\s+gpu-09\s+its probe is clean/);
    assert.match(said, /Restart\s+0\.2 GPU-hours\s+3 min 0 s for 4 processes, and the work since the last checkpoint; without one 1 min 16 s/);
    assert.match(said, /Carrying on\s+4\.2 GPU-hours an hour/);
    assert.equal(await text(page, ".recovery-plan code"), "fathom recover run llama-ft-4 --config recover.yaml --checkpoints DIR");
    await page.click(".recovery-plan summary");
    assert.match(await text(page, ".recovery-plan details"), /gpu-02: ranks run on it/);
    const [verdict, recovery] = [await page.locator(".verdict.open").boundingBox(), await page.locator(".card.recovery").boundingBox()];
    assert.ok(recovery.y > verdict.y, "the verdict comes first");
  });
});

test("without a spare there is no command, and names are text", async () => {
  await withRecovery({ plan: plan({ advice: "do not act", why: "there is no <b>spare</b>", spare: "", spare_because: "" }) }, {}, async ({ page }) => {
    await page.waitForSelector(".recovery-plan");
    assert.match(await text(page, ".recovery-why"), /not advised: there is no <b>spare<\/b>/);
    assert.equal(await page.locator(".recovery-plan .command").count(), 0);
  });
});

test("nobody convicted and nothing recovered: nothing is shown", async () => {
  await withRecovery({}, {}, async ({ page }) => {
    await page.waitForSelector(".health");
    assert.equal(await page.locator(".card.recovery").isVisible(), false);
  });
});

test("the stages of a recovery are a bar, each as wide as it was long", async () => {
  await withRecovery({ recoveries: [record(), record({ id: "r0", state: "given up", said: "the restart failed twice", stages: { detection_s: 1 }, lost_gpu_hours: undefined })] }, {}, async ({ page }) => {
    await page.waitForSelector(".recoveries svg");
    assert.match(await text(page, ".recoveries"), /The last recovery[\s\S]*recovered gpu-01 → gpu-09, .*by anna, 0\.14 GPU-hours of standing still and work done anew/);
    assert.match(await text(page, ".recoveries .stage-names"), /detection 40 s[\s\S]*restart 1 min 0 s[\s\S]*warm-up 44 ms[\s\S]*lost work 1 min 5 s/);
    const widths = await page.locator(".recoveries ol").first().locator("rect").evaluateAll((all) => all.map((each) => Number(each.getAttribute("width"))));
    assert.equal(widths.length, 6);
    assert.ok(Math.abs(widths[3] - 6 * widths[2]) < 1e-6, "60 s against 10 s");
    assert.equal(Math.round(widths.reduce((a, b) => a + b)), 900);
    assert.match(await text(page, ".recoveries details summary"), /1 earlier/);
  });
});

test("a recovery that is under way fits a narrow page", async () => {
  await withRecovery({ plan: plan(), recoveries: [record({ state: "under way", said: "", stages: { detection_s: 40, decision_s: 20, lost_work_s: 5 }, lost_gpu_hours: undefined })] },
    { width: 390, height: 844 }, async ({ page }) => {
      await page.waitForSelector(".recoveries svg");
      assert.match(await text(page, ".recoveries"), /A recovery is under way/);
      assert.doesNotMatch(await text(page, ".recoveries"), /lost work/, "nothing is done anew yet");
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0);
    });
});
