import assert from "node:assert/strict";
import { test } from "node:test";
import { mapReady, named, text, withPage } from "./open.mjs";

const MAP = ".heat-map";

async function ready(page) {
  await mapReady(page);
  await page.locator(MAP).scrollIntoViewIfNeeded();
}

// Waits until a cell (share of the width and of the height of the map) is more red than blue by at
// least `least`, and less than `most`. Iterations and verdict arrive in any order.
async function redOverBlue(page, across, down, least, most) {
  const read = ([x, y]) => {
    const canvas = document.querySelector(".heat-map canvas");
    const at = canvas.getContext("2d").getImageData(Math.floor(canvas.width * x), Math.floor(canvas.height * y), 1, 1).data;
    return at[0] - at[2];
  };
  const wanted = page.waitForFunction(`(${read})([${across}, ${down}]) >= ${least} && (${read})([${across}, ${down}]) <= ${most}`, null, { timeout: 10_000 });
  await wanted.catch(async () => assert.fail(`red − blue at ${across}, ${down} is ${await page.evaluate(read, [across, down])}, not ${least} to ${most}`));
}

test("the culprit's row is orange and marked, the victims' rows are blue", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.open");
    await ready(page);
    await redOverBlue(page, 0.9, 2.5 / 4, 60, 255);
    await redOverBlue(page, 0.9, 0.5 / 4, -255, -40);
    await redOverBlue(page, 0.02, 2.5 / 4, -25, 25);
    const marked = await page.evaluate(() => {
      const canvas = document.querySelector(".heat-map canvas.marks");
      const { data } = canvas.getContext("2d").getImageData(0, Math.floor(canvas.height * 0.5), 76, Math.floor(canvas.height * 0.25));
      let orange = 0;
      for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 200 && data[i] > data[i + 2] + 80) orange++;
      return orange;
    });
    assert.ok(marked > 40, `wedge and label of rank 2: ${marked} pixels`);
  });
});

test("one culprit of a thousand ranks is seen on the map", async () => {
  await withPage(named("moe-pretrain-1000"), "", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.open");
    await ready(page);
    await redOverBlue(page, 0.95, 617.5 / 1000, 40, 255);
    await redOverBlue(page, 0.95, 0.3, -255, -40);
  });
});

test("pointing at a cell shows its numbers", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    await ready(page);
    const box = await page.locator(MAP).boundingBox();
    await page.mouse.move(box.x + box.width * 0.9, box.y + box.height * 2.5 / 4);
    await page.waitForSelector(".tooltip:not([hidden])");
    assert.match(await text(page, ".tooltip"), /rank 2 · iteration 3\d\d · \d\d:\d\d:\d\d\s+came late by\s+2\d\d ms\s+waited\s+\S+ (ms|µs)\s+CPU\s+1\d\d ms\s+blocked/);
    const tip = await page.locator(".timeline .tooltip").boundingBox();
    assert.ok(tip.x >= 0 && tip.x + tip.width <= 1440, "inside the window");
    await page.mouse.move(5, 5);
    await page.waitForSelector(".tooltip", { state: "hidden" });
  });
});

test("pointing at the strip shows the iteration", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    await ready(page);
    await page.locator(".strip").scrollIntoViewIfNeeded();
    const box = await page.locator(".strip .u-over").boundingBox();
    await page.mouse.move(box.x + box.width * 0.9, box.y + 30);
    await page.waitForSelector(".tooltip:not([hidden])");
    assert.match(await text(page, ".tooltip"), /iteration 3\d\d[\s\S]*took\s+4\d\d ms\s+normal\s+201 ms\s+irregular\s+yes/);
  });
});

test("the keyboard reaches every cell, and what it reaches is spoken", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    await ready(page);
    assert.match(await page.getAttribute(MAP, "aria-label"), /Late arrival and wait of 4 ranks .* Latest on average: rank 2/);
    await page.focus(MAP);
    for (const key of ["Home", "End", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
    assert.match(await page.locator(".timeline [role=status]").textContent(), /rank 2 · iteration 380 .*came late by 2\d\d ms/);
    await page.keyboard.press("+");
    await page.waitForFunction(() => /2 ranks/.test(document.querySelector(".caption").textContent));
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => /4 ranks/.test(document.querySelector(".caption").textContent));
  });
});

test("dragging zooms in, a button leads back", async () => {
  await withPage(named("moe-pretrain-1000"), "", {}, async ({ page }) => {
    await ready(page);
    const box = await page.locator(MAP).boundingBox();
    await page.mouse.move(box.x + 400, box.y + 100);
    await page.mouse.down();
    await page.mouse.move(box.x + 600, box.y + 200, { steps: 4 });
    await page.mouse.up();
    await page.waitForSelector("text=Reset zoom");
    const zoomed = await text(page, ".caption");
    assert.match(zoomed, /^2\d\d ranks, iterations/);
    await page.click("text=Reset zoom");
    assert.match(await text(page, ".caption"), /^1,000 ranks, iterations 121 to 420/);
  });
});

test("the latest ranks come first when asked", async () => {
  await withPage(named("moe-pretrain-1000"), "", {}, async ({ page }) => {
    await ready(page);
    await page.selectOption("[aria-label='Order of ranks']", "suspicion");
    await page.focus(MAP);
    await page.keyboard.press("End");
    assert.match(await page.locator(".timeline [role=status]").textContent(), /^rank 617 /);
  });
});

test("the same facts stand in a table", async () => {
  await withPage(named("moe-pretrain-1000"), "", {}, async ({ page }) => {
    await ready(page);
    await page.click("text=The same as a table");
    assert.match(await text(page, ".rank-table tbody tr"), /^◆ 617\s+h100-78\s+4817\s+running/);
    assert.equal(await page.locator(".rank-table tbody tr").count(), 16);
    await page.click("text=Show all 1,000 ranks");
    assert.equal(await page.locator(".rank-table tbody tr").count(), 1000);
  });
});

test("a rank that stopped reporting is hatched", async () => {
  await withPage(named("hung-16"), "", {}, async ({ page }) => {
    await ready(page);
    const colors = await page.evaluate(() => {
      const canvas = document.querySelector(".heat-map canvas");
      const { data } = canvas.getContext("2d").getImageData(canvas.width - 120, Math.floor(canvas.height * 11.3 / 16), 60, 8);
      return new Set(Array.from({ length: data.length / 4 }, (_, i) => data.slice(i * 4, i * 4 + 3).join())).size;
    });
    assert.equal(colors, 2);
    assert.match(await text(page, ".health"), /rank 11 on a100-02: stopped, silent for 2\d s/);
  });
});
