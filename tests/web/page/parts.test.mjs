// The parts that are asked for when they are opened: one iteration op by op, communicators.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { mapReady, named, text, withPage } from "./open.mjs";

const ITERATION = "[aria-label='One iteration, op by op']";
const COMMUNICATORS = "[aria-label='Who waits in which communicator']";
const asked = (collector, what) => collector.requests.filter((path) => path.includes(`/${what}`));

test("one iteration: opened, the slow one with its culprit and those that wait; another is a click away", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page, collector }) => {
    await page.waitForSelector(".verdict.open");
    assert.equal(asked(collector, "pictures").length, 0, "nobody asks the agents before somebody looks");
    await page.click(`${ITERATION} summary`);
    await page.waitForSelector(".op-row");
    assert.match(await text(page, `${ITERATION} .caption`), /^iteration 208, 4 ranks, 413 ms$/);
    assert.match(await text(page, ".op-row.culprit .op-rank"), /rank 2/);
    assert.match(await page.getAttribute(".op-row:not(.culprit)", "aria-label"), /rank 0: 2 ops, waited 212 ms/);
    await page.click("text=201 · before");
    await page.waitForFunction(() => /^iteration 201,/.test(document.querySelector(".part .caption").textContent));
    assert.match(await page.getAttribute(".op-row:not(.culprit)", "aria-label"), /waited 0 ms/);
    assert.equal(await page.evaluate(() => location.hash.split("?")[1]), "open=iteration");
    const before = asked(collector, "pictures").length;
    collector.advance("llama-ft-4", 3);
    await page.waitForFunction(() => /to 383$/.test(document.querySelector(".timeline .caption").textContent));
    assert.equal(asked(collector, "pictures").length, before, "what is on show does not change under the reader");
  });
});

test("a cell of the map opens its iteration, with its rank among those drawn; so does the key i", async () => {
  await withPage(named("moe-pretrain-1000"), "", {}, async ({ page }) => {
    await mapReady(page);
    await page.locator(".heat-map").scrollIntoViewIfNeeded();
    const box = await page.locator(".heat-map").boundingBox();
    await page.mouse.click(box.x + box.width * 0.9, box.y + box.height * 0.3);
    await page.waitForSelector(".op-row");
    const { iteration, rank } = await page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.split("?")[1])));
    assert.match(await text(page, `${ITERATION} .caption`), new RegExp(`^iteration ${iteration}, .*waits are against the ranks shown here`));
    assert.ok((await page.locator(".op-rank").allInnerTexts()).some((name) => name.endsWith(`rank ${rank}`)), `rank ${rank} is drawn`);
    await page.focus(".heat-map");
    await page.keyboard.press("End");
    await page.keyboard.press("i");
    await page.waitForFunction(() => /iteration=420/.test(location.hash) && /^iteration 420,/.test(document.querySelector(".part .caption").textContent));
  });
});

test("agents that answer late: the page says so, and asks until the ops are there", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page, collector }) => {
    const job = collector.jobs.get("llama-ft-4");
    const whole = job.pictures.bind(job);
    let left = 2;
    job.last = 400; // what is newest moves on; what was chosen first is what comes
    job.pictures = (...wish) => ({ ...whole(...wish), ...(left-- > 0 && job.last++ ? { asked: 1, pictures: { kinds: [], groups: [], iterations: [] } } : {}) });
    await page.click(`${ITERATION} summary`);
    await page.waitForFunction(() => /Waiting for the agents/.test(document.querySelector(".part .none")?.textContent));
    await page.waitForSelector(".op-row");
    assert.deepEqual(asked(collector, "pictures").map((path) => path.split("?")[1]), [undefined, "iteration=208,201,398", "iteration=208,201,398"]);
    assert.equal(await text(page, ".part .choice"), "208 · slow\n201 · before\n398 · newest");
  });
});

