// Approving, undoing and pausing from the page: what a person sees before, what is sent, what came of it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ledgerOf } from "../mock/scenario.mjs";
import { named, text, withPage } from "./open.mjs";

const ACTION = "a0123456789ab";
const ANNA = { name: "anna", changes: "on" };
const WAITS = "waits for a person: fathom action approve";
const PHONE = { width: 390, height: 844, touch: true };

async function withLedger(phase, more, hash, options, look) {
  const jobs = named("grid-32");
  await withPage(jobs, hash, { ...options, ledger: ledgerOf(jobs[0], phase, { you: ANNA, hindrance: WAITS, ...more }) }, look);
}

// The ledger goes on as fathom-cordon's would.
function becomes(collector, phase, actor) {
  const [action] = collector.ledger.actions;
  collector.ledger = { ...collector.ledger, held: phase === "acted" ? 1 : 0, actions: [{ ...action, phase, actor }], plan: [] };
}

async function settled(page, selector, pattern) {
  await page.waitForFunction(([where, source]) => new RegExp(source, "s").test(document.querySelector(where)?.innerText ?? ""), [selector, pattern], { timeout: 10_000 });
}

test("approving from the verdict: first what it is about, then done, then what came of it", async () => {
  await withLedger("advised", {}, "#/job/grid-32", {}, async ({ page, collector }) => {
    await page.waitForSelector(".action-state .deed");
    assert.match(await text(page, ".action-state"), /In the way: waits for a person\n/);
    assert.equal(await page.locator(".action-state .command").count(), 0, "who may do it here needs no command");
    await page.click(".action-state .deed");
    const said = await text(page, "dialog");
    assert.match(said, /Hold b200-02 back\?/);
    assert.match(said, /Node\s+b200-02[\s\S]*Cause\s+slow compute[\s\S]*Because\s+Rank 13 on b200-02 holds the job back[\s\S]*Job\s+grid-32/);
    assert.match(said, /Slurm drains it: jobs that run there go on[\s\S]*at its next look[\s\S]*can be undone[\s\S]*Logged as anna/);
    assert.deepEqual(collector.commands, [], "nothing was sent yet");
    collector.onCommand = () => (becomes(collector, "acted", "fathom-cordon"), [200, { done: true }]);
    await page.click("dialog button[type=submit]");
    await settled(page, "dialog .deed-said", "Approved");
    const [sent] = collector.commands;
    assert.equal(`${sent.path} ${sent.type}`, `${ACTION}/approve application/json`);
    assert.equal(sent.origin, collector.url.replace(/\/$/, ""));
    await page.click("dialog button:has-text('Close')");
    await settled(page, ".action-state", "held back by fathom-cordon.*Undo…");
  });
});

