// What fathom-cordon did, on the verdict's card and in the list: reading, filtering, copying.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ledgerOf } from "../mock/scenario.mjs";
import { named, text, withPage } from "./open.mjs";

const ACTION = "a0123456789ab";

// A page whose collector knows a fathom-cordon, opened at `hash`.
async function withLedger(phase, more, hash, options, look) {
  const jobs = named("grid-32");
  await withPage(jobs, hash, { ...options, ledger: ledgerOf(jobs[0], phase, more) }, look);
}

test("an action that waits: on the card, who, what stands in the way, the command to type", async () => {
  await withLedger("advised", { hindrance: "an operator has to approve it" }, "#/job/grid-32", {}, async ({ page, context }) => {
    await page.waitForSelector(".action-state");
    const said = await text(page, ".action-state");
    assert.match(said, /Action on b200-02\s+waits for approval by fathom-cordon, .*\s+In the way: an operator has to approve it\s+fathom action approve a0123456789ab/);
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.click(".action-state .copy");
    await page.waitForSelector(".action-state .copy:has-text('Copied')");
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `fathom action approve ${ACTION}`);
    assert.equal(await text(page, ".place a[href='#/actions']"), "actions (1 to approve)");
    await page.click(".place a[href='#/actions']");
    await page.waitForSelector("[aria-label='Actions on nodes'] li");
    assert.match(await text(page, "[aria-label='What would be done now'] li"), /approve\s+b200-02 for slow compute, verdict grid-32-v1\s+in the way: an operator has to approve it/);
    await page.click("[aria-label='Actions on nodes'] .how a");
    await page.waitForFunction(() => location.hash.startsWith("#/verdict/grid-32-v1"));
  });
});

test("the state follows: held back by whom, with the way back; undone leaves no command", async () => {
  await withLedger("acted", { held: 1, action: { actor: "anna", text: "approved" } }, "#/verdict/grid-32-v1", {}, async ({ page, collector }) => {
    await page.waitForSelector(".action-state");
    assert.match(await text(page, ".action-state"), /held back by anna, .* · approved[\s\S]*fathom action undo a0123456789ab/);
    const [action] = collector.ledger.actions;
    collector.ledger = { ...collector.ledger, held: 0, actions: [{ ...action, phase: "undone", actor: "ben" }], plan: [] };
    await page.waitForFunction(() => /undone\s+by ben/.test(document.querySelector(".action-state")?.innerText ?? ""), null, { timeout: 10_000 });
    assert.equal(await page.locator(".action-state .command").count(), 0);
  });
});

test("a pause, and a fathom-cordon that does not answer, are said wherever actions are", async () => {
  await withLedger("advised", { paused: "anna: maintenance of rack 7" }, "#/job/grid-32", {}, async ({ page, collector }) => {
    await page.waitForSelector(".action-state .brake");
    assert.equal(await text(page, ".action-state .brake"), "Paused: anna: maintenance of rack 7");
    assert.equal(await text(page, ".place a[href='#/actions']"), "actions (1 to approve, paused)");
    await page.click(".place a[href='#/actions']");
    await page.waitForSelector("[aria-label=fathom-cordon] .brake");
    assert.equal(await text(page, "[aria-label=fathom-cordon] .brake"), "Paused: anna: maintenance of rack 7");
    collector.ledger = { ...collector.ledger, state: "away", why: "Connection refused", paused: "" };
    await page.waitForFunction(() => /does not answer: Connection refused\. What follows may be old/.test(document.querySelector("[aria-label=fathom-cordon]").innerText), null, { timeout: 10_000 });
    assert.equal(await page.locator("[aria-label='Actions on nodes'] li").count(), 1, "what was known stays");
  });
});

test("the list is filtered by person and state, and the link keeps the filter", async () => {
  await withLedger("advised", {}, "#/nodes", {}, async ({ page, collector }) => {
    const [first] = collector.ledger.actions;
    collector.ledger.actions.push({ ...first, id: "a1", node: "b200-01", phase: "undone", actor: "anna" }, { ...first, id: "a2", node: "b200-03", phase: "undone", actor: "ben" });
    await page.goto(`${collector.url}#/actions`);
    await page.waitForFunction(() => document.querySelectorAll("[aria-label='Actions on nodes'] li").length === 3);
    await page.fill("[aria-label='Filter the actions']", "undone anna");
    await page.waitForFunction(() => document.querySelectorAll("[aria-label='Actions on nodes'] li").length === 1);
    assert.match(await text(page, "[aria-label='Actions on nodes'] li"), /b200-01\s+undone by anna/);
    assert.equal(await page.evaluate(() => location.hash), "#/actions?find=undone+anna");
    await page.goto("about:blank");
    await page.goto(`${collector.url}#/actions?find=approval`);
    await page.waitForFunction(() => document.querySelectorAll("[aria-label='Actions on nodes'] li").length === 1);
    assert.match(await text(page, "[aria-label='Actions on nodes'] li"), /waits for approval/);
  });
});

test("without a fathom-cordon nothing speaks of actions; its page says how to connect one", async () => {
  await withPage(named("grid-32"), "#/job/grid-32", {}, async ({ page, collector }) => {
    await page.waitForSelector(".verdict.open");
    assert.equal(await page.locator(".action-state, .place a[href='#/actions']").count(), 0);
    await page.goto(`${collector.url}#/actions`);
    await page.waitForSelector("[aria-label=fathom-cordon]");
    assert.match(await text(page, "[aria-label=fathom-cordon]"), /No fathom-cordon is connected[\s\S]*cordon_http: HOST:PORT/);
  });
});

test("text from outside stays text, and a phone shows it without scrolling sideways", async () => {
  const hostile = { action: { text: "<img src=x onerror=document.title='hit'>", actor: "a".repeat(80) }, paused: "<b>no</b>" };
  await withLedger("acted", hostile, "#/actions", { width: 390, height: 844, touch: true, dark: true }, async ({ page }) => {
    await page.waitForSelector("[aria-label='Actions on nodes'] li");
    assert.equal(await page.locator("main img, main b").count(), 0);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    const bar = await page.locator(".bar-row").boundingBox();
    assert.ok(bar.height < 60, `the bar is one line: ${bar.height}`);
  });
});
