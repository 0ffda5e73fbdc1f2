// Runs test files under node's runner: node tests/web/run.mjs [--browser] FILE…
// Exit 77, which CTest counts as skipped, where Chromium or node_modules is missing.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { missing, WEB } from "./browser.mjs";

const files = process.argv.slice(2).filter((arg) => !arg.startsWith("--"));
const why = process.argv.includes("--browser") ? missing()
  : existsSync(join(WEB, "node_modules/esbuild")) ? "" : "collector/web/node_modules is missing; run deploy/setup";
if (why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}
const run = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" });
process.exit(run.status ?? 1);