test("by keyboard alone: to the button, Escape changes nothing, the focus returns, Enter does it", async () => {
  await withLedger("acted", { held: 1, action: { actor: "anna" } }, "#/actions", {}, async ({ page, collector }) => {
    await page.waitForSelector("[aria-label='Actions on nodes'] .deed");
    await page.focus("[aria-label='Filter the actions']");
    for (let i = 0; i < 8 && !(await page.evaluate(() => document.activeElement.textContent === "Undo…")); i++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.match(await text(page, "dialog h2"), /Let b200-02 go again\?/);
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Cancel", "Enter alone does no harm");
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Undo…");
    assert.deepEqual(collector.commands, []);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Undo");
    collector.onCommand = () => (becomes(collector, "undone", "anna"), [200, { done: true }]);
    await page.keyboard.press("Enter");
    await settled(page, "dialog .deed-said", "undo is asked for");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Close");
    await page.keyboard.press("Enter");
    await settled(page, "[aria-label='Actions on nodes'] li", "undone\\s+by anna");
    assert.equal(await page.locator("[aria-label='Actions on nodes'] .deed").count(), 0);
    assert.deepEqual(collector.commands.map(({ path }) => path), [`${ACTION}/undo`]);
  });
});

test("opened again before the browser has told of its end, the dialog still does what it says", async () => {
  await withLedger("acted", { held: 1, action: { actor: "anna" } }, "#/actions", {}, async ({ page, collector }) => {
    await page.click("[aria-label='Actions on nodes'] .deed");
    await page.evaluate(() => {
      document.querySelector("dialog").close();
      document.querySelector("[aria-label='Actions on nodes'] .deed").click();
    });
    collector.onCommand = () => (becomes(collector, "undone", "anna"), [200, { done: true }]);
    await page.click("dialog button[type=submit]");
    await settled(page, "dialog .deed-said", "undo is asked for");
  });
});

test("a pause demands its reason; it is said everywhere, and ended from here", async () => {
  await withLedger("advised", {}, "#/actions", {}, async ({ page, collector }) => {
    await page.click("[aria-label=fathom-cordon] .deed:has-text('Pause…')");
    assert.equal(await page.evaluate(() => document.activeElement.id), "deed-reason");
    assert.equal(await page.isDisabled("dialog button[type=submit]"), true);
    await page.fill("#deed-reason", "   ");
    assert.equal(await page.isDisabled("dialog button[type=submit]"), true, "blanks are no reason");
    collector.onCommand = (path, { reason }) => (collector.ledger = { ...collector.ledger, paused: path === "pause" ? `anna: ${reason}` : "" }, [200, { done: true }]);
    await page.fill("#deed-reason", " maintenance of rack 7 ");
    await page.keyboard.press("Enter");
    await settled(page, "dialog .deed-said", "Paused");
    await page.keyboard.press("Escape");
    await settled(page, "[aria-label=fathom-cordon]", "Paused: anna: maintenance of rack 7.*Resume…");
    await page.click("[aria-label=fathom-cordon] .deed:has-text('Resume…')");
    await page.click("dialog button[type=submit]");
    await settled(page, "dialog .deed-said", "Resumed");
    assert.deepEqual(collector.commands.map(({ path, body }) => [path, body.reason]), [["pause", "maintenance of rack 7"], ["resume", ""]]);
  });
});

test("a tripped breaker is closed with its reason before one's eyes", async () => {
  await withLedger("advised", { tripped: "4 nodes are suspect at once" }, "#/actions", {}, async ({ page, collector }) => {
    await page.click(".deed:has-text('Close the breaker…')");
    assert.match(await text(page, "dialog"), /4 nodes are suspect at once[\s\S]*Look at why it tripped first/);
    await page.click("dialog button[type=submit]");
    await settled(page, "dialog .deed-said", "The breaker is closed");
    assert.deepEqual(collector.commands.map(({ path }) => path), ["reset"]);
  });
});

test("somebody was faster: the open dialog says so, and so does the refusal that came too late", async () => {
  await withLedger("advised", {}, "#/job/grid-32", { refused: true }, async ({ page, collector }) => {
    await page.click(".action-state .deed");
    becomes(collector, "approved", "ben");
    await settled(page, "dialog .deed-said", "Meanwhile ben was faster: it is approved now");
    assert.equal(await page.locator("dialog button[type=submit]:visible").count(), 0);
    assert.deepEqual(collector.commands, []);
    await page.keyboard.press("Escape");
    becomes(collector, "advised", "fathom-cordon");
    await page.waitForSelector(".action-state .deed", { timeout: 10_000 });
    await page.click(".action-state .deed");
    collector.onCommand = () => [409, { error: "fathom-cordon: action a0123456789ab is approved (by ben); only an advised one can be approved" }];
    await page.click("dialog button[type=submit]");
    await settled(page, "dialog [role=alert]", "is approved \\(by ben\\)");
    assert.match(await text(page, "dialog .command"), /fathom action approve a0123456789ab/);
  });
});

test("no answer is not taken for a no: the dialog says what is not known", async () => {
  await withLedger("advised", {}, "#/job/grid-32", { refused: true }, async ({ page, collector }) => {
    await page.click(".action-state .deed");
    let answer; // a connection that broke is tried once more by the browser itself
    collector.onCommand = () => (answer ? null : new Promise((resolve) => (answer = resolve)));
    await page.click("dialog button[type=submit]");
    await settled(page, "dialog .deed-said", "Asking fathom-cordon");
    assert.equal(await page.isDisabled("dialog button[type=submit]"), true, "once is enough");
    await page.keyboard.press("Escape");
    assert.equal(await page.evaluate(() => document.querySelector("dialog").open), true, "it waits for what came of it");
    await page.keyboard.press("Escape"); // which a page cannot refuse
    await page.waitForTimeout(200); // "close" comes later
    assert.equal(await page.evaluate(() => document.querySelector("dialog").open), true, "nor does it go at the second");
    answer(null);
    await settled(page, "dialog [role=alert]", "not known whether this arrived");
  });
});

for (const [you, reason, button] of [
  [{ name: "bob", changes: "viewer" }, /Approving and undoing is for operators; you are bob, a viewer\./, true],
  [{ name: "", changes: "sign_in" }, /Sign in as an operator to approve and undo here\./, false],
  [{ name: "eve", changes: "no_token" }, /fathom-cordon wants to see a token of your own, eve: sign in with it\./, true],
]) {
  test(`${you.changes}: the reason stands there, and the command`, async () => {
    await withLedger("advised", { you }, "#/job/grid-32", {}, async ({ page, collector }) => {
      await page.waitForSelector(".action-state .command");
      assert.match(await text(page, ".action-state"), reason);
      assert.match(await text(page, ".action-state .command"), /fathom action approve a0123456789ab/);
      assert.equal(await page.locator(".action-state .deed").count(), button ? 1 : 0);
      if (button) assert.equal(await page.isDisabled(".action-state .deed"), true);
      await page.goto(`${collector.url}#/actions`);
      await page.waitForSelector("[aria-label=fathom-cordon]");
      assert.equal(await page.locator(".deed:enabled").count(), 0);
      const link = page.locator("[aria-label=fathom-cordon] a[href^='login?at=']");
      assert.equal(await link.count(), you.changes === "viewer" ? 0 : 1);
      if (you.changes !== "viewer") assert.equal(await link.getAttribute("href"), "login?at=%23%2Factions");
    });
  });
}

test("while fathom-cordon is away nothing can be asked of it", async () => {
  await withLedger("acted", { state: "away", why: "Connection refused" }, "#/job/grid-32", {}, async ({ page }) => {
    await page.waitForSelector(".action-state .deed");
    assert.equal(await page.isDisabled(".action-state .deed"), true);
    assert.match(await text(page, ".action-state .deeds"), /fathom-cordon does not answer\.\s+fathom action undo a0123456789ab/);
  });
});

test("on a phone the dialog fits, with buttons for a thumb; text from outside stays text", async () => {
  const hostile = { action: { evidence: `<img src=x onerror=document.title='hit'> ${"long".repeat(60)}` } };
  await withLedger("advised", hostile, "#/actions", { ...PHONE, dark: true }, async ({ page }) => {
    await page.tap("[aria-label='Actions on nodes'] .deed");
    const box = await page.locator("dialog").boundingBox();
    assert.ok(box.x >= 0 && box.x + box.width <= 390, `inside the screen: ${JSON.stringify(box)}`);
    for (const name of ["Cancel", "Approve"]) {
      const size = await page.locator(`dialog button:text-is('${name}')`).boundingBox();
      assert.ok(size.height >= 44, `${name}: ${size.height}`);
    }
    assert.equal(await page.locator("dialog img").count(), 0);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    await page.tap("dialog button:text-is('Cancel')");
    assert.equal(await page.locator("dialog[open]").count(), 0);
  });
});
