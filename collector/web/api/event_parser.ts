// Server-sent events (WHATWG HTML, section 9.2), parsed from text as it arrives. Own parser because
// EventSource hides comment lines, and those are the heartbeat that tells a dead connection.

export interface ServerEvent {
  event: string;
  data: string;
}

export class EventParser {
  private rest = "";
  private event = "";
  private data: string[] = [];

  // The events completed by this piece of the stream.
  push(piece: string): ServerEvent[] {
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    const out: ServerEvent[] = [];
    for (const line of lines) {
      const done = this.line(line);
      if (done) out.push(done);
    }
    return out;
  }

  private line(line: string): ServerEvent | null {
    if (line === "") return this.dispatch();
    const colon = line.indexOf(":");
    if (colon === 0) return null;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.event = value;
    if (field === "data") this.data.push(value);
    return null;
  }

  private dispatch(): ServerEvent | null {
    const { event, data } = this;
    this.event = "";
    this.data = [];
    return data.length === 0 ? null : { event: event || "message", data: data.join("\n") };
  }
}
