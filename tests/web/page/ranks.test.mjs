// Order and choice of ranks: what a person does to find a node's, a stage's or the suspects' rows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { mapReady, named, text, withPage } from "./open.mjs";

const hash = (page) => page.evaluate(() => location.hash);
const first = (page) => page.evaluate(() => document.querySelector(".rank-table tbody tr")?.textContent ?? "");

// Reads the whole table, opened, as cells.
async function table(page) {
  await mapReady(page);
  if (!(await page.locator(".rank-table[open]").count())) await page.click("text=The same as a table");
  await page.waitForSelector(".rank-table tbody tr");
  return page.evaluate(() => [...document.querySelectorAll(".rank-table tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent)));
}

test("by pipeline stage, then only one data-parallel rank; the link shows the same", async () => {
  await withPage(named("grid-32"), "#/job/grid-32", {}, async ({ page, collector }) => {
    await table(page);
    await page.selectOption("[aria-label='Order of ranks']", "stage");
    await page.selectOption("[aria-label='Which ranks']", "data");
    await page.selectOption("[aria-label='Which of them']", "2");
    await page.waitForFunction(() => /^8 ranks of data-parallel rank 2,/.test(document.querySelector(".caption").textContent));
    const rows = await table(page);
    assert.deepEqual(rows.map(([rank]) => rank.replace("◆ ", "")), ["4", "5", "12", "13", "20", "21", "28", "29"]);
    assert.deepEqual(rows.map((cells) => cells[2]), ["0", "0", "1", "1", "2", "2", "3", "3"], "stages in order");
    assert.equal(await hash(page), "#/job/grid-32?sort=stage&only=data%3A2");
    await page.goto("about:blank");
    await page.goto(`${collector.url}#/job/grid-32?sort=stage&only=data%3A2`);
    await page.waitForFunction(() => /^8 ranks of data-parallel rank 2,/.test(document.querySelector(".caption")?.textContent ?? ""));
    assert.equal(await page.inputValue("[aria-label='Order of ranks']"), "stage");
    assert.equal(await page.inputValue("[aria-label='Which of them']"), "2");
  });
});

test("from one order to another, both from rank 0 to rank 31: the table follows at once", async () => {
  await withPage(named("grid-32"), "#/job/grid-32?sort=stage", { refused: true }, async ({ page, collector }) => {
    const ranks = async () => (await table(page)).map(([rank]) => Number(rank.replace("◆ ", "")));
    await page.waitForSelector("[aria-label='Order of ranks'] option[value=stage]:not([disabled])", { state: "attached" });
    assert.deepEqual(await ranks(), [...Array(16).keys()], "the first rows of stages 0 and 1");
    await page.waitForFunction(() => document.querySelector(".rank-table tbody tr").cells[1].textContent === "b200-01");
    await collector.stop(); // so that nothing new comes, which would draw the table anyway
    await page.waitForSelector(".lost[role=alert]:not([hidden])");
    await page.selectOption("[aria-label='Order of ranks']", "data");
    await page.waitForFunction(() => document.querySelectorAll(".rank-table tbody tr")[2].cells[0].textContent === "8");
    assert.deepEqual(await ranks(), [0, 1, 8, 9, 16, 17, 24, 25, 2, 3, 10, 11, 18, 19, 26, 27]);
  });
});

test("by node, and only one node", async () => {
  await withPage(named("grid-32"), "#/job/grid-32?sort=node", {}, async ({ page }) => {
    await page.waitForSelector("[aria-label='Which ranks'] option[value=node]:not([disabled])", { state: "attached" });
    await page.selectOption("[aria-label='Which ranks']", "node");
    await page.selectOption("[aria-label='Which of them']", "b200-03");
    await page.waitForFunction(() => /^8 ranks on node b200-03,/.test(document.querySelector(".caption").textContent));
    assert.deepEqual((await table(page)).map(([rank]) => Number(rank)), [16, 17, 18, 19, 20, 21, 22, 23]);
  });
});

test("suspects first, and only suspects; what a verdict opened from there keeps", async () => {
  await withPage(named("grid-32"), "", {}, async ({ page }) => {
    await page.waitForSelector(".verdict.open");
    await page.selectOption("[aria-label='Order of ranks']", "suspicion");
    await table(page);
    assert.match(await first(page), /^◆ 13/);
    await page.selectOption("[aria-label='Which ranks']", "suspects");
    await page.waitForFunction(() => /^1 rank under suspicion,/.test(document.querySelector(".caption").textContent));
    await page.click(".history .what a");
    await page.waitForSelector(".back");
    assert.match(await hash(page), /^#\/verdict\/grid-32-v1\?sort=suspicion&only=suspects$/);
    await page.selectOption("[aria-label='Which ranks']", "all");
    await page.waitForFunction(() => /^32 ranks,/.test(document.querySelector(".caption").textContent));
  });
});

test("what the job has no communicators for is said, and nobody under suspicion is no empty picture", async () => {
  await withPage(named("healthy-8"), "", {}, async ({ page }) => {
    await mapReady(page);
    const stage = page.locator("[aria-label='Order of ranks'] option[value=stage]");
    assert.equal(await stage.textContent(), "By pipeline stage (not known)");
    assert.equal(await stage.isDisabled(), true);
    await page.selectOption("[aria-label='Which ranks']", "suspects");
    await page.waitForFunction(() => document.querySelector(".timeline > .none:not([hidden])"));
    assert.equal(await text(page, ".timeline > .none"), "No rank is under suspicion.");
  });
});

test("the names of stages stand beside the map, with lines between them", async () => {
  await withPage(named("grid-32"), "#/job/grid-32?sort=stage", {}, async ({ page }) => {
    const dark = () => page.evaluate(() => {
      const canvas = document.querySelector(".heat-map canvas.marks");
      const { data } = canvas.getContext("2d").getImageData(400, 0, 1, canvas.height);
      const rows = [];
      for (let y = 0; y < canvas.height; y++) if (data[y * 4 + 3] > 100 && data[y * 4] < 60) rows.push(y);
      return { rows, height: canvas.height };
    });
    await mapReady(page);
    await page.waitForSelector("[aria-label='Order of ranks'] option[value=stage]:not([disabled])", { state: "attached" });
    await page.waitForTimeout(200);
    const { rows, height } = await dark();
    for (const share of [1 / 4, 1 / 2, 3 / 4]) assert.ok(rows.some((y) => Math.abs(y - share * height) <= 2), `a line at ${share}: ${rows}`);
  });
});