test("an iteration that is not kept is said", async () => {
  const jobs = named("llama-ft-4");
  jobs[0].pictures = () => undefined;
  await withPage(jobs, "#/job/llama-ft-4?open=iteration&iteration=3", { refused: true }, async ({ page }) => {
    await page.waitForFunction(() => /^No picture: nothing at/.test(document.querySelector(".part .none")?.textContent ?? ""));
  });
});

test("the trace for Perfetto is a file, with words on how to open it; a refusal is said", async () => {
  await withPage(named("llama-ft-4"), "#/job/llama-ft-4?open=iteration", { refused: true }, async ({ page, collector }) => {
    await page.waitForSelector(".op-row");
    const [download] = await Promise.all([page.waitForEvent("download"), page.click("text=Perfetto trace")]);
    assert.equal(download.suggestedFilename(), "llama-ft-4.pftrace");
    assert.equal(readFileSync(await download.path(), "utf8"), "trace of llama-ft-4");
    assert.match(await text(page, ".part [role=status]"), /llama-ft-4\.pftrace is in your downloads.*sent nowhere/);
    collector.jobs.get("llama-ft-4").noTrace = true;
    await page.click("text=Perfetto trace");
    await page.waitForFunction(() => /No trace: no memory/.test(document.querySelector(".part [role=status]").textContent));
  });
});

test("communicators: the culprit's first, who came late and who waited, silence is said", async () => {
  await withPage(named("grid-32"), "#/job/grid-32?open=communicators", {}, async ({ page }) => {
    await page.waitForSelector(".communicators tbody tr");
    const rows = () => page.evaluate(() => [...document.querySelectorAll(".communicators tbody tr")].map((row) => [...row.cells].slice(0, 5).map((cell) => cell.textContent)));
    const top = (await rows()).slice(0, 4);
    assert.deepEqual(top.map(([name]) => name).sort(), ["dp 1.1 data", "pp 2.1 pipeline", "tp 1.2 tensor", "world world"]);
    for (const [, , , late, wait] of top) assert.ok(/^◆ rank 13 · 212 ms$/.test(late) && /^rank \d+ · 212 ms$/.test(wait), `${late} / ${wait}`);
    assert.equal((await rows()).length, 12);
    assert.match(await text(page, COMMUNICATORS), /1 communicator had no op[\s\S]*Not known: times of single links/);
    await page.click("text=Show all of 33 communicators");
    await page.waitForFunction(() => document.querySelectorAll(".communicators tbody tr").length === 33);
    assert.deepEqual((await rows()).find(([name]) => name === "pp 1.1 pipeline").slice(2), ["–", "no op", "no op"]);
    await page.hover(".communicators canvas", { position: { x: 3, y: 8 } });
    await page.waitForSelector(".tooltip:not([hidden])");
    assert.match(await text(page, ".tooltip:not([hidden])"), /^rank 0 in world\s+came late by\s+\S+ \S+\s+waited\s+212 ms/);
  });
});

test("communicators of chosen ranks only, and links of ranks that are stuck", async () => {
  const jobs = named("grid-32");
  jobs[0].links = [{ from: 13, to: 12, queued_bytes: 1 << 20, unread_bytes: 0, unconfirmed_segments: 9, since_received_s: 41.5 }];
  await withPage(jobs, "#/job/grid-32?open=communicators&only=suspects", {}, async ({ page }) => {
    await page.waitForFunction(() => document.querySelectorAll(".communicators tbody tr").length === 4);
    assert.match(await text(page, "[aria-label='Links of ranks that are stuck'] tbody tr"), /rank 13 → rank 12\s+1 MiB\s+0 B\s+41\.5 s/);
  });
});

for (const dark of [false, true]) {
  test(`both parts on a phone, ${dark ? "dark" : "light"}: nothing scrolls sideways`, async () => {
    await withPage(named("grid-32"), "#/job/grid-32?open=iteration,communicators&sort=stage", { width: 390, height: 844, touch: true, dark }, async ({ page }) => {
      await page.waitForSelector(".communicators tbody tr");
      await page.waitForSelector(".op-row");
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    });
  });
}
