import assert from "node:assert/strict";
import { test } from "node:test";
import { named, Scenario, text, withPage } from "./open.mjs";

function withWork(more) {
  const job = new Scenario({ name: "told-8", prefix: "h200", ranks: 8, culprits: [5], fault: "compute_slow" });
  job.endAt(Date.now());
  const iterations = [0, 1, 2, 3].map((i) => ({ index: 100 + i, duration_s: 0.1, flop_per_s: 4e14 - i * 1e13, void_between_ratio: 0.03, void_within_ratio: 0.02 }));
  job.work = { job: "told-8", of_iterations: 4, flop_per_s: 3.85e14, mfu_unknown: "", peak_source: "", void_between_ratio: 0.031, void_within_ratio: 0.024,
    iterations, ranks: [], ...more };
  return job;
}

test("a picture of each figure that is known, and why there is no MFU", async () => {
  await withPage([withWork({ mfu_unknown: "no peak is known of a made-up GPU" })], "", {}, async ({ page }) => {
    await page.waitForSelector(".work .strip");
    const said = await text(page, ".work");
    assert.match(said, /products of matrices\s+385 TFLOP\/s/);
    assert.match(said, /void between iterations\s+3\.1 %/);
    assert.match(said, /void within\s+2\.4 %/);
    assert.match(said, /no MFU: no peak is known of a made-up GPU/);
    assert.equal(await page.locator(".work .strip").count(), 3);
    assert.equal(await page.locator(".work .strip path").count(), 3);
  });
});

test("nothing where nothing is known of it", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.open");
    assert.equal(await page.locator(".work").isVisible(), false);
  });
});
