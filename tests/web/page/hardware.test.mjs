import assert from "node:assert/strict";
import { test } from "node:test";
import { named, Scenario, text, withPage } from "./open.mjs";

const series = (metric, unit, points, counter = false) => ({ metric, unit, counter, note: "", points });

function withHardware() {
  const job = new Scenario({ name: "told-8", prefix: "h200", ranks: 8, culprits: [5], fault: "compute_slow", gpus: true });
  job.endAt(Date.now());
  const onset = job.timeMs(job.onset), from = onset - 60_000, to = job.timeMs(job.last) + 1000;
  const gpu = (rank, clocks) => ({ kind: "gpu", name: `0000:${rank}B:00.0`, ranks: [rank], series: [series("sm_clock", "MHz", clocks), series("pcie_width", "lanes", [[from, 16]])] });
  job.hardware = { nodes: [{
    node: "h200-01", newest_ms: to,
    sources: [{ name: "nvml", state: "on", reason: "" }, { name: "rdma", state: "hangs", reason: "reading /sys/class/infiniband does not return" }],
    devices: [gpu(4, [[from, 1980]]), gpu(5, [[from, 1980], [onset, 1200]]),
      { kind: "network", name: "eth0", ranks: [], series: [series("carrier_changes", "changes", [[from, 7], [onset, 13]], true)] }],
  }] };
  return job;
}

test("strips of the hardware: the culprit's line, what moved, and what hangs", async () => {
  await withPage([withHardware()], "", {}, async ({ page }) => {
    await page.waitForSelector(".hardware .strip");
    const said = await text(page, ".hardware");
    assert.match(said, /SM clock\s+1,200 MHz\s+peers 1,980 MHz/);
    assert.match(said, /carrier changes\s+6 changes/, "a counter is told as its rise");
    assert.doesNotMatch(said, /PCIe lanes/, "nothing moved there");
    assert.match(said, /rdma on h200-01 hangs: reading \/sys\/class\/infiniband does not return/);
    assert.equal(await page.locator(".hardware .strip").first().locator("path.culprit").count(), 1);
    assert.equal(await page.locator(".hardware .strip").first().locator("line.onset").count(), 1);
  });
});

test("no strips where nothing is known of the hardware", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.open");
    assert.equal(await page.locator(".hardware").isVisible(), false);
  });
});

test("functions of a captured verdict, the culprit against its peers", async () => {
  const job = named("llama-ft-4")[0];
  job.verdicts[0].detail = {
    function: "write_metrics", file: "/job/train.py", line: 85, share: 0.55, peers_share: 0,
    functions: [
      { function: "write_metrics", file: "/job/train.py", line: 85, share: 0.55, peers_share: 0 },
      { function: "forward", file: "/job/model.py", line: 12, share: 0.181, peers_share: 0.16 },
    ],
  };
  await withPage([job], "", {}, async ({ page }) => {
    await page.waitForSelector(".functions");
    assert.match(await text(page, ".functions"), /Where its time goes[\s\S]*write_metrics\s+train\.py:85\s+55 %\s+0\.0 %[\s\S]*forward\s+model\.py:12\s+18 %\s+16 %/);
    assert.match(await text(page, ".functions tr.named"), /write_metrics/);
  });
});

test("a capture that names no function says what was missing", async () => {
  const job = named("llama-ft-4")[0];
  job.verdicts[0].detail = { missing: "another tracer holds the process" };
  await withPage([job], "", {}, async ({ page }) => {
    await page.waitForSelector(".functions");
    assert.match(await text(page, ".functions"), /names no function; missing: another tracer holds the process/);
  });
});
