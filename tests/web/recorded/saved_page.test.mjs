// Pages that `fathom analyze --html` saved, opened from disk in a browser without a network.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { Browser } from "../browser.mjs";

const BUILD = process.env.FATHOM_BINARY_DIR;
const DATA = join(process.env.FATHOM_DATA_DIR ?? "", "torch_gloo");
const absent = process.env.FATHOM_DATA_DIR && existsSync(DATA) ? false : `no recordings at ${DATA} (FATHOM_DATA_DIR)`;

let browser;
let folder;
before(async () => {
  browser = await Browser.open();
  folder = mkdtempSync(join(tmpdir(), "fathom-saved-"));
});
after(async () => {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
});

function save(recording, name, ...options) {
  const file = join(folder, name);
  execFileSync(join(BUILD, "fathom"), ["analyze", recording, "--html", file, "--exit-zero", ...options], { stdio: "ignore" });
  return file;
}

// Opens the file, runs `look`, and holds the page to: no complaint, nothing asked of anybody.
async function opened(file, options, look) {
  const { page, complaints, context } = await browser.page(options);
  const asked = [];
  page.on("request", (request) => request.url().startsWith("file:") || request.url().startsWith("data:") || asked.push(request.url()));
  await context.setOffline(true);
  try {
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector(".card .sentence");
    await look(page);
    assert.deepEqual(complaints, [], "the console stays empty");
    assert.deepEqual(asked, [], "nothing is asked for");
  } finally {
    await context.close();
  }
}

const words = async (page, selector) => (await page.locator(selector).first().innerText()).trim();

// Pixels of the heat map that carry a colour: an empty canvas has none.
const painted = (page) => page.evaluate(() => {
  const canvas = document.querySelector(".heat-map canvas");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  let coloured = 0;
  for (let i = 0; i < data.length; i += 4) coloured += Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 40 ? 1 : 0;
  return coloured;
});

for (const dark of [false, true]) {
  test(`the culprit, the picture of it and the tables, ${dark ? "dark" : "light"}`, { skip: absent }, async () => {
    await opened(save(join(DATA, "slow_python"), `culprit-${dark}.html`), { dark }, async (page) => {
      assert.match(await words(page, ".card .sentence"), /[Rr]ank 1\b/);
      assert.match(await page.title(), /^◆ rank 1 · slow_python/);
      assert.ok((await painted(page)) > 500, "the heat map shows lateness and waiting");
      assert.equal(await page.locator(".op-row").count(), 4);
      assert.match(await words(page, ".op-row.culprit .op-rank"), /rank 1/);
      assert.ok((await page.locator(".op-row:not(.culprit) rect.waited").count()) > 0, "the others wait");
      assert.equal(await page.locator("section[aria-label='Time of each rank'] tbody tr").count(), 4);
      assert.match(await words(page, "section[aria-label='Time of each rank'] thead"), /blocked on communication/);
      assert.match(await words(page, "section[aria-label='What ran longest'] tbody"), /aten::mm/);
      assert.ok((await page.locator("section[aria-label='Critical path'] tbody tr").count()) > 3);
      assert.equal(await page.locator("section[aria-label='Launches']").count(), 0, "no device, no launches");
      assert.match(await words(page, "section[aria-label='What this rests on']"), /read as kineto/);
      if (process.env.FATHOM_SCREENSHOTS) await page.screenshot({ path: join(process.env.FATHOM_SCREENSHOTS, `saved-${dark ? "dark" : "light"}.png`), fullPage: true });
    });
  });
}

test("a healthy job is calm and has a picture all the same", { skip: absent }, async () => {
  await opened(save(join(DATA, "healthy"), "healthy.html"), {}, async (page) => {
    assert.equal(await page.locator(".card.verdict").count(), 0);
    assert.ok((await page.locator(".op-row rect").count()) > 0);
  });
});

test("two recordings are compared, whether or not anything changed", { skip: absent }, async () => {
  await opened(save(join(DATA, "healthy"), "against.html", "--against", join(DATA, "healthy")), {}, async (page) => {
    const panel = "section[aria-label='Against the other recording']";
    assert.match(await words(page, panel), /No change beyond chance/);
    assert.ok((await page.locator(`${panel} tbody tr`).count()) >= 4);
    assert.match(await words(page, `${panel} tbody tr`), /median iteration/);
  });
});

test("what repairing one alone would save", { skip: absent }, async () => {
  const trace = join(process.env.FATHOM_DATA_DIR, "ndtimeline", "trace-ST.parquet");
  await opened(save(trace, "what_if.html"), {}, async (page) => {
    const panel = "section[aria-label='What if nothing straggled']";
    assert.match(await words(page, panel), /122 % of that; above 100 %/);
    assert.match(await words(page, `${panel} tbody tr`), /stage 3/);
  });
});

test("names from the recording stay text", { skip: absent }, async () => {
  const hostile = join(folder, "<img src=x onerror=document.title='hit'>");
  mkdirSync(hostile);
  cpSync(join(DATA, "slow_python"), hostile, { recursive: true });
  const file = save(hostile, "hostile.html");
  assert.ok(!readFileSync(file, "utf8").includes("<img src=x"));
  await opened(file, {}, async (page) => {
    assert.equal(await page.locator("main img").count(), 0);
    assert.match(await words(page, ".job-line h1"), /^<img src=x/);
    assert.ok(!(await page.title()).startsWith("hit"));
  });
});

test("a script that got in would not run", { skip: absent }, async () => {
  const { page, context } = await browser.page({});
  await page.goto(pathToFileURL(save(join(DATA, "healthy"), "policy.html")).href);
  const hit = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.hit = 1";
    document.head.append(script);
    return window.hit;
  });
  assert.equal(hit, undefined);
  await context.close();
});

test("a phone shows it without scrolling sideways", { skip: absent }, async () => {
  await opened(save(join(DATA, "slow_python"), "phone.html"), { width: 390, height: 844, touch: true }, async (page) => {
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
  });
});

test("a thousand ranks", async () => {
  await opened(join(BUILD, "tests/page_1000_ranks.html"), {}, async (page) => {
    assert.match(await words(page, ".card .sentence"), /Rank 637/);
    assert.ok((await painted(page)) > 1000);
    assert.ok((await page.locator(".op-row").count()) <= 16);
    assert.match(await words(page, ".op-row.culprit .op-rank"), /637/);
    if (process.env.FATHOM_SCREENSHOTS) await page.screenshot({ path: join(process.env.FATHOM_SCREENSHOTS, "saved-1000.png"), fullPage: true });
  });
});
