// Shows the page with made-up jobs: node tests/web/mock/serve.mjs SITE_DIR [PORT]
// SITE_DIR is collector/web/site in a build folder. Time goes on by itself; Ctrl-C ends it.
import { ledgerOf, scenarios } from "./scenario.mjs";
import { MockCollector } from "./server.mjs";

const [site, port = "7070"] = process.argv.slice(2);
const collector = await new MockCollector(site, scenarios()).start(Number(port));
for (const job of collector.jobs.values()) job.endAt(Date.now());
collector.ledger = ledgerOf(collector.jobs.get("grid-32"), "advised", { hindrance: "an operator has to approve it" });
console.log(collector.url);
setInterval(() => {
  for (const [name, job] of collector.jobs) if (job.state !== "hung") collector.advance(name);
}, 400);
