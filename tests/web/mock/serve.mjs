// Shows the page with made-up jobs: node tests/web/mock/serve.mjs SITE_DIR [PORT]
// SITE_DIR is collector/web/site in a build folder. Time goes on by itself; Ctrl-C ends it.
import { ledgerOf, scenarios } from "./scenario.mjs";
import { MockCollector } from "./server.mjs";

const [site, port = "7070"] = process.argv.slice(2);
const collector = await new MockCollector(site, scenarios()).start(Number(port));
for (const job of collector.jobs.values()) job.endAt(Date.now());
collector.ledger = ledgerOf(collector.jobs.get("grid-32"), "advised", { hindrance: "waits for a person: fathom action approve", you: { name: "anna", changes: "on" } });
collector.onCommand = (path) => obey(collector, path);

// As fathom-cordon in mode approve would, but that nothing is ever in the way.
function obey(mock, path) {
  const [action] = mock.ledger.actions;
  const phase = { approve: "acted", undo: "undone" }[path.split("/")[1]];
  if (phase) mock.ledger = { ...mock.ledger, held: phase === "acted" ? 1 : 0, plan: [], actions: [{ ...action, phase, actor: "anna", changed_unix_ns: Date.now() * 1e6 }] };
  if (path === "pause" || path === "resume") mock.ledger = { ...mock.ledger, paused: path === "pause" ? "anna: tried out" : "" };
  return [200, { done: true }];
}

console.log(collector.url);
setInterval(() => {
  for (const [name, job] of collector.jobs) if (job.state !== "hung") collector.advance(name);
}, 400);
