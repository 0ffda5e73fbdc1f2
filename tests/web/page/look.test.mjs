import assert from "node:assert/strict";
import { test } from "node:test";
import { named, text, withPage } from "./open.mjs";

test("dark where the system is dark; the reader's choice beats it and is kept", async () => {
  await withPage(named("llama-ft-4"), "", { dark: true }, async ({ page }) => {
    const theme = () => page.evaluate(() => [document.documentElement.dataset.theme, getComputedStyle(document.body).backgroundColor]);
    const [dark, darkColor] = await theme();
    assert.equal(dark, "dark");
    await page.click(".theme");
    const [light, lightColor] = await theme();
    assert.equal(light, "light");
    assert.notEqual(lightColor, darkColor);
    await page.reload();
    await page.waitForSelector(".verdict");
    assert.equal((await theme())[0], "light");
    assert.equal(await text(page, ".theme"), "Dark");
  });
});

test("the policy holds: no inline script, no inline style, nothing from elsewhere", async () => {
  await withPage(named("llama-ft-4"), "", { refused: true }, async ({ page, complaints }) => {
    const blocked = await page.evaluate(async () => {
      const seen = [];
      document.addEventListener("securitypolicyviolation", (event) => seen.push(event.effectiveDirective));
      const script = document.createElement("script");
      script.textContent = "window.hit = 1";
      document.head.append(script);
      await fetch("http://127.0.0.1:9/").catch(() => undefined);
      for (let i = 0; i < 100 && seen.length < 2; i++) await new Promise((resolve) => setTimeout(resolve, 20)); // events come late on a busy machine
      return { seen, hit: window.hit };
    });
    assert.equal(blocked.hit, undefined);
    assert.deepEqual(blocked.seen.sort(), ["connect-src", "script-src-elem"]);
    complaints.length = 0;
  });
});

// WCAG 2.2, relative luminance and contrast, over every text on the page.
const CONTRAST = () => {
  const parse = (value) => (value.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = ([r, g, b]) => [r, g, b].map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const low = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !node.checkVisibility() || node.closest(".unseen, .skip, noscript")) continue;
    texts++;
    const [a, b] = [luminance(parse(getComputedStyle(node).color)), luminance(behind(node))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) low.push(`${contrast.toFixed(2)} ${node.className} "${walker.currentNode.textContent.trim().slice(0, 30)}"`);
  }
  return { low, texts };
};

for (const dark of [false, true]) {
  test(`every text has a contrast of 4.5 or more, ${dark ? "dark" : "light"}`, async () => {
    for (const hash of ["#/job/llama-ft-4", "#/job/hung-16", "#/job/healthy-8", "#/job/puzzled-8", "#/verdict/llama-ft-4-v0", "#/", "#/job/grid-32?open=iteration,communicators&sort=node"]) {
      await withPage(named(), hash, { dark }, async ({ page }) => {
        await page.waitForSelector(".health-row, .jobs tbody tr");
        const { low, texts } = await page.evaluate(CONTRAST);
        assert.ok(texts > 20, `${texts} texts on ${hash}`);
        assert.deepEqual(low, [], hash);
      });
    }
  });
}

test("a phone shows it without scrolling sideways", async () => {
  for (const hash of ["#/job/llama-ft-4", "#/job/moe-pretrain-1000", "#/job/healthy-8"]) {
    await withPage(named(), hash, { width: 390, height: 844, touch: true }, async ({ page }) => {
      await page.waitForSelector(".health-row");
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, hash);
      const sentence = await page.locator(".card .sentence").boundingBox();
      assert.ok(sentence.y + sentence.height < 400, "the sentence is on the first screen");
    });
  }
});

test("landmarks, headings and names are there for those who listen", async () => {
  await withPage(named("llama-ft-4"), "", {}, async ({ page }) => {
    await page.waitForSelector(".health-row");
    const found = await page.evaluate(() => ({
      landmarks: [document.querySelectorAll("header").length, document.querySelectorAll("main").length],
      h1: document.querySelectorAll("h1").length,
      nameless: [...document.querySelectorAll("button, a, [role=application], [role=img]")]
        .filter((node) => !(node.textContent.trim() || node.getAttribute("aria-label"))).length,
      ids: [...document.querySelectorAll("[aria-describedby]")].every((node) => document.getElementById(node.getAttribute("aria-describedby"))),
      lang: document.documentElement.lang,
    }));
    assert.deepEqual(found, { landmarks: [1, 1], h1: 1, nameless: 0, ids: true, lang: "en" });
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.textContent), "Skip to the verdict");
  });
});
