import assert from "node:assert/strict";
import { test } from "node:test";
import { named, Scenario, text, withPage } from "./open.mjs";

test("the culprit is what one reads first", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.open");
    assert.match(await text(page, "main"), /^llama-ft-4\s+slow[\s\S]*Culprit found\s+established[\s\S]*Rank 2 on gpu-01 holds the job back/);
    assert.match(await text(page, ".facts"), /Culprit\s+◆rank 2\s+on gpu-01\s+pid 4202/);
    assert.match(await text(page, ".facts"), /Since\s+\d\d:\d\d:\d\d\s+iteration 204\s+.*ago/);
    assert.match(await text(page, ".facts"), /2\.05× normal\s+212 ms lost an iteration\s+0\.041 GPU-hours/);
    assert.match(await text(page, ".facts"), /3 ranks\s+0, 1, 3/);
    assert.match(await text(page, ".evidence"), /later than the median of its peers\s+212 ms\s+against 3\.0 ms/);
    assert.match(await text(page, ".doubts"), /Against it[\s\S]*400 µs[\s\S]*What would change our mind[\s\S]*Another rank/);
    assert.match(await page.title(), /◆ rank 2 · llama-ft-4/);
    const box = await page.locator(".verdict .sentence").boundingBox();
    assert.ok(box.y < 300, "above the fold");
  });
});

test("which GPU it is, where that is known", async () => {
  const told = new Scenario({ name: "told-8", prefix: "h200", ranks: 8, culprits: [5], fault: "compute_slow", gpus: true });
  told.endAt(Date.now());
  await withPage([told], "", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.open");
    assert.match(await text(page, ".facts"), /Culprit\s+◆rank 5\s+on h200-01\s+GPU 0000:6B:00\.0/);
    await page.click(".rank-table summary");
    await page.waitForSelector(".rank-table tbody tr");
    assert.match(await text(page, ".rank-table"), /node\s+GPU\s+pid[\s\S]*5\s+h200-01\s+0000:6B:00\.0/i);
  });
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.open");
    await page.click(".rank-table summary");
    await page.waitForSelector(".rank-table tbody tr");
    assert.doesNotMatch((await text(page, ".facts")) + (await text(page, ".rank-table")), /GPU \d|GPU\s+pid/i);
  });
});

test("what was not judged is said, with what was missing", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    assert.match(await text(page, ".abstained"), /Not judged: whether the network is slow as well\s*missing: link counters of gpu-01/);
  });
});

test("the command can be copied", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.click(".copy");
    await page.waitForFunction(() => document.querySelector(".copy").textContent === "Copied");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "fathom explain llama-ft-4-v1 --stacks --rank 2");
  });
});

test("a healthy job is calm, and says what was watched and what is hidden", async () => {
  await withPage(named("healthy-8"), "", {}, async ({ page }) => {
    await page.waitForSelector(".card.calm");
    assert.match(await text(page, ".card.calm"), /No culprit\s+All 8 ranks keep pace\.[\s\S]*iteration time, arrival and wait in 1 communicator/);
    assert.match(await text(page, ".card.calm"), /Iteration\s+An iteration takes 200 ms: computing 91 %\. Only faster kernels would help\./);
    assert.match(await text(page, ".health"), /gpu kernels: off, hides which kernel is slow/);
    assert.equal(await page.title(), "healthy-8 · fathom");
  });
});

test("a slow job without a culprit does not look calm", async () => {
  await withPage(named("puzzled-8"), "", {}, async ({ page }) => {
    await page.waitForSelector(".card.uneasy");
    assert.match(await text(page, ".card"), /No culprit named yet\s+An iteration takes 2\.05 times as long/);
    assert.match(await text(page, ".abstained"), /missing: rows of rank 5/);
    assert.equal(await page.locator(".card.calm").count(), 0);
  });
});

test("a verdict that opens while one watches takes the page over, one that closes goes to the history", async () => {
  const job = new Scenario({ name: "live-4", fault: null, culprits: [2] });
  job.endAt(Date.now());
  const found = new Scenario({ name: "live-4" }).verdicts[0];
  await withPage([job], "", {}, async ({ page, collector }) => {
    await page.waitForSelector(".card.calm");
    collector.openVerdict("live-4", { ...found, until: undefined });
    await page.waitForSelector(".verdict.open");
    assert.match(await text(page, ".sentence"), /Rank 2 on gpu-01/);
    assert.match(await page.locator(".job-page > [role=status]").textContent(), /Rank 2/);
    job.verdicts = [{ ...found, until: { iteration: "390", time_unix_ns: found.since.time_unix_ns }, closed_because: "recovered" }];
    collector.publish("live-4", "verdict", job.verdicts[0]);
    await page.waitForSelector(".card.calm");
    assert.match(await text(page, ".history"), /Rank 2 on gpu-01[\s\S]*recovered/);
    assert.match(await text(page, ".card.calm"), /Last finding\s+Rank 2/);
  });
});

