import assert from "node:assert/strict";
import { test } from "node:test";
import { mapReady, named, Scenario, withPage } from "./open.mjs";

const MEASURE_MS = 4000;
const SANE_FRAME_MS = 1500; // only a page that hangs is a failure; the figures are for people

// Scrolls up and down for a while; the length of every frame, and of every task that held the page.
const SCROLL = (lengthMs) => new Promise((resolve) => {
  const frames = [];
  const tasks = [];
  const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((entry) => entry.duration)));
  observer.observe({ type: "longtask" });
  const start = performance.now();
  let last = start;
  const step = (now) => {
    frames.push(now - last);
    last = now;
    window.scrollTo(0, 300 + 250 * Math.sin((now - start) / 300));
    if (now - start < lengthMs) requestAnimationFrame(step);
    else resolve({ frames: frames.slice(1).sort((a, b) => a - b), tasks });
  };
  requestAnimationFrame(step);
});

for (const name of ["llama-ft-4", "moe-pretrain-1000"]) {
  test(`${name}: frames while scrolling under ten updates a second (printed)`, async () => {
    await withPage(named(name), "", {}, async ({ page, collector }) => {
      await mapReady(page);
      const ticking = setInterval(() => collector.advance(name), 100);
      const { frames, tasks } = await page.evaluate(SCROLL, MEASURE_MS).finally(() => clearInterval(ticking));
      const at = (share) => frames[Math.min(frames.length - 1, Math.floor(frames.length * share))].toFixed(1);
      console.log(`${name}, software rendering: ${frames.length} frames in ${MEASURE_MS / 1000} s, p50 ${at(0.5)} ms, ` +
        `p95 ${at(0.95)} ms, longest ${at(1)} ms; ${tasks.length} tasks over 50 ms, longest ${Math.max(0, ...tasks)} ms`);
      assert.ok(frames.length > 4);
      assert.ok(Number(at(1)) < SANE_FRAME_MS, `longest frame ${at(1)} ms`);
      const before = collector.jobs.get(name).last - 60;
      await page.waitForFunction((n) => Number(document.querySelector(".caption").textContent.split(" to ")[1].replace(",", "")) > n, before);
    });
  });
}

test("10,000 ranks: first paint, and frames while scrolling under two updates a second (printed)", async () => {
  const job = new Scenario({ name: "huge-10000", ranks: 10_000, nodes: 1250, culprits: [6170], delayUs: 84_000 });
  job.endAt(Date.now());
  await withPage([job], "", {}, async ({ page, collector }) => {
    await mapReady(page, { timeout: 60_000 });
    const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
    const ticking = setInterval(() => collector.advance("huge-10000"), 500);
    const { frames, tasks } = await page.evaluate(SCROLL, MEASURE_MS).finally(() => clearInterval(ticking));
    const at = (share) => frames[Math.min(frames.length - 1, Math.floor(frames.length * share))].toFixed(1);
    console.log(`10,000 ranks, software rendering: first paint ${paint.toFixed(0)} ms; ${frames.length} frames in ${MEASURE_MS / 1000} s, ` +
      `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms; ${tasks.length} tasks over 50 ms`);
    assert.ok(paint > 0 && frames.length > 4);
    assert.match(await page.locator(".sentence").first().innerText(), /Rank 6170/);
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
