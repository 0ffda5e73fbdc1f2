import assert from "node:assert/strict";
import { test } from "node:test";
import { mapReady, named, Scenario, withPage } from "./open.mjs";

// Frames and first paint are measured by tests/bench/page_frames.mjs.
test("10,000 ranks are drawn, name the culprit and go on", async () => {
  const job = new Scenario({ name: "huge-10000", ranks: 10_000, nodes: 1250, culprits: [6170], delayUs: 84_000 });
  job.endAt(Date.now());
  await withPage([job], "", {}, async ({ page, collector }) => {
    await mapReady(page, { timeout: 60_000 });
    assert.match(await page.locator(".sentence").first().innerText(), /Rank 6170/);
    const before = collector.jobs.get("huge-10000").last;
    collector.advance("huge-10000", 3);
    await page.waitForFunction((n) => Number(document.querySelector(".caption").textContent.split(" to ")[1].replaceAll(",", "")) > n, before);
  });
});

test("memory stays bounded over many updates", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page, collector }) => {
    await page.waitForFunction(() => document.querySelector(".caption").textContent.endsWith("to 380"));
    for (let i = 0; i < 6; i++) {
      collector.advance("llama-ft-4", 700);
      const last = collector.jobs.get("llama-ft-4").last.toLocaleString("en-US");
      await page.waitForFunction((n) => document.querySelector(".caption").textContent.endsWith(`to ${n}`), last);
    }
    await page.click("text=All");
    const caption = await page.locator(".timeline .caption").innerText();
    const [from, to] = caption.match(/iterations ([\d,]+) to ([\d,]+)/).slice(1).map((n) => Number(n.replaceAll(",", "")));
    assert.ok(to - from < 2000, caption);
  });
});
