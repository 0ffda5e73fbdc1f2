import assert from "node:assert/strict";
import { test } from "node:test";
import { named, text, withPage } from "./open.mjs";

const captionEnds = (page, last) => page.waitForFunction((n) => document.querySelector(".caption").textContent.endsWith(`to ${n}`), last);

test("new iterations appear by themselves, and only they are asked for", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page, collector }) => {
    await captionEnds(page, "380");
    await page.waitForFunction(() => document.querySelector(".live").classList.contains("live") && document.querySelector(".live").textContent !== "live");
    collector.requests.length = 0;
    for (let i = 0; i < 5; i++) collector.advance("llama-ft-4");
    await captionEnds(page, "385");
    const asked = collector.requests.filter((path) => path.includes("/iterations"));
    assert.ok(asked.length > 0 && asked.every((path) => path.includes("after=37") || path.includes("after=38")), asked.join());
  });
});

test("a lost connection is said, with the age of the data; a new one brings the rest", async () => {
  await withPage(named("llama-ft-4"), "", { refused: true }, async ({ page, collector }) => {
    await captionEnds(page, "380");
    const { port } = collector;
    await collector.stop();
    await page.waitForSelector(".lost[role=alert]:not([hidden])");
    assert.match(await text(page, ".live"), /not live/);
    // The words settle once the newest data is no longer fresh.
    await page.waitForFunction(() => /^Connection lost, data from \d\d:\d\d:\d\d/.test(document.querySelector(".lost[role=alert]").textContent), null, { timeout: 20_000 });
    assert.match(await text(page, ".sentence"), /Rank 2/, "what was known stays on the page");
    collector.jobs.get("llama-ft-4").last += 40;
    await collector.start(port);
    // On a busy machine the page may have come back by itself before the click.
    await page.click("text=Try now", { timeout: 5000 }).catch(() => {});
    await page.waitForSelector(".lost[role=alert]", { state: "hidden" });
    await captionEnds(page, "420");
    assert.match(await text(page, ".live"), /^live · \d\d:\d\d:\d\d$/);
  });
});

test("it comes back without a hand on it", async () => {
  await withPage(named("healthy-8"), "", { refused: true }, async ({ page, collector }) => {
    const { port } = collector;
    await page.waitForSelector(".card.calm");
    await collector.stop();
    await page.waitForSelector(".lost[role=alert]:not([hidden])");
    await collector.start(port);
    await page.waitForSelector(".lost[role=alert]", { state: "hidden", timeout: 20_000 });
  });
});

test("reading goes on during updates: an open table and the focus stay", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page, collector }) => {
    await captionEnds(page, "380");
    await page.click("text=The same as a table");
    await page.focus(".copy");
    collector.advance("llama-ft-4", 3);
    await captionEnds(page, "383");
    assert.ok(await page.evaluate(() => document.activeElement.classList.contains("copy")));
    assert.equal(await page.locator(".rank-table tbody tr").count(), 4);
  });
});

test("a verdict that grows while one reads keeps what was opened, and the focus", async () => {
  const [job] = named("llama-ft-4");
  job.verdicts[0].evidence.push(...[1, 2, 3].map((n) => ({ statement: `More of it, ${n}`, value: n, unit: "s", reference: 0, source: "" })));
  await withPage([job], "", {}, async ({ page, collector }) => {
    await page.click(".evidence summary");
    await page.focus(".copy");
    const grown = { ...job.verdicts[0], sentence: "Rank 2 on gpu-01 holds the job back still." };
    job.verdicts = [grown];
    collector.publish(job.name, "verdict", grown);
    await page.waitForFunction(() => document.querySelector(".sentence").textContent.endsWith("still."));
    assert.ok(await page.locator("text=More of it, 3").isVisible());
    assert.ok(await page.evaluate(() => document.activeElement.classList.contains("copy")));
  });
});
