// Loads a TypeScript module of the page into node: what the browser runs, without the browser.
import { createRequire } from "node:module";
import { join } from "node:path";
import { WEB } from "./browser.mjs";

export async function load(path) {
  const { build } = createRequire(join(WEB, "package.json"))("esbuild");
  const result = await build({ entryPoints: [join(WEB, path)], bundle: true, format: "esm", write: false, logLevel: "error" });
  return import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0].contents).toString("base64")}`);
}
