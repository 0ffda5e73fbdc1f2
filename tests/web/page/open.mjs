// A collector and a browser window on it, for one test.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { Browser } from "../browser.mjs";
import { MockCollector } from "../mock/server.mjs";
import { Scenario, scenarios } from "../mock/scenario.mjs";

const SITE = process.env.FATHOM_WEB_SITE;
assert.ok(SITE, "FATHOM_WEB_SITE names the built page");

let browser;
before(async () => (browser = await Browser.open()));
after(() => browser.close());

export function named(...names) {
  const all = scenarios().filter((scenario) => names.length === 0 || names.includes(scenario.name));
  for (const scenario of all) scenario.endAt(Date.now());
  return all;
}

export { Scenario };

// Opens `hash` on a collector with these jobs (and, as `options.ledger`, what a fathom-cordon says),
// runs `test`, and holds the page to a clean console.
export async function withPage(jobs, hash, options, test) {
  const collector = await new MockCollector(SITE, jobs).start();
  if (options.ledger) collector.ledger = options.ledger;
  const { page, complaints, context } = await browser.page(options);
  const requested = [];
  page.on("request", (request) => requested.push(request.url()));
  try {
    await page.goto(collector.url + hash);
    await page.waitForSelector(".card .sentence, .jobs, .problem");
    await test({ page, collector, complaints, context, requested });
    const serious = complaints.filter((text) => !(options.refused && /ERR_CONNECTION_REFUSED|ERR_|404|409|503/.test(text)));
    assert.deepEqual(serious, [], "the console stays empty");
    assert.deepEqual(requested.filter((url) => !url.startsWith(collector.url)), [], "nothing is loaded from elsewhere");
  } finally {
    await context.close();
    await collector.stop().catch(() => undefined);
  }
}

// Until the heat map is drawn in its size.
export async function mapReady(page, options = {}) {
  await page.waitForFunction(() => document.querySelector(".heat-map canvas")?.width > 300, null, options);
}

export async function text(page, selector) {
  return (await page.locator(selector).first().innerText()).trim();
}
