import assert from "node:assert/strict";
import { test } from "node:test";
import { named, text, withPage } from "./open.mjs";

function jobs() {
  const [bad, good] = named("llama-ft-4", "healthy-8");
  bad.convictedJobs = 3;
  return [bad, good];
}

test("nodes that come again and again stand first, and lead to their history and back to the job", async () => {
  await withPage(jobs(), "", {}, async ({ page, collector }) => {
    await page.click("text=nodes");
    await page.waitForSelector("[aria-label=Nodes] tbody tr");
    const culprit = collector.jobs.get("llama-ft-4").verdicts[0].entity.node;
    const first = await text(page, "[aria-label=Nodes] tbody tr");
    assert.ok(first.startsWith(culprit) && /suspect now/.test(first) && /◆ 3 jobs/.test(first), first);
    await page.click(`[aria-label=Nodes] tbody a >> text="${culprit}"`);
    await page.waitForSelector(".node-card");
    assert.match(await text(page, ".node-card"), /sure of this node in 3 jobs of the last 30 days\. From 3 on it is a repeat offender/);
    assert.equal(await page.title(), `${culprit} · fathom`);
    await page.click("[aria-label='Verdicts on this node'] .what a");
    // The verdict is shown as soon as it is there; what is known of its node comes with the next answer.
    await page.waitForFunction(() => /of late/.test(document.querySelector(".facts")?.textContent ?? ""));
    assert.match(await text(page, ".facts"), /convicted in 3 jobs of late/);
  });
});

test("a node without a past, and one that nobody knows", async () => {
  await withPage(jobs(), "#/nodes", { refused: true }, async ({ page, collector }) => {
    const calm = collector.jobs.get("healthy-8").health().agents[0].node;
    await page.goto(`${collector.url}#/node/${calm}-none`);
    await page.waitForFunction(() => /nothing at/.test(document.querySelector(".problem")?.textContent ?? ""));
    await page.click("text=nodes");
    await page.waitForSelector("[aria-label=Nodes] tbody tr");
  });
});

test("while the history is away nothing that is not known looks like health", async () => {
  const away = "cannot read the store db: connection refused";
  await withPage(named("healthy-8"), "", {}, async ({ page, collector }) => {
    await page.waitForSelector("[aria-label='Verdict history']");
    assert.match(await text(page, "[aria-label='Verdict history']"), /None on this job/);
    collector.historyAway = away;
    await page.waitForFunction(() => /connection refused/.test(document.querySelector("[aria-label='Verdict history'] .lacks")?.textContent ?? ""));
    assert.doesNotMatch(await text(page, "[aria-label='Verdict history']"), /None/);
    const node = collector.jobs.get("healthy-8").health().agents[0].node;
    await page.goto(`${collector.url}#/node/${node}`);
    await page.waitForSelector(".node-card");
    assert.match(await text(page, ".node-card"), /is not known now/);
    assert.match(await text(page, "[aria-label='Verdicts on this node']"), /Not known now whether there are more: .*connection refused/);
  });
});

test("both views fit a phone", async () => {
  await withPage(jobs(), "#/nodes", { width: 390, height: 844 }, async ({ page, collector }) => {
    const culprit = collector.jobs.get("llama-ft-4").verdicts[0].entity.node;
    const wide = () => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    await page.waitForSelector("[aria-label=Nodes] tbody tr");
    assert.equal(await wide(), 0);
    await page.goto(`${collector.url}#/node/${culprit}`);
    await page.waitForSelector(".node-card");
    assert.equal(await wide(), 0);
    const bar = await page.locator(".bar-row").boundingBox();
    assert.ok(bar.height < 60, `the bar is one line: ${bar.height}`);
  });
});