test("several jobs: those in trouble first, one click away; one job: shown at once", async () => {
  await withPage(named(), "", {}, async ({ page }) => {
    await page.waitForSelector(".jobs tbody tr");
    const names = await page.locator(".jobs tbody th").allInnerTexts();
    assert.equal(names[0], "hung-16");
    assert.equal(names.at(-1), "healthy-8");
    await page.click("text=moe-pretrain-1000");
    await page.waitForSelector(".verdict.open");
    assert.match(page.url(), /#\/job\/moe-pretrain-1000$/);
    await page.goBack();
    await page.waitForSelector(".jobs tbody tr");
  });
});

test("a link to a verdict opens that verdict, also when it is over", async () => {
  await withPage(named("llama-ft-4"), "#/verdict/llama-ft-4-v0", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.over");
    assert.match(await text(page, ".sentence"), /Rank 1 paused for Python garbage collection/);
    assert.match(await text(page, ".others"), /Rank 2 on gpu-01/);
    await page.click("text=the job as it is now");
    await page.waitForSelector(".verdict.open");
    assert.match(await text(page, ".sentence"), /Rank 2/);
  });
});

test("a link to nothing says so", async () => {
  await withPage(named("llama-ft-4"), "#/verdict/nowhere", { refused: true }, async ({ page }) => {
    assert.match(await text(page, ".problem"), /nothing at .*nowhere/);
  });
});

test("hostile text stays text", async () => {
  const job = new Scenario({ name: "<img src=x onerror=alert(1)>", sentence: "<script>window.hit = 1</script><b>bold</b>" });
  job.endAt(Date.now());
  await withPage([job], "", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.open");
    assert.equal(await text(page, ".sentence"), "<script>window.hit = 1</script><b>bold</b>");
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.locator("main img").count(), 0);
  });
});

test("who waits for whom is a picture: culprit, those in its group, those behind them", async () => {
  const job = new Scenario({ name: "hung-8", ranks: 8, culprits: [2], fault: "process_stopped" });
  const found = { ...job.verdicts[0], class: "noncommunication_hang", waits: [
    { hop: 1, ranks: [3], for_ranks: [2], group: "TENSOR", groups: 1, op: "all_reduce", number: "41", waited_s: 12.5 },
    { hop: 2, ranks: [0, 1, 4, 5, 6, 7], for_ranks: [3], group: "DATA", groups: 2, op: "all_gather", number: "-1", waited_s: 0 },
  ] };
  job.verdicts = [found];
  await withPage([job], "", {}, async ({ page }) => {
    await page.waitForSelector(".chain svg");
    const boxes = await page.$$eval(".wait-box", (all) => all.map((box) => [...box.querySelectorAll("text")].map((line) => line.textContent)));
    assert.deepEqual(boxes, [["◆ rank 2", "holds the others up"], ["rank 3", "all_reduce 41 of TENSOR", "1 rank, for 12.5 s"],
      ["ranks 0, 1, 4–7", "all_gather of 2 × DATA", "6 ranks"]]);
    assert.equal(await page.locator(".wait-arrow").count(), 2);
    const columns = await page.$$eval(".wait-box", (all) => all.map((box) => box.getBoundingClientRect().left));
    assert.ok(columns[0] < columns[1] && columns[1] < columns[2], `left to right: ${columns}`);
  });
});

test("stacks are a flame graph: shared frames once, the culprit's own way marked, names never markup", async () => {
  const job = new Scenario({ name: "hung-4", culprits: [2], fault: "process_stopped" });
  job.verdicts = [{ ...job.verdicts[0], class: "noncommunication_hang", stacks: [
    { ranks: [2], frames: ["get (queue.py:3)", "main (job.py:88)"], differs_at: 0, culprit: true, source: "native", pause_s: 0.00008 },
    { ranks: [0, 1, 3], frames: ["<b>all_reduce</b> (t.py:9)", "main (job.py:90)"], differs_at: 0, source: "py-spy", pause_s: 0 },
  ] }];
  await withPage([job], "", {}, async ({ page }) => {
    await page.waitForSelector(".flame svg");
    const frames = await page.$$eval(".frame", (all) => all.map((f) => [f.querySelector("title").textContent, f.classList.contains("culprit"),
      Number(f.querySelector("rect").getAttribute("width"))]));
    assert.deepEqual(frames, [["main (job.py)\nranks 0–3", false, 899], ["get (queue.py)\nrank 2", true, 224],
      ["<b>all_reduce</b> (t.py)\nranks 0, 1, 3", false, 674]]);
    assert.match(await text(page, ".stacks"), /rank 2 \(culprit\): native, paused for 80 µs\s*ranks 0, 1, 3: py-spy, not paused/);
  });
});
