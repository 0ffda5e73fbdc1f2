import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "../load.mjs";

const { EventParser } = await load("api/event_parser.ts");

test("an event cut anywhere is the same event", () => {
  const text = 'event: verdict\ndata: {"a":1,\ndata: "b":2}\n\n: still here\n\ndata: x\r\n\r\n';
  for (let cut = 0; cut <= text.length; cut++) {
    const parser = new EventParser();
    const events = [...parser.push(text.slice(0, cut)), ...parser.push(text.slice(cut))];
    assert.deepEqual(events, [{ event: "verdict", data: '{"a":1,\n"b":2}' }, { event: "message", data: "x" }], `cut at ${cut}`);
  }
});

test("a heartbeat and an event without data are no events", () => {
  const parser = new EventParser();
  assert.deepEqual(parser.push(": still here\n\nevent: job\n\nretry: 2000\n\n"), []);
});

test("the name of an event does not leak into the next one", () => {
  const parser = new EventParser();
  assert.deepEqual(parser.push("event: job\ndata: 1\n\ndata: 2\n\n").map((e) => e.event), ["job", "message"]);
});
