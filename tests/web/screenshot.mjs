// A picture of the page: node tests/web/screenshot.mjs URL FILE [--width N] [--height N] [--dark]
//   [--full] [--wait SELECTOR] [--touch]
import { Browser, missing } from "./browser.mjs";

const args = process.argv.slice(2);
const flag = (name) => args.includes(`--${name}`);
const value = (name, otherwise) => (flag(name) ? args[args.indexOf(`--${name}`) + 1] : otherwise);
const [url, file] = args;
const why = missing();
if (why || !url || !file || url.startsWith("--")) {
  console.error(why || "usage: screenshot.mjs URL FILE [--width N] [--height N] [--dark] [--full] [--wait SELECTOR]");
  process.exit(1);
}
const browser = await Browser.open();
try {
  const { page, complaints } = await browser.page({
    width: Number(value("width", 1440)), height: Number(value("height", 900)), dark: flag("dark"), touch: flag("touch"), scale: Number(value("scale", 1)),
  });
  await page.goto(url);
  await page.waitForSelector(value("wait", ".card .sentence, .jobs table"));
  await page.waitForLoadState("load");
  await page.waitForTimeout(Number(value("settle", 1200)));
  await page.screenshot({ path: file, fullPage: flag("full") });
  if (complaints.length > 0) console.error(complaints.join("\n"));
} finally {
  await browser.close();
}
