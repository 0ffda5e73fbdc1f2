// Debian's Chromium, driven by playwright-core from collector/web/node_modules.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const CHROMIUM = process.env.FATHOM_CHROMIUM ?? "/usr/bin/chromium";
export const WEB = fileURLToPath(new URL("../../collector/web/", import.meta.url));
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export function missing() {
  if (!existsSync(CHROMIUM)) return `${CHROMIUM} is not there; deploy/setup installs it`;
  if (!existsSync(join(WEB, "node_modules/playwright-core/package.json"))) return "collector/web/node_modules is missing; run deploy/setup";
  return "";
}

export class Browser {
  static async open() {
    const { chromium } = createRequire(join(WEB, "package.json"))("playwright-core");
    const browser = new Browser();
    browser.chromium = await chromium.launch({ executablePath: CHROMIUM, headless: true, args: FLAGS });
    return browser;
  }

  // A window that shares nothing with others. Everything the page complains about lands in `complaints`.
  async page({ width = 1440, height = 900, dark = false, touch = false, scale = 1 } = {}) {
    const context = await this.chromium.newContext({
      viewport: { width, height }, colorScheme: dark ? "dark" : "light", hasTouch: touch, isMobile: touch, deviceScaleFactor: scale,
      timezoneId: "UTC", locale: "en-US",
    });
    const page = await context.newPage();
    const complaints = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(String(error)));
    return { page, complaints, context };
  }

  async close() {
    await this.chromium.close();
  }
}
