// Frames of the page in Debian's Chromium, software rendering, while it is scrolled and the job goes
// on: 4 and 1,000 ranks under ten updates a second, 10,000 under two. Prints a table; asserts no time.
//
//   FATHOM_WEB_SITE=build/release/collector/web/site node tests/bench/page_frames.mjs
import { test } from "node:test";
import { mapReady, named, Scenario, withPage } from "../web/page/open.mjs";

const MEASURE_MS = 4000;

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

const COLUMNS = [["job", 20], ["first paint ms", 15], ["frames/s", 9], ["p50 ms", 7], ["p95 ms", 7], ["longest ms", 11], ["tasks > 50 ms", 14]];

function line(values) {
  console.log(COLUMNS.map(([, width], i) => (i ? String(values[i]).padStart(width) : String(values[i]).padEnd(width))).join(" "));
}

function huge() {
  const job = new Scenario({ name: "huge-10000", ranks: 10_000, nodes: 1250, culprits: [6170], delayUs: 84_000 });
  job.endAt(Date.now());
  return [job];
}

const cases = [["llama-ft-4", () => named("llama-ft-4"), 100], ["moe-pretrain-1000", () => named("moe-pretrain-1000"), 100], ["huge-10000", huge, 500]];
line(COLUMNS.map(([name]) => name));
for (const [name, jobs, updateMs] of cases) {
  test(name, async () => {
    await withPage(jobs(), "", {}, async ({ page, collector }) => {
      await mapReady(page, { timeout: 60_000 });
      const paint = await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
      const ticking = setInterval(() => collector.advance(name), updateMs);
      const { frames, tasks } = await page.evaluate(SCROLL, MEASURE_MS).finally(() => clearInterval(ticking));
      const at = (share) => frames[Math.min(frames.length - 1, Math.floor(frames.length * share))]?.toFixed(1) ?? "-";
      line([name, paint.toFixed(0), Math.round(frames.length / (MEASURE_MS / 1000)), at(0.5), at(0.95), at(1), tasks.length]);
    });
  });
}
